"""`tally mcp serve`: the workspace's tools for MCP clients, over stdio and HTTP."""
