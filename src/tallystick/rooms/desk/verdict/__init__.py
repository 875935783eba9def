"""The server's verdict on tickets, from signed receipts. A worker's own verdict can only make it stricter.

case           a ticket with its receipts and verified evidence
answer_choice  the evidence sentences that answer a need
blocks         rules that end a ticket
defers         rules that ask a person
draft_rules    rules for a draft, by sentence and as a whole
unasked        which drafts must not be sent without a person
judge          all rules on one ticket
"""
