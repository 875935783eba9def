"""The child process: llama.cpp's own server on loopback, until its stdin closes.

The parent writes one line of settings, reads one line with the address, and keeps the pipe open. When the parent ends
for any reason, the pipe closes and this process ends.
"""

import json
import os
import sys
from importlib import import_module

CONTEXT_TOKENS = 8192
"""The context length that the bundled model was trained for."""


def main() -> None:
    """Serve until stdin ends."""
    given = json.loads(sys.stdin.readline())
    # The library writes to stdout, which the parent reads.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Loaded only after stdout is redirected.
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = given["weights"]
    # Not the path: the server's model name appears in transcripts.
    params.model_alias = {given["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [given["key"]]
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    # Half the cores: the threads spin while they wait for each other, which on a busy machine is worse than fewer
    # threads.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) // 2)
    params.ui = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), file=answer, flush=True)
    sys.stdin.read()
    # The server's threads do not end by themselves.
    os._exit(0)


if __name__ == "__main__":
    main()
