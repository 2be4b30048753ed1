"""How Alembic runs the versions: over a connection that is given, or offline, as SQL for one engine."""

from __future__ import annotations

from alembic import context

from liftbay.stores.migrate import VERSION_TABLE
from liftbay.stores.schema import metadata

if context.is_offline_mode():
    context.configure(
        dialect_name=context.config.attributes["dialect"], version_table=VERSION_TABLE, literal_binds=True
    )
else:
    context.configure(
        connection=context.config.attributes["connection"], target_metadata=metadata, version_table=VERSION_TABLE
    )
with context.begin_transaction():
    context.run_migrations()
