"""Vectors of tickets: computed once per ticket and model, in batches that survive an interruption."""
