"""What is committed holds nothing of the machine it was written on, and the locks can be used anywhere."""

import re
import tomllib
from importlib.metadata import requires, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.sources import ROOT, repository_files, text_of

# Put together from pieces, so that this file does not hold what it looks for.
MACHINE = re.compile(
    r"(^|[^A-Za-z0-9_.])/(" + "|".join(["wo" + "rk", "fa" + "rm", "opt/py" + "pi", "opt/whe" + "els"]) + r")/"
)
REGISTRY = re.compile(
    r"https?://[^\s\"']*(" + "|".join(["py" + "pi", "pythonhos" + "ted", "npm" + "js", "deb" + "ian"]) + ")"
)
LEFT_OVER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME"]) + r")\b")
ALL = ("durable", "models", "postgres", "tracing")
"""The extras that `all` takes in."""
LOCKS = ("requirements.lock", "requirements-dev.lock")


@pytest.mark.promise("house.no-traces")
@pytest.mark.parametrize("trace", [MACHINE, REGISTRY, LEFT_OVER], ids=["machine", "registry", "left-over"])
def test_no_file_names_this_machine_a_package_registry_or_work_left_over(trace: re.Pattern[str]) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in repository_files()
        for number, line in enumerate((text_of(path) or "").splitlines(), start=1)
        if trace.search(line)
    ]
    assert not found


@pytest.mark.promise("house.locks")
@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_one_version_and_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    pinned = re.findall(
        r"^([a-z0-9-]+)==\S+(?: ;[^\\\n]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE
    )
    rest = re.sub(r"^\s*(#.*|--hash=.*|[a-z0-9-]+==.*)$", "", text, flags=re.MULTILINE)
    assert len(pinned) == len(re.findall("==", re.sub("#.*|;.*", "", text)))
    assert not rest.strip()
    assert "://" not in text


@pytest.mark.promise("house.locks")
def test_the_locks_name_everything_the_project_asks_for_and_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    used, dev = (_pins(lock) for lock in LOCKS)
    asked = {_name(each) for each in [*project["dependencies"], *(each for name in ALL for each in extras[name])]}
    assert asked <= used.keys()
    assert {_name(each) for each in extras["dev"]} - {"tallystick"} <= dev.keys()
    assert used.items() <= dev.items()


@pytest.mark.promise("house.locks")
@pytest.mark.parametrize(("lock", "extras"), [(LOCKS[0], ALL), (LOCKS[1], ("dev",))])
def test_a_lock_is_whole_so_that_nothing_is_left_to_resolve(lock: str, extras: tuple[str, ...]) -> None:
    # Some are pinned once for an older Python and once for the newer ones.
    pins = set(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
    seen: set[tuple[str, str]] = set()
    ahead = [("tallystick", extra) for extra in ("", *extras)]
    while ahead:
        name, extra = here = ahead.pop()
        if here in seen:
            continue
        seen.add(here)
        if name != "tallystick":
            assert (name, version(name)) in pins, f"{lock} does not pin {name} as it is installed"
        for needed in map(Requirement, requires(name) or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                ahead += [(canonicalize_name(needed.name), each) for each in ("", *needed.extras)]
    assert len(seen) > len(extras) + 1


@pytest.mark.promise("house.one-build")
def test_the_build_runs_what_a_person_runs() -> None:
    run = ROOT / ".ci" / "run"
    assert run.stat().st_mode & 0o111
    assert "make test" in run.read_text(encoding="utf-8")
    hooks = re.findall(r"entry: make (\S+)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    check = re.search(r"^check:([^#\n]*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert check
    assert set(hooks) == set(check[1].split()) - {"cover"}


def _pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=~! ;]", requirement, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")
