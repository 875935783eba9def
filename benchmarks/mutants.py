"""Mutation testing of the code that decides and verifies: small faults are put in, and the tests must notice.

    python -m benchmarks.mutants [decide|verify] [--sample 60] [--seed 1] [--from 0]

A mutant is one change in one place: a comparison turned round, `and` for `or`, a `not` taken away, a constant changed.
Each is tried in a copy of the package, in a process of its own, against the tests of that part. What survives is listed
with its place; the survivors and what was done about them are in RESULTS.md.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tallystick"
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "decide": (("gate/decide/*.py",), ("tests/gate/decide",)),
    "verify": (
        ("gate/record/audit.py", "gate/record/record_verifier.py", "gate/record/bundle.py", "gate/record/tree.py",
         "gate/record/evidence.py", "gate/record/definitions.py", "gate/record/checkpoint.py", "gate/record/proof.py"),
        ("tests/gate/record/test_audit.py", "tests/gate/record/test_bundle.py", "tests/gate/record/test_tree.py",
         "tests/gate/record/test_checkpoint.py", "tests/gate/record/test_consistency.py",
         "tests/gate/record/test_erasing.py", "tests/gate/record/test_rotation.py"),
    ),
}  # fmt: skip
"""Part → modules, tests."""
PATIENCE_S = 180
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One changed module."""

    module: Path
    line: int
    what: str
    place: int
    """Number of the node in the order of `ast.walk`."""
    variant: int

    def text(self) -> str:
        """The changed module."""
        tree = ast.parse(self.module.read_text(encoding="utf-8"))
        _change(next(node for at, node in enumerate(ast.walk(tree)) if at == self.place), self.variant)
        return ast.unparse(tree)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS, nargs="?", default="decide")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="start", help="resume at this one of the sample")
    options = parser.parse_args()
    patterns, tests = PARTS[options.part]
    paths = sorted(path for pattern in patterns for path in PACKAGE.glob(pattern))
    found = [mutant for path in paths for mutant in mutants(path)]
    chosen = random.Random(options.seed).sample(found, min(options.sample, len(found)))
    print(f"{options.part}: {len(found)} mutants, {len(chosen)} tried", flush=True)
    survived = 0
    with TemporaryDirectory(prefix="tally-mutants-") as folder:
        package = Path(folder) / "tallystick"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        for number, mutant in enumerate(chosen[options.start :], options.start):
            killed = is_killed(mutant, package, tests)
            survived += not killed
            place = f"{mutant.module.relative_to(PACKAGE)}:{mutant.line}"
            print(f"{number:3} {'killed  ' if killed else 'SURVIVED'} {place} {mutant.what}", flush=True)
    print(f"{survived} survived")


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    declared = set(_declarations(tree))
    for place, node in enumerate(ast.walk(tree)):
        for variant in () if node in declared else range(2):
            what = _change(copy.deepcopy(node), variant)
            if what:
                yield Mutant(module=path, line=getattr(node, "lineno", 0), what=what, place=place, variant=variant)


def _declarations(tree: ast.Module) -> Iterator[ast.AST]:
    """What declares rather than decides, where no test could tell: decorators, `field(…)`, the stubs of a protocol."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for one in node.decorator_list:
                yield from ast.walk(one)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in node.bases):
            yield from ast.walk(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "field":
            yield from ast.walk(node)


def is_killed(mutant: Mutant, package: Path, tests: tuple[str, ...]) -> bool:
    """Whether a test fails, or the run does not end in time, with this mutant in the copy."""
    target = package / mutant.module.relative_to(PACKAGE)
    target.write_text(mutant.text(), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        f"pythonpath={package.parent} .",
        *_nearest_first(mutant.module, tests),
    ]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return True
    finally:
        shutil.copy(mutant.module, target)
    return done.returncode != 0


def _nearest_first(module: Path, tests: tuple[str, ...]) -> list[str]:
    """The test files of a part, those that are named like the module first: most mutants fall there."""
    found = [file for path in tests for file in (sorted((ROOT / path).glob("test_*.py")) or [ROOT / path])]
    return [str(file) for file in sorted(found, key=lambda file: not file.stem.endswith(module.stem.split("_")[0]))]


def _change(node: ast.AST, variant: int) -> str:
    """Change a node in place; empty: there is no such change."""
    if isinstance(node, ast.Compare) and variant == 0 and type(node.ops[0]) in _TURNED:
        before = ast.unparse(node)
        node.ops[0] = _TURNED[type(node.ops[0])]()
        return f"{before}  →  {ast.unparse(node)}"
    if isinstance(node, ast.BoolOp) and variant == 0:
        before = ast.unparse(node)
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"{before}  →  {ast.unparse(node)}"
    if isinstance(node, ast.If | ast.IfExp | ast.While) and variant == 1:
        before = ast.unparse(node.test)
        node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
        return f"if {before}  →  not"
    if isinstance(node, ast.Constant) and variant == 0 and type(node.value) in {bool, int}:
        before = node.value
        node.value = not before if isinstance(before, bool) else before + 1
        return f"{before}  →  {node.value}"
    return ""


if __name__ == "__main__":
    main()
