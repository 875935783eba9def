"""Entry points for calls: each door translates between an external protocol and the gate."""
