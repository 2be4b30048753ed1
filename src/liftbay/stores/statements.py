"""The SQL that both engines understand, over the tables of `schema`.

Written out, since SQLAlchemy takes 0.2 s to import. Each parameter is used once, in order; `sqlite` gives them in
SQLite's form.
"""

from __future__ import annotations

import functools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

VERSION = "SELECT version_num FROM liftbay_version"

ADD_RUN = "INSERT INTO runs (id, state, submitted, record) VALUES ($1, $2, $3, $4)"
UPDATE_RUN = "UPDATE runs SET state = $1, submitted = $2, record = $3 WHERE id = $4"
REMOVE_RUN = "DELETE FROM runs WHERE id = $1"
RUN = "SELECT record FROM runs WHERE id = $1"
RUNS = "SELECT record FROM runs ORDER BY submitted DESC, number DESC LIMIT $1 OFFSET $2"

NUMBER_AND_COUNT = "SELECT number, results FROM runs WHERE id = $1"
SET_COUNT = "UPDATE runs SET results = $1 WHERE number = $2"
ADD_RESULT = (
    "INSERT INTO results (dataset_type, case_id, trial, scene_code, outcome, main_metric, content, run, seq) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
)
ADD_SPANS = "INSERT INTO spans (run, seq, content) VALUES ($1, $2, $3)"
KEYS = "SELECT dataset_type, case_id, trial FROM results JOIN runs ON results.run = runs.number WHERE runs.id = $1"
PAGE = (
    "SELECT dataset_type, case_id, trial, scene_code, outcome, main_metric FROM results "
    "WHERE run = $1 AND seq > $2 AND seq <= $3 ORDER BY seq"
)
RESULT = (
    "SELECT results.content, spans.content FROM results "
    "LEFT JOIN spans ON spans.run = results.run AND spans.seq = results.seq "
    "WHERE results.run = (SELECT number FROM runs WHERE id = $1) AND dataset_type = $2 AND case_id = $3 AND trial = $4"
)
RESULTS_AFTER = (
    "SELECT dataset_type, case_id, trial, content FROM results WHERE run = (SELECT number FROM runs WHERE id = $1) "
    "AND (dataset_type, case_id, trial) > ($2, $3, $4) ORDER BY dataset_type, case_id, trial LIMIT $5"
)

ANSWER = "SELECT content FROM judge_answers WHERE key = $1"
KEEP_ANSWER = "INSERT INTO judge_answers (key, content) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING"
ANSWERS_AFTER = "SELECT key, content FROM judge_answers WHERE key > $1 ORDER BY key LIMIT $2"

SET_BASELINE = (
    "INSERT INTO baselines (name, run) SELECT CAST($1 AS TEXT), number FROM runs WHERE id = $2 "
    "ON CONFLICT (name) DO UPDATE SET run = excluded.run"
)
REMOVE_BASELINE = "DELETE FROM baselines WHERE name = $1"
BASELINE = "SELECT runs.id FROM baselines JOIN runs ON baselines.run = runs.number WHERE name = $1"
BASELINES = "SELECT name, runs.id FROM baselines JOIN runs ON baselines.run = runs.number ORDER BY name"


@functools.cache
def sqlite(statement: str) -> str:
    """The statement with its parameters in SQLite's form."""
    return re.sub(r"\$\d+", "?", statement)


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction of SQLite that writes: it holds as a whole or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
