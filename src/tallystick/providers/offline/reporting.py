"""What tools say: findings with the lines they rest on, that there are none, or plain fields."""

from collections.abc import Iterator, Sequence

from tallystick.providers.offline.choosing import said_by_name, without_paths
from tallystick.providers.offline.cited import Cited, cited_in, quotes_of, reports_none
from tallystick.providers.offline.citing import Quote, fits_role, would_pass
from tallystick.providers.offline.passages import wanted_stems
from tallystick.providers.offline.results import OfflineResult, files_of
from tallystick.providers.offline.situation import Situation
from tallystick.providers.offline.summarising import facts_of
from tallystick.providers.offline.words import stems_of
from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

MAX_FINDINGS = 10
"""Findings that are quoted; the rest are named."""
_MAX_FILES = 4


@record
class Paragraph:
    """A piece of an answer."""

    text: str
    quotes: tuple[Quote, ...] = ()
    items: tuple[str, ...] = ()
    """Further items of the Evidence line."""
    receipts: tuple[str, ...] = ()
    concerns_role: bool = False
    """It speaks of files that the role has to look at, whether or not it quotes one."""

    @property
    def is_bare(self) -> bool:
        """It rests on what the other paragraphs show."""
        return not (self.quotes or self.items or self.receipts)


def findings(now: Situation) -> Iterator[Paragraph]:
    """What tools have found, those that share most with the request first."""
    wanted = wanted_stems(now.wish)
    once = {each.key: (result, each) for result in reversed(now.results) for each in reversed(cited_in(result))}
    found = list(reversed(once.values()))
    ranked = sorted(enumerate(found), key=lambda one: (-_shared_by(one[1][1], wanted), one[0]))
    if not any(fits_role(place.path, now.wanted) for _, each in found for place in each.places):
        return
    for _, (result, each) in ranked[:MAX_FINDINGS]:
        quotes, lines = quotes_of(each, wanted)
        shown_places = "\n\n".join(
            f"> {' '.join(place.text.split())}\n\n({place.path}, line {place.first_line})" for place in each.places
        )
        # A tool's own words may be unfit for a reply; the lines speak for themselves.
        said = each.message if may_stand(each.message, now) else f"{result.seen.tool} found this:"
        receipts = (result.seen.receipt_id,)
        text = f"{said}\n\n{shown_places}"
        concerns = any(fits_role(place.path, now.wanted) for place in each.places)
        yield Paragraph(text=text, quotes=quotes, items=lines, receipts=receipts, concerns_role=concerns)
    yield from _named(ranked[MAX_FINDINGS:], now)


def _named(rest: Sequence[tuple[int, tuple[OfflineResult, Cited]]], now: Situation) -> Iterator[Paragraph]:
    """Name the findings for whose quotes there is no room, with their lines."""
    for _, (result, each) in rest:
        places = ", ".join(f"{place.path} line {place.first_line}" for place in each.places)
        said = each.message if may_stand(each.message, now) else f"{result.seen.tool} found this"
        yield Paragraph(text=f"Also: {said} ({places})", receipts=(result.seen.receipt_id,))


def found_nothing(now: Situation) -> Iterator[Paragraph]:
    """Tools that looked for something wrong and report none: for whoever's matter that is, it is the answer."""
    clean = [(result, kind) for result in now.results if (kind := reports_none(result)) is not None]
    if clean and not any(cited_in(result) for result in now.results):
        names = " and ".join(dict.fromkeys(result.seen.tool for result, _ in clean))
        kinds = " and ".join(dict.fromkeys(kind for _, kind in clean))
        files = [path for result, _ in clean for path in files_of(result) if fits_role(path, now.wanted)]
        text = f"{names} {'report' if ' and ' in names else 'reports'} no {kinds}."
        within = f"{text} Looked at: {_some(list(dict.fromkeys(files)))}."
        yield Paragraph(
            text=within if files and may_stand(within, now) else text,
            receipts=tuple(result.seen.receipt_id for result, _ in clean),
            concerns_role=any(_concerns_role(now, result) for result, _ in clean),
        )


def _concerns_role(now: Situation, result: OfflineResult) -> bool:
    """Whether a call was about files of the role. At a table its kind of work must be the role's as well."""
    if now.reading.at_table and not _does(now, result.seen.tool):
        return False
    return any(fits_role(path, now.wanted) for path in files_of(result))


def _does(now: Situation, tool: str) -> bool:
    """Whether what a tool's name says it does is among what the agent's card says it does."""
    persona = now.reading.persona
    held = stems_of(" ".join([persona.purpose, *persona.owns]))
    return not {stem(word) for word in said_by_name(tool)}.isdisjoint(held)


def _some(paths: list[str]) -> str:
    more = len(paths) - _MAX_FILES
    return ", ".join(paths[:_MAX_FILES]) + (f" and {more} more files" if more > 0 else "")


def _shared_by(each: Cited, wanted: frozenset[str]) -> int:
    text = " ".join([each.message, *(place.text for place in each.places)])
    return len(wanted.intersection(stem(word) for word in identifier_words(text)))


def summary(now: Situation, result: OfflineResult) -> Iterator[Paragraph]:
    """The fields of a result, as far as each may stand in a reply."""
    # Beside the word that nothing is wrong, only what was asked for is worth saying.
    clean = reports_none(result) is not None
    wanted = wanted_stems(now.wish) if clean else frozenset(stem(term) for term in now.wish.terms)
    lines = facts_of(result.value, wanted, asked_only=clean)
    facts = [fact for fact in lines if fact and may_stand(f"- {fact}", now)]
    if facts:
        listed = "\n".join(f"- {fact}" for fact in facts)
        text, receipts = f"{result.seen.tool} gives:\n{listed}", (result.seen.receipt_id,)
        yield Paragraph(text=text, receipts=receipts, concerns_role=_concerns_role(now, result))


def asks_of_role(now: Situation) -> bool:
    """Whether one agent is asked, by name, about what its role has to look at, and there is such a file."""
    if now.reading.at_table or set(stems_of(" ".join(now.wanted))).isdisjoint(stems_of(without_paths(now.wish))):
        return False
    return any(fits_role(path, now.wanted) for result in now.results for path in files_of(result))


def may_stand(line: str, now: Situation) -> bool:
    """Whether a line of a tool's own words has nothing that a reply must not have."""
    return would_pass(f"{line}\n\nEvidence: receipt rcpt_0", (), [tool.name for tool in now.reading.tools])
