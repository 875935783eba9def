"""The studio's tools, one file a tool. Only `room.py` imports them; everyone else calls them through the gate."""
