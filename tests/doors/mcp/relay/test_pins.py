import json

import pytest

from tallystick.doors.mcp.relay.pins import INSTRUCTIONS, LONGEST_SHOWN, PinBook, digest_of
from tallystick.errors import ConfigError, LedgerUnwritable

TOOL = {"name": "echo", "description": "Give back.", "inputSchema": {"type": "object", "properties": {}}}


@pytest.fixture
def book(tmp_path):
    return PinBook(tmp_path)


@pytest.mark.promise("relay.pins")
@pytest.mark.parametrize(
    "change",
    [{"description": "other"}, {"title": "T"}, {"inputSchema": {}}, {"outputSchema": {}}, {"annotations": {"readOnlyHint": True}}],
)  # fmt: skip
def test_any_change_of_what_a_model_is_shown_is_seen(book, change):
    assert book.compare([TOOL]) == frozenset()
    assert book.compare([TOOL | change]) == {"echo"}
    assert book.read()["echo"].offered == TOOL | change
    # It is what was accepted that counts, however often the other is offered.
    assert book.compare([TOOL | change]) == {"echo"}
    assert book.compare([TOOL]) == frozenset()
    assert book.read()["echo"].offered is None


@pytest.mark.promise("relay.pins")
def test_the_order_of_keys_and_parts_that_nobody_is_shown_mean_nothing(book):
    book.compare([TOOL])
    assert book.compare([dict(reversed(TOOL.items())) | {"icons": [], "_meta": {"x": 1}, "title": None}]) == frozenset()


@pytest.mark.promise("relay.pins")
def test_what_is_accepted_is_what_the_person_saw(book):
    book.compare([TOOL])
    seen, later = TOOL | {"description": "a"}, TOOL | {"description": "b"}
    book.compare([seen])
    book.compare([later])
    said = {"person": "p", "channel": "terminal", "when": "now"}
    assert not book.accept("echo", digest_of(seen), **said)
    assert book.accept("echo", digest_of(later), **said)
    assert not book.accept("echo", digest_of(later), **said)
    assert not book.accept("nothing", digest_of(later), **said)
    assert book.compare([later]) == frozenset()
    assert book.read()["echo"].accepted["person"] == "p"
    assert book.read()["echo"].accepted["before"] == digest_of(TOOL)


@pytest.mark.promise("relay.pins")
@pytest.mark.parametrize(
    "text", ["", "[]", '{"version":1}', '{"version":1,"tools":{"a":1}}', '{"version":1,"tools":{"a":{}}}']
)
def test_a_damaged_file_of_pins_stops_everything(tmp_path, book, text):
    book.compare([TOOL])
    (tmp_path / ".control-room" / "relay.json").write_text(text)
    with pytest.raises(ConfigError) as caught:
        book.compare([TOOL])
    assert caught.value.code == "relay_pins_damaged"
    assert (tmp_path / ".control-room" / "relay.json").read_text() == text


NEW = {"name": "other", "inputSchema": {}}


@pytest.mark.promise("relay.new-tools")
def test_what_a_server_gets_later_is_held_until_it_is_accepted_or_trusted(book):
    assert book.compare([TOOL]) == frozenset()
    assert book.compare([TOOL, NEW]) == book.compare([NEW]) == {"other"}
    (pin,) = book.to_review()
    assert (pin.name, pin.is_new, pin.offered) == ("other", True, NEW)
    assert book.accept("other", digest_of(NEW), person="p", channel="terminal", when="now")
    assert book.compare([TOOL, NEW]) == frozenset()
    third = NEW | {"name": "third"}
    assert book.compare([third]) == {"third"}
    assert book.compare([third], trust_new=True) == frozenset()
    # Trust in what is new is no trust in what changes.
    assert book.compare([TOOL | {"title": "T"}], trust_new=True) == {"echo"}


@pytest.mark.promise("relay.noted")
def test_nothing_is_pinned_that_could_not_be_recorded(book):
    def refuse(pinned):
        raise LedgerUnwritable(f"no room for {sorted(pinned)}")

    with pytest.raises(LedgerUnwritable):
        book.compare([TOOL], on_pin=refuse)
    assert book.read() == {}
    recorded = []
    book.compare([TOOL, NEW], on_pin=recorded.append)
    book.compare([TOOL | {"title": "T"}, NEW], on_pin=recorded.append)
    assert recorded == [{"echo": digest_of(TOOL), "other": digest_of(NEW)}]


@pytest.mark.promise("relay.instructions")
def test_instructions_are_pinned_beside_the_tools(book):
    book.compare([TOOL])
    long = "x" * (2 * LONGEST_SHOWN)
    assert book.compare_instructions("")
    assert not book.compare_instructions(long)
    (pin,) = book.to_review()
    assert (pin.name, pin.is_new, len(pin.offered["description"])) == (INSTRUCTIONS, False, LONGEST_SHOWN)
    seen = digest_of(pin.offered)
    # A change beyond what is kept is a change all the same.
    assert not book.compare_instructions(long + "y")
    said = {"person": "p", "channel": "terminal", "when": "now"}
    assert not book.accept(INSTRUCTIONS, seen, **said)
    assert not book.compare_instructions(long)
    assert book.accept(INSTRUCTIONS, seen, **said)
    assert book.compare_instructions(long)
    assert book.compare([TOOL]) == frozenset()


def test_pins_are_kept_as_plain_json(tmp_path, book):
    book.compare([TOOL])
    kept = json.loads((tmp_path / ".control-room" / "relay.json").read_text())
    assert kept["tools"]["echo"]["definition"] == TOOL
