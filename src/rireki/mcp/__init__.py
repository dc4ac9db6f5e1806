"""History for agents: six read-only tools over a library, spoken as MCP."""
