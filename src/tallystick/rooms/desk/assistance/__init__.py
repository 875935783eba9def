"""Help for a person who answers a ticket: due time, similar answered tickets, a clarifying question, canned replies."""
