"""What the agent remembers: sessions and profiles for a while, the knowledge base for good."""
