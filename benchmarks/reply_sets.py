"""Labelled replies through the real check: false accepts, false rejects and how much stays unsure.

    python -m benchmarks.reply_sets FOLDER [dev|held|fresh] [--misses] [--judge MODEL]

FOLDER is a batch or holds batches; without a part every file of replies is read. With `--judge` a local model judges
what the rules accept, which takes seconds a reply. A batch is a folder with `project/` (the files), `receipts.json` (the calls that were made and
what they returned) and PART.jsonl (one labelled reply a line, with `{r1}` where a receipt's id goes). Every call runs
through a gate of its own workspace, so its receipt is real: a failed call raises, a refused one is denied.
"""

from __future__ import annotations

import argparse
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from tallystick import Findings, Gate, Tool
from tallystick.errors import ToolError
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.verdict import ALLOW, Decision
from tallystick.gate.tool import Card
from tallystick.settings import Settings

SESSION = "replies"


def main() -> None:
    parser = argparse.ArgumentParser(description="Score the reply check on labelled replies.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", nargs="?", default="*", help="the file of each batch to read, without .jsonl")
    parser.add_argument("--judge", default="", help="the local model that judges what the rules accept")
    parser.add_argument("--misses", action="store_true", help="print every reply that was judged wrongly")
    options = parser.parse_args()
    cases = list(score(options.folder, options.part, options.judge))
    if options.misses:
        for case in cases:
            if case["verdict"] != "right":
                print(_shown(case))
    print(table(cases))


def score(folder: Path, part: str, judge: str = "") -> Iterator[dict[str, Any]]:
    """Yield every reply with what the check found and whether that was right."""
    for file in sorted(folder.glob(f"{'' if (folder / 'project').is_dir() else '*/'}{part}.jsonl")):
        with TemporaryDirectory(prefix="tally-replies-") as place:
            yield from _score_batch(file, Path(place), judge)


def _score_batch(file: Path, place: Path, judge: str) -> Iterator[dict[str, Any]]:
    workspace, batch = place / "ws", file.parent
    shutil.copytree(batch / "project", workspace)
    settings = Settings.model_validate(
        {
            "ledger": {"durability": "os"},
            "storage": {"state_dir": str(place / "state")},
            "evidence": {"judge": judge},
        }
    )
    recorded: dict[str, Any] = orjson.loads((batch / "receipts.json").read_bytes())
    replies = [orjson.loads(line) for line in file.read_bytes().splitlines() if line.strip()]
    with Gate.open(workspace, settings=settings, plugins=False) as gate:
        ids = make_receipts(gate, recorded)
        for reply in replies:
            text = reply["reply"]
            for name, receipt_id in ids.items():
                text = text.replace("{" + name + "}", receipt_id)
            findings = gate.check_reply(text, session=SESSION, conference=text.strip(" .*\n") == "ABSTAIN")
            yield {**reply, "batch": batch.name, "findings": findings, "verdict": verdict(reply["label"], findings)}


def make_receipts(gate: Gate, recorded: Mapping[str, Any]) -> dict[str, str]:
    """Run every recorded call through the gate and return the receipt id of each."""
    now: dict[str, Any] = {}

    def answer(**_: Any) -> Any:
        if now["status"] == "failed":
            raise ToolError(now["result"] if isinstance(now["result"], str) else orjson.dumps(now["result"]).decode())
        return now["result"]

    def decide(_proposal: Any, _snapshot: Any) -> Decision:
        refused = now["status"] == "refused"
        return Decision(verdict="deny", fault=DENIED, reason=str(now["result"])) if refused else ALLOW

    keys: dict[str, set[str]] = defaultdict(set)
    for call in recorded.values():
        keys[call["tool"]].update(call["arguments"])
    gate.register(*(Tool(card=_card(name, keys[name]), handler=answer, rule=decide) for name in sorted(keys)))
    ids: dict[str, str] = {}
    for name, call in recorded.items():
        now |= call
        ids[name] = gate.call_sync(call["tool"], call["arguments"], session=SESSION).receipt_id
    return ids


def _card(name: str, keys: set[str]) -> Card:
    schema = {"type": "object", "properties": {key: {} for key in sorted(keys)}}
    spoken = name.replace("_", " ").replace(".", " ")
    return Card(name=name, description=spoken.capitalize(), input_schema=schema, effect="read")


def verdict(label: str, findings: Findings) -> str:
    """Return `right`, `false accept`, `false reject`, or `unsure`, which is wrong for either label."""
    if findings.ok and findings.unsure:
        return "unsure accept" if label == "bad" else "unsure reject"
    if findings.ok == (label == "good"):
        return "right"
    return "false accept" if findings.ok else "false reject"


def table(cases: list[dict[str, Any]]) -> str:
    """Return the figures as Markdown: in all, by source of evidence, by batch and by kind."""
    lines = ["| part | replies | false accepts of bad | false rejects of good | unsure |", "|---|---|---|---|---|"]
    lines.append(_row("all", cases))
    for field in ("evidence_from", "batch", "kind"):
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for case in cases:
            groups[f"{field} {_group(case[field])}"].append(case)
        lines += [_row(name, groups[name]) for name in sorted(groups)]
    codes = Counter(str(case["findings"].fault) for case in cases if case["label"] == "bad" and not case["findings"].ok)
    return "\n".join([*lines, "", f"Codes of refused bad replies: {dict(codes.most_common())}"])


def _row(name: str, cases: list[dict[str, Any]]) -> str:
    found = Counter(case["verdict"] for case in cases)
    bad = sum(case["label"] == "bad" for case in cases)
    good = len(cases) - bad
    accepts = found["false accept"] + found["unsure accept"]
    rejects = found["false reject"] + found["unsure reject"]
    unsure = found["unsure accept"] + found["unsure reject"]
    return (
        f"| {name} | {len(cases)} | {accepts} of {bad} ({_percent(accepts, bad)}) | {rejects} of {good} "
        f"({_percent(rejects, good)}) | {unsure} ({_percent(unsure, len(cases))}) |"
    )


def _group(name: str) -> str:
    """Return the number of a kind (batches name kinds in their own words), or the name as it is."""
    number = str(name).split(" ")[0]
    return f"{int(number):02}" if number.isdigit() else str(name)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _shown(case: dict[str, Any]) -> str:
    findings: Findings = case["findings"]
    return (
        f"--- {case['verdict']} {case['batch']} {case['id']} kind {case['kind']}\n{case['reply']}\n"
        f"WHY: {case['why']}\nFOUND: {findings.fault} {findings.reason}\n"
        f"UNSURE: {[item.source for item in findings.unsure]}"
    )


if __name__ == "__main__":
    main()
