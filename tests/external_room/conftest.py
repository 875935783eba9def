"""The room's own tests run where the room is installed, not in this process."""

collect_ignore = ["tests"]
