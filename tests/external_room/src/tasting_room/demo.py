"""The room's part of `tally demo`."""

from pathlib import Path

from tallystick.doors.cli.kit import DemoContext, DemoPart, DemoResult

FILE = "inbox/may.csv"
ROWS = "wine,score\nBaga 2019,91\nEncruzado 2021,88\n"


def prepare(folder: Path) -> str:
    """Write a file to import, unless there is one."""
    path = folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(ROWS, encoding="utf-8")
    return f"{FILE}: two tastings to import"


def play(stage: DemoContext) -> DemoResult:
    """Log one tasting, and show that a score above the scale is refused."""
    good = stage.gate.call_sync("tastings.add", {"wine": "Baga 2019", "score": 91}, session="demo")
    bad = stage.gate.call_sync("tastings.add", {"wine": "Baga 2019", "score": 9100}, session="demo")
    code = None if bad.rejection is None else str(bad.rejection.code)
    stage.screen.line(f"91 points: {good.status}; 9100 points: {bad.status}, {code}")
    return DemoResult(ok=good.ok and not bad.ok, data={"refused": code}, try_next=("tally tastings list",))


PART = DemoPart(name="tastings", title="A log of tastings", prepare=prepare, play=play, order=60)
