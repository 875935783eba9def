"""The only place where parts are chosen and joined, and the public `Gate`.

    gate = Gate.open("my-project")      # ledger, keys and policy of that workspace; makes what is missing
    gate.register(word_count)
    outcome = await gate.call("word_count", {"path": "Story/one.md"}, session="s1")

`wiring.py` chooses the parts, `plugins.py` finds tools and rooms, `approvals.py` is how people answer held calls,
`replies.py` checks what agents claim.
"""

from tallystick.app.gate import Gate

__all__ = ["Gate"]
