"""The studio's durable flows."""
