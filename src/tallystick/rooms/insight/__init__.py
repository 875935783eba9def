"""Insight: what the support tickets say, with numbers that can be recomputed."""
