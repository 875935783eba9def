"""The one path of every tool call: admit, decide, execute, record, reply.

`pipeline.py` joins the steps; `codes.py`, `session.py`, `tool.py` and `quotes.py` are the nouns they share.
"""
