"""What goes out: written with the verdict in one transaction, checked again before it is sent, never sent twice."""
