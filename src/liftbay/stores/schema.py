"""The tables at the newest version; the same in SQLite and PostgreSQL.

`migrations/` leads here step by step, and a test holds the two against each other. `statements` speaks to these tables.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# Compared byte by byte in both engines, so that the order of the key is the same.
_key_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("number", _number, sa.Identity(), primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("submitted", sa.Text, nullable=False),
    sa.Column("record", sa.Text, nullable=False),  # the RunRecord as JSON
    sa.Column("results", sa.Integer, nullable=False, server_default="0"),  # how many are kept
)

results = sa.Table(
    "results",
    metadata,
    sa.Column("run", _number, sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("dataset_type", _key_text, primary_key=True),
    sa.Column("case_id", _key_text, primary_key=True),
    sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", _number, nullable=False),  # the order of finishing: 1, 2, 3 … without gaps in each run
    sa.Column("scene_code", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("main_metric", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),  # the CaseResult: see `coding`
    sa.Index("results_in_order", "run", "seq", unique=True),
)

spans = sa.Table(
    "spans",
    metadata,
    sa.Column("run", _number, sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("seq", _number, primary_key=True, autoincrement=False),  # that of the result
    sa.Column("content", sa.LargeBinary, nullable=False),  # the Spans of the trial: see `coding`
)

judge_answers = sa.Table(
    "judge_answers",
    metadata,
    sa.Column("key", _key_text, primary_key=True),  # of the content of the question
    sa.Column("content", sa.Text, nullable=False),  # the answer as JSON
)

baselines = sa.Table(
    "baselines",
    metadata,
    sa.Column("name", _key_text, primary_key=True),
    sa.Column("run", _number, sa.ForeignKey("runs.number", ondelete="CASCADE"), nullable=False),
)
