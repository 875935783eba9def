"""The prompt of a turn: one module per section, assembled in `compose`."""
