"""The floor for HTTP: validate strictly, sign, append, answer; nothing else."""

from __future__ import annotations

import hmac
import os
import sys
from typing import Any

import orjson
import uvicorn
from pydantic import BaseModel, ConfigDict

_KEY = b"k" * 32


class Echo(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    text: str
    n: int


class Bare:
    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self.seq = 0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        request = orjson.loads(body)
        args = Echo.model_validate(request["params"]["arguments"])
        out = f"{args.text}:{args.n}"
        self.seq += 1
        record = orjson.dumps(
            {"seq": self.seq, "tool": "echo", "args": request["params"]["arguments"], "result": out},
            option=orjson.OPT_SORT_KEYS,
        )
        os.write(self.fd, record + b" " + hmac.digest(_KEY, record, "sha256").hex().encode() + b"\n")
        answer = orjson.dumps(
            {"id": request["id"], "result": {"content": [{"type": "text", "text": out}], "isError": False}}
        )
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


if __name__ == "__main__":
    # uvicorn by itself brings h11; httptools is faster and comes with `uvicorn[standard]`, and with us.
    uvicorn.run(
        Bare(sys.argv[2]),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        http=sys.argv[3],  # type: ignore[arg-type]
        loop="asyncio",
        log_level="error",
        access_log=False,
    )
