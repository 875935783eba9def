"""What is built on the gate: each room a plugin with its own tools, flows and store."""
