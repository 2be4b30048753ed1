"""From what is wanted to what is done: route, tool calls, retrieval, and what to keep in mind."""
