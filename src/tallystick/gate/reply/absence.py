"""Check absence claims: every file in the scope exists and none of them contains the term.

Normalisation is looser here than for quotes: it ignores case, maps compatibility forms to the same letters (NFKC) and
drops invisible characters, so that a different spelling does not make a term look absent.
"""

import unicodedata

from tallystick.errors import PathRefused
from tallystick.gate.quotes import Folded, fold_text, is_unspaced
from tallystick.gate.reply.claims import MISSING, Claim
from tallystick.gate.reply.findings import Item, Matched
from tallystick.gate.reply.scopes import MAX_FILES, files_in
from tallystick.gate.reply.sources import SHELF, Source
from tallystick.gate.reply.surroundings import Checked, Surroundings, cited, failed, read_source


def check_absence(claim: Claim, around: Surroundings) -> Checked:
    """Look for the term in every file of the scope."""
    if not claim.scope or not claim.term or not any(map(str.isalnum, claim.term)):
        return failed(claim, "claim_incomplete", MISSING["absence"])
    paths = _files_of(claim, claim.scope, around)
    if isinstance(paths, Checked):
        return paths
    sources: list[Source] = []
    for path in paths:
        source = read_source(claim, path, around)
        if isinstance(source, Checked):
            return source
        sources.append(source)
    texts = tuple(map(cited, sources))
    for source in sources:
        line = find_term(claim.term, source)
        if line is not None:
            reason = f"The term occurs in {source.path} on line {line}."
            return failed(claim, "term_occurs", reason, *texts)
    checked = tuple(Matched(path=source.path, sha256=source.sha256) for source in sources)
    item = Item(kind="absence", source=claim.source, ok=True, matched=checked[0], also=checked[1:])
    return Checked(item=item, texts=texts, paths=tuple(source.path for source in sources), term=claim.term)


def find_term(term: str, source: Source) -> int | None:
    """Return the first line that contains the term as whole words, ignoring case; None if there is none."""
    text = _plain_text(source)
    wanted = _plain(term)
    at = text.text.find(wanted)
    while at >= 0:
        before = text.text[at - 1 : at] if at else ""
        after = text.text[at + len(wanted) : at + len(wanted) + 1]
        # `dragon's` and `dragon-fire` contain the word `dragon`.
        if not (_clings(before, wanted[:1]) or _clings(after, wanted[-1:])):
            return text.line_at(at)
        at = text.text.find(wanted, at + 1)
    return None


def _files_of(claim: Claim, scope: str, around: Surroundings) -> list[str] | Checked:
    """Return every file in the scope; the claim fails if any name, glob or range matches no file."""
    try:
        found = files_in(scope, around.sources)
    except PathRefused as refused:
        return failed(claim, refused.code, str(refused))
    if isinstance(found, str):
        return failed(claim, "scope_missing", f"Something in {found!r} does not exist; correct the scope.")
    if not found or len(found) > MAX_FILES:
        return failed(claim, "scope_missing", f"Name between 1 and {MAX_FILES} files.")
    return found


def _plain_text(source: Source) -> Folded:
    return SHELF.folded(f"any case {source.sha256}", source.text, lambda text: fold_text(_unmasked(text)))


def _plain(term: str) -> str:
    return fold_text(_unmasked(term)).text


def _unmasked(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in text if sign.isascii() or unicodedata.category(sign) != "Cf")
    # Markdown emphasis inside a word would prevent a match.
    return text.replace("*", "").casefold()


def _clings(beside: str, edge: str) -> bool:
    return bool(beside) and beside.isalnum() and edge.isalnum() and not is_unspaced(edge)
