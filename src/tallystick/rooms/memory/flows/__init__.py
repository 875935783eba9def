"""Longer work over the proposals: filling memory from a text."""
