"""`tally mcp serve`: offer the workspace's tools to MCP clients over stdio and HTTP."""
