"""Network clients. Rooms receive them as ports."""
