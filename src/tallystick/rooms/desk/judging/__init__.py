"""The server's own word on tickets, from signed receipts. What a worker says of itself only ever makes it stricter.

policy.py     what is decided by configuration
case.py       a ticket with what the ledger knows of it
matching.py   how much a snippet speaks to a question; what two snippets contradict each other in
signs.py      what a customer's words ask for
blocks.py     the rules that end a ticket
defers.py     the rules that put it before a person
replies.py    the rules for a draft
judge.py      all of it together
"""
