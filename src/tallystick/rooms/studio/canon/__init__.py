"""The canon index: what each card settles, compiled into one file."""
