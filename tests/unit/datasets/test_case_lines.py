"""Cases written and read."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftbay.datasets.case_lines import CaseDigest, case_of, line_of
from liftbay.datasets.cases import check_cases
from liftbay.datasets.project import Project
from liftbay.domain.case import ArgumentMatcher, Case, ConversationRound, ExpectedTool, Message
from liftbay.domain.vocabulary import DatasetType, EvalMode, Route


@pytest.mark.parametrize(
    ("given", "read"),
    [(["a", "b, c"], ["a", "b, c"]), ("a，b、 c,,d ", ["a", "b", "c", "d"]), ("", []), (None, [])],
)
def test_keywords_are_a_list_or_one_text(given: Any, read: list[str]) -> None:
    assert case_of({"id": "A", "datasetType": "AMBIGUOUS_INTENT", "keywords": given}).keywords == read


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
matchers = st.builds(ArgumentMatcher, one_of=st.none() | st.lists(values, max_size=2), ignore=st.booleans())
cases = st.builds(
    Case,
    id=texts,
    dataset_type=st.sampled_from(DatasetType),
    eval_mode=st.sampled_from(EvalMode),
    scene_code=texts,
    scene_name=texts,
    user_input=st.none() | texts,
    conversation_chain=st.lists(
        st.builds(
            ConversationRound,
            round=st.integers(0, 9),
            user_input=texts,
            expected_contains=st.lists(texts, max_size=2),
            refers_to=st.lists(st.integers(0, 9), max_size=2),
            reference_output=st.none() | texts,
        ),
        max_size=2,
    ),
    expected_route=st.none() | st.sampled_from(Route),
    expected_intents=st.none() | st.lists(texts, max_size=2),
    expected_knowledge=st.none() | st.lists(texts, max_size=2),
    expected_tools=st.none()
    | st.lists(
        st.builds(ExpectedTool, name=texts, arguments=objects, matchers=st.dictionaries(texts, matchers, max_size=2)),
        max_size=2,
    ),
    keywords=st.lists(texts, max_size=2),
    history=st.lists(st.builds(Message, role=texts, content=st.none() | texts), max_size=2),
    tools=st.none() | st.lists(objects, max_size=2),
    extra=st.dictionaries(texts.map("x-{}".format), values, max_size=2),
)


@given(cases)
def test_writing_and_reading_a_case_gives_the_same_case_and_version(case: Case) -> None:
    line = line_of(case)
    assert line.count(b"\n") == 1
    read = case_of(json.loads(line))
    assert read == case
    assert CaseDigest()(read) == CaseDigest()(case)
    shuffled = json.loads(line, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert CaseDigest()(case_of(shuffled)) == CaseDigest()(case)


@given(st.lists(cases, max_size=4, unique_by=lambda case: case.id), st.randoms())
def test_the_order_of_lines_does_not_count(found: list[Case], random: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        project = Project(Path(folder), "", None, "")
        versions = []
        for _ in range(2):
            path.write_bytes(b"".join(map(line_of, found)))
            versions.append([(version.type, version.version) for version in check_cases([str(path)], project).versions])
            random.shuffle(found)
    assert versions[0] == versions[1]
