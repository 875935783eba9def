"""Write what a release is made of: `python -m tests.install.bill dist` makes `sbom.cdx.json` (CycloneDX) and `licences.md`.

Every package of `requirements.lock`, with its version and hashes from the lock and its licence from the installed package.
"""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import tallystick
from tests.house.sources import ROOT

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\;]+)")
UNKNOWN = "not installed here"


def main() -> None:
    """Write both files into the folder that is named."""
    folder, found = Path(sys.argv[1]), components((ROOT / "requirements.lock").read_text("utf-8"))
    (folder / "sbom.cdx.json").write_text(json.dumps(bill(found), indent=1) + "\n", encoding="utf-8")
    rows = [f"| {one['name']} | {one['version']} | {licence_of(one['name'])} |" for one in found]
    table = "\n".join(["| package | version | licence |", "|---|---|---|", *rows])
    (folder / "licences.md").write_text(table + "\n", encoding="utf-8")
    sys.stdout.write(f"ok  {len(found)} packages in sbom.cdx.json and licences.md\n")


def components(lock: str) -> list[dict[str, Any]]:
    """The packages of a lock, each with its version and the hashes of its files."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        pin = _PIN.match(line)
        if pin:
            found.append({"name": pin[1], "version": pin[2], "hashes": []})
        elif found and (digest := re.search(r"--hash=sha256:([0-9a-f]{64})", line)):
            found[-1]["hashes"].append(digest[1])
    return found


def bill(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The bill of materials in the form of CycloneDX 1.5."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "tallystick", "version": tallystick.__version__}},
        "components": [
            {
                "type": "library",
                "name": one["name"],
                "version": one["version"],
                "purl": f"pkg:pypi/{one['name'].lower()}@{one['version']}",
                # One entry for each file of the package: which of them is installed depends on the machine.
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in one["hashes"]],
                "licenses": [{"license": {"name": licence_of(one["name"])}}],
            }
            for one in found
        ],
    }


def licence_of(name: str) -> str:
    """The licence that the installed package states, in one line."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return UNKNOWN
    classified = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier", []) if one.startswith("License ::")]
    stated = about.get("License-Expression") or "; ".join(classified) or (about.get("License") or "").partition("\n")[0]
    return stated[:120] or "not stated"


if __name__ == "__main__":
    main()
