"""The author's book as the studio's tools see it: scenes in reading order, canon cards, the outline."""
