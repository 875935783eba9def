"""The desk's durable flows: tickets, sending and periodic work."""
