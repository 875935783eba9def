"""What cards settle, in every form authors write it, and when it holds."""

import pytest

from tallystick.rooms.studio.continuity.checking import Reading
from tallystick.rooms.studio.continuity.findings import Finding
from tallystick.rooms.studio.continuity.waivers import Waiver, waivers_of
from tests.rooms.studio.continuity.telling import against, book_of

MARA = "Compendium/Characters/CHAR-mara.md"
PLACE = "Compendium/Locations/LOC-larkhill.md"
EVENT = "Compendium/Events/EVT-ball.md"
SCENE = 'Mara walked home. "Rain," said Jon.\n\n'


@pytest.mark.promise("continuity.card-forms")
@pytest.mark.parametrize(
    "card",
    [
        "---\nname: Mara Voss\neyes: green\n---\n",
        "---\nname: Mara Voss\nEye Color: green (as her mother's)\n---\n",
        "---\nname: Mara Voss\nappearance:\n  eyes: green\n  hair: red\n---\n",
        "# Mara Voss\n\nEyes: green\n",
        "# Mara Voss\n\n- **Eyes:** green\n- **Hair:** red\n",
        "# Mara Voss\n\n| what | value |\n|---|---|\n| Eyes | green |\n",
        "---\nname: Mara Voss\nconstraints:\n  - Mara's eyes are green\n---\n",
        "# Mara Voss\n\nMara has green eyes and a quick temper.\n",
        "# Mara Voss\n\nShe is a ferrywoman. Her eyes are green.\n",
    ],
)
def test_a_card_settles_it_however_it_is_written(card: str) -> None:
    assert against(SCENE + "Mara's brown eyes were tired.", {MARA: card}) == ["eye-colour"]
    assert against(SCENE + "Mara's green eyes were tired.", {MARA: card}) == []


@pytest.mark.parametrize(
    ("field", "wrong", "right", "rule"),
    [
        ("hair: black", "Mara's yellow hair was wet.", "Mara's black hair was wet.", "hair-colour"),
        ("age: 34", "Mara was nineteen.", "Mara was thirty-four.", "age"),
        ("age: 34", "Mara was fifty years old.", "Mara was thirty-five years old.", "age"),
        ("age: early thirties", "Mara was nineteen.", "Mara was thirty-two.", "age"),
        ("born: 1850-05-04", "Mara was born in 1852.", "Mara was born on the 4th of May.", "event-date"),
        ("born: 4 May 1850", "In 1880, Mara was forty years old.", "In 1880, Mara was thirty years old.", "age"),
        ("birthplace: Bristol", "Mara was born in London.", "Mara was born in Bristol.", "place"),
        ("home: Senn", "Mara lived in Larkhill.", "Mara lived in Senn.", "place"),
        ("status: dead", '"Yes," said Mara.', "Jon remembered Mara.", "dead-then-acting"),
        ("handedness: left", "Mara was right-handed.", "Mara was left-handed.", "handedness"),
        ("scar: left cheek", "The scar on Mara's right cheek was white.", "The scar on Mara's left cheek was white.", "body-side"),
        ("mother: Agnes", "Mara's mother, Ruth, kept bees.", "Mara's mother, Agnes, kept bees.", "kinship"),
        ("brothers: 2", "Mara had three brothers.", "Mara had two brothers.", "kin-count"),
        ("occupation: ferryman", "Mara was a baker by trade.", "Mara was a ferryman by trade.", "trade"),
        ("height: tall", "Mara was short and quick.", "Mara was tall and quick.", "height"),
    ],
)  # fmt: skip
def test_each_field_is_compared_with_the_scene(field: str, wrong: str, right: str, rule: str) -> None:
    opening = SCENE.replace("Mara walked", "The rain came. Jon walked") if "status" in field else SCENE
    card = {MARA: f"---\nname: Mara Voss\n{field}\n---\n"}
    assert against(opening + wrong, card) == [rule]
    assert against(opening + right, card) == []


def test_places_and_events_have_cards_too() -> None:
    place = {PLACE: "---\nname: Larkhill Hall\nlocation: Kent\n---\n"}
    assert against(SCENE + "Larkhill Hall lay in Cornwall.", place) == ["place"]
    assert against(SCENE + "Larkhill Hall lay in Kent.", place) == []
    event = {EVENT: "---\nname: The Larkhill Ball\ntype: event\ndate: 3 June\n---\n"}
    assert against(SCENE + "The ball at Larkhill took place on the 9th of June.", event) == ["event-date"]
    assert against(SCENE + "The ball at Larkhill took place on the 3rd of June.", event) == []


def test_a_card_says_on_which_bank_a_place_lies_and_what_one_is_to_another() -> None:
    place = {
        PLACE: "---\nname: The weigh-house\naliases: [weigh-house]\ntype: location\n---\n\nLies on: the north bank\n"
    }
    assert against(SCENE + "Jon could see the weigh-house on the south bank.", place) == ["place"]
    assert against(SCENE + "Jon could see the weigh-house on the north bank.", place) == []
    kin = {
        MARA: "---\nname: Mara Voss\nfather: Saul Voss\n---\n",
        "Compendium/Characters/CHAR-saul.md": "---\nname: Saul Voss\n---\n",
    }
    assert against(SCENE + "Mara's uncle, Saul Voss, came up the path.", kin) == ["kinship"]
    assert against(SCENE + "Mara's father, Saul Voss, came up the path.", kin) == []


@pytest.mark.promise("continuity.names-from-cards")
def test_a_name_of_a_card_is_the_right_spelling_even_once() -> None:
    card = {MARA: "---\nname: Ravensworth\n---\n"}
    assert against("Ravensworth came in. It was late, and Ravenswoth slept.", card) == ["name-spelling"]
    both = card | {"Compendium/Characters/CHAR-b.md": "---\nname: Ravenswoth\n---\n"}
    assert against("Ravensworth came in. It was late, and Ravenswoth slept.", both) == []


@pytest.mark.promise("continuity.modes")
def test_hard_mode_leaves_soft_facts_alone() -> None:
    card = {MARA: "---\nname: Mara Voss\nheight: tall\neyes: green (soft)\nhair: black\n---\n"}
    scene = SCENE + "Mara was short and quick. Mara had brown eyes. Mara's yellow hair was wet."
    assert sorted(against(scene, card)) == ["eye-colour", "hair-colour", "height"]
    assert against(scene, card, hard_only=True) == ["hair-colour"]
    soft = {MARA: "---\nname: Mara Voss\nhardness: soft\nhair: black\n---\n"}
    assert against(scene, soft, hard_only=True) == []


PROGRESSIONS = [
    "---\nname: Mara Voss\nhair: black\nprogressions:\n  - from: SCN-02\n    hair: white\n---\n",
    "---\nname: Mara Voss\nhair: black\nfrom SCN-02:\n  hair: white\n---\n",
    "# Mara Voss\n\nHair: black\n\n## From SCN-02\n\nHair: white\n",
    "# Mara Voss\n\n- Hair: black (until SCN-02)\n- Hair: white (from SCN-02)\n",
]


@pytest.mark.promise("continuity.progressions")
@pytest.mark.parametrize("card", PROGRESSIONS)
def test_a_fact_may_hold_from_a_scene_on(card: str) -> None:
    black, white = SCENE + "Mara's black hair was wet.", SCENE + "Mara's white hair was wet."
    cards = {MARA: card}
    assert [finding.second.path for finding in _carded(black, white, cards)] == []
    assert [finding.second.path for finding in _carded(white, white, cards)] == ["Story/Scenes/SCN-01.md"]
    assert [finding.second.path for finding in _carded(black, black, cards)] == ["Story/Scenes/SCN-02.md"]


def _carded(first: str, second: str, cards: dict[str, str]) -> list[Finding]:
    return [
        finding for finding in Reading(book_of(first, second, cards=cards)).findings().findings if finding.from_card
    ]


def test_a_death_in_a_scene_is_no_death_before_it() -> None:
    card = {MARA: "---\nname: Mara Voss\ndied: SCN-02\n---\n"}
    alive, after = '"Yes," said Mara.', "Mara laughed and sat down."
    assert _carded(alive, "The storm came.", card) == []
    assert [
        finding.rule for finding in Reading(book_of(alive, "The storm came.", after, cards=card)).findings().findings
    ] == ["dead-then-acting"]


@pytest.mark.promise("continuity.waivers")
def test_a_waiver_needs_a_rule_and_a_reason_and_marks_the_finding() -> None:
    scene = "---\nwaive: [eye-colour: she wears lenses in this scene]\n---\n" + SCENE + "Mara's brown eyes were tired."
    book = book_of(scene, cards={MARA: "---\nname: Mara Voss\neyes: green\n---\n"})
    checked = Reading(book).findings()
    assert [finding.waived for finding in checked.findings] == ["she wears lenses in this scene"]
    assert checked.open == ()


@pytest.mark.parametrize("waive", ["[eye-colour]", "[no-such-rule: because]", "{eye-colour: }"])
def test_a_waiver_without_a_reason_waives_nothing_and_is_complained_about(waive: str) -> None:
    book = book_of(
        f"---\nwaive: {waive}\n---\n{SCENE}Mara had brown eyes.",
        cards={MARA: "---\nname: Mara Voss\neyes: green\n---\n"},
    )
    assert [complaint.code for complaint in waivers_of(book)[1]] == ["waiver_invalid"]
    assert len(Reading(book).findings().open) == 1


def test_a_waiver_may_be_for_one_person_only() -> None:
    book = book_of(SCENE + "Mara had brown eyes.", cards={MARA: "---\nname: Mara Voss\neyes: green\n---\n"})
    for subject, waived in (("Mara", 0), ("Jon", 1)):
        waiver = Waiver(rule="eye-colour", reason="meant", path=None, subject=subject)
        assert len(Reading(book).findings(waivers=[waiver]).open) == waived


def test_two_cards_with_one_name_bind_nothing() -> None:
    cards = {
        MARA: "---\nname: Mara Voss\naliases: [the ferrywoman]\neyes: green\n---\n",
        "Compendium/Characters/CHAR-other.md": "---\nname: Mara Hale\neyes: brown\n---\n",
    }
    assert against(SCENE + "Mara had brown eyes.", cards) == []
    assert against(SCENE + "Mara Voss had brown eyes.", cards) == ["eye-colour"]


@pytest.mark.promise("continuity.bans")
@pytest.mark.parametrize(
    ("rule", "done", "not_done"),
    [
        ("No pan is fired on a Sunday.", "On Sunday morning Tobias fired the third pan.", "On Monday Tobias fired the third pan."),
        ("No boat is launched in Lent.", "They launched the boat in Lent.", "They never launched a boat in Lent."),
        ("Boats are never launched on a Friday.", "On Friday they launched the boat.", "If on Friday they launched the boat, it would sink."),
        ("Nobody fires a pan on Sunday.", "Tobias fired the pan on Sunday.", '"Tobias fired the pan on Sunday," said Helen.'),
    ],
)  # fmt: skip
def test_what_the_canon_forbids_is_found_where_it_is_done(rule: str, done: str, not_done: str) -> None:
    card = {
        "Compendium/Culture/CUL-rule.md": f"---\nname: The rule\ntype: culture\nconstraints:\n  - {rule}\n---\n\nOld.\n"
    }
    opening = 'Helen walked home with Tobias. "Rain," said Helen.'
    assert against(f"{opening}\n\n{done}", card) == ["forbidden"]
    assert against(f"{opening}\n\n{not_done}", card) == []


@pytest.mark.promise("continuity.years-since")
@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("In the nine years since Tobias's death nothing had changed.", ["event-date"]),
        ("In the eleven years since the death of Tobias nothing had changed.", []),
        ("In the ten years since Tobias died nothing had changed.", []),
        ("Tobias had been dead four years.", ["event-date"]),
        ("Had nothing changed in the nine years since Tobias's death?", []),
    ],
)
def test_years_since_a_death_are_counted_from_the_scene_s_date(told: str, expected: list[str]) -> None:
    card = {"Compendium/Characters/Tobias.md": "# Tobias\n\n- Died: 21 November 1920\n"}
    assert against(f"---\ndate: 1931-09-21\n---\n\nHelen walked home.\n\n{told}", card) == expected
    assert against(f"Helen walked home.\n\n{told}", card) == []
