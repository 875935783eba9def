"""Nodes of one workspace: each has a folder and a state folder of its own, and the journal's database in common."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson

from tests.faults.processes import HERE
from tests.ledgers import Workspace


def first_node(root: Path, database: str, **ledger: object) -> Workspace:
    """The node that makes the keys."""
    node = Workspace(root, durability="fsync", database=database, **ledger)
    node.open().close()
    return node


def further_node(first: Workspace, root: Path, database: str | None = None) -> Workspace:
    """Another node: only the keys are copied."""
    node = Workspace(root, database=database or first.database, **first.ledger)
    node.audit.mkdir(parents=True, mode=0o700)
    for name in ("secret.key", "log.key"):
        shutil.copy2(first.audit / name, node.audit / name)
    if (first.audit / "keys").exists():
        shutil.copytree(first.audit / "keys", node.audit / "keys", dirs_exist_ok=True)
    return node


def start_node(node: Workspace, acks: Path, *, session: str, number: int = 1_000_000) -> "subprocess.Popen[bytes]":
    """Start a process that records on this node, and keeps trying while it is refused."""
    command = [
        sys.executable, "-m", "tests.faults.node", str(node.root.parent), orjson.dumps(node.ledger).decode(),
        node.database or "", str(acks), session, str(number),
    ]  # fmt: skip
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE)
