"""Memory's part of `tally demo`: two sources agree, a model insists on something else; what is believed is shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import Part, Shown, Stage
from tallystick.rooms.memory.cli.queries import memory_in, origin_of, remembered

if TYPE_CHECKING:
    from tallystick.rooms.memory.facts import Fact

NOTES = (
    ("catalogue", "document", "Steel, with a lid of oak. The capacity of the Kestrel kettle is 1.7 litres."),
    (
        "test-bench",
        "tool_internal",
        "Filled to the brim three times, weighed each time. The capacity of the Kestrel kettle is 1.7 litres.",
    ),
)
"""Source, its class, and its words."""
CLAIM = "The capacity of the Kestrel kettle is 2 litres."
INSISTS = 20
QUESTION = "What is the capacity of the Kestrel kettle?"
TRY = (
    f'tally memory ask "{QUESTION}"',
    "tally memory explain {believed}",
    "tally memory what-if {believed} --without test-bench",
)


def prepare(folder: Path) -> str:
    """Nothing has to be laid into the folder: memory is what is told."""
    del folder
    return f"{len(NOTES)} sources and a model that disagrees with them, told to memory as it goes"


def play(stage: Stage) -> Shown:
    """Tell memory what the sources say and what the model insists on; show what is believed, and why."""
    from tallystick.rooms.memory import account
    from tallystick.rooms.memory.extract import extract_document

    screen, memory = stage.screen, memory_in(stage.gate)
    for source, kind, words in NOTES:
        remembered(stage.gate, extract_document(words), origin_of(source, kind))
        screen.line(f"{source} ({kind}): {words}")
    for number in range(INSISTS):
        # Every time as another voice of the same model: who counts heads would be taken in.
        remembered(stage.gate, extract_document(CLAIM), origin_of(f"model, try {number + 1}", "model_inference"))
    screen.line(f"a model, {INSISTS} times over: {CLAIM}")
    screen.line()
    screen.line(f"Asked: {QUESTION}")
    told = [_told(fact) for fact in memory.reading.ask(query=QUESTION).facts]
    for one in told:
        screen.line(f"  {one['label']}: {one['object']}  ({one['belief'] / 100:.0f} %)")
        screen.line(f"    {one['words']}")
    rebuilt = account.rebuild(memory.projection)
    screen.line()
    screen.line(f"Built again from the receipts alone, memory is {'the same' if rebuilt['same'] else 'another'}.")
    believed = [one for one in told if one["status"] == "accepted"]
    ok = rebuilt["same"] and [one["object"] for one in believed] == ["1.7 litres"]
    wanted = believed[0]["id"] if believed else ""
    return Shown(ok=ok, data={"facts": told}, try_next=tuple(line.format(believed=wanted) for line in TRY))


def _told(fact: "Fact") -> dict[str, Any]:
    shown = fact.as_dict()
    kept = ("id", "subject", "predicate", "object", "status", "label", "belief", "words")
    return {name: shown[name] for name in kept if name in shown}


PART = Part(name="memory", title="A memory that a loud voice does not change", prepare=prepare, play=play, order=40)
