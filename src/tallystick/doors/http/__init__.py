"""HTTP: the outside language of programs.

`app.py` puts the door together; `fast.py` is the short way for the one call that matters most; `gate_routes.py`,
`approval_routes.py`, `audit_routes.py` and `evidence_routes.py` translate. `forms.py` says what a body may hold, for
the documentation and the check alike, and `translate.py` how an error is told. `guard.py`, `body.py` and `protocol.py`
keep strangers, floods and slow lorries out before any of them.
"""
