"""Evidence for a ticket: searched through the gate, and checked for who wrote it."""
