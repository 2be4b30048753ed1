"""From what somebody typed to what they want."""
