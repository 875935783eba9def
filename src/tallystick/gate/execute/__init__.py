"""Step three: Decision → Outcome. Run the decided call within limits, and check its result.

`runner.py` has the handlers and is imported only by the pipeline; `limits.py` runs one call so that it cannot hang,
flood or crash the gate; `output.py` converts a tool's return value into the recorded bytes; `outcome.py` defines the
result type.
"""
