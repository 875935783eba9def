import random
from functools import partial
from pathlib import Path

import pytest

from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.own_text import NOTHING_WRITTEN
from tallystick.storage.files import FileSources
from tests.gate.quote_noise import Book as Novel
from tests.gate.reply.small_workspace import VECTORS, Book
from tests.gate.stopwatch import cpu_seconds
from tests.sizes import size

WORDS = 200_000
SCENES = 80


def project(data: Path, root: Path) -> list[Novel]:
    """A project of 200,000 words in 80 scenes, from novels where there are some."""
    texts = [
        path.read_bytes().decode("utf-8-sig") for path in sorted((data / "gutenberg-novels" / "dev").glob("*.txt"))
    ]
    lines = (
        "\n".join(texts).splitlines() or (VECTORS / "reply_quotes.json").read_text(encoding="utf-8").split("\\n") * 600
    )
    kept: list[str] = []
    count = 0
    for line in lines:
        kept.append(line)
        count += len(line.split())
        if count >= WORDS:
            break
    (root / "Story/Scenes").mkdir(parents=True)
    step = len(kept) // SCENES + 1
    scenes: list[Novel] = []
    for number in range(SCENES):
        path = f"Story/Scenes/SCN-{number:02}.md"
        text = "\n".join(kept[number * step : (number + 1) * step])
        (root / path).write_text(text, encoding="utf-8")
        scenes.append(Novel.of(path, text))
    return scenes


@pytest.mark.promise("reply.fast")
def test_a_reply_on_a_large_project_is_checked_in_under_a_millisecond(data: Path, tmp_path: Path) -> None:
    scenes = project(data, tmp_path)
    sources, book = FileSources(tmp_path), Book()
    dice = random.Random(7)
    replies: list[str] = []
    for _ in range(size(400, 5_000)):
        scene = dice.choice(scenes)
        words, first, last = scene.window(dice)
        quote = " ".join(words).replace('"', "'").replace(";", ",") if dice.random() < 0.1 else " ".join(words)
        replies.append(f"It works, and well.\n\nEvidence: “{quote}” {scene.name}:L{first}-L{last}")

    def times() -> list[float]:
        return [
            cpu_seconds(
                partial(check_reply, reply, sources=sources, receipts=book, writings=NOTHING_WRITTEN, session_id="s")
            )
            for reply in replies
        ]

    times()
    # Other programs share this machine; of each reply the run counts that they disturbed least.
    best = sorted(map(min, times(), times(), times()))
    assert best[len(best) * 99 // 100] < 0.001
