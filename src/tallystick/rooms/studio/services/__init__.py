"""What the doors ask of an open studio: each service joins a part of the room with the ledger and the agents."""
