"""Past one process."""
