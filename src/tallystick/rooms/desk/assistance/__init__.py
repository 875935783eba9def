"""What a person is given beside a ticket: its clock, similar answered tickets, a question to ask, ready replies."""
