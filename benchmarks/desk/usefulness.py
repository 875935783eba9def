"""Is the desk of use? Of questions that documents answer, how many are answered rightly, with quotes that hold.

Beside it, in the same run, what must not happen: a question that has no answer is answered, a sentence goes out that no
document holds, a quote from another document passes. Deferring everything would look safe and answer nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.desk.questions import Question, asked_of_bank, asked_of_sample, bank_documents
from tallystick import Gate
from tallystick.gate.quotes import find_quote, fold_text
from tallystick.gate.reply.sentences import read_sentences
from tallystick.rooms.desk.kb.knowledge import KnowledgeBase
from tallystick.rooms.desk.kb.nouns import Document
from tallystick.rooms.desk.nouns import Ticket
from tallystick.rooms.desk.sample_desk import copy_sample
from tallystick.rooms.desk.trial import Support
from tallystick.settings import parse_settings

PROMISES = ("desk.usefulness",)
DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[3] / "shared" / "data"))
FLOOR = 0.60
HELD_OUT = 12
"""Products whose documents are taken away: questions about them have no answer, though others sound like one."""
FOR_PEOPLE = frozenset({"get_refund", "check_refund_policy", "track_refund", "contact_human_agent", "complaint"})
"""Intents that the desk's rules leave to people: refunds, complaints, and whoever asks for a person."""
GOAL = f"answered rightly ≥ {FLOOR:.0%} of the answerable; unsupported sentences sent: 0; swapped quotes passed: 0"


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    if not (DATA / "tau2").is_dir() or not (DATA / "bitext-2022").is_dir():
        return {"goal": GOAL, "markdown": "Left out: tau2 and bitext-2022 are not there (TALLY_DATA)."}
    bank, without, sample = folder / "bank", folder / "held-out", folder / "sample"
    documents = bank_documents(DATA)
    gone = held_out(sorted({each.product for each in documents if each.product}))
    for each in documents:
        _put(bank / "kb" / each.doc, each.text)
        if each.product not in gone:
            _put(without / "kb" / each.doc, each.text)
    copy_sample(sample / "kb")
    asked, customers = asked_of_bank(documents), asked_of_sample(DATA)
    many = len(asked) if full else 150
    answerable = asked[:many]
    unknown = [replace(each, docs=frozenset[str](), value=None) for each in asked if each.product in gone][: many // 3]
    theirs = [each for each in customers if each.rule not in FOR_PEOPLE]
    theirs = theirs if full else theirs[:: max(1, len(theirs) // 120)]
    foreign = [
        replace(each, docs=frozenset[str](), value=None) for each in asked[many : many + many // 3] or asked[:200]
    ]
    rows = {
        "bank, answerable": asked_at(bank, answerable),
        "bank, product taken away": asked_at(without, unknown),
        "shop, answerable": asked_at(sample, theirs),
        "shop, asked about a bank": asked_at(sample, foreign),
    }
    retrieval = {"bank": _retrieval(bank, answerable), "shop": _retrieval(sample, theirs)}
    swapped = swapped_at(bank, answerable[: 60 if not full else 300])
    return {
        "goal": GOAL,
        "markdown": _markdown(rows, retrieval, swapped),
        "rows": rows,
        "retrieval": retrieval,
        "swapped": swapped,
    }


def held_out(products: Sequence[str]) -> frozenset[str]:
    """Fixed, and without a choice of ours."""
    return frozenset(sorted(products, key=lambda name: sha256(name.encode()).digest())[:HELD_OUT])


# -- end to end --------------------------------------------------------------------------------------------------------


def asked_at(workspace: Path, questions: Sequence[Question]) -> dict[str, Any]:
    """Every question as a customer's message, through the whole desk; what came of each."""
    counts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    sentences = unsupported = 0
    with open_desk(workspace) as gate:
        support = Support(gate)
        kb = support.room.library.kb
        for number, question in enumerate(questions):
            tried = support.attempt(question.text, run=f"asked-{number}")
            if isinstance(tried, str):
                counts["not taken"] += 1
                continue
            if not tried.sent:
                counts["blocked" if tried.status == "blocked" else "deferred"] += 1
                rules[tried.verdict.rule_id if tried.verdict is not None else tried.decision] += 1
                continue
            sources = {str(one["source"]) for one in tried.evidence}
            opened = [found for doc in sorted(sources) if (found := kb.document(doc)) is not None]
            said = [each.text for each in read_sentences(tried.sent) if not each.is_courtesy]
            sentences += len(said)
            unsupported += sum(not stands(each, opened) for each in said)
            counts["right" if is_right(question, said, opened) else "wrong"] += 1
    return {
        "questions": len(questions), "right": counts["right"], "wrong": counts["wrong"], "deferred": counts["deferred"],
        "blocked": counts["blocked"], "not_taken": counts["not taken"], "sentences": sentences,
        "unsupported": unsupported, "rules": dict(rules.most_common(6)),
    }  # fmt: skip


def open_desk(workspace: Path) -> Gate:
    settings = parse_settings({"ledger": {"durability": "os"}, "rooms": {"desk": {"kb": "kb"}}})
    return Gate.open(workspace, settings=settings)


def is_right(question: Question, said: Sequence[str], opened: Sequence[Document]) -> bool:
    """Says the value and has it from a document that holds the answer; without a value, has a sentence from there."""
    for document in opened:
        if document.doc in question.docs:
            theirs = [each for each in said if stands(each, [document])]
            if question.value is None and theirs:
                return True
            if question.value is not None and any(question.value in each for each in theirs):
                return True
    return False


def stands(sentence: str, documents: Sequence[Document]) -> bool:
    """Whether the words stand in one of these, as they are; the full stop that a list item lacks is ours."""
    bare = sentence.rstrip(".")
    texts = [text for document in documents for text in (document.folded, fold_text(_rows_told(document.text)))]
    return any(find_quote(each, text) for text in texts for each in (sentence, bare) if each)


def _rows_told(text: str) -> str:
    """The rows of tables alone, as they are told: `| Fee | $5 |` is `Fee: $5`; with more columns, each after its name."""
    told: list[str] = []
    head: list[str] = []
    for line in map(str.strip, text.splitlines()):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and head:
            more = (
                cells[1:]
                if len(cells) == 2
                else [f"{name} {cell}" for name, cell in zip(head[1:], cells[1:], strict=False)]
            )
            told.append(f"{cells[0]}: {', '.join(more)}")
        head = head or cells if cells else []
    return "\n\n".join(told)


# -- a quote swapped in ------------------------------------------------------------------------------------------------


def swapped_at(workspace: Path, questions: Sequence[Question]) -> dict[str, int]:
    """Tickets that proceed, judged again with the words of another document in place of each quote."""
    tried = passed = 0
    with open_desk(workspace) as gate:
        support = Support(gate)
        room = support.room
        others = [hit.snippet for question in questions for hit in room.library.kb.search(question.text, 1).hits]
        for number, question in enumerate(questions):
            received = room.office.intake.take(
                {"type": "question", "thread_id": f"s{number}", "content": question.text, "actor": "you"}
            )
            ended = [] if received.ticket_id is None else list(support.work([received.ticket_id], run=f"swap-{number}"))
            tool = next(
                (
                    one
                    for one in ended
                    if one.kind == "TOOL" and one.judged is not None and one.judged.status == "PROCEED"
                ),
                None,
            )
            if tool is None:
                continue
            for other in _another(tool, others):
                tried += 1
                passed += room.judge.verdict(other).status == "PROCEED"
    return {"tried": tried, "passed": passed}


def _another(ticket: Ticket, snippets: Sequence[str]) -> Iterator[Ticket]:
    """The ticket with all its quotes swapped for one from a document it never saw; source and receipt stay."""
    context = ticket.final_outputs["tool_context"]
    own = {str(one["snippet"]) for one in context["evidence"]}
    strange = next((each for each in snippets if each not in own), None)
    if strange is not None:
        evidence = [{**one, "snippet": strange} for one in context["evidence"]]
        outputs = {**ticket.final_outputs, "tool_context": {**context, "evidence": evidence}}
        yield replace(ticket, body={**ticket.body, "metadata": {**ticket.metadata, "final_outputs": outputs}})


# -- retrieval alone ---------------------------------------------------------------------------------------------------


def _retrieval(workspace: Path, questions: Sequence[Question]) -> dict[str, float]:
    kb = KnowledgeBase(workspace / "kb")
    with open_desk(workspace) as gate:
        both = Support(gate).room.library.kb
        found = {}
        for name, base in (("words", kb), ("words and meaning", both)):
            ranks = [_rank(base, question) for question in questions]
            found[f"{name} @1"] = round(sum(rank == 0 for rank in ranks) / len(ranks), 3)
            found[f"{name} @5"] = round(sum(rank is not None for rank in ranks) / len(ranks), 3)
    return found


def _rank(base: KnowledgeBase, question: Question) -> int | None:
    for rank, hit in enumerate(base.search(question.text, 5).hits):
        if hit.doc in question.docs and (question.value is None or question.value in hit.snippet):
            return rank
    return None


# -- telling -----------------------------------------------------------------------------------------------------------


def _markdown(rows: dict[str, dict[str, Any]], retrieval: dict[str, dict[str, float]], swapped: dict[str, int]) -> str:
    lines = [
        "| questions | asked | answered rightly | wrongly | left to a person | unsupported sentences sent |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        share = {key: row[key] / row["questions"] for key in ("right", "wrong", "deferred")}
        lines.append(
            f"| {name} | {row['questions']} | **{share['right']:.1%}** | {share['wrong']:.1%} | {share['deferred']:.1%} "
            f"| {row['unsupported']} of {row['sentences']} |"
        )
    lines.append("\nPassages found, without the rest of the desk:\n")
    names = list(next(iter(retrieval.values())))
    lines += [f"| knowledge base | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    lines += [f"| {name} | {' | '.join(f'{row[key]:.3f}' for key in names)} |" for name, row in retrieval.items()]
    lines.append(f"\nA quote swapped in from another document: {swapped['passed']} of {swapped['tried']} passed.")
    return "\n".join(lines)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
