"""Compares the outline with the scenes: matches, missing entries, balance."""
