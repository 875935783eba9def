"""Revisions of the journal's tables."""
