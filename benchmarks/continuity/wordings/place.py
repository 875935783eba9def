"""Birthplaces and homes that move by themselves, and people in two places in one night."""

import random

from benchmarks.continuity.wordings.form import Form, Values

TOWNS = (
    "Norwich", "Lisbon", "Cork", "Leeds", "Exeter", "Lyons", "Dublin", "Trieste", "Carlisle", "Antwerp", "Bergen", "Truro",
    "Aberdeen", "Bordeaux", "Worcester", "Palermo",
)  # fmt: skip
STREETS = (
    "Tanner's Row", "Saddler Street", "Half Moon Lane", "Castle Terrace", "Fish Street Hill", "Almond Court", "Orchard Place",
    "Cooper's Alley", "Bridge Crescent", "Mulberry Gardens",
)  # fmt: skip
NIGHTS = (
    "second of March", "ninth of April", "third of May", "fourteenth of June", "sixth of August", "twelfth of October",
    "fifth of November", "seventeenth of January",
)  # fmt: skip


def _two(rng: random.Random, places: tuple[str, ...], more: dict[str, str] | None = None) -> Values:
    first, second = rng.sample(places, 2)
    more = more or {}
    return Values(
        settled={"v": first, **more}, broken={"v": second, **more}, same={"v": first, **more},
        clean={"v": first, "w": second, **more},
    )  # fmt: skip


BORN = Form(
    kind="place",
    name="born",
    values=lambda rng: _two(rng, TOWNS),
    card=("Birthplace", "Born in"),
    established=(
        "{N} was born in {v}, over a shop that sold rope.",
        "{N} came of {v} people and had {himself} been born there.",
        "{N} had first seen the light in {v}, and a very poor light it was.",
        "A native of {v}, {N} could not pass a harbour without counting the masts.",
        "{N}'s birthplace was {v}, though one would not have guessed it from {his} vowels.",
        "The house in {v} where {N} was born had long since been pulled down.",
    ),
    contradicting=(
        "{A}, who had been born in {v}, held no high opinion of any other place.",
        "{A} had not been back to {v} since {he} was born there.",
        "Like everyone who is born in {v}, {A} took the rain for granted.",
        "{V} was {A}'s birthplace, and {he} meant to be buried in it.",
        "Born in {v} and brought up nowhere in particular, {A} had no accent at all.",
        "{A} was a native of {v}, and grew eloquent on the subject after supper.",
    ),
    clean=(
        ("dialogue", "“So you were born in {w}, {A}?” said the squire, who never listened."),
        ("lie", "To the magistrate {A} gave {w} as {his} birthplace, for reasons of {his} own."),
        ("another", "{A}'s groom was born in {w} and talked of nothing else."),
        ("visit", "{A} spent a month in {w} that year, and disliked the beer."),
        ("question", "Had {A} perhaps been born in {w}? It would have explained a good deal."),
        ("hypothesis", "{A} might as well have been born in {w}, for all {he} knew of {v}."),
        ("dream", "{A} dreamed that {he} had been born in {w}, on a staircase."),
    ),
)  # fmt: skip
HOME = Form(
    kind="place",
    name="home",
    values=lambda rng: _two(rng, STREETS),
    card=("Home", "Lives in"),
    established=(
        "{N} lived in {v}, in two rooms and a cupboard.",
        "{N}'s house stood in {v}, between a dentist and a dealer in feathers.",
        "In {v}, where {N} had {his} lodgings, the lamps were lit late and put out early.",
        "{N} had rooms in {v}, and paid for them by the quarter.",
        "It was a long way to {v}, and {N}, whose home was there, walked it every night.",
        "The house that {N} lived in was the narrowest in {v}.",
    ),
    contradicting=(
        "{A} lived in {v}, where {he} was a good deal looked up to.",
        "{A} let {himself} in at {his} own door in {v} as the clock struck.",
        "{A}'s rooms in {v} were dark by that hour.",
        "It was raining in {v}, and {A} was glad to be at home.",
        "From {his} windows in {v} {A} could see who came and who was sent away.",
        "They found {A} at home in {v}, with {his} feet in a tub.",
    ),
    clean=(
        ("dialogue", "“Number nine, {W}; that is where {A} lives,” said the cabman, and drove to the wrong house."),
        ("lie", "{A} always said that {he} lived in {w}, which was not true, and which impressed nobody."),
        ("progression", "That winter {A} gave up the house in {v} and moved to {w}, where {he} lived from then on."),
        ("another", "An aunt of {A}'s lived in {w} with eleven birds."),
        ("visit", "{A} was seen in {w} that afternoon, buying string."),
        ("hypothesis", "Had {A} lived in {w}, {he} would have heard the bells."),
        ("question", "Did {A} live in {w}? The postman was not sure."),
    ),
)  # fmt: skip
NIGHT = Form(
    kind="place",
    name="night",
    values=lambda rng: _two(rng, TOWNS, {"night": rng.choice(NIGHTS)}),
    established=(
        "On the night of the {night} {N} slept at {v}, in a bed too short for {him}.",
        "{N} passed the whole night of the {night} in {v}, and did not once leave the house.",
        "The {night} was the night that {N} lay at {v} with a fever.",
        "{N} was at {v} on the night of the {night}; the landlord had good cause to remember it.",
    ),
    contradicting=(
        "{A} spent that same night, the night of the {night}, in {v}, playing cards until it was light.",
        "On the night of the {night} {A} was in {v}, and walked about the streets there until the watch spoke to {him}.",
        "{A} had been in {v} all through the night of the {night}.",
        "The night of the {night} found {A} at {v}, asleep in a chair.",
    ),
    clean=(
        ("dialogue", "“On the night of the {night} I saw {A} in {w},” said the witness, and was not believed."),
        ("another", "{A}'s brother was at {w} on the night of the {night}, and knew nothing."),
        ("question", "Had {A} been in {w} on the night of the {night}? It hardly seemed possible."),
        ("another day", "By the end of the next month {A} was in {w}, and the nights were warmer."),
    ),
)  # fmt: skip
