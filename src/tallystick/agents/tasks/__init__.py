"""Tasks: routing turns a request into one packet, execution turns a packet into one receipt."""
