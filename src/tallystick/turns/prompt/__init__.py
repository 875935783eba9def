"""The prompt of a turn: its sections, assembled in `compose`."""
