"""Services of an open studio: each joins a part of the room with the ledger and the agents."""
