"""One agent turn between model and gate, and the port for work that outlives a process (`durable.py`)."""
