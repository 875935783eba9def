"""One agent turn between model and gate, and the port for durable workflows (`durable.py`)."""
