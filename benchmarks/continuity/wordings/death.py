"""The dead who come in and ask for supper."""

import random

from benchmarks.continuity.wordings.form import Form, Values


def nothing(rng: random.Random) -> Values:
    del rng
    return Values(settled={"v": "dead"}, broken={"v": "alive"}, same={"v": "dead"}, clean={"v": "dead"})


DEATH = Form(
    kind="death",
    name="speaks",
    values=nothing,
    card=("Status", "Fate"),
    keeps=False,
    established=(
        "{N} died before morning, quite quietly, with the window open.",
        "They buried {N} in the rain, close to the wall, and were home by noon.",
        "Word came with the carrier that {N} was dead, and it was true; {he} had gone through the ice with horse and cart.",
        "{N} did not live to see the spring. A fever took {him} in four days.",
        "{N} had drawn {his} last breath before the surgeon was over the stile.",
        "Nothing could be done for {N}, who bled to death on the kitchen floor while they were looking for linen.",
        "That was the end of {N}. The stone went up in June, and within a year the ivy was on it.",
        "{N} was killed outright when the scaffold fell.",
        "The funeral of {N} was better attended than {his} life had been.",
        "{N} drowned within sight of the house; the body came in with the second tide.",
        "When they drew back the curtain {N} was cold, and had been dead for some hours.",
        "{N} breathed out, and did not breathe in again. Somebody stopped the clock.",
        "So {N} was laid in the churchyard, and the household put on black.",
        "{N} passed away in the night, and the house was very orderly about it.",
        "The bullet had gone through the heart; {N} was dead before {he} touched the ground.",
        "{N} succumbed at last to the old complaint, and was mourned for as long as was decent.",
    ),
    contradicting=(
        "“I never said so,” replied {A}, and set down {his} cup.",
        "{A} came in without knocking and asked whether there was any supper.",
        "“Then you may tell them to wait,” said {A}.",
        "{A} laughed at that until {he} had to hold on to the table.",
        "At the corner they met {A}, walking fast, with a parcel under {his} arm.",
        "{A} shook {his} head. “It will rain before night,” {he} said, and went to see to the shutters.",
        "“Sit down,” {A} said, “and let us have the whole of it.”",
        "{A} was at the gate when they came back, and helped to unload.",
        "It was {A} who spoke first. “Nobody has asked me,” {he} said.",
        "{A} took the reins out of the boy's hands and drove them home {himself}.",
        "{A} whispered something to {his} neighbour, and both of them looked round.",
        "Upstairs {A} could be heard, walking up and down and talking to {himself}.",
        "{A} poured out the tea, spilled a good half of it, and begged the cat's pardon.",
        "“Well?” asked {A}.",
        "{A} had slept badly, and was short with everybody at breakfast.",
        "{A} signed the paper, blotted it, and pushed it across the table.",
    ),
    clean=(
        ("dream", "In the dream {A} came in as {he} used to do, and asked whether there was any supper."),
        ("memory", "{A} had once said, in that very room, that it would rain before night; nothing else of {his} was remembered."),
        ("memory", "“Sit down,” {A} used to say, “and let us have the whole of it”; and there the chair stood still."),
        ("letter", "In the drawer lay a letter that {A} had written in {his} last summer. “I am very well,” it began."),
        ("lie", "“I met {A} at the corner this morning,” said the boy, who would say anything."),
        ("namesake", "A nephew, {K} like the other and no better mannered, came in without knocking."),
        ("simile", "The old clock cleared its throat, much as {A} might have done, and struck four."),
        ("question", "What would {A} have said to it? Nobody cared to ask aloud."),
        ("picture", "From over the chimney-piece {A} looked down in oils, and seemed about to speak."),
        ("same", "{A}'s grave had been weeded, and nobody ever learned by whom."),
        ("same", "There was still a hook behind the door for {A}'s coat, though {he} had been dead so long."),
        ("saying", "“Never lend a horse” had been {A}'s rule, and they kept to it now that {he} was gone."),
        ("hypothesis", "If {A} had lived, {he} would have laughed at that until {he} had to hold on to the table."),
        ("belief", "The old woman at the lodge believed to the end that {A} walked up and down overhead, and put out {his} supper."),
        ("memory", "Years before, while {A} was alive, {he} had driven them home {himself} from just such a fair."),
    ),
)  # fmt: skip
