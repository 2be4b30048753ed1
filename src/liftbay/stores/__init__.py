"""Where runs and their results are kept: one schema for SQLite and PostgreSQL, and a store in memory."""
