"""Files, SQLite and Postgres: satisfies the ports that the steps name beside themselves."""
