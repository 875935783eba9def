"""A small novel of our own, for tests of what is planted into novels."""

import re
from pathlib import Path

from benchmarks.continuity.cases import Case, cases_of
from benchmarks.continuity.novels import Novel, scenes_of
from benchmarks.continuity.wordings import Split

NOWHERE = Path("no-such-folder")
"""Without the annotations names come out of the text, and newcomers out of our own list."""
PEOPLE = ("Rosamund", "Mr. Tolliver", "Mrs. Ashdown", "Ferdinand", "Captain Strand", "Benedict", "Lady Wexford")
_EVENTS = (
    "{who} had walked round the pond twice that morning, because the gardener said that the heron was back, and {he} had never in all those summers seen it standing anywhere but on the sluice, which was empty now.",
    "It was the custom of that house to leave the lower windows open until the lamps were lit, and {who} looked in at each of them on the way to the stables, more from habit than because {he} hoped to find anybody there.",
    "The road was bad, and the carrier, who had been asked to be quick, was not; so that {who} said very little during the drive and counted the milestones, as {he} had always done, and was glad when {he} could get down.",
)


def pond_text() -> str:
    chapters = []
    for number in range(14):
        here = [PEOPLE[(number + step) % len(PEOPLE)] for step in range(4)]
        paragraphs = []
        for turn in range(20):
            who = here[turn % len(here)] if number > 2 else PEOPLE[turn % len(PEOPLE)]
            he = "she" if who in {"Rosamund", "Mrs. Ashdown", "Lady Wexford"} else "he"
            paragraphs.append(_EVENTS[(number + turn) % 3].format(who=who, he=he))
        chapters.append(
            f"Chapter {number + 1}\n\n" + "\n\n".join(re.sub(r"(.{60}\S*) ", r"\1\n", text) for text in paragraphs)
        )
    return "Contents\n\nChapter 1\n\nChapter 2\n\n" + "\n\n".join(chapters)


NOVEL = Novel(id="0", title="The Pond", scenes=tuple(scenes_of(pond_text())))


def pond_cases(seed: int = 1, split: Split = "dev", *, cards: bool = False) -> list[Case]:
    return cases_of(NOVEL, NOWHERE, split=split, seed=seed, per_kind=2, cards=cards)
