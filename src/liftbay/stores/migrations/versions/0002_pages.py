"""Results numbered without gaps in each run, and counted: a page is found without walking over those before it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Number and count what is kept."""
    op.add_column("runs", sa.Column("results", sa.Integer, nullable=False, server_default="0"))
    op.execute("UPDATE runs SET results = (SELECT count(*) FROM results WHERE run = runs.number)")
    op.execute(
        "UPDATE results SET seq = numbered.place FROM ("
        "SELECT run, dataset_type, case_id, trial, "
        "row_number() OVER (PARTITION BY run ORDER BY seq, dataset_type, case_id, trial) AS place FROM results"
        ") AS numbered WHERE results.run = numbered.run AND results.dataset_type = numbered.dataset_type "
        "AND results.case_id = numbered.case_id AND results.trial = numbered.trial"
    )
    op.create_index("results_in_order", "results", ["run", "seq"], unique=True)
