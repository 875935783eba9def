"""Log files that the settings name, searched from their ends: what happened last is what a customer asks about."""
