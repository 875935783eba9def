"""Agents: who they are, where their model is, what they may spend and what they have earned. No I/O here."""
