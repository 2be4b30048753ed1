"""The two MCP servers of the product centre: `python -m liftbay_demo.mcp_server product|operations`."""
