"""Files, SQLite and Postgres: implements the ports that the steps define next to their code."""
