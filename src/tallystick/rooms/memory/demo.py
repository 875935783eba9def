"""Memory's part of `tally demo`: two sources agree, a model insists on something else; what is believed is shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import DemoContext, DemoPart, DemoResult
from tallystick.rooms.memory.cli.queries import SESSION, memory_in, origin_of

if TYPE_CHECKING:
    from tallystick.rooms.memory.recall.facts import Fact

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


def play(stage: DemoContext) -> DemoResult:
    """Tell memory what the sources say and what the model insists on; show what is believed, and why."""
    from tallystick.rooms.memory.recall import listings

    screen, memory = stage.screen, memory_in(stage.gate)
    for source, kind, words in NOTES:
        _tell(stage, words, source, kind)
        screen.line(f"{source} ({kind}): {words}")
    for number in range(INSISTS):
        # Every time as another voice of the same model: who counts heads would be taken in.
        _tell(stage, CLAIM, f"model, try {number + 1}", "model_inference")
    screen.line(f"a model, {INSISTS} times over: {CLAIM}")
    screen.line()
    screen.line(f"Asked: {QUESTION}")
    told = [_told(fact) for fact in memory.queries.ask(query=QUESTION).facts]
    for one in told:
        screen.line(f"  {one['label']}: {one['object']}  ({one['belief'] / 100:.0f} %)")
        screen.line(f"    {one['words']}")
    rebuilt = listings.rebuild(memory.projection)
    screen.line()
    screen.line(f"Built again from the receipts alone, memory is {'the same' if rebuilt['same'] else 'another'}.")
    believed = [one for one in told if one["status"] == "accepted"]
    ok = rebuilt["same"] and [one["object"] for one in believed] == ["1.7 litres"]
    wanted = believed[0]["id"] if believed else ""
    return DemoResult(ok=ok, data={"facts": told}, try_next=tuple(line.format(believed=wanted) for line in TRY))


def _tell(stage: DemoContext, words: str, source: str, kind: str) -> None:
    """Record a source's words and propose what they say, as `tally memory add` does where the grammar is installed."""
    import asyncio
    from collections.abc import Mapping

    from tallystick.gate.execute.outcome import Outcome
    from tallystick.gate.session import LOCAL_OWNER, Session
    from tallystick.rooms.memory.flows.remember import remember
    from tallystick.rooms.memory.propose.claims import Claim, Passage

    session = Session(session_id=SESSION, caller=LOCAL_OWNER)
    value = "2 litres" if words == CLAIM else "1.7 litres"
    quote = words[words.index("The capacity") :]
    claim = Claim(
        subject="Kestrel kettle", predicate="measure:capacity", object=value, quote=quote, volatility="static"
    )

    async def call(tool: str, args: Mapping[str, Any]) -> Outcome:
        return await stage.gate.call(tool, args, session=session, caller=LOCAL_OWNER)

    passages = [Passage(text=words, claims=(claim,))]
    known = memory_in(stage.gate).queries.known
    asyncio.run(remember(call, passages, origin_of(source, kind), known=known))


def _told(fact: "Fact") -> dict[str, Any]:
    shown = fact.as_dict()
    kept = ("id", "subject", "predicate", "object", "status", "label", "belief", "words")
    return {name: shown[name] for name in kept if name in shown}


PART = DemoPart(name="memory", title="A memory that a loud voice does not change", prepare=prepare, play=play, order=40)
