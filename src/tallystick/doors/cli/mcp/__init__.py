"""`tally mcp`: serve tools to MCP clients, and put the gate in front of MCP servers.

Nothing is imported here: `wrap_args` starts a server before the command-line framework is loaded.
"""
