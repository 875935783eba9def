"""Tasks: a request becomes one packet, a packet becomes one receipt."""
