"""The versions of the schema, for Alembic. Append only: what was released is never changed."""
