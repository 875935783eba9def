"""HTTP: the outside language of programs.

`app.py` puts the door together; `direct_call.py` serves one path without the router; `gate_routes.py`,
`approval_routes.py`, `audit_routes.py` and `evidence_routes.py` translate. `forms.py` says what a body may hold, for
the documentation and the check alike, and `translate.py` how an error is told. `guard.py`, `body.py` and `protocol.py`
keep strangers, floods and slow lorries out before any of them.
"""
