"""The outline against the scenes: what matches what, what is missing, how the acts weigh."""
