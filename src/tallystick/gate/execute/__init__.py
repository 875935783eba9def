"""Step 3 of 5 (admit, decide, execute, record, reply): Decision → Outcome.

Run the decided call within limits, and check its result.

`runner.py` has the handlers and is imported only by the pipeline; `limits.py` runs one call so that it cannot block
the gate, crash it or return too much; `output.py` converts a tool's return value into the recorded bytes; `outcome.py`
defines the result type.
"""
