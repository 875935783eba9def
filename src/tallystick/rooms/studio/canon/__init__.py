"""The canon index: the extracts of all cards, compiled into one file."""
