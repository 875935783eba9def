"""What a reply may claim, through `POST /api/evidence/check` and `/api/workspace`: each promise at the door itself."""

import json
import os
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tallystick import tool
from tallystick.gate.session import Session
from tallystick.plugin import Room
from tallystick.providers.local.judge import LocalJudge
from tallystick.providers.models.store import ModelStore
from tests.doors.http.doorway import Doorway
from tests.gate.reply.small_workspace import FIGURES, LINES, OBSERVATIONS, TICKETS, VECTORS

CHECK = "/api/evidence/check"
QUOTES: dict[str, Any] = json.loads((VECTORS / "reply_quotes.json").read_text(encoding="utf-8"))
SCENE = "Story/Scenes/SCN-01.md"
QUOTE = '"The rain had begun before dawn, and by noon the harbour was a sheet of grey water."'
HOLDS = f"Evidence: {QUOTE} {SCENE}"
PROSE = "Notes/prose.md"
BINARY = "one two three four five six"

RAIN = '"The rain had begun before dawn, and by noon the harbour" Story/Scenes/SCN-01.md'


class VectorRoom(Room):
    """The records and figures that the vectors speak of."""

    name = "vectors"

    def records(self) -> dict[str, Callable[[str], str | None]]:
        return {"ticket": TICKETS.get, "obs": OBSERVATIONS.get}

    def figure(self, query: str) -> Decimal | None:
        return FIGURES.get(query)


class Checks:
    """A served workspace with the files, records and receipts that the vectors speak of."""

    def __init__(self, door: Doorway) -> None:
        self.door = door
        for path, text in {**LINES["files"], PROSE: QUOTES["text"]}.items():
            self.write(path, text)
        door.gate._parts.rooms["vectors"] = VectorRoom()

        @tool(effect="read")
        def report(file_path: str) -> dict[str, Any]:
            """Report on a file."""
            del file_path
            return {"text": "The rain had begun before dawn.", "words": ["one", "42"], "count": 42}

        door.gate.register(report)
        self.receipts = {
            "rcpt_good": self.receipt("report", "s1"),
            "rcpt_foreign": self.receipt("report", "s2"),
            "rcpt_refused": self.receipt("forbidden", "s1"),
            "rcpt_held": self.receipt("send_mail", "s1", {"to": "a@example.org"}),
            "rcpt_erased": self.receipt("report", "s1"),
        }
        door.gate.ledger.erase(self.receipts["rcpt_erased"], session=Session(session_id="s1"), reason="asked for")

    def receipt(self, name: str, session: str, args: dict[str, Any] | None = None) -> str:
        answer = self.door.call(
            name, {"file_path": SCENE} if args is None and name == "report" else args, session=session
        )
        body = answer.json()
        return str(body.get("receipt_id") or self.door.receipts()[-1].receipt_id)

    def write(self, path: str, text: str) -> Path:
        file = self.door.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def __call__(self, reply: str, **more: Any) -> dict[str, Any]:
        for name, receipt_id in self.receipts.items():
            reply = reply.replace(name, receipt_id)
        answer = self.door.post(CHECK, {"reply": reply, "session": "s1", **more})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def line(self, line: str, **more: Any) -> dict[str, Any]:
        return self(f"See the passage below.\n\nEvidence: {line}", **more)


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    door = Doorway(tmp_path_factory.mktemp("checks") / "work")
    yield Checks(door)
    door.close()


def fault(found: dict[str, Any]) -> str | None:
    """The code of the first item that does not hold."""
    return next((item["code"] for item in found["items"] if not item["ok"]), None)


def named(cases: list[dict[str, Any]], key: str) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case[key].replace(" ", "-") for case in cases])


@named(LINES["cases"], "name")
@pytest.mark.promise(
    "reply.content", "reply.min-words", "reply.lines", "reply.structural", "reply.absence", "reply.tool-result",
    "reply.record", "reply.figure", "reply.request", "reply.quote-runs-to-its-reference",
    "reply.forgiving-in-form", "reply.mismatch-says-what-is-missing",
)  # fmt: skip
def test_each_item_on_the_line_is_checked_against_its_source(checks: Checks, case: dict[str, Any]) -> None:
    found = checks.line(case["line"])
    assert (found["ok"], found.get("code")) == (case["ok"], case.get("code")), found
    if case["ok"]:
        assert [item["kind"] for item in found["items"]] == case["kinds"]
    else:
        assert found["reason"]


@named(LINES["labels"], "name")
@pytest.mark.promise("reply.labels", "reply.tag")
def test_the_label_may_name_the_claim_type(checks: Checks, case: dict[str, Any]) -> None:
    assert checks(f"See below.\n\n{case['label']} {case['line']}")["ok"] is case["ok"]


@named(QUOTES["true"], "note")
@pytest.mark.promise("reply.quotes-form-is-folded", "reply.quotes-no-false-rejects")
def test_a_true_quote_holds_whatever_its_typography(checks: Checks, case: dict[str, Any]) -> None:
    found = checks(f"So.\nEvidence: “{case['quote']}” {PROSE}:L1-L60")
    assert found["ok"], found


@named(QUOTES["false"], "note")
@pytest.mark.promise(
    "reply.quotes-truth-is-strict", "reply.quotes-whole-words", "reply.quotes-hidden-and-lookalike",
    "reply.quotes-ellipsis", "reply.quotes-no-false-accepts",
)  # fmt: skip
def test_a_quote_that_is_not_there_never_holds(checks: Checks, case: dict[str, Any]) -> None:
    assert not checks(f"So.\nEvidence: “{case['quote']}” {PROSE}:L1-L60")["ok"]


@pytest.mark.promise("reply.quotes-real-lines", "reply.quotes-any-length", "reply.result")
def test_a_quote_is_reported_on_its_lines_in_a_short_text_and_in_a_long_one(checks: Checks) -> None:
    text = LINES["files"][SCENE]
    checks.write("Notes/long.md", "Lorem ipsum dolor sit amet.\n" * 2_000 + text)
    for path, before in ((SCENE, 0), ("Notes/long.md", 2_000)):
        (item,) = checks(f"So.\nEvidence: {QUOTE} {path}")["items"]
        digest = sha256((checks.door.workspace / path).read_bytes()).hexdigest()
        matched = {"path": path, "sha256": digest, "lines": [before + 3, before + 4], "normalised": True}
        assert item["matched"] == matched


@pytest.mark.promise("reply.one-evidence-line")
@pytest.mark.parametrize("reply", ["It holds.", f"{HOLDS}\n{HOLDS}", f"```\n{HOLDS}\n```", f"> {HOLDS}"])
def test_there_is_exactly_one_evidence_line(checks: Checks, reply: str) -> None:
    assert checks(reply)["code"] == "evidence_invalid"
    assert checks(f"It holds.\n{HOLDS}")["ok"]


@pytest.mark.promise("reply.current-hash", "reply.files-current")
def test_a_quote_is_checked_against_the_file_as_it_is_now(checks: Checks) -> None:
    file = checks.write("Notes/now.md", "The lamp was lit at nine o'clock.\n")
    line = '"The lamp was lit at nine o\'clock" Notes/now.md'
    assert checks.line(line)["ok"]
    assert checks.line(line)["ok"]
    file.write_text("The lamp was put out at nine.\n", encoding="utf-8")
    assert checks.line(line)["code"] == "quote_not_found"


@pytest.mark.promise("reply.near-miss")
def test_a_misquotation_is_refused_with_the_closest_real_line(checks: Checks) -> None:
    (item,) = checks.line(f'"The rain had begun before dusk, and by noon the" {SCENE}')["items"]
    assert (item["ok"], item["code"], item["closest"]["line"]) == (False, "quote_misquoted", 3)


@pytest.mark.promise("reply.body-quotations")
def test_a_true_quote_on_the_line_does_not_cover_a_made_up_one_above_it(checks: Checks) -> None:
    assert checks(f'He says "the moon fell into the sea".\n{HOLDS}')["code"] == "quote_not_found"
    assert checks(f'It says "by noon the harbour was a sheet".\n{HOLDS}')["ok"]


@pytest.mark.promise("reply.receipt-belongs-here", "reply.receipts-when-tools-ran")
def test_receipts_are_of_this_session_or_round_and_are_cited_after_tools_ran(checks: Checks) -> None:
    assert checks.line("receipt rcpt_good")["ok"]
    assert fault(checks.line("receipt rcpt_foreign")) == "receipt_foreign"
    here = {"conference": True, "conference_id": "c1", "round_id": "r1"}
    assert fault(checks.line("receipt rcpt_good", **here)) == "receipt_foreign"
    assert checks(f"So.\n{HOLDS}", tools_ran=True)["code"] == "evidence_invalid"
    assert checks(f"I used the report tool.\n{HOLDS}")["code"] == "evidence_invalid"
    assert checks(f"So.\n{HOLDS}; receipt rcpt_good", tools_ran=True)["ok"]


@pytest.mark.promise("reply.role-sources")
def test_a_role_looks_where_it_should(checks: Checks) -> None:
    assert checks.line(f"{SCENE}:L3", agent="critic")["ok"]
    assert not checks.line("Notes/plan.txt:L3", agent="critic")["ok"]
    assert not checks.line(f"{SCENE}:L3", agent="planner")["ok"]
    assert checks.line("outline: SCN-01", agent="planner")["ok"]


@pytest.mark.promise("reply.abstain", "turns.abstain")
def test_abstain_alone_is_an_answer_in_a_conference_only(checks: Checks) -> None:
    here = {"conference": True, "conference_id": "c1", "round_id": "r1"}
    assert checks("  Abstain\n", **here)["abstained"] is True
    assert checks("**ABSTAIN.**", **here)["abstained"] is True
    assert not checks("ABSTAIN, it holds.", **here)["ok"]
    assert not checks("ABSTAIN")["ok"]


@pytest.mark.promise("reply.cot-leak", "reply.tool-syntax")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<think>hm</think> It holds.", "cot_leak"), ("Okay, let me think about this.", "cot_leak"),
        ('report({"file_path": "a"})', "tool_syntax"), ("See below.", None),
    ],
)  # fmt: skip
def test_thinking_and_tool_syntax_do_not_belong_in_a_reply(checks: Checks, body: str, code: str | None) -> None:
    assert checks(f"{body}\n{HOLDS}").get("code") == code


@pytest.mark.promise(
    "reply.claims-need-their-evidence", "reply.absence-wordings", "reply.small-talk", "reply.said-not-done"
)
@pytest.mark.parametrize(
    ("body", "line", "code"),
    [
        ("Mara owns nine cats and the harbour burned in 1850.", "receipt rcpt_good", "quote_missing"),
        ("The rain had not begun before dawn.", RAIN, "negation_unsupported"),
        ("The word rain never occurs in any scene.", RAIN, "absence_missing"),
        ("No scene mentions a unicorn.", 'checked all scenes for "unicorn"; receipt rcpt_good', None),
        ("The rain had begun before dawn.", RAIN, None),
        ("I sent the report to the harbour.", f"{RAIN}; receipt rcpt_good", "action_without_receipt"),
    ],
)
def test_a_body_is_held_to_its_evidence(checks: Checks, body: str, line: str, code: str | None) -> None:
    found = checks(f"{body}\n\nEvidence: {line}")
    assert (found["ok"], found.get("fault")) == (code is None, code), found


@pytest.mark.promise("reply.values-stay-with-their-words")
def test_a_value_is_refused_with_the_words_of_another(checks: Checks) -> None:
    checks.write("Notes/fleet.md", "# Fleet\n\nIn the gale 7 boats sailed, 4 boats sank.\n")
    line = 'Evidence: "7 boats sailed, 4 boats sank" Notes/fleet.md'
    assert checks(f"7 boats sailed.\n\n{line}")["ok"]
    assert fault(checks(f"4 boats sailed.\n\n{line}")) == "number_unsupported"


@pytest.mark.promise("reply.judge-only-refuses")
def test_without_its_model_the_judge_leaves_a_claim_unsure_and_a_refusal_stands(
    checks: Checks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = LocalJudge("qwen2.5-coder-1.5b", ModelStore(tmp_path))
    monkeypatch.setitem(checks.door.gate._parts.__dict__, "judge", judge)
    found = checks(f"The rain had begun before dawn.\n\nEvidence: {RAIN}")
    assert found["ok"]
    assert [each["claim"] for each in found["unsure"]] == ["The rain had begun before dawn."]
    assert fault(checks(f"The rain had not begun before dawn.\n\nEvidence: {RAIN}")) == "negation_unsupported"


@pytest.mark.promise("reply.small-talk", "reply.unsure")
def test_small_talk_needs_nothing_and_an_opinion_is_shown_as_unsure(checks: Checks) -> None:
    assert checks("Hello! How can I help you today?")["ok"]
    found = checks(f"The pacing drags badly.\n\nEvidence: {RAIN}", agent="critic")
    assert found["ok"]
    assert [each["claim"] for each in found["unsure"]] == ["The pacing drags badly."]


@pytest.mark.promise("reply.per-sentence")
def test_every_sentence_carries_a_good_reference(checks: Checks) -> None:
    good = 'Hello,\nthe app crashes [ticket:12 "crashes when I open it"]. It is broken again [ticket:13].'
    assert checks(good, form="per-sentence")["ok"]
    bare = checks(f"{good} It will be mended by Friday.", form="per-sentence")
    assert fault(bare) == "sentence_without_reference"
    assert not checks(good.replace("[ticket:13]", "[ticket:99]"), form="per-sentence")["ok"]


@pytest.mark.promise("reply.per-sentence-support")
def test_each_sentence_is_held_to_its_own_references(checks: Checks) -> None:
    good = "The app crashes when it is opened on a phone [ticket:12]. It is broken again [ticket:13]."
    assert checks(good, form="per-sentence")["ok"]
    swapped = good.replace("ticket:12", "ticket:0").replace("ticket:13", "ticket:12").replace("ticket:0", "ticket:13")
    assert fault(checks(swapped, form="per-sentence")) == "claim_unsupported"
    assert fault(checks(good.replace("a phone", "9 phones"), form="per-sentence")) == "number_unsupported"
    figure = '41.3 % are open [figure 41.3 = share(status="open")].'
    assert checks(figure, form="per-sentence")["ok"]
    assert fault(checks(f"900 tickets, or {figure}", form="per-sentence")) == "number_unsupported"


@pytest.mark.promise("reply.record-binds-excerpts", "reply.result")
def test_the_receipt_of_a_check_binds_reply_excerpt_lines_and_file(checks: Checks) -> None:
    reply = f"So.\n{HOLDS}"
    receipt = checks.door.gate.ledger.find(checks(reply)["receipt_id"])
    assert receipt is not None
    (ref,) = receipt.header["file_refs"]
    text = LINES["files"][SCENE]
    excerpt = "\n".join(text.splitlines()[2:4])
    assert ref == {
        "path": SCENE, "sha256": sha256(text.encode()).hexdigest(), "lines": [3, 4],
        "excerpt_sha256": sha256(excerpt.encode()).hexdigest(),
    }  # fmt: skip
    assert receipt.outputs["reply_sha256"] == sha256(reply.encode()).hexdigest()
    assert receipt.outputs["items"][0]["excerpt"] == excerpt


@pytest.mark.promise("reply.any-text", "reply.linear", "reply.quotes-linear")
@pytest.mark.parametrize(
    "reply",
    [
        "", " \n", "\x00", "Evidence:", "Evidence: " + "“" * 500, "x" + " " * 40_000 + f"\n{HOLDS}",
        'Evidence: "' + "a " * 5_000 + f'" {SCENE}', "'" * 20_000, "> " * 20_000, "[" * 20_000,
        'So "' + "the " * 10_000 + f'".\n{HOLDS}',
    ],
)  # fmt: skip
def test_any_text_gets_an_answer_and_soon(checks: Checks, reply: str) -> None:
    since = time.process_time()
    found = checks(reply)
    assert time.process_time() - since < 2
    assert not found["ok"] or reply.endswith(HOLDS)
    assert found["receipt_id"]


@pytest.mark.promise("reply.files-stay-inside", "reply.files-nothing-decoded", "reply.files-protected")
@pytest.mark.parametrize(
    "path",
    ["../outside.md", "Story/../../outside.md", "Story/%2e%2e/%2e%2e/outside.md", ".control-room/x.md", ".git/x.md"],
)
def test_no_path_leads_outside_or_into_what_is_protected(checks: Checks, path: str) -> None:
    door = checks.door
    (door.workspace.parent / "outside.md").write_text(BINARY, encoding="utf-8")
    for inside in (".control-room/x.md", ".git/x.md"):
        checks.write(inside, BINARY)
    found = checks.line(f'"{BINARY}" {path}')
    assert found["code"] == "evidence_invalid", found
    assert door.get("/api/workspace/file", params={"path": path}).status_code in {400, 404}
    patch = {"path": path, "base_sha256": "", "text": "mine\n"}
    assert door.post("/api/workspace/patches", patch).status_code == (201 if "%2e" in path else 400)


@pytest.mark.promise("reply.files-no-links", "reply.files-plain-files")
def test_links_folders_and_pipes_are_refused_and_never_read(checks: Checks) -> None:
    folder, outside = checks.door.workspace / "Odd", checks.door.workspace.parent / "outside.md"
    outside.write_text(BINARY, encoding="utf-8")
    folder.mkdir()
    (folder / "link.md").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent)
    os.mkfifo(folder / "pipe.md")
    for path in ("Odd/link.md", "Odd/linked/outside.md", "Odd/pipe.md", "Odd"):
        assert checks.line(f'"{BINARY}" {path}')["code"] == "evidence_invalid", path
        assert checks.door.get("/api/workspace/file", params={"path": path}).status_code in {400, 404}, path


@pytest.mark.promise("reply.files-one-name")
def test_one_file_has_one_name(checks: Checks) -> None:
    checks.write("Notes/cafe\u0301.md", BINARY)
    for path in ("Notes/caf\u00e9.md", "Notes/cafe\u0301.md"):
        (item,) = checks.line(f'"{BINARY}" {path}')["items"]
        assert item["matched"]["path"] == "Notes/caf\u00e9.md"


@pytest.mark.promise("reply.files-budget")
def test_a_file_above_the_budget_is_cut_and_says_so(checks: Checks) -> None:
    checks.write("Notes/large.md", "A line of words that goes on.\n" * 20_000)
    answer = checks.door.call("file_reader", {"file_path": "Notes/large.md"}).json()["result"]
    assert answer["end_line"] < answer["total_lines"] == 20_000
    assert answer["next_start_line"] == answer["end_line"] + 1
    assert len(answer["text"].splitlines()) == answer["end_line"]
    small = checks.door.call("file_reader", {"file_path": SCENE}).json()["result"]
    assert (small["next_start_line"], small["text"].strip()) == (None, LINES["files"][SCENE].strip())


@pytest.mark.promise("reply.files-canon", "reply.files-protected")
def test_the_canon_is_served_from_the_control_room_and_is_not_written(checks: Checks) -> None:
    canon = checks.door.workspace / ".control-room" / "canon" / "canon-index.md"
    canon.parent.mkdir(parents=True, exist_ok=True)
    canon.write_text("Mara has grey eyes and a scar on her chin.\n", encoding="utf-8")
    (item,) = checks.line('"Mara has grey eyes and a scar" Canon.md')["items"]
    assert item["matched"]["path"] == "Canon.md"
    patch = {"path": "Canon.md", "base_sha256": item["matched"]["sha256"], "text": "mine\n"}
    assert checks.door.post("/api/workspace/patches", patch).status_code == 400


@pytest.mark.promise("reply.files-atomic-write")
def test_a_write_replaces_the_version_it_was_made_against_and_no_other(checks: Checks) -> None:
    door, file = checks.door, checks.write("Notes/edit.md", "One.\n")
    inode, digest = file.stat().st_ino, sha256(b"One.\n").hexdigest()
    patch = door.post(
        "/api/workspace/patches", {"path": "Notes/edit.md", "base_sha256": digest, "text": "Two.\n"}
    ).json()
    late = door.post(
        "/api/workspace/patches", {"path": "Notes/edit.md", "base_sha256": digest, "text": "Three.\n"}
    ).json()
    assert door.post(f"/api/workspace/patches/{patch['patch_id']}/apply", headers=door.person).status_code == 200
    assert file.read_text(encoding="utf-8") == "Two.\n"
    assert file.stat().st_ino != inode
    assert door.post(f"/api/workspace/patches/{late['patch_id']}/apply", headers=door.person).status_code == 409
    assert file.read_text(encoding="utf-8") == "Two.\n"
