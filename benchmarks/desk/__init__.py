"""The desk, measured."""
