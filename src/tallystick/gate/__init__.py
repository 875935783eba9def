"""The single path that every tool call takes: admit, decide, execute, record, reply.

`pipeline.py` joins the steps; `codes.py`, `session.py`, `tool.py` and `quotes.py` hold the types that the steps share.
"""
