"""What the agent acts with: the MCP servers' tools, and the Skills that say how to use them."""
