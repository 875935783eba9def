"""`/api/docs`: the OpenAPI document as a plain page.

The usual viewers load scripts from a CDN; this server works offline, and its pages load no external resources.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin:2rem 0 .5rem;padding-bottom:.2rem;border-bottom:1px solid #8886}
h3{font-size:.85rem;margin:1rem 0 .3rem;opacity:.7}
details{margin:0 0 .1rem}details[open]{margin-bottom:1.5rem}
summary{cursor:pointer;padding:.3rem 0;overflow-wrap:anywhere}summary:hover{background:#8882}
summary b{display:inline-block;min-width:4.5rem}summary span{opacity:.75;margin-left:.6rem}
.body{margin-left:1.1rem;overflow-x:auto}
code,pre{font:14px/1.4 ui-monospace,monospace}
pre{overflow:auto;margin:0;padding:.6rem;border:1px solid #8886;border-radius:.3rem}
table{border-collapse:collapse;width:100%}
td{padding:.25rem 1rem .25rem 0;vertical-align:top;border-bottom:1px solid #8883}
td:first-child{white-space:nowrap;width:1%}td.kind{width:30%;opacity:.8}
"""
_CODE = re.compile(r"`([^`]+)`")
_MAX_CHOICES = 12


def docs_page(document: Mapping[str, Any]) -> bytes:
    """Render an OpenAPI document as an HTML page."""
    info = document["info"]
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(path, method, operation))
    body = "".join(f"<h2>{escape(name)}</h2>{''.join(entries)}" for name, entries in groups.items())
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(info['title'])} API</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{_text(info.get('description', ''))}</p>"
        f"<p>For programs: <a href='/api/openapi.json'>/api/openapi.json</a></p>{body}</body></html>"
    ).encode()


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    name = f"<b>{escape(method.upper())}</b><code>{escape(path)}</code>"
    return (
        f"<details><summary>{name}<span>{_text(operation.get('summary', ''))}</span></summary>"
        f"<div class='body'>{''.join(_parts(operation))}</div></details>"
    )


def _parts(operation: Mapping[str, Any]) -> Iterator[str]:
    if "description" in operation:
        yield f"<p>{_text(operation['description'])}</p>"
    parameters = operation.get("parameters", ())
    for place, title in (("path", "In the path"), ("query", "In the query")):
        yield _table(title, (_parameter(one) for one in parameters if one["in"] == place))
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is not None:
        yield _table("Body, a JSON object", _fields(schema))
        if "example" in schema:
            example = json.dumps(schema["example"], indent=2, ensure_ascii=False)
            yield f"<h3>For example</h3><pre>{escape(example)}</pre>"
    # List the `default` response last, whatever the order in the document.
    answers = sorted(operation.get("responses", {}).items(), key=lambda answer: (answer[0] == "default", answer[0]))
    rows = (
        (escape("else" if status == "default" else status), _text(answer.get("description", "")))
        for status, answer in answers
    )
    yield _table("Answers", rows)


def _table(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    drawn = "".join("<tr>" + "".join(_cells(row)) + "</tr>" for row in rows)
    return f"<h3>{title}</h3><table>{drawn}</table>" if drawn else ""


def _cells(row: tuple[str, ...]) -> Iterator[str]:
    *first, last = row
    for place, cell in enumerate(first):
        yield f"<td class='kind'>{cell}</td>" if place else f"<td>{cell}</td>"
    yield f"<td>{last}</td>"


def _parameter(parameter: Mapping[str, Any]) -> tuple[str, str, str]:
    kind = _kind(parameter.get("schema", {}))
    return f"<code>{escape(parameter['name'])}</code>", escape(kind), _text(parameter.get("description", ""))


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name, field in schema.get("properties", {}).items():
        kind = _kind(field) + (", needed" if name in schema.get("required", ()) else "")
        yield f"<code>{escape(name)}</code>", escape(kind), _text(field.get("description", ""))


def _kind(schema: Mapping[str, Any]) -> str:
    """Describe a schema briefly: type, bounds and default."""
    kind = _type(schema)
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        kind += f", {low:g} to {high:g}"
    elif low is not None:
        kind += f", from {low:g}"
    return kind if "default" not in schema else f"{kind}; {json.dumps(schema['default'])} if not given"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"][:_MAX_CHOICES]))
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(choice) for choice in schema["anyOf"]))
    kinds = schema.get("type", "anything")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _text(said: str) -> str:
    """Escape a text of the document and render backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape(said))
