"""`tally evidence check` on replies that nobody should have to answer: a fixed code and its place, and never slowly."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.gate.reply.small_workspace import Check
from tests.gate.stopwatch import cpu_seconds

RAIN = "The rain had begun before dawn, and by noon the harbour was a sheet of grey water."
LINE = f'Evidence: "{RAIN}" Story/rain.md:L1'
TONGUES = (
    "Die Lampe brannte die ganze Nacht am Fenster.",
    "La lampe a brûlé toute la nuit près de la fenêtre.",
    "Лампа горела всю ночь у самого окна.",
)
EACH_TONGUE = "; ".join(f'"{text}" Story/tongues.md:L{number}' for number, text in enumerate(TONGUES, start=1))
MADE_UP = "The harbour burned in 1850."


@pytest.fixture(autouse=True)
def story(workspace: Path) -> None:
    (workspace / "Story").mkdir()
    (workspace / "Story" / "rain.md").write_text(f"{RAIN}\n", encoding="utf-8")
    (workspace / "Story" / "tongues.md").write_text("\n".join(TONGUES) + "\n", encoding="utf-8")


@pytest.mark.promise("reply.bad-input")
@pytest.mark.parametrize(
    ("reply", "fault", "place"),
    [
        (f"{RAIN} " * 12_500 + f"\n{LINE}", "reply_too_long", "262144 characters"),
        ("x" * (1 << 20), "reply_too_long", "262144 characters"),
        ("It rained. " * 10_000 + f"\n{LINE}", "too_many_sentences", "2000 sentences"),
        (f"{RAIN}\nEvidence: " + "; ".join([f'"{RAIN}" Story/rain.md'] * 100), "too_many_items", ""),
        (f"The rаin began, Лампа 雨 المطر.\n{LINE}", "name_unsupported", "The rаin began, Лампа 雨 المطر."),
        (
            f"Read them.\nEvidence: {EACH_TONGUE.replace('la nuit', 'la journée')}",
            "quote_misquoted",
            "Story/tongues.md:L2-L2",
        ),
        (f"<p>{MADE_UP}</p>\n{LINE}", "number_unsupported", f"<p>{MADE_UP}</p>"),
        (f"<p>{MADE_UP}</p>\n<p>{LINE}</p>", "no_evidence_line", "End the reply"),
        (f"{LINE}\n{MADE_UP}", "number_unsupported", MADE_UP),
        (f"{MADE_UP} {LINE}", "no_evidence_line", "End the reply"),
        (f"{MADE_UP} " * 3_000, "too_many_sentences", "2000 sentences"),
    ],
    ids=[
        "1 MB", "1 MB, one word", "10,000 claims", "100 items", "mixed scripts", "three languages", "HTML",
        "HTML, line too", "line before the body", "no newline", "no newline, 3,000 claims",
    ],
)  # fmt: skip
def test_a_bad_reply_has_a_fixed_code_and_its_place(tally: Tally, reply: str, fault: str, place: str) -> None:
    found = tally("evidence", "check", "-", "--json", stdin=reply)
    assert (found.code, found.json["fault"]) == (1, fault)
    places = [found.json["reason"], *(item["source"] for item in found.json["items"] if not item["ok"])]
    assert any(place in each for each in places)


@pytest.mark.promise("reply.bad-input")
@pytest.mark.parametrize(
    "reply",
    [
        f"{LINE}\n{RAIN}",
        f"Read them.\nEvidence: {EACH_TONGUE}",
        f"„{TONGUES[0]}“ “{TONGUES[2]}”\nEvidence: {EACH_TONGUE}",
        f"<p>{RAIN}</p>\n{LINE}",
    ],
    ids=["line before the body", "three languages", "marks of other languages", "HTML"],
)
def test_the_same_forms_pass_when_they_are_true(tally: Tally, reply: str) -> None:
    found = tally("evidence", "check", "-", "--json", stdin=reply)
    assert (found.code, found.json.get("fault")) == (0, None)


@pytest.mark.promise("reply.bad-input", "reply.linear")
@pytest.mark.parametrize(
    ("make", "start"),
    [
        (lambda n: f"{RAIN}\n" * n + LINE, 100),
        (lambda n: "rain and " * n + f"grey.\n{LINE}", 2_000),
        (lambda n: f'He reads "{RAIN[:-1]}".\n' * n + LINE, 50),
        (lambda n: f'He reads "{"rain " * n}".\n{LINE}', 1_000),
        (lambda n: f"{RAIN}\nEvidence: " + "; ".join([f'"{RAIN}" Story/rain.md'] * n), 16),
        (lambda n: f'{RAIN}\nEvidence: "{"rain " * n}" Story/rain.md', 700),
        (lambda n: f'{RAIN} ["{RAIN}" Story/rain.md]\n' * n, 50),
    ],
    ids=["body", "one sentence", "quotations", "one quotation", "items", "one quote", "sentences with references"],
)
def test_twice_the_length_takes_about_twice_the_time(tmp_path: Path, make: Callable[[int], str], start: int) -> None:
    check = Check(tmp_path)
    check.write("Story/rain.md", f"{RAIN}\n")
    form = "per-sentence" if "[" in make(1) else "line"

    def taken(number: int) -> float:
        text = make(number)
        return min(cpu_seconds(lambda: check(text, form=form)) for _ in range(3))

    taken(start)
    # A time that grew with the square would be 16 times as long; a millisecond is left for what is not counted.
    assert taken(4 * start) < 8 * taken(start) + 0.001
