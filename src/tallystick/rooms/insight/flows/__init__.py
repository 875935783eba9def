"""Insight's durable flows."""
