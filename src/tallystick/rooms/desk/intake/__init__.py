"""How tickets come in: one event or ticket at a time, in batches, and from files."""
