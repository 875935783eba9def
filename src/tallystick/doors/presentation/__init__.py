"""What the doors show alike: names and refusals to models outside our own turns, held calls to people."""
