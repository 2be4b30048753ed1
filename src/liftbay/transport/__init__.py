"""HTTP to endpoints: one client, one way to retry."""
