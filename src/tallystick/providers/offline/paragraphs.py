"""What there is to say: each paragraph with the evidence it rests on, in the order it is said."""

import re
from collections.abc import Iterator

from tallystick.providers.offline.choosing import is_router
from tallystick.providers.offline.cited import reports_none
from tallystick.providers.offline.citing import fits_role, quote_from, scope_holds_role
from tallystick.providers.offline.passages import (
    OfflinePassage,
    coverage,
    is_about,
    opening,
    rank_passages,
    search_words,
    shared_stems,
    shown,
    wanted_stems,
)
from tallystick.providers.offline.planning import CHIEFS
from tallystick.providers.offline.reporting import Paragraph, asks_of_role, findings, found_nothing, may_stand, summary
from tallystick.providers.offline.results import Absence, OfflineResult, absence_in, holds_records, scalars
from tallystick.providers.offline.situation import Situation
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

CONCERNS = 0.34
"""Share of the request's words that a passage must hold to be given as an answer."""
MAX_PASSAGES = 2
MAX_OPENING = 3
"""Sentences shown of a file that is asked for as a whole."""
MAX_FILES = 6
_MAX_NAMED = 4
_AS_GOOD = 0.7
"""A second passage is given only if it is nearly as good as the first."""
_ELSEWHERE = 0.35
"""From another file, a lesser one is worth seeing: files contradict each other."""
_TELLING = 2
"""Words of the request that a second passage holds itself, if the first does: one name alone stands everywhere."""
_ASKS_FOR_FILES = re.compile(r"\b(?:files?|documents?|which (?:scene|chapter|page|doc)s?|list)\b", re.IGNORECASE)


def paragraphs(now: Situation) -> Iterator[Paragraph]:
    """Everything that the results say to the request."""
    # Whom or what a request names is its matter: where that stands nowhere, no passage answers it.
    nowhere = _names_absent(now)
    found = [] if nowhere else list(_from_files(now))
    routings = [result for result in now.results if _is_routing(result) and _may_route(now)]
    # That nobody owns it is worth saying only where there is nothing else to say.
    routed = [part for result in routings if agents_named(result) or not found for part in _routing(now, result)]
    yield from routed
    told = list(findings(now))
    yield from told
    if told:
        # They say what is wrong and where; a passage that only shares words with the request says less.
        return
    # That nothing is wrong is no place in a file, and a role may have to show one.
    clean = list(found_nothing(now))
    yield from [*clean, *found]
    absent = list(_absence(now, found=bool(found or routed)))
    yield from absent
    listed = (
        list(_files(now, but=bool(absent))) if not (found or nowhere) or _ASKS_FOR_FILES.search(now.wish.text) else []
    )
    yield from listed
    others = [part for result in now.results if _is_other(now, result) for part in summary(now, result)]
    yield from others
    if not (routed or clean or found or listed or absent or others):
        yield from _failures(now)


def _from_files(now: Situation) -> Iterator[Paragraph]:
    excerpts = [one.excerpt for one in now.results if one.excerpt is not None]
    fitting = [excerpt for excerpt in excerpts if fits_role(excerpt.path, now.wanted)]
    if not wanted_stems(now.wish):
        for excerpt in fitting[-1:]:
            yield from _quoted(now, opening(excerpt, MAX_OPENING), most=MAX_OPENING)
        return
    own = [part for excerpt in fitting if is_about(excerpt, now.wish) for part in opening(excerpt, MAX_OPENING)]
    if own:
        yield from _quoted(now, own, most=MAX_OPENING)
        return
    passages = rank_passages(fitting, now.wish)
    if passages and (coverage(passages, now.wish) >= CONCERNS or passages[0].numbered):
        yield from _quoted(now, passages, most=MAX_PASSAGES)
        seen = frozenset[str]().union(*(passage.covered for passage in passages[:MAX_PASSAGES]))
        missing = [word.removesuffix("'s") for word in search_words(now.wish) if stem(word) not in seen]
        if missing and not passages[0].numbered:
            yield Paragraph(text=f"What I quote does not mention: {', '.join(missing[:_MAX_NAMED])}.")


def _quoted(now: Situation, passages: list[OfflinePassage], *, most: int) -> Iterator[Paragraph]:
    wanted = wanted_stems(now.wish)
    given: list[str] = []
    for passage in passages:
        quote = quote_from(passage, wanted)
        text = shown(passage)
        enough = _AS_GOOD if passage.excerpt.path == passages[0].excerpt.path else _ELSEWHERE
        if quote is None or text in given or passage.score < enough * passages[0].score:
            continue
        if given and len(shared_stems(passage, wanted)) < min(_TELLING, len(shared_stems(passages[0], wanted))):
            continue
        says = ", says:" if not given else ":"
        given.append(text)
        lead = f"{quote.path}, line {quote.line}{says}"
        yield Paragraph(text=f"{lead}\n\n> {text}", quotes=(quote,), receipts=(passage.excerpt.receipt_id,))
        if len(given) == most:
            return


def _files(now: Situation, *, but: bool) -> Iterator[Paragraph]:
    for result in reversed(now.results):
        paths = list(dict.fromkeys(place.path for place in result.places if fits_role(place.path, now.wanted)))
        if paths and not result.failed and reports_none(result) is None:
            listed = "\n".join(f"- {path}" for path in paths[:MAX_FILES])
            text = f"Files that fit {'the rest of ' if but else ''}the request, the best first:\n{listed}"
            concerns = not now.reading.at_table
            yield Paragraph(text=text, receipts=(result.seen.receipt_id,), concerns_role=concerns)
            return


def _absence(now: Situation, *, found: bool) -> Iterator[Paragraph]:
    """Words of the request that a search reports as standing nowhere. Beside an answer, only names are worth it."""
    telling = {phrase.lower() for phrase in now.wish.quoted}
    telling |= {word.lower() for name in now.wish.names for word in name.split()}
    wanted = telling if found else telling | set(search_words(now.wish))
    # A word that a file is called by was found, if not in a text.
    called = {stem(word) for result in now.results for place in result.places for word in identifier_words(place.path)}
    for result in now.results:
        absence = absence_in(result)
        if absence is None:
            continue
        terms = [term for term in absence.terms if term in wanted and stem(term) not in called][:_MAX_NAMED]
        if terms:
            yield _of_absence(now, absence, terms, result)
            return


def _names_absent(now: Situation) -> bool:
    """Whether searches report every name of the request as standing nowhere."""
    named = {stem(word) for name in now.wish.names for word in identifier_words(name)}
    absent = {stem(term) for result in now.results if (one := absence_in(result)) is not None for term in one.terms}
    called = {stem(word) for result in now.results for place in result.places for word in identifier_words(place.path)}
    return bool(named) and named <= absent - called


def _of_absence(now: Situation, absence: Absence, terms: list[str], result: OfflineResult) -> Paragraph:
    return Paragraph(
        text=f"None of the {absence.searched} files searched holds: {', '.join(terms)}.",
        items=tuple(f'checked {absence.scope} for "{term}"' for term in terms),
        receipts=(result.seen.receipt_id,),
        concerns_role=asks_of_role(now) and scope_holds_role(absence.scope, now.wanted),
    )


def _routing(now: Situation, result: OfflineResult) -> Iterator[Paragraph]:
    """Who should do it, where the result says that; else its fields."""
    value = result.value if isinstance(result.value, dict) else {}
    ids = agents_named(result)
    receipts = (result.seen.receipt_id,)
    if ids:
        work = f" (intent: {value['intent']})" if isinstance(value.get("intent"), str) else ""
        needs = f" It needs {value['evidence_type']} evidence." if isinstance(value.get("evidence_type"), str) else ""
        yield Paragraph(text=f"This is for {', '.join(ids[:_MAX_NAMED])}{work}.{needs}", receipts=receipts)
    elif value.get("routable") is False:
        text = "The message names no task that an agent here owns. Name what is to be done, and with which file."
        yield Paragraph(text=text, receipts=receipts)
    else:
        yield from summary(now, result)


def agents_named(result: OfflineResult) -> list[str]:
    """The agents that a router's result says a request is for."""
    agents = result.value.get("agents") if _is_routing(result) and isinstance(result.value, dict) else None
    named = agents if isinstance(agents, list) else []
    return [str(one["agent_id"]) for one in named if isinstance(one, dict) and "agent_id" in one]


def _failures(now: Situation) -> Iterator[Paragraph]:
    """Calls that came to nothing: said, with their receipts."""
    failed = [result for result in now.results if result.failed]
    for result in (failed or now.results)[-1:]:
        receipts = (result.seen.receipt_id,)
        if not result.failed:
            yield Paragraph(text="I found nothing in the results that answers this.", receipts=receipts)
            continue
        message = next((str(value) for key, value in scalars(result.value) if key == "message"), "")
        said = f"{result.seen.tool} could not do this: {' '.join(message.split())[:160]}"
        # The tool's own words may be unfit for a reply.
        text = said if message and may_stand(said, now) else f"{result.seen.tool} could not do this."
        yield Paragraph(text=text, receipts=receipts)


def _may_route(now: Situation) -> bool:
    """At a conference the chief says whose matter it is, and the others speak to the matter."""
    return bool(now.reading.tools) or now.reading.persona.role in CHIEFS


def _is_routing(result: OfflineResult) -> bool:
    return is_router(result.seen.tool) and not result.failed


def _is_other(now: Situation, result: OfflineResult) -> bool:
    """A result that is neither a reading nor a search nor a routing: its fields are the answer."""
    tool = now.tool_of(result)
    if result.failed or result.excerpt is not None or is_router(result.seen.tool):
        return False
    if result.value in (None, "", [], {}):
        return False
    if tool is None:
        # Brought by somebody else, as in a conference.
        return not result.places and absence_in(result) is None
    return tool not in (now.search, now.reader) or holds_records(result)
