"""A conference: agents at one table, and rounds that each begin with nothing but the user's prompt."""
