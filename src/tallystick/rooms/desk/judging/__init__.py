"""The server's own word on tickets, from signed receipts. What a worker says of itself only ever makes it stricter.

policy.py     what is decided by configuration
provenance.py who wrote a piece of evidence, and whether it may answer a customer
case.py       a ticket with what the ledger knows of it
matching.py   what texts have in common: words, numbers, whether they say no
quoted.py     what a snippet says itself, without what it quotes
saying.py     the sentences of a snippet
telling.py    how much of a question each of them speaks of
asking.py     what a question turns on, and whether sentences speak of it
choosing.py   which sentences answer a need
contradicting.py  what two texts say differently of one thing
signs.py      what a customer's words ask for
blocks.py     the rules that end a ticket
defers.py     the rules that put it before a person
replies.py    the rules for a draft, sentence by sentence
cited.py      the rules for a draft as a whole
judge.py      all of it together
"""
