"""What runs in the child: llama.cpp's own server on loopback, until nobody holds the other end of its input.

The parent writes one line of settings, reads one line with the address, and keeps the pipe open. When the parent ends,
however it ends, the pipe closes, and so does this.
"""

import json
import os
import sys
from importlib import import_module

CONTEXT_TOKENS = 8192
"""What the bundled model was trained for."""


def main() -> None:
    """Serve until the input ends."""
    given = json.loads(sys.stdin.readline())
    # The library writes to the standard output, which is the parent's line to us.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Loaded once the output is out of its reach.
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = given["weights"]
    # Not the path: what a server says of itself stands in transcripts.
    params.model_alias = {given["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [given["key"]]
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    # Half the cores: its threads wait for each other by spinning, which on a busy machine is worse than fewer threads.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) // 2)
    params.ui = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), file=answer, flush=True)
    sys.stdin.read()
    # Its threads do not end by themselves.
    os._exit(0)


if __name__ == "__main__":
    main()
