"""The tools of agents over MCP: for one user, in one namespace, by the official SDK (the extra `mcp`)."""
