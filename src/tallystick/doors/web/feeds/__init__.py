"""Long lists in windows: older entries load on scrolling, newer ones appear as they arrive."""
