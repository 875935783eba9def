"""Desk: TRIAGE → TOOL → REPLY, with verdicts that the server computes and a queue for people."""
