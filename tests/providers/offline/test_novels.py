"""Generated requests over real novels: every answer passes the reply check, or the agent abstains."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.gates import open_gate
from tests.offline_turns import AGENTS, GUEST, ask
from tests.sizes import size

FORMS = (
    "What is said about {a} and {b}?", "Where does {a} meet {b}?", "Find the passage about {a} {b} {c}.",
    "Who speaks of {a}, {b} and {c}?", "Quote a line on {a} {b}.", "Summarize what happens with {a} and the {b}.",
    "Is there any mention of {z}?", "Check the continuity of {a} and {b}.", "{a} {b} {c} {d}", "Why {a}?",
    "Write a scene with {a} and {b}.", "Which file mentions {a} and {b}?", "Read {path} lines {n}-{m}",
    'Does anyone say "{a} {b}"?', "plan the next scene with {a}", "{a}", "Compare {path} with the {b}",
)  # fmt: skip
OWN = "\n\n".join(
    f"Chapter {number}\n\n“The {a} stood beside the {b},” said Miss {name}; “and nobody—nobody!—had moved it… yet.”\n"
    f"It was the {a} of the year {1800 + number}, and the {c} had been sold.\nMr. {name} kept the {b} in a drawer."
    for number, (a, b, c, name) in enumerate(
        [("clock", "ladder", "orchard", "Finch"), ("kettle", "letter", "meadow", "Grey"), ("barge", "violin", "mill", "Hale")] * 6
    )
)  # fmt: skip


@pytest.mark.promise("offline.accepted")
def test_no_answer_is_rejected_on_a_text_of_our_own(tmp_path: Path) -> None:
    _run(tmp_path, {"own.txt": OWN}, size(40, 1000))


@pytest.mark.promise("offline.accepted")
def test_no_answer_is_rejected_on_real_novels(tmp_path: Path, data: Path) -> None:
    novels = sorted((data / "gutenberg-novels" / "dev").glob("*.txt"))
    if not novels:
        pytest.skip("left out: real novels, TALLY_DATA not there")
    texts = {path.name: path.read_bytes().decode("utf-8", "replace") for path in novels}
    said = _run(tmp_path, texts, size(25, 2000))
    # Most questions are made from the text itself, so most can be answered.
    assert said["accepted"] > said["abstained"]


def _run(folder: Path, texts: dict[str, str], rounds: int) -> Counter[str]:
    scenes = folder / "Story" / "Scenes"
    scenes.mkdir(parents=True)
    for name, text in texts.items():
        (scenes / name).write_text(text, encoding="utf-8")
    chance = random.Random(rounds)
    said: Counter[str] = Counter()
    with open_gate(folder) as gate:
        for number in range(rounds):
            agent = chance.choice([GUEST, *AGENTS.values()])
            request = _request(chance, texts)
            result = ask(gate, request, agent, session=f"s{number}", max_steps=chance.choice([2, 3, 6]))
            assert result.rejected is None, (agent.agent_id, request, result.rejected)
            assert result.stop_hook is None, (agent.agent_id, request)
            said["abstained" if result.abstained else "accepted"] += 1
    return said


def _request(chance: random.Random, texts: dict[str, str]) -> str:
    name = chance.choice(sorted(texts))
    text = texts[name]
    at = chance.randrange(0, max(1, len(text) - 600))
    words = re.findall(r"[A-Za-z]{4,}", text[at : at + 600])
    chance.shuffle(words)
    a, b, c, d = (words * 4)[:4]
    first = chance.randrange(1, 40)
    return chance.choice(FORMS).format(
        a=a, b=b, c=c, d=d, z=chance.choice(["dragon", "zeppelin", a]), n=first, m=first + chance.randrange(30),
        path=chance.choice([f"Story/Scenes/{name}", name]),
    )  # fmt: skip
