"""Intake: single events and tickets, batches, and files."""
