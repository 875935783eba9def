"""Edit the arguments of a held call without revealing its secrets."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.record.masks import LITERAL, MARK, MASKED, is_mask, members_of
from tallystick.gate.record.secrets import token_spans


def put_back(edited: Any, *, shown: Any, exact: Any) -> Any:
    """Restore in edited arguments every secret whose mask (digest) was left unchanged.

    Args:
        edited: The arguments as edited by a person.
        shown: The masked arguments that the person saw.
        exact: The unmasked arguments of the held call.
    """
    if isinstance(edited, list):
        return [
            put_back(value, shown=_place(shown, place), exact=_place(exact, place))
            for place, value in enumerate(edited)
        ]
    if not isinstance(edited, Mapping):
        return edited
    # Restore only an unchanged mask at its original position, so that copying a digest cannot move a secret.
    if is_mask(shown) and edited == shown:
        return exact
    if edited.keys() == {MASKED} and is_mask(shown) and MASKED in shown:
        return _text(edited, shown, exact)
    members = members_of(edited) if isinstance(shown, Mapping) and shown.keys() == {LITERAL} else edited
    return {
        key: put_back(value, shown=_member(shown, key), exact=_member(exact, key)) for key, value in members.items()
    }


def _text(edited: Mapping[str, Any], shown: Mapping[str, Any], exact: str) -> Any:
    """Restore the tokens in a partly masked text; return `edited` unchanged if it has a digest not in `shown`."""
    digests = [part[MARK] for part in shown[MASKED] if isinstance(part, Mapping)]
    tokens = dict(zip(digests, (exact[start:end] for start, end in token_spans(exact)), strict=False))
    parts = edited[MASKED] if isinstance(edited[MASKED], list) else [None]
    texts = [part if isinstance(part, str) else tokens.get(_digest(part)) for part in parts]
    return edited if None in texts else "".join(text for text in texts if text is not None)


def _digest(part: Any) -> str:
    return str(part[MARK]) if is_mask(part) and MASKED not in part else ""


def _member(value: Any, key: str) -> Any:
    return members_of(value).get(key) if isinstance(value, Mapping) and not is_mask(value) else None


def _place(value: Any, place: int) -> Any:
    return value[place] if isinstance(value, list) and place < len(value) else None
