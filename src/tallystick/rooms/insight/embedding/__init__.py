"""Vectors for tickets: made once for each ticket and model, in batches that stay when the work is interrupted."""
