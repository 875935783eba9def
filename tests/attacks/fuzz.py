"""Random fuzzing of every target: `python -m tests.attacks.fuzz [--minutes 5] [--seed N] [TARGET …]`.

Inputs are mutated from the corpus by cutting, doubling, splicing and changing bytes. One that crashes a target is written
to `tests/attacks/crashes/`, and the suite tries it from then on.
"""

import argparse
import random
import secrets
import sys
import time
import traceback
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attacks.targets import CORPUS, TARGETS, Target, gate_target, takes

CRASHES = Path(__file__).parent / "crashes"
MOST_BYTES = 4096
SLOW_S = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="names; default: all")
    parser.add_argument("--minutes", type=float, default=5, help="for each target")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    options = parser.parse_args()
    found = 0
    with TemporaryDirectory(prefix="tally-fuzz-") as folder:
        every = {**TARGETS, "gate": gate_target(Path(folder) / "ws")}
        for name in options.targets or every:
            crashes, count = fuzz(every[name], random.Random(options.seed), seconds=options.minutes * 60)
            sys.stdout.write(f"{name}: {count} inputs, {len(crashes)} crashes (seed {options.seed})\n")
            sys.stdout.flush()
            for data in crashes:
                CRASHES.mkdir(exist_ok=True)
                (CRASHES / f"{name.replace(' ', '-')}-{sha256(data).hexdigest()[:12]}").write_bytes(data)
            found += len(crashes)
    sys.exit(1 if found else 0)


def fuzz(target: Target, source: random.Random, *, seconds: float, most: int | None = None) -> tuple[list[bytes], int]:
    """Try mutated inputs; return those that crashed or took long (one for each place), and how many were tried."""
    pool, crashes, count = list(CORPUS), dict[str, bytes](), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most is None or count < most):
        data, count = mutated(source, pool), count + 1
        begin = time.perf_counter()
        try:
            takes(target, data)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            crashes.setdefault(f"{type(error).__name__} {last.filename}:{last.lineno}", data)
        else:
            if time.perf_counter() - begin > SLOW_S:
                crashes.setdefault("slow", data)
            elif source.random() < 0.02:
                pool[source.randrange(len(CORPUS), len(pool) + 1) :] = [data]
    return list(crashes.values()), count


def mutated(source: random.Random, pool: list[bytes]) -> bytes:
    """One input from the pool, changed in one to six places."""
    data = bytearray(source.choice(pool))
    for _ in range(source.randint(1, 6)):
        at, until = sorted(source.randint(0, len(data)) for _ in range(2))
        kind = source.randrange(5)
        if kind == 0:
            data[at:until] = b""
        elif kind == 1:
            data[at:at] = data[at:until] * source.randint(1, 40)
        elif kind == 2:
            data[at:until] = source.choice(pool)
        elif kind == 3:
            data[at:at] = source.randbytes(source.randint(1, 8))
        elif data:
            data[min(at, len(data) - 1)] ^= 1 << source.randrange(8)
    return bytes(data[:MOST_BYTES])


if __name__ == "__main__":
    main()
