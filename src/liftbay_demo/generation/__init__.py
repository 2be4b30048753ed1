"""From what was gathered to the answer."""
