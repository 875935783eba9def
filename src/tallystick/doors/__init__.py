"""Where a call comes in: the outside language on one side, the gate's on the other."""
