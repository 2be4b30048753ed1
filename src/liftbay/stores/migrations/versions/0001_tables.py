"""Runs and results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    key_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "runs",
        sa.Column("number", number, sa.Identity(), primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("submitted", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_table(
        "results",
        sa.Column("run", number, sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
        sa.Column("dataset_type", key_text, primary_key=True),
        sa.Column("case_id", key_text, primary_key=True),
        sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", number, nullable=False),
        sa.Column("scene_code", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("main_metric", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
