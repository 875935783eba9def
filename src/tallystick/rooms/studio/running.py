"""The studio's runs, joined: the flow registered at the durable port, and the desk where doors ask."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.errors import PathRefused
from tallystick.records import record
from tallystick.rooms.studio.book.reading import BookShelf
from tallystick.rooms.studio.flows.pipeline import Pipeline
from tallystick.rooms.studio.runs.catalogue import Catalogue
from tallystick.rooms.studio.runs.desk import FLOW, QUEUE, RunDesk, RunFiles
from tallystick.rooms.studio.runs.ports import Action, Level, Surroundings
from tallystick.rooms.studio.workspace.kept import Kept
from tallystick.rooms.studio.workspace.nouns import Change
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.files import FileSources
from tallystick.storage.notifications import Notifications, place_of
from tallystick.turns.durable import Durable
from tallystick.turns.flow_context import FlowContext
from tallystick.turns.runs import Queue

PER_WORKER = 2
"""Runs at once in one worker: each holds a thread, and their agents queue for the same models."""
_ID_DIGITS = 24


@record
class RunParts:
    """What runs take of the room."""

    workspace: Path
    sources: FileSources
    shelf: BookShelf
    actions: Mapping[str, Action]
    now: Callable[[], str]
    """RFC 3339."""
    chance: Callable[[], str]
    """Some hex digits of chance."""


def join_runs(parts: RunParts, durable: Durable, hands: FlowContext) -> RunDesk:
    """Register the flow, before workers begin; gives the desk."""
    control_room = parts.workspace / CONTROL_ROOM
    files = RunFiles(control_room, now=parts.now)
    pipeline = Pipeline(hands=hands, runs=files, around=_around(parts))
    durable.add_queue(Queue(name=QUEUE, per_worker=PER_WORKER))
    durable.register(FLOW, pipeline.flow, queue=QUEUE)
    catalogue = Catalogue(
        control_room, cards=hands.cards, agents=hands.agents, actions=frozenset(parts.actions)
    )  # fmt: skip
    return RunDesk(files=files, durable=durable, catalogue=catalogue, new_id=lambda: _run_id(parts))


def _around(parts: RunParts) -> Surroundings:
    def book() -> dict[str, Any]:
        found = parts.shelf.book()
        return {
            "scenes": [scene.path for scene in found.scenes],
            "cards": [card.path for card in found.cards],
            "outline": None if found.outline is None else found.outline.path,
        }

    def exists(path: str) -> bool:
        try:
            return parts.sources.read(path) is not None
        except PathRefused:
            return False

    def propose(path: str, text: str, *, by: str, key: str) -> Mapping[str, Any] | Problem:
        patch_id = f"patch_{sha256(key.encode()).hexdigest()[:_ID_DIGITS]}"
        kept = Kept(parts.workspace)
        found = kept.patch(patch_id)
        if found is None:
            revisions = Revisions(parts.sources, kept, new_id=lambda: patch_id)
            change = Change(path=path, base_sha256=None, text=text, note=f"Drafted by {by} in a run.")
            made = revisions.propose(change, by=by, now=parts.now(), origin="run")
            if isinstance(made, Problem):
                return made
            found = made
        return {"patch_id": found.patch_id, "path": found.path, "base_sha256": found.base_sha256}

    def notify(*, level: Level, text: str, run_id: str) -> None:
        Notifications(parts.workspace).add(level=level, source="runs", text=text, link=place_of("run", run_id))

    return Surroundings(
        book=book, exists=exists, actions=parts.actions, patches=propose, notify=notify, now=parts.now
    )  # fmt: skip


def _run_id(parts: RunParts) -> str:
    """The time first, so that a list by name is a list by age."""
    stamp = "".join(sign for sign in parts.now() if sign.isalnum())
    return f"run_{stamp.removesuffix('Z')}_{parts.chance()}"
