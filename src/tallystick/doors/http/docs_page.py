"""`/api/docs`: the OpenAPI document as a plain page.

The usual viewers are scripts from somewhere else; this server works without a network, and its pages load nothing
from elsewhere.
"""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "summary{cursor:pointer;padding:.3rem 0}code,pre{font:14px/1.4 ui-monospace,monospace}"
    "pre{overflow:auto;padding:.6rem;border:1px solid #8886}b{display:inline-block;min-width:3.5rem}"
)


def docs_page(document: Mapping[str, Any]) -> bytes:
    """The page of an OpenAPI document."""
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
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('description', ''))}</p>"
        f"<p>For programs: <a href='/api/openapi.json'>/api/openapi.json</a></p>{body}</body></html>"
    ).encode()


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    summary = escape(operation.get("summary", ""))
    return (
        f"<details><summary><b>{escape(method.upper())}</b> <code>{escape(path)}</code> {summary}</summary>"
        f"{''.join(_parts(operation))}</details>"
    )


def _parts(operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        said = parameter.get("description") or _type(parameter.get("schema", {}))
        yield f"<p><code>{escape(parameter['name'])}</code> ({escape(parameter['in'])}) {escape(said)}</p>"
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is not None:
        for name, field in schema.get("properties", {}).items():
            needed = "needed" if name in schema.get("required", ()) else "optional"
            said = f"{_type(field)}, {needed}. {field.get('description', '')}"
            yield f"<p><code>{escape(name)}</code> {escape(said)}</p>"
        yield f"<pre>{escape(json.dumps(schema.get('example', {}), indent=2, ensure_ascii=False))}</pre>"
    for status, answer in operation.get("responses", {}).items():
        yield f"<p>{escape(str(status))}: {escape(answer.get('description', ''))}</p>"


def _type(schema: Mapping[str, Any]) -> str:
    return str(schema.get("type", "one of " + ", ".join(map(str, schema.get("enum", ("any",))))))
