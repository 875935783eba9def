"""An MCP server for tests: plain Python, one line a message, and every bad habit that a test asks for.

python upstream_script.py [--silent] [--definitions FILE] [--log FILE] [--stubborn] [--instructions TEXT]
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


READS = {"readOnlyHint": True}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}, "required": ["text"]}
ANY = {"type": "object"}
POINT = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/whole"}},
    "required": ["x"],
    "$defs": {"whole": {"type": "integer"}},
}
TOOLS = [
    {"name": "echo", "description": "Give back a text.", "inputSchema": TEXT, "annotations": READS},
    {"name": "get_point", "description": "A point.", "inputSchema": ANY, "outputSchema": POINT},
    {"name": "get_image", "description": "A picture.", "inputSchema": ANY},
    {"name": "write_note", "description": "Write a note.", "inputSchema": TEXT},
    {"name": "login", "inputSchema": {"type": "object", "properties": {"password": {"type": "string"}}}, "annotations": READS},
    *({"name": name, "description": name, "inputSchema": ANY, "annotations": READS}
      for name in ("fail", "rpc_error", "die", "garbage", "flood", "huge", "hang", "ask_model", "progress", "early", "twice", "spread", "odd_id", "half")),
    {"name": "get remote", "inputSchema": {"$ref": "https://example.org/schema.json"}, "annotations": READS},
]  # fmt: skip


def say(message, end="\n"):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + end)
    sys.stdout.flush()


def log(line):
    if option("--log"):
        with Path(option("--log")).open("a", encoding="utf-8") as file:
            file.write(line if line.endswith("\n") else line + "\n")


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def call(ident, params):  # noqa: PLR0911 - one habit after the other
    name, args = params["name"], params.get("arguments") or {}
    if name == "get_point":
        return text("point", structuredContent={"x": args.get("x", 1)})
    if name == "get_image":
        return {"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]}
    if name == "fail":
        return text("it did not work", isError=True)
    if name == "die":
        os._exit(3)
    if name == "garbage":
        say("not json at all")
        say('{"half":')
    if name == "flood":
        for number in range(20000):
            say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": number}})
    if name == "huge":
        say('{"jsonrpc":"2.0","id":' + json.dumps(ident) + ',"result":{"content":[{"type":"text","text":"', end="")
        for _ in range(args.get("megabytes", 1)):
            sys.stdout.write("x" * 1_000_000)
        say('"}]}}')
        return None
    if name == "hang":
        return None
    if name == "ask_model":
        say({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {"maxTokens": 5}})
        answer = json.loads(sys.stdin.readline())
        return text(answer["result"]["content"]["text"])
    if name == "progress":
        token = params["_meta"]["progressToken"]
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
    if name == "early":
        # The answer to a call that nobody has made yet.
        say({"jsonrpc": "2.0", "id": args["id"], "result": text("not asked")})
    if name == "twice":
        say({"jsonrpc": "2.0", "id": ident, "result": text("first")})
    if name == "odd_id":
        # The id as it was not given, and whatever else makes an answer look like something else.
        say(args["line"].replace("ID", json.dumps(ident)))
        return None
    if name == "half":
        return text("cut in the middle: \ud83d") if args.get("text") else text("n", n=float("nan"))
    if name == "spread":
        odd = '{ "result" : {"content": [ {"type":"text","text":"a\\u00e9\\/"} ] , "n": 1.50} , "id":'
        say(odd + json.dumps(ident) + ',"jsonrpc":"2.0"}')
        return None
    return text(json.dumps(args, sort_keys=True))


def answer(message):  # noqa: PLR0911 - as above
    method, ident = message.get("method"), message.get("id")
    if method == "initialize":
        if "--silent" in sys.argv:
            return None
        capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}}
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "serverInfo": {"name": "s", "version": "1"},
            **({"instructions": option("--instructions")} if option("--instructions") else {}),
        }
    if method == "tools/list":
        given = option("--definitions")
        tools = json.loads(Path(given).read_text()) if given else TOOLS
        at = int((message.get("params") or {}).get("cursor", 0))
        page = 8 if given is None else 1000
        more = {"nextCursor": str(at + page)} if at + page < len(tools) else {}
        return {"tools": tools[at : at + page], **more}
    if method == "tools/call":
        if message["params"]["name"] == "rpc_error":
            say({"jsonrpc": "2.0", "id": ident, "error": {"code": -32602, "message": "no such thing"}})
            return None
        return call(ident, message["params"])
    if method == "resources/read":
        return {"contents": [{"uri": message["params"]["uri"], "text": "é — résumé"}]}
    if method == "test/changed":
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    return {"method": method}


def main():
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        log(line)
        message = json.loads(line)
        if "method" not in message or "id" not in message:
            continue
        result = answer(message)
        if result is not None:
            say({"jsonrpc": "2.0", "id": message["id"], "result": result})
    log("END")
    while "--stubborn" in sys.argv:
        time.sleep(60)


if __name__ == "__main__":
    main()
