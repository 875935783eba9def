"""Which tool, with which arguments, the agent without a large model takes for a request.

`python -m benchmarks.requests PROJECT REQUESTS.jsonl [--misses]`: lines hold `request`, `tool` (or `answer`, `summary`,
`presence`, `none`), `args` and other calls to `accept`. For searches the words looked for count, not the way of scanning.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tallystick.app.agents import library_of
from tallystick.app.gate import Gate
from tallystick.providers.offline.prompt import ToolLine
from tallystick.reading.agent.arguments import QUERY, Subject
from tallystick.reading.agent.names import find_mentions
from tallystick.reading.agent.plan import PLAIN, PlannedRead, choose
from tallystick.text.stems import stem_all
from tallystick.text.words import words

WHOLE = "user_request"


def is_right(row: dict[str, Any], kind: str, call: PlannedRead | None) -> tuple[bool, bool]:
    """Whether the tool is right, and whether its arguments are too."""
    wanted = [{"tool": row["tool"], "args": row.get("args", {})}, *row.get("accept", [])]
    name = kind if call is None else call.tool
    same = [each for each in wanted if each["tool"] == name]
    args = {} if call is None else dict(call.args)
    return bool(same), any(name in PLAIN or _folded(each.get("args", {})) == _folded(args) for each in same)


def _folded(args: dict[str, Any]) -> dict[str, Any]:
    found = {key: sorted(value) if isinstance(value, list) else value for key, value in args.items() if key != WHOLE}
    for key in QUERY:
        if key in found:
            found[key] = sorted(set(stem_all(words(str(found[key])))))
            found.pop("scan_mode", None)
    return found


def main() -> None:
    """Ask all requests and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("requests", type=Path)
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.requests.read_text(encoding="utf-8").splitlines()]
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        shutil.copytree(given.project, made, dirs_exist_ok=True)
        (Path(made) / "tallystick.toml").write_text('rooms = ["studio"]\n', encoding="utf-8")
        with Gate.open(made, plugins=True) as gate:
            library = library_of(gate)
            tools = {
                card.name: ToolLine(
                    name=card.name, description=card.description, effect=card.effect, schema=dict(card.input_schema)
                )
                for card in gate.tools()
                if library.intents.knows(card.name)
            }
            workspace = library.named_files()
            for row in rows:
                mentions = find_mentions(row["request"], workspace)
                subject = Subject(request=row["request"], mentions=mentions, workspace=workspace)
                kind, call = choose(library, subject, tools)
                tool_right, right = is_right(row, kind, call)
                group = "plain" if row["tool"] in PLAIN else "tool"
                count.update({f"{group}": 1, f"{group} named": tool_right, f"{group} right": right})
                if given.misses and not right:
                    got = kind if call is None else f"{call.tool} {dict(call.args)}"
                    sys.stdout.write(f"{row['request']}\n    wanted {row['tool']} {row.get('args')}\n    got {got}\n")
    sys.stdout.write(f"{dict(count)}\n")


if __name__ == "__main__":
    main()
