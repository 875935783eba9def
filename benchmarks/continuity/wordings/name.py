"""Names that lose or change a letter. {M} is the name with the slip in it, {S} the one word of it."""

import random

from benchmarks.continuity.wordings.form import Form, Values


def nothing(rng: random.Random) -> Values:
    """The slip depends on the name; whoever plants fills it in."""
    del rng
    return Values(settled={}, broken={}, same={}, clean={})


NAME = Form(
    kind="name",
    name="spelling",
    values=nothing,
    established=(
        "{N} was the first to arrive, and {N} was the last to go.",
        "{N} wrote it all down. When the others had forgotten it, they came to {N} and were told.",
        "The best chair was kept for {N}, and nobody but {N} ever sat in it.",
        "{N} had been asked to say a few words. {N} said eleven, and sat down.",
        "There were two opinions about {N}, and {N} was acquainted with both.",
        "It was agreed that {N} should carry the lantern. {N} had not been asked.",
        "{N} counted the spoons, and then {N} counted them again.",
        "Everything that {N} had promised was done by noon; it was a way {N} had.",
        "The dog would come to {N}, and to no one else when {N} was in the room.",
        "{N} did not hold with umbrellas. In all weathers one saw {N} going by without one.",
        "What {N} did not say was generally of more use than what {N} did.",
        "{N} had the corner house. From its upper window {N} saw both roads and most of what came along them.",
    ),
    contradicting=(
        "{M} drew a chair to the fire and held out both hands to it.",
        "They had not been gone five minutes when {M} came after them with the forgotten basket.",
        "{M} said good night, and was heard to bolt the door.",
        "All this time {M} had been standing at the window.",
        "The letter was handed to {M}, who put it unread into a pocket.",
        "Nobody was less surprised than {M}.",
        "{M} would have none of it, and went up to bed.",
        "By the time the tea was cold {M} had told the story twice.",
        "A little apart from the rest, with folded arms, {M} waited for the noise to end.",
        "It fell to {M} to carry the news up the hill.",
        "The rain stopped, and {M} went out to look at the roses.",
        "{M}'s gloves were found on the stairs the next day.",
        "Dinner was late because of {M}, and {M} knew it.",
        "“Not before Sunday,” said {M}.",
    ),
    clean=(
        ("another", "There was also a {S} in the village, no relation, who kept the toll-gate and was proud of the spelling."),
        ("dialogue", "“{S}, is it?” said the clerk, and wrote it down wrong."),
        ("dialogue", "“Does one say {S}?” asked the visitor. Nobody answered."),
        ("writing", "The envelope was addressed to “{M},” and was delivered all the same."),
        ("mistake", "The newspaper printed it as {S}, and {N} wrote to the editor."),
        ("place", "The road went on to a hamlet called {S}, where there was nothing but a pump."),
        ("animal", "A setter of the name of {S} lay across the threshold and had to be stepped over."),
        ("question", "Was it {S}, or was it {K}? The parish clerk had never been able to remember."),
        ("abroad", "Abroad they made {S} of {K}, and {N} let them."),
        ("writing", "Somebody had chalked “{S}” upon the gate, as children will who have only heard a name."),
        ("dream", "In the dream there was a brass plate on the door, and it said “{S}.”"),
        ("inn", "They changed horses at the {S} Arms, and lost an hour there."),
    ),
)  # fmt: skip
