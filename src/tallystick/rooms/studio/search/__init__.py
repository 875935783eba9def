"""File search: a query is read, files are indexed and ranked."""
