"""Only what consolidation passed is canonical; what stays open is carried over, up to a limit."""

import pytest

from tallystick.app.room_context import options_of
from tallystick.errors import ConfigError
from tallystick.rooms.memory import MANIFEST
from tallystick.rooms.memory.policy import HOUR, MemorySettings, Policy
from tallystick.rooms.memory.weigh.consolidation import CAP_EXCEEDED
from tallystick.settings import parse_settings
from tests.rooms.memory.remembering import Notebook


@pytest.mark.promise("memory.promotion")
def test_an_accepted_proposition_is_promoted_by_the_next_consolidation_and_not_before() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("two", 2))
    assert (book[name].status, book.canonicals()) == ("accepted", [])
    book.consolidate()
    (record,) = book.canonicals()
    assert (record.proposition_id, record.policy) == (name, book.state.policy.digest)
    assert book[name].canonical_id == record.id


@pytest.mark.promise("memory.promotion")
def test_every_25_observations_there_is_a_consolidation() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("two", 2))
    book.sources("else", 22)
    assert book.canonicals() == []
    book.sources("one more", 1)
    assert [one.proposition_id for one in book.canonicals()] == [name]
    assert book.state.since_consolidation == 0


@pytest.mark.promise("memory.promotion")
def test_what_is_not_fresh_is_not_promoted_until_somebody_says_it_again() -> None:
    book = Notebook()
    old = [book.observe(f"Nine, says {who}", who, "human", age=40 * HOUR) for who in "abcdefghijkl"]
    name = book.propose("shop opens at_nine", *old, volatility="high")
    assert (book[name].status, book[name].figures.freshness) == ("accepted", 3334)
    book.consolidate()
    assert (book.canonicals(), book[name].pending) == ([], False)
    book.support(name, book.observe("Nine, still.", "m", "human"))
    book.consolidate()
    assert [one.proposition_id for one in book.canonicals()] == [name]


@pytest.mark.promise("memory.promotion", "memory.quotes")
def test_every_quote_is_verified_again_before_promotion() -> None:
    book = Notebook()
    first, second = book.sources("two", 2)
    name = book.propose("Mars has two moons", first)
    # No such proposal passes the room's rule; whatever comes into a log, promotion looks for itself.
    book.tell("attach_support", proposition_id=name, observation_id=second, quote="nine moons")
    assert book[name].status == "accepted"
    book.consolidate()
    assert book.canonicals() == []


@pytest.mark.promise("memory.rivals")
def test_rivals_of_a_functional_predicate_contest_each_other_whichever_came_first() -> None:
    for first, second in (("Lisbon", "Porto"), ("Porto", "Lisbon")):
        book = Notebook()
        one = book.propose(f"Ada lives_in {first}", *book.sources(first, 2), volatility="low")
        assert book[one].status == "accepted"
        other = book.propose(f"Ada lives_in {second}", *book.sources(second, 2), volatility="low")
        assert (book[one].status, book[other].status) == ("contested", "contested")
        assert (book[one].rivals, book[one].evidence_status) == ((other,), "accepted")
        book.consolidate()
        assert book.canonicals() == []
        assert book.history(one)[-1].rule == "S9-rival"
        assert second in book.history(one)[-1].words
        # When one of them falls, the other stands again.
        book.contradict(other, *book.sources("no", 4, "human"))
        book.consolidate()
        assert (book[one].status, book[one].rivals) == ("accepted", ())
        assert [record.proposition_id for record in book.canonicals()] == [one]


@pytest.mark.promise("memory.rivals")
def test_a_later_value_supersedes_an_earlier_one() -> None:
    book = Notebook()
    old = book.propose("Ada lives_in Lisbon", *book.sources("L", 2), volatility="low", valid_from="2020-01-01")
    book.consolidate()
    new = book.propose("Ada lives_in Porto", *book.sources("P", 2), volatility="low", valid_from="2023-06-01")
    book.consolidate()
    assert (book[old].status, book[old].superseded_by, book[new].status) == ("accepted", new, "accepted")
    (record,) = book.canonicals()
    assert record.proposition_id == new
    assert [book.state.canonicals.get(one).proposition_id for one in record.supersedes] == [old]  # type: ignore[union-attr]
    said = book.propose("Ada lives_in Faro", *book.sources("F", 2), volatility="low", supersedes=[new])
    book.consolidate()
    assert book[new].superseded_by == said
    assert said in {one.proposition_id for one in book.canonicals()}


@pytest.mark.promise("memory.rivals")
def test_one_that_is_accepted_takes_anothers_place_whatever_the_predicate() -> None:
    book = Notebook()
    tea = book.propose("Ada likes tea", *book.sources("T", 2))
    jam = book.propose("Ada likes jam", *book.sources("J", 2))
    weak = book.propose("Ada likes gin", *book.sources("G", 1), supersedes=[tea])
    book.consolidate()
    assert (book[tea].superseded_by, book[weak].status) == (None, "provisional")
    assert {one.proposition_id for one in book.canonicals()} == {tea, jam}
    # The claim waited; now there is enough for it.
    book.support(weak, *book.sources("gin", 2))
    assert (book[tea].status, book[tea].superseded_by) == ("accepted", weak)
    book.consolidate()
    assert {one.proposition_id for one in book.canonicals()} == {jam, weak}
    # When it falls, what it replaced stands again.
    book.contradict(weak, *book.sources("no", 4, "human"))
    book.consolidate()
    assert book[tea].superseded_by is None
    assert {one.proposition_id for one in book.canonicals()} == {tea, jam}


@pytest.mark.promise("memory.rivals")
@pytest.mark.parametrize("predicate", ["lives_in", "likes"])
def test_what_is_proposed_again_may_say_that_it_takes_anothers_place(predicate: str) -> None:
    book = Notebook()
    rome = book.propose(f"Ada {predicate} Rome", *book.sources("R", 2), volatility="low")
    oslo = book.propose(f"Ada {predicate} Oslo", *book.sources("O", 2), volatility="low")
    book.consolidate()
    again = book.propose(f"Ada {predicate} Oslo", *book.sources("moved", 1), volatility="low", supersedes=[rome])
    assert again == oslo
    book.consolidate()
    assert (book[oslo].supersedes, book[oslo].status) == ((rome,), "accepted")
    assert (book[rome].status, book[rome].superseded_by) == ("accepted", oslo)
    (record,) = book.canonicals()
    assert record.proposition_id == oslo
    assert book.history(rome)[-1].rule == "S10-superseded"


@pytest.mark.promise("memory.rivals")
def test_neither_an_agent_nor_a_model_says_what_takes_whose_place() -> None:
    for kind, agent in (("human", "clerk"), ("model_inference", None), ("tool_external", None)):
        book = Notebook()
        tea = book.propose("Ada likes tea", *book.sources("T", 2))
        jam = book.propose("Ada likes jam", *book.sources("J", 2))
        book.consolidate()
        word = book.observe("Only jam now.", "word", kind, agent=agent)
        book.propose("Ada likes jam", word, supersedes=[tea])
        book.consolidate()
        assert (book[jam].supersedes, book[tea].superseded_by) == ((), None)
        assert {one.proposition_id for one in book.canonicals()} == {tea, jam}


@pytest.mark.promise("memory.rivals")
def test_two_that_each_claim_the_others_place_leave_it_as_it_is() -> None:
    book = Notebook()
    tea = book.propose("Ada likes tea", *book.sources("T", 2))
    jam = book.propose("Ada likes jam", *book.sources("J", 2), supersedes=[tea])
    book.propose("Ada likes tea", *book.sources("more", 1), supersedes=[jam])
    assert (book[tea].superseded_by, book[jam].superseded_by) == (None, None)


@pytest.mark.promise("memory.rivals")
def test_values_of_different_times_are_no_rivals() -> None:
    book = Notebook()
    then = book.propose(
        "Ada lives_in Lisbon", *book.sources("L", 2), volatility="low", valid_from="2019-01-01", valid_to="2020-01-01"
    )
    now = book.propose(
        "Ada lives_in Porto", *book.sources("P", 2), volatility="low", valid_from="2020-01-01", valid_to="2021-01-01"
    )
    book.consolidate()
    assert {one.proposition_id for one in book.canonicals()} == {then, now}


@pytest.mark.promise("memory.carry-over")
def test_an_episode_carries_over_20_and_puts_the_rest_aside_by_name() -> None:
    book = Notebook()
    names = []
    for at in range(25):
        seen = book.observe(
            f"Thing {at} is odd.", f"s{at}", "document" if at < 5 else "model_inference", episode_id="e"
        )
        names.append(book.propose(f"thing{at} is odd", seen))
    torn = book.propose("Mars has two moons", *book.sources("two", 2), episode_id="e")
    book.contradict(torn, *book.sources("nine", 2))
    book.tell("archive_episode", episode_id="e")
    episode = book.state.episodes.get("e")
    assert episode is not None
    assert episode.closed_at == book.now
    assert (len(episode.carried_over), len(episode.archived), episode.put_aside) == (20, 6, 6)
    # The contested one first, then those with more support.
    assert episode.carried_over[0] == torn
    assert set(episode.carried_over[1:6]) == set(names[:5])
    put_aside = episode.archived[0]
    assert book[put_aside].archived == CAP_EXCEEDED
    assert book.history(put_aside)[-1].cause == "archive"
    book.support(put_aside, book.observe("It is odd.", "new"))
    assert book[put_aside].archived is None


@pytest.mark.promise("memory.owner")
def test_the_owner_alone_is_enough_about_what_is_the_owners_to_say() -> None:
    book = Notebook()
    said = book.observe("Call me Ada.", "owner", "human")
    name = book.propose("owner name Ada", said, volatility="static")
    assert (book[name].status, book[name].rule) == ("accepted", "S3-owner")
    book.contradict(name, *book.sources("Bea", 1))
    assert book[name].status == "accepted"
    for more in ({"agent": "chief"}, {"by_owner": False}):
        liar = Notebook()
        faked = liar.propose(
            "owner name Bob", liar.observe("Call me Bob.", "owner", "human", **more), volatility="static"
        )
        assert liar[faked].status != "accepted"
    other = Notebook()
    summary = other.observe("He is Bob.", "owner", "human", derived_from=[other.observe("x", "page")])
    assert other[other.propose("owner name Bob", summary, volatility="static")].status != "accepted"
    assert other[other.propose("Mars has two_moons", other.observe("y", "owner", "human"))].status == "provisional"


@pytest.mark.promise("memory.policy")
def test_the_numbers_come_from_the_configuration_and_their_digest_is_in_every_record() -> None:
    strict = MemorySettings.model_validate({"states": {"accepted_groups": 3}, "predicates": {"likes": {"owner": True}}})
    assert strict.digest != Policy().digest
    book = Notebook(strict)
    name = book.propose("Mars has two moons", *book.sources("two", 2))
    assert book[name].status == "provisional"
    assert {one.policy for one in book.history(name)} == {strict.digest}
    assert strict.predicate("likes").owner
    assert strict.predicate("name").functional
    for raw in (
        {"states": {"accepted_group": 3}},
        {"cap": 10_001},
        {"off": ["lineage"]},
        {"reliability": {"human": 1.5}},
    ):
        with pytest.raises(ConfigError):
            options_of(MANIFEST, parse_settings({"rooms": {"memory": raw}}))
    with pytest.raises(ValueError, match="no such rule"):
        Policy().without("gravity")


@pytest.mark.promise("memory.entities")
def test_entities_are_made_and_never_merged() -> None:
    book = Notebook()
    seen = book.observe("Paypal and \u0420aypal and Zo\u00eb.", "page")
    for name in ("Paypal", "\u0420aypal", "PAYPAL", "Paypa1", "Zo\u00eb", "Zoe"):
        book.tell("create_or_link_entity_candidate", name=name, kind="company", observation_ids=[seen])
    found = {one.name: one for one in book.state.entities.ordered()}
    assert set(found) == {"Paypal", "\u0420aypal", "Paypa1", "Zo\u00eb", "Zoe"}
    assert set(found["Paypal"].possible_same_as) == {found["\u0420aypal"].id, found["Paypa1"].id}
    assert found["Zoe"].possible_same_as == (found["Zo\u00eb"].id,)
    book.tell(
        "create_or_link_entity_candidate", name="Zoe", kind="company", observation_ids=[seen], aliases=["Z."],
        possible_same_as=[found["Paypal"].id],
    )  # fmt: skip
    linked = book.state.entities.get(found["Zoe"].id)
    assert linked is not None
    assert found["Paypal"].id in linked.possible_same_as
    assert linked.aliases == ("Z.",)
