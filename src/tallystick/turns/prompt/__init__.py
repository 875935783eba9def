"""The prompt of a turn: one module a section, put together in `compose`."""
