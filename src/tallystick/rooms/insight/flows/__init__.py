"""Insight's long work, on the durable port."""
