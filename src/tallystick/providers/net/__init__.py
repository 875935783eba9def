"""Network clients. Rooms take what they need of these as ports."""
