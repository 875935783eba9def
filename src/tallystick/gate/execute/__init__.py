"""Step 3: run what was decided, within limits, and check what comes back.

`runner.py` holds the handlers and is imported by the pipeline alone; `limits.py` runs one call so that it cannot hang,
flood or take the gate down; `output.py` turns what a tool returned into the bytes that are recorded; `outcome.py` is
the result type.
"""
