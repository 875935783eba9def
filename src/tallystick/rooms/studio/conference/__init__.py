"""A conference: several agents, and rounds that each start from the user's prompt alone."""
