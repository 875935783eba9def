"""MCP servers: the relay (`tally mcp wrap`) and Tallystick's own server (`tally mcp serve`)."""
