"""Flows for the tests, in a module that a worker's own process can import.

A step's effect is a file named by the step's key, made once whoever comes first; each attempt is a line in
`attempts.log`. So a test can tell "done twice" from "took effect twice".
"""

import asyncio
import os
import secrets
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tallystick.storage.durable.stored import StoredDurable
from tallystick.turns.durable import AsyncRun, Run
from tallystick.turns.runs import Queue, Retry, StepFailed

PATIENCE_S = 240.0
LOOK_S = 0.01


def sample_durable(database_url: str | None, control_room: Path) -> StoredDurable:
    """The port with all sample flows."""
    durable = StoredDurable(database_url=database_url, control_room=control_room)
    durable.add_queue(Queue(name="many", per_worker=16))
    durable.add_queue(Queue(name="two", concurrency=2))
    durable.add_queue(Queue(name="deadly", per_worker=1))
    durable.add_queue(Queue(name="single", per_worker=1, starts=100, per_s=1.0))
    durable.register("sample.chain", chain, queue="many")
    durable.register("sample.gather", gather, queue="many")
    durable.register("sample.held", held, queue="many")
    durable.register("sample.held_async", held_async, queue="many")
    durable.register("sample.patient", patient, queue="many")
    durable.register("sample.patient_async", patient_async, queue="many")
    durable.register("sample.single", chain, queue="single")
    durable.register("sample.sleeper", sleeper, queue="many")
    durable.register("sample.sleeper_async", sleeper_async, queue="many")
    durable.register("sample.until_mended", until_mended, queue="many")
    durable.register("sample.shaky", shaky, queue="many")
    durable.register("sample.shaky_async", shaky_async, queue="many")
    durable.register("sample.odd", odd, queue="many")
    durable.register("sample.counted", counted, queue="two")
    durable.register("sample.deadly", deadly, queue="deadly", attempts=1)
    return durable


def chain(run: Run, args: dict[str, Any]) -> list[str]:
    """As many steps as asked for, each with an effect."""
    out = Path(args["out"])
    tokens = []
    for number in range(args["steps"]):
        name = f"step:{number}"
        tokens.append(run.step(name, effect, out, run.key(name), args.get("each_s", 0.0)))
        if args.get("tell"):
            run.emit({"done": number + 1})
    return tokens


async def gather(run: AsyncRun, args: dict[str, Any]) -> list[str]:
    """Steps that go on together, plain and async ones; asked to, no async one ends before all have begun."""
    out = Path(args["out"])
    all_have_begun = asyncio.Barrier(args["steps"] if args.get("together") else 1)

    async def on_the_loop(key: str) -> str:
        await all_have_begun.wait()
        await asyncio.sleep(args.get("each_s", 0.0))
        return effect(out, key, 0.0)

    plain = [run.step(f"plain:{n}", effect, out, run.key(f"plain:{n}"), 0.0) for n in range(args["steps"])]
    loop = [run.step(f"loop:{n}", on_the_loop, run.key(f"loop:{n}")) for n in range(args["steps"])]
    tokens = await asyncio.gather(*plain, *loop)
    await run.emit({"done": len(tokens)})
    return list(tokens)


def held(run: Run, args: dict[str, Any]) -> list[str]:
    """A first step, then one that is held until the file `go` is there, then a last one."""
    out = Path(args["out"])
    first = run.step("first", effect, out, run.key("first"), 0.0)
    held = run.step("held", _held_effect, out, run.key("held"))
    return [first, held, run.step("last", effect, out, run.key("last"), 0.0)]


async def held_async(run: AsyncRun, args: dict[str, Any]) -> list[str]:
    """The same on the loop."""
    out = Path(args["out"])
    first = await run.step("first", effect, out, run.key("first"), 0.0)
    held = await run.step("held", _held_effect, out, run.key("held"))
    return [first, held, await run.step("last", effect, out, run.key("last"), 0.0)]


def sleeper(run: Run, args: dict[str, Any]) -> str:
    """A step, a sleep, a step."""
    out = Path(args["out"])
    run.step("before", effect, out, run.key("before"), 0.0)
    run.sleep(args["seconds"])
    return run.step("after", effect, out, run.key("after"), 0.0)


async def sleeper_async(run: AsyncRun, args: dict[str, Any]) -> str:
    """The same on the loop."""
    out = Path(args["out"])
    await run.step("before", effect, out, run.key("before"), 0.0)
    await run.sleep(args["seconds"])
    token: str = await run.step("after", effect, out, run.key("after"), 0.0)
    return token


def patient(run: Run, args: dict[str, Any]) -> None:
    """A step that goes on until the run is cancelled."""
    out = Path(args["out"])

    def wait() -> None:
        note(out, run.key("wait"))
        while not run.cancelled():
            time.sleep(LOOK_S)
        effect(out, run.key("noticed"), 0.0)

    run.step("wait", wait)


async def patient_async(run: AsyncRun, args: dict[str, Any]) -> None:
    """The same on the loop."""
    out = Path(args["out"])

    async def wait() -> None:
        note(out, run.key("wait"))
        while not await run.cancelled():  # noqa: ASYNC110 - the database has no event for it
            await asyncio.sleep(LOOK_S)
        effect(out, run.key("noticed"), 0.0)

    await run.step("wait", wait)


def until_mended(run: Run, args: dict[str, Any]) -> str:
    """Fails in its second step, or between steps, until the file `mended` is there."""
    out = Path(args["out"])
    first = run.step("first", effect, out, run.key("first"), 0.0)

    def needs_mending() -> str:
        if not (out / "mended").exists():
            raise LookupError("still broken")
        return first

    if args["inside"]:
        return run.step("second", needs_mending)
    return needs_mending()


def shaky(run: Run, args: dict[str, Any]) -> dict[str, Any]:
    """A step that fails some times, and a flow that catches its last failure."""
    out = Path(args["out"])

    def fails() -> int:
        tries = note(out, run.key("fails"))
        if tries <= args["failures"]:
            raise ConnectionError(f"no answer {tries}")
        return tries

    retry = Retry(attempts=args["attempts"], first_s=0.01, never_on=(PermissionError,))
    try:
        return {"tries": run.step("fails", fails, retry=retry)}
    except StepFailed as error:
        return {"caught": error.failure.kind, "step": error.step, "attempts": error.attempts}


async def shaky_async(run: AsyncRun, args: dict[str, Any]) -> dict[str, Any]:
    """The same on the loop."""
    out = Path(args["out"])

    async def fails() -> int:
        tries = note(out, run.key("fails"))
        if tries <= args["failures"]:
            raise ConnectionError(f"no answer {tries}")
        return tries

    try:
        return {"tries": await run.step("fails", fails, retry=Retry(attempts=args["attempts"], first_s=0.01))}
    except StepFailed as error:
        return {"caught": error.failure.kind, "step": error.step, "attempts": error.attempts}


def odd(run: Run, args: dict[str, Any]) -> Any:
    """Does what a flow must not, or what is easily got wrong."""
    out = Path(args["out"])

    def step_twice() -> Any:
        run.step("same", lambda: 1)
        return run.step("same", lambda: 2)

    def other_steps() -> Any:
        run.step("again" if (out / "changed").exists() else "at first", lambda: 1)
        (out / "changed").touch()
        raise LookupError("resume me")

    def as_tuple() -> Any:
        given = run.step("tuple", lambda: (1, (2, 3)))
        return {"as": type(given).__name__, "given": given}

    what: dict[str, Any] = {
        "step twice": step_twice,
        "result not JSON": object,
        "step result not JSON": lambda: run.step("odd", object, retry=Retry(attempts=5, first_s=60)),
        "event not JSON": lambda: run.emit({"at": object()}),
        "async step": lambda: run.step("odd", asyncio.sleep, 0),
        "reserved name": lambda: run.step("~sleep:1", lambda: 1),
        "other steps": other_steps,
        "tuple": as_tuple,
    }
    return what[args["what"]]()


def counted(run: Run, args: dict[str, Any]) -> int:
    """Tells how many of its kind were inside at once."""
    inside = Path(args["out"]) / "inside"

    def look() -> int:
        inside.mkdir(exist_ok=True)
        mine = inside / run.id
        mine.touch()
        time.sleep(args["each_s"])
        seen = len(list(inside.iterdir()))
        mine.unlink()
        return seen

    return run.step("look", look)


def deadly(run: Run, args: dict[str, Any]) -> None:
    """Kills its worker, each time."""
    run.step("kill", lambda: (note(Path(args["out"]), run.key("kill")), os._exit(9)))


def effect(out: Path, key: str, each_s: float) -> str:
    """Take effect once for the key; gives the same token each time."""
    note(out, key)
    time.sleep(each_s)
    path = out / "effects" / key.replace("/", "=")
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{secrets.token_hex(8)}")
    draft.write_text(secrets.token_hex(8))
    try:
        os.link(draft, path)  # Whole or not at all, and only one can win.
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text()


def note(out: Path, key: str) -> int:
    """Write down one attempt; gives how many there were for the key."""
    with (out / "attempts.log").open("a") as log:
        log.write(f"{key}\n")
    return attempts(out)[key]


def attempts(out: Path) -> Counter[str]:
    """How often each key was tried."""
    path = out / "attempts.log"
    return Counter(path.read_text().splitlines()) if path.exists() else Counter()


def effects(out: Path) -> dict[str, str]:
    """Key → token, for all that took effect."""
    return {
        path.name.replace("=", "/"): path.read_text()
        for path in (out / "effects").glob("*")
        if not path.name.startswith(".")
    }


def _held_effect(out: Path, key: str) -> str:
    note(out, key)
    deadline = time.monotonic() + PATIENCE_S
    while not (out / "go").exists() and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    return effect(out, key, 0.0)
