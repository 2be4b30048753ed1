"""Mock data before the tools of an agent: in process, over HTTP, and as an MCP server."""
