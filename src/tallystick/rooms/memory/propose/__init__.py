"""Step 1, propose: from a text to claims, and from a call to one normal form and the source it may claim."""
