"""The raw spans of a trial, apart from its result: lists and reports do without them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "spans",
        sa.Column("run", number, sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", number, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
