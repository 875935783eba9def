"""Measure one set by itself, e.g. while rules are tuned.

python -m benchmarks.continuity --split dev [--seed N] [--books N] [--only grep,canon_checker] [--show FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.continuity import DATA, SEED
from benchmarks.continuity.measuring import CHECKERS, Size, measure, split_of
from benchmarks.continuity.novels import novels
from benchmarks.continuity.report import markdown, show


def main() -> None:
    parser = argparse.ArgumentParser(description="Planted contradictions and clean twins, one set of the wordings.")
    parser.add_argument("--split", choices=("dev", "held"), default="dev")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--books", type=int, default=1, help="planted books of each novel, each with its twin")
    parser.add_argument("--per-kind", type=int, default=3, help="cases of each kind in a book")
    parser.add_argument("--only", default=",".join(CHECKERS), help="these checkers, with commas between them")
    parser.add_argument("--all-novels", action="store_true", help="not only those of this set")
    parser.add_argument("--show", type=Path, help="write what was missed and what was false to this file (dev only)")
    options = parser.parse_args()
    if options.show and options.split != "dev":
        parser.error("--show is for --split dev: the held set is not to be read while rules are written")
    found = [novel for novel in novels(DATA) if options.all_novels or split_of(novel) == options.split]
    if not found:
        parser.error("no novels: set TALLY_DATA to the folder that has gutenberg-novels")
    size = Size(books=options.books, per_kind=options.per_kind, checkers=tuple(options.only.split(",")))
    with TemporaryDirectory(prefix="tally-continuity-") as folder:
        measured = measure(found, DATA, Path(folder), split=options.split, seed=options.seed, size=size)
    print(markdown([measured]))
    if options.show:
        show(measured, options.show)


if __name__ == "__main__":
    main()
