"""`tally desk`: a question tried without set-up, tickets worked off, and what people decide."""

from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.desk.sample_data import copy_sample
from tests.doors.cli.conftest import Tally

SETTINGS = '[rooms.desk]\nsend = "auto"\nkb_meaning = false\nverdict = { threshold = 0.35 }\n'
REFUND = "When is the refund for a returned item paid?"
DOCUMENTS = {
    "refunds.md": "# Refunds\n\nA refund for a returned item is paid within 14 days of its arrival.\n",
    "hours.md": "# Opening hours\n\nOur shop in Leeds is open from 9 to 17 on working days.\n",
}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder of documents outside any workspace."""
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def shop(workspace: Path) -> Path:
    """The workspace, with documents."""
    (workspace / "kb").mkdir()
    for name, text in DOCUMENTS.items():
        (workspace / "kb" / name).write_text(text, encoding="utf-8")
    (workspace / "tallystick.toml").write_text(SETTINGS, encoding="utf-8")
    return workspace


@pytest.mark.promise("desk.cli")
def test_a_question_is_tried_without_set_up_and_leaves_nothing_behind(
    tally: Tally, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "elsewhere"
    here.mkdir()
    monkeypatch.chdir(here)
    before = sorted(path.name for path in documents.iterdir())
    tried = tally("desk", "try", "When is the shop in Leeds open?", "--kb", documents)
    assert tried.code == 0, tried.err
    assert tried.out.startswith("PROCEED  proceed.")
    assert "hours.md" in tried.out
    assert "would wait for a person:" in tried.out
    assert "open from 9 to 17" in tried.out
    assert list(here.iterdir()) == []
    assert sorted(path.name for path in documents.iterdir()) == before


@pytest.mark.promise("desk.cli", "desk.send-modes", "desk.verdict")
def test_trying_tells_the_rule_and_what_would_change_the_verdict(tally: Tally, documents: Path) -> None:
    told = tally("--json", "desk", "try", REFUND, "--kb", documents).json
    assert (told["status"], told["verdict"]["rule_id"], told["would_send"]) == ("review", "defer.category", "")
    assert "within 14 days" in told["draft"]
    assert "decided by people" in told["would_change"]
    nothing = tally("desk", "try", "Which trombone suits a giraffe?", "--kb", documents)
    assert nothing.out.startswith(("DEFER  defer.no-evidence", "DEFER  defer.need-uncovered"))
    assert "what would change it: a document that answers" in nothing.out
    assert "would be sent" not in nothing.out
    advert = tally("--json", "desk", "try", "Buy our SEO services and backlinks today", "--kb", documents).json
    assert (advert["decision"], advert["verdict"], advert["would_send"]) == ("REJECT", None, "")


@pytest.mark.promise("desk.cli", "desk.log-fields")
def test_trying_a_question_in_a_workspace_leaves_nothing_behind_either(tally: Tally, shop: Path) -> None:
    (shop / "tallystick.toml").write_text(f'{SETTINGS}logs = ["*.log"]\n', encoding="utf-8")
    line = "2026-01-05 order 48213 was declined: card expired, admin PIN 4711\n"
    (shop / "shop.log").write_text(line, encoding="utf-8")
    before = sorted(str(path) for path in shop.rglob("*"))
    tried = tally("--json", "desk", "try", "When is the shop in Leeds open?")
    assert tried.code == 0, tried.err
    assert (tried.json["verdict"]["status"], tried.json["evidence"][0]["source"]) == ("PROCEED", "hours.md")
    declined = tally("--json", "desk", "try", "Why was order 48213 declined?").json
    assert (declined["evidence"][0]["source"], declined["would_send"], declined["draft"]) == ("shop.log", "", "")
    assert declined["verdict"]["rule_id"] == "defer.source-not-trusted"
    assert "context only: a log" in tally("desk", "try", "Why was order 48213 declined?").out
    assert sorted(str(path) for path in shop.rglob("*")) == before
    assert tally("--json", "desk", "list").json["total"] == 0
    assert tally("--json", "desk", "outbox").json["total"] == 0


@pytest.mark.promise("desk.cli")
def test_trying_tells_the_rule_though_triage_alone_decides(tally: Tally, documents: Path) -> None:
    person = tally("desk", "try", "Can I speak with a human about my order?", "--kb", documents)
    assert person.out.startswith("DEFER  defer.person-wanted: ")
    assert "what would change it: nothing" in person.out
    advert = tally("desk", "try", "Buy our SEO services and backlinks today", "--kb", documents)
    assert advert.out.startswith("REJECT  triage: Advertising.\nwhat would change it: ")


@pytest.mark.promise("desk.cli")
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["try", "Is it open?", "--kb", "nowhere"], "kb_missing"),
        (["try", "  ", "--kb", "."], "not_taken"),
        (["show", "ticket_0"], "ticket_unknown"),
        (["import", "nowhere.csv"], "file_missing"),
        (["approve", "ticket_0"], "person_required"),
    ],
)
def test_what_cannot_be_done_has_a_code(tally: Tally, workspace: Path, words: list[str], error: str) -> None:
    wrong = tally("desk", *words)
    assert (wrong.code, wrong.error, wrong.out) == (1, error, "")


@pytest.mark.promise("desk.cli")
def test_messages_are_taken_worked_off_and_answered(tally: Tally, shop: Path) -> None:
    added = tally("--json", "desk", "add", "When is the shop in Leeds open?", "--thread", "t1", "--from", "ines")
    assert (added.code, added.json["status"]) == (0, "queued")
    assert tally("desk", "add", "When is the shop in Leeds open?", "--thread", "t1", "--from", "ines").code == 0
    (shop / "more.csv").write_text(f"content,thread_id\n{REFUND},t2\nIs the shop in Leeds open?,t3\n", encoding="utf-8")
    assert tally("--json", "desk", "import", "more.csv").json["queued"] == 2
    worked = tally("--json", "desk", "work").json
    assert worked["sent"] == 2
    assert {one["status"] for one in worked["tickets"]} == {"done", "review"}
    listed = tally("--json", "desk", "list", "--status", "review").json
    assert listed["total"] == 1
    name = listed["items"][0]["id"]
    assert name in tally("desk", "list").out
    shown = tally("--json", "desk", "show", added.json["ticket_id"]).json
    assert (shown["status"], shown["event"]["actor"]) == ("done", "ines")
    assert tally("desk", "show", added.json["ticket_id"]).out.startswith(f"{added.json['ticket_id']}  TRIAGE  done\n")
    states = [one["state"] for one in tally("--json", "desk", "outbox").json["items"]]
    assert states == ["sent", "sent"]
    figures = tally("--json", "desk", "metrics").json
    assert (figures["proceed"], figures["defer"], figures["sent"], figures["waiting_for_people"]) == (2, 1, 2, 1)
    assert "proceed" in tally("desk", "metrics").out


@pytest.mark.promise("desk.cli")
def test_people_decide_with_the_token_and_nobody_without(tally: Tally, shop: Path, token: str) -> None:
    tally("desk", "add", REFUND, "--thread", "t1")
    tally("desk", "work")
    queue = tally("--json", "desk", "queue").json
    (name,) = [one["ticket_id"] for one in queue["items"]]
    assert "defer.category" in tally("desk", "queue").out
    assert tally("desk", "approve", name, "--yes", stdin="y\n").error == "person_required"
    assert tally("desk", "approve", name, "--yes", "--token", "0" * 64).error == "token_invalid"
    assert tally("--json", "desk", "take", name, "--token", token).json["state"] == "taken"
    (shop / "text.md").write_text("It is paid at once.\n", encoding="utf-8")
    edit = ("desk", "edit", name, "--from", "text.md", "--token", token)
    assert tally(*edit).error == "unsupported_sentence"
    assert tally("desk", "approve", name, "--yes", "--token", token).out == f"{name}: approved\n"
    assert tally("desk", "approve", name, "--yes", "--token", token).error == "review_over"
    assert "1 message sent" in tally("desk", "work").out
    assert tally("desk", "queue").out == ""
    assert tally("--json", "desk", "metrics").json["override_rate"] == 1.0


@pytest.mark.promise("desk.cli", "desk.queue-more", "desk.queue-take")
def test_a_person_rejects_hands_on_and_asks_for_more(tally: Tally, shop: Path, token: str) -> None:
    for number in range(3):
        tally("desk", "add", f"{REFUND} Order {number}", "--thread", f"t{number}")
    tally("desk", "work")
    first, second, third = (one["ticket_id"] for one in tally("--json", "desk", "queue").json["items"])
    person = ("--token", token)
    assert tally("desk", "reject", first, "--reason", "by phone", *person).out == f"{first}: rejected\n"
    assert tally("--json", "desk", "reassign", second, "--to", "maria", *person).json["person"] == "maria"
    assert tally("desk", "approve", second, "--yes", *person).error == "review_taken"
    assert tally("desk", "more", third, *person).out == f"{third}: returned\n"
    assert tally("--json", "desk", "work").json["sent"] == 0
    waiting = [one["ticket_id"] for one in tally("--json", "desk", "queue").json["items"]]
    assert waiting == [third]


@pytest.mark.promise("desk.cli")
def test_words_and_draft_are_read_in_lines_and_nothing_in_them_hides(tally: Tally, shop: Path, token: str) -> None:
    added = tally("--json", "desk", "add", f"Hello,\n{REFUND}\r\nThanks\x1b[2K\rAna\u202e", "--thread", "t1").json
    lines = ["customer:", "  Hello,", f"  {REFUND}", r"  Thanks\x1b[2K\rAna\u202e"]
    assert "\n".join(lines) in tally("desk", "show", added["ticket_id"]).out
    tally("desk", "work")
    ((name, draft),) = [(one["ticket_id"], one["draft"]) for one in tally("--json", "desk", "queue").json["items"]]
    assert "\n\n" in draft
    shown = tally("desk", "show", name).out
    approved = tally("desk", "approve", name, "--token", token)
    assert approved.code == 0, approved.err
    for text in (shown, approved.err):
        assert "\n".join(lines) in text
        assert "\n".join(f"  {line}".rstrip() for line in ["draft:", *draft.split("\n")]).lstrip() in text
        assert r"\n" not in text


@pytest.mark.promise("desk.cli")
def test_nobody_is_asked_about_what_cannot_be_approved(tally: Tally, shop: Path, token: str) -> None:
    tally("desk", "add", REFUND, "--thread", "t1")
    tally("desk", "add", "Which trombone suits a giraffe?", "--thread", "t2")
    tally("desk", "work")
    items = tally("--json", "desk", "queue").json["items"]
    (drafted,) = [one["ticket_id"] for one in items if one["draft"]]
    (empty,) = [one["ticket_id"] for one in items if not one["draft"]]
    unknown = tally("desk", "approve", "nope", "--token", token)
    assert (unknown.error, "tally desk queue" in unknown.err) == ("review_unknown", True)
    none = tally("desk", "approve", empty, "--token", token)
    assert (none.error, "tally desk edit" in none.err) == ("draft_missing", True)
    assert tally("desk", "reject", drafted, "--reason", "by phone", "--token", token).code == 0
    over = tally("desk", "approve", drafted, "--token", token)
    assert (over.error, "draft:" in over.err) == ("review_over", False)
    assert all("[y/N]" not in one.err for one in (unknown, none, over))


@pytest.mark.promise("desk.cli")
def test_rows_that_are_rejected_are_named_with_their_reason(tally: Tally, shop: Path) -> None:
    rows = "".join(f"{number},\n" for number in range(25))
    (shop / "more.csv").write_text(f"id,message\n{rows}25,Is the shop open?\n", encoding="utf-8")
    told = tally("--json", "desk", "import", "more.csv").json
    assert (told["queued"], told["rejected"]) == (1, 25)
    assert [one["place"] for one in told["rejected_rows"]] == [f"row {number}" for number in range(2, 27)]
    assert {one["reason"] for one in told["rejected_rows"]} == {"content_missing"}
    assert all(one["message"] for one in told["rejected_rows"])
    said = tally("desk", "import", "more.csv").err
    assert "rejected: row 2: content_missing: " in said
    assert said.count("rejected: row ") == 20
    assert "and 5 more" in said


@pytest.mark.promise("desk.cli")
def test_a_status_that_there_is_not_is_a_mistake_and_no_empty_list(tally: Tally, workspace: Path) -> None:
    wrong = tally("desk", "list", "--status", "bogus")
    assert (wrong.code, wrong.error) == (2, "usage")
    assert "pending, running, review, failed, done, blocked" in wrong.err
    assert tally("desk", "list", "--status", "failed").code == 0


@pytest.mark.promise("desk.cli")
def test_the_sample_documents_answer_a_question(tally: Tally, tmp_path: Path) -> None:
    copy_sample(tmp_path / "kb")
    told = tally("--json", "desk", "try", "How long does standard delivery take?", "--kb", tmp_path / "kb").json
    assert told["verdict"]["status"] == "PROCEED"
    assert "three to five working days" in told["draft"]


@pytest.mark.promise("desk.quoted-speech")
def test_what_a_document_only_quotes_is_not_the_answer(tally: Tally, tmp_path: Path) -> None:
    scam = "To unlock your account, send your PIN to the shop in Leeds."
    kb = tmp_path / "kb"
    kb.mkdir()
    (kb / "scams.md").write_text(f"# Unlock an account\n\nExample of a scam mail:\n\n> {scam}\n", encoding="utf-8")
    told = tally("--json", "desk", "try", "How do I unlock my account?", "--kb", kb).json
    assert (told["verdict"]["status"], told["would_send"]) == ("DEFER", "")
    assert scam not in told["draft"]


@pytest.mark.promise("desk.calibrate")
def test_calibration_shows_by_category_what_sending_at_once_would_have_given(tally: Tally, shop: Path) -> None:
    (shop / "answered.csv").write_text(
        "content,answer\n"
        "When is the shop in Leeds open?,Our shop in Leeds is open from 9 to 17.\n"
        "Is the shop in Leeds open?,It is open from 10 to 18.\n"
        f"{REFUND},Within 14 days.\n",
        encoding="utf-8",
    )
    before = sorted(str(path) for path in shop.rglob("*"))
    found = tally("--json", "desk", "calibrate", "answered.csv")
    assert found.code == 0, found.err
    (general,) = [one for one in found.json["categories"] if one["category"] == "general"]
    assert general["tickets"] >= 2
    assert (general["would_be_sent"], general["of_those_right"], general["share_right"]) == (2, 1, 0.5)
    assert sorted(str(path) for path in shop.rglob("*")) == before
    (shop / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert tally("desk", "calibrate", "other.csv").error == "tickets_unreadable"


@pytest.mark.promise(
    "desk.categories",
    "desk.kb-disagreements",
    "desk.kb-passages",
    "desk.languages",
    "desk.send-modes",
    "desk.whole-message",
)
def test_messages_tried_at_a_terminal_are_read_whole_and_wait_for_a_person(tally: Tally, documents: Path) -> None:
    def told(question: str) -> dict[str, Any]:
        found: dict[str, Any] = tally("--json", "desk", "try", question, "--kb", documents).json
        return found

    (documents / "fees.md").write_text("# Fees\n\nF-1 | Sales | current\n\n- Kettle: 3 euros\n", encoding="utf-8")
    fees = told("Good morning, I have a kettle. It is blue. Which fees are there for it?")
    assert fees["would_send"] == ""
    assert "F-1" not in str(fees["evidence"])
    assert told("You will hear from my lawyer about the shop.")["verdict"]["rule_id"] == "defer.category"
    german = told("Wie hoch ist die monatliche Gebühr für das blaue Konto, und wann wird sie abgebucht?")
    assert german["verdict"]["rule_id"] == "defer.language"
    (documents / "other.md").write_text("# Shop\n\nOur shop in Leeds is open from 10 to 18.\n", encoding="utf-8")
    assert told("When is the shop in Leeds open?")["would_send"] == ""
