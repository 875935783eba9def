"""The HTTP door.

`app.py` builds the application; `direct_call.py` serves one path without the router; `gate_routes.py`,
`approval_routes.py`, `audit_routes.py` and `evidence_routes.py` translate requests. `forms.py` defines request bodies
for documentation and validation, and `translate.py` maps errors to responses. Before any of them, `guard.py`, `body.py`
and `protocol.py` refuse foreign hosts and origins, oversized requests and slow clients.
"""
