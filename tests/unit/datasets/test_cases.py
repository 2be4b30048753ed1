"""Cases: every check with its message, place and remedy, mock data, versions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from liftbay.datasets.case_lines import case_of, line_of
from liftbay.datasets.cases import Datasets, check_cases, load_cases
from liftbay.datasets.problem import Problem
from liftbay.datasets.project import Project
from liftbay.domain.vocabulary import DatasetType, EvalMode, Route
from liftbay.errors import InputError

SOURCE_DOCUMENT = Path(__file__).resolve().parents[4] / "shared" / "seeds" / "001_e49ac60ebcafee3d.txt"
SINGLE = {"id": "A-1", "datasetType": "AMBIGUOUS_INTENT", "userInput": "それを調べて"}
TOOL = {"id": "T-1", "datasetType": "TOOL_CALL", "userInput": "東京の天気は", "expectedTools": []}
KNOWLEDGE = {
    "id": "K-1",
    "datasetType": "KNOWLEDGE_QA",
    "userInput": "SKU とは",
    "expectedRoute": "SKILL_MISS",
    "expectedIntent": "knowledge_qa",
    "expectedKnowledge": [],
    "referenceOutput": "在庫管理単位",
}
CHAIN = [{"round": 1, "userInput": "a"}, {"round": 2, "userInput": "b", "refersTo": [1]}]
TURNS = {"id": "M-1", "datasetType": "MULTI_TURN", "conversationChain": CHAIN}


def write(folder: Path, *lines: Any, name: str = "cases.jsonl") -> Path:
    """Write a file of cases: objects, or lines as they stand."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def check(folder: Path, *paths: Path) -> Datasets:
    """Check files in a project at `folder`."""
    return check_cases([str(path) for path in paths], Project(folder, "", None, ""))


def said(problem: Problem) -> tuple[str, str]:
    """The field and the message with its remedy."""
    error = problem.error
    assert error.remedy is not None
    return problem.field or "", f"{error} → {error.remedy.format(**error.values)}"


def tool(**matcher: Any) -> dict[str, Any]:
    """A case with one matcher."""
    return TOOL | {"expectedTools": [{"name": "f", "arguments": {"n": 1, "s": "x"}, "matchers": {"n": matcher}}]}


def chain(count: int) -> list[dict[str, Any]]:
    """A conversation of `count` rounds; the last refers back."""
    rounds: list[dict[str, Any]] = [{"round": number, "userInput": "x"} for number in range(1, count + 1)]
    rounds[-1]["refersTo"] = list(range(1, count))[:1]
    return rounds


@pytest.mark.parametrize(
    ("case", "field", "message"),
    [
        (SINGLE | {"id": " "}, "id", "the id is empty → give each case an id of its own"),
        (SINGLE | {"datasetType": "AMBIGUOUS"}, "datasetType", "no datasetType AMBIGUOUS → give one of BASIC_FUNCTION"),
        (SINGLE | {"evalMode": "MOCK"}, "evalMode", "no evalMode MOCK → give one of E2E_MOCK, E2E_REAL"),
        (SINGLE | {"expectedRoute": "HIT"}, "expectedRoute", "no expectedRoute HIT → give one of SKILL_HIT"),
        (SINGLE | {"userInput": None}, "userInput", "AMBIGUOUS_INTENT needs userInput → give what the user says"),
        (
            SINGLE | {"conversationChain": CHAIN},
            "conversationChain",
            "AMBIGUOUS_INTENT has one turn, not a conversation → give userInput",
        ),
        (KNOWLEDGE | {"evalMode": "E2E_MOCK"}, "evalMode", "always E2E_REAL: mock data .* → set evalMode to E2E_REAL"),
        (
            SINGLE | {"evalMode": "E2E_MOCK", "mockDataId": "{M}"},
            "mockDataId",
            "there is no mock data \\{M\\} → write it into a file of the folder mocks/",
        ),
        (TURNS | {"conversationChain": []}, "conversationChain", "MULTI_TURN needs conversationChain → give its turns"),
        (TURNS | {"conversationChain": chain(1)}, "conversationChain", "2 to 5 rounds, not 1 → "),
        (TURNS | {"conversationChain": chain(6)}, "conversationChain", "2 to 5 rounds, not 6 → .*LONG_DIALOGUE_DECAY"),
        (
            TURNS | {"datasetType": "LONG_DIALOGUE_DECAY", "conversationChain": chain(4)},
            "conversationChain",
            "5 rounds or more, not 4 → .*MULTI_TURN",
        ),
        (
            TURNS | {"conversationChain": [CHAIN[0], CHAIN[1] | {"round": 3}]},
            "conversationChain[1].round",
            "expected round 2, found 3 → number the rounds in order from 1",
        ),
        (
            TURNS | {"conversationChain": [CHAIN[0], CHAIN[1] | {"refersTo": [1, 2]}]},
            "conversationChain[1].refersTo[1]",
            "round 2 cannot refer to round 2: only to earlier ones → give the numbers of earlier rounds",
        ),
        (
            TURNS | {"conversationChain": [CHAIN[0], CHAIN[1] | {"refersTo": [0]}]},
            "conversationChain[1].refersTo[0]",
            "round 2 cannot refer to round 0",
        ),
        (TOOL | {"expectedTools": None}, "expectedTools", "TOOL_CALL needs expectedTools → list the calls"),
        (TOOL | {"expectedTools": [{"name": ""}]}, "expectedTools[0].name", "the name of the tool is empty → "),
        (tool(), "expectedTools[0].matchers.n", "here are 0 → keep one"),
        (tool(regex="a", ignore=True), "expectedTools[0].matchers.n", "exactly one of .*here are 2 → keep one of them"),
        (tool(oneOf=[]), "expectedTools[0].matchers.n", "oneOf lists no value → list the values"),
        (tool(regex="a{2}("), "expectedTools[0].matchers.n", "does not compile: missing .* → write it as Python's"),
        (tool(tolerance=-1), "expectedTools[0].matchers.n", "a tolerance is not negative → give 0 or more"),
        (
            TOOL
            | {
                "expectedTools": [{"name": "f", "arguments": {"n": "1"}, "matchers": {"n": {"tolerance": 0.5}}}],
            },
            "expectedTools[0].matchers.n",
            "a tolerance needs a number in arguments → give the number",
        ),
        (
            TOOL | {"expectedTools": [{"name": "f", "matchers": {"m": {"ignore": True}}}]},
            "expectedTools[0].matchers.m",
            "a matcher for m, but no such argument → add the argument",
        ),
    ],
)
def test_a_fault_is_named_with_its_field_and_remedy(
    tmp_path: Path, case: dict[str, Any], field: str, message: str
) -> None:
    path = write(tmp_path, SINGLE | {"id": "good"}, case)
    found = check(tmp_path, path)
    assert len(found.errors) == 1
    assert (found.errors[0].file, found.errors[0].line) == (str(path), 2)
    assert found.errors[0].error.place == f"{path}:2: {field}"
    assert said(found.errors[0])[0] == field
    assert re.search(message, said(found.errors[0])[1])
    assert sum(version.cases for version in found.versions) == 1


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"id": "x",', None, "invalid JSON"),
        ("3", None, "expected object, found int"),
        ('{"id": "x"}', "datasetType", "the field is missing"),
        ('{"datasetType": "TOOL_CALL", "id": 5}', "id", "expected str, found int"),
        (json.dumps(TOOL | {"expectedTools": [{"arguments": {}}]}), "expectedTools[0].name", "the field is missing"),
        (
            json.dumps(TURNS | {"conversationChain": [{"round": "1", "userInput": "x"}]}),
            "conversationChain[0].round",
            "expected int, found str",
        ),
        (
            json.dumps(tool(regx="a")),
            "expectedTools[0].matchers[...]",
            "Object contains unknown field `regx`",
        ),
        ('{"mockDataId": "M", "tools": {}}', None, "this is mock data, where a case is needed"),
    ],
)
def test_a_line_that_is_no_case(tmp_path: Path, line: str, field: str | None, message: str) -> None:
    found = check(tmp_path, write(tmp_path, SINGLE, line, SINGLE | {"id": "A-2"}))
    assert [(problem.line, problem.field) for problem in found.errors] == [(2, field)]
    assert message in str(found.errors[0].error)
    assert [case.id for case in found.cases(DatasetType.AMBIGUOUS_INTENT)] == ["A-1", "A-2"]


@pytest.mark.parametrize("content", [json.dumps([SINGLE, TOOL]), json.dumps(SINGLE, indent=1), "[\n{}\n]"])
def test_a_file_that_is_json_but_not_json_lines_is_one_error(tmp_path: Path, content: str) -> None:
    found = check(tmp_path, write(tmp_path, content))
    assert [said(problem)[1].partition(":")[0] for problem in found.errors] == ["the file is not JSON Lines"]
    assert "jq -c" in said(found.errors[0])[1]


@pytest.mark.parametrize(
    ("case", "field", "message"),
    [
        (SINGLE | {"userInput": "  "}, "userInput", "the input is empty → .*ABNORMAL_INPUT"),
        (SINGLE | {"evalMode": "E2E_MOCK"}, "mockDataId", "unmocked call.* → name mock data"),
        (SINGLE | {"evalMode": "E2E_MOCK", "mockDataId": None}, "mockDataId", "unmocked call"),
        (SINGLE | {"mockDataId": "M"}, "mockDataId", "not used: the case is E2E_REAL → set evalMode to E2E_MOCK"),
        (TURNS | {"userInput": "x"}, "userInput", "the turns are in conversationChain → leave userInput out"),
        (
            TURNS | {"conversationChain": [CHAIN[0], {"round": 2, "userInput": "b"}]},
            "conversationChain",
            "no round has refersTo: short_term_retention_rate will not be applicable → say in refersTo",
        ),
        (
            {
                "id": "L",
                "datasetType": "LONG_DIALOGUE_DECAY",
                "conversationChain": [{"round": number, "userInput": "x"} for number in range(1, 6)],
            },
            "conversationChain",
            "memory_decay_curve will not be applicable",
        ),
        (KNOWLEDGE | {"expectedRoute": None}, "expectedRoute", "routing_accuracy will not be applicable"),
        (KNOWLEDGE | {"expectedIntent": None}, "expectedIntent", "intent_accuracy"),
        (KNOWLEDGE | {"expectedKnowledge": None}, "expectedKnowledge", "retrieval_recall .* → give it"),
        (KNOWLEDGE | {"referenceOutput": None}, "referenceOutput", "task_completion_rate"),
        (KNOWLEDGE | {"expectedRoute": "SKILL_HIT"}, "expectedSkill", "intent_recall, intent_precision"),
        (KNOWLEDGE | {"expectedSkill": "s"}, "expectedSkill", "a Skill is expected, but .*SKILL_MISS → leave"),
        (SINGLE | {"datasetType": "MULTI_INTENT"}, "expectedIntents", "only a judge can decide .* → list the 2 or 3"),
        (
            SINGLE | {"datasetType": "MULTI_INTENT", "expectedIntents": ["a"]},
            "expectedIntents",
            "2 or 3 intents, not 1",
        ),
        (SINGLE | {"user_input": "x"}, "user_input", "kept in `extra`; did you mean userInput\\? → rename it"),
        (SINGLE | {"referenceOutputs": "x"}, "referenceOutputs", "did you mean referenceOutput"),
        (
            TURNS | {"conversationChain": [*CHAIN, {"round": 3, "userInput": "c", "referTo": [1]}]},
            "conversationChain[2].referTo",
            "did you mean refersTo",
        ),
    ],
)
def test_a_doubt_is_a_warning(tmp_path: Path, case: dict[str, Any], field: str, message: str) -> None:
    found = check(tmp_path, write(tmp_path, case))
    assert found.errors == []
    assert [problem.field for problem in found.warnings] == [field]
    assert re.search(message, said(found.warnings[0])[1])
    assert sum(version.cases for version in found.versions) == 1


@pytest.mark.parametrize(
    "case",
    [
        SINGLE | {"note": "kept", "owner": None},
        SINGLE | {"datasetType": "ABNORMAL_INPUT", "userInput": ""},
        SINGLE | {"datasetType": "MULTI_INTENT", "expectedIntents": ["a", "b", "c"]},
        KNOWLEDGE,
        TURNS | {"conversationChain": chain(2)},
        TURNS | {"conversationChain": chain(5)},
        TURNS | {"datasetType": "LONG_DIALOGUE_DECAY", "conversationChain": chain(5)},
        TOOL,
        tool(oneOf=[1, None]),
        tool(regex=r"\d{4}"),
        tool(tolerance=0),
        tool(ignore=True),
    ],
)
def test_good_cases_say_nothing(tmp_path: Path, case: dict[str, Any]) -> None:
    found = check(tmp_path, write(tmp_path, case))
    assert (found.errors, found.warnings) == ([], [])


def test_warnings_that_differ_in_the_line_alone_are_one(tmp_path: Path) -> None:
    found = check(tmp_path, write(tmp_path, *(SINGLE | {"id": str(i), "user_input": i} for i in range(5))))
    assert [(problem.line, problem.lines) for problem in found.warnings] == [(1, 5)]


def test_ids_are_unique_in_a_type_across_files(tmp_path: Path) -> None:
    a = write(tmp_path, SINGLE, TOOL | {"id": "A-1"}, name="a.jsonl")
    b = write(tmp_path, SINGLE | {"userInput": "other"}, name="b.jsonl")
    found = check(tmp_path, a, b)
    assert [problem.error.place for problem in found.errors] == [f"{b}:1: id"]
    assert said(found.errors[0])[1].startswith(f"the id A-1 stands in AMBIGUOUS_INTENT already: {a}:1 → ")
    assert [case.user_input for case in found.cases(DatasetType.AMBIGUOUS_INTENT)] == [SINGLE["userInput"]]


def test_unknown_keys_are_kept_wherever_they_stand(tmp_path: Path) -> None:
    line = TURNS | {"note": {"a": [1]}, "extra": 1, "conversationChain": [CHAIN[0] | {"mood": "calm"}, CHAIN[1]]}
    found = check(tmp_path, write(tmp_path, line))
    (case,) = found.cases(DatasetType.MULTI_TURN)
    assert case.extra == {"note": {"a": [1]}, "extra": 1, "conversationChain[0].mood": "calm"}
    assert case_of(json.loads(line_of(case))) == case


def test_bad_lines_stop_a_run_with_the_first_of_them(tmp_path: Path) -> None:
    path = write(tmp_path, SINGLE, *(TOOL | {"id": "", "note": i} for i in range(25)))
    project = Project(tmp_path, "", None, "")
    with pytest.raises(InputError) as caught:
        load_cases([str(path)], project=project)
    error = caught.value
    assert str(error).startswith("mistakes in the datasets: 25\n")
    assert [detail.place for detail in error.details] == [f"{path}:{line}: id" for line in range(2, 22)]
    assert "--skip-invalid" in (error.remedy or "")
    assert "cases.jsonl:2: id: the id is empty" in str(error)
    skipped = load_cases([str(path)], project=project, skip_invalid=True)
    assert [(version.type, version.cases) for version in skipped.versions] == [(DatasetType.AMBIGUOUS_INTENT, 1)]
    assert list(skipped.cases(DatasetType.TOOL_CALL)) == []


def test_a_file_that_cannot_be_read_on_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liftbay.datasets.json_lines.CHUNK_BYTES", 100)
    monkeypatch.setattr("liftbay.datasets.json_lines.MAX_LINE_BYTES", 1000)
    path = write(tmp_path, SINGLE, "x" * 5000)
    found = check(tmp_path, path)
    assert [(problem.error.place, problem.line) for problem in found.errors] == [(str(path), None)]
    assert [case.id for case in found.cases(DatasetType.AMBIGUOUS_INTENT)] == ["A-1"]


def test_a_file_that_became_bad_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, SINGLE)
    found = check(tmp_path, path)
    path.write_text("{}\n")
    with pytest.raises(InputError, match="the field is missing"):
        list(found.cases(DatasetType.AMBIGUOUS_INTENT))


def test_mock_data_is_found_in_the_project_and_beside_the_dataset(tmp_path: Path) -> None:
    write(tmp_path, {"mockDataId": "M1", "tools": {"f": [{"result": None}]}}, name="mocks/deep/one.jsonl")
    write(tmp_path / "d", [{"mockDataId": "M2", "tools": {"f": [{"error": "x"}]}}], name="mocks/two.json")
    write(tmp_path / "d", {"mockDataId": "M3", "tools": {}}, name="mocks/three.json")
    cases = [SINGLE | {"id": f"A-{n}", "evalMode": "E2E_MOCK", "mockDataId": f"M{n}"} for n in (1, 2, 3)]
    found = check(tmp_path, write(tmp_path / "d", *cases))
    assert (found.errors, sorted(found.mock_data)) == ([], ["M1", "M2", "M3"])
    assert found.mock_data["M1"].tools["f"][0].result is None


@pytest.mark.parametrize(
    ("name", "content", "place", "message"),
    [
        ("m.jsonl", '{"mockDataId": "M", "tools": {"f": [{"result": 1, "error": "x"}]}}', ":1: tools.f[0]", "either"),
        ("m.jsonl", '{"mockDataId": "M", "tools": {"f": [{}]}}', ":1: tools.f[0]", "an answer has either result or"),
        ("m.jsonl", '{"mockDataId": "", "tools": {}}', ":1: mockDataId", "the id is empty"),
        ("m.jsonl", '{"tools": {}}', ":1: mockDataId", "the field is missing"),
        ("m.jsonl", "[", "", "one JSON value over several lines"),
        ("m.json", '[{"mockDataId": "M", "tools": []}]', ": [0].tools", "expected object, found array"),
        ("m.json", '[{"mockDataId": "M", "tools": {"f": [{}]}}]', ": [0].tools.f[0]", "either result or error"),
        ("m.json", "{\n1}", ":2", "invalid JSON"),
        (
            "m.json",
            '[{"mockDataId": "M", "tools": {}}, {"mockDataId": "M", "tools": {}}]',
            ": [1].mockDataId",
            "the mock data M is given already",
        ),
    ],
)
def test_bad_mock_data(tmp_path: Path, name: str, content: str, place: str, message: str) -> None:
    file = write(tmp_path, content, name=f"mocks/{name}")
    found = check(tmp_path, write(tmp_path, SINGLE))
    assert [problem.error.place for problem in found.errors] == [f"{file}{place}"]
    assert message in str(found.errors[0].error)


def test_the_version_is_that_of_the_content_alone(tmp_path: Path) -> None:
    first = SINGLE | {"x": {"b": 1, "a": 2}}
    second = SINGLE | {"id": "A-2", "keywords": ["a", "b"]}
    one = check(tmp_path, write(tmp_path, first, second)).versions
    shuffled = [
        write(tmp_path, second | {"keywords": "a、b", "history": None}, name="1.jsonl"),
        write(
            tmp_path,
            "",
            '{"userInput":"それを調べて",  "x":{"a":2, "b":1}, "datasetType":"AMBIGUOUS_INTENT", "id":"A-1"}',
            name="2.jsonl",
        ),
    ]
    other = check(tmp_path, *shuffled).versions
    assert [version.version for version in one] == [version.version for version in other]
    assert re.fullmatch("[0-9a-f]{64}", one[0].version)
    assert (one[0].cases, other[0].sources) == (2, [str(path) for path in shuffled])
    changed = check(tmp_path, write(tmp_path, first | {"x": {"b": 1, "a": 3}}, second)).versions
    assert changed[0].version != one[0].version


@pytest.mark.skipif(not SOURCE_DOCUMENT.exists(), reason="the source document is optional: ../shared/seeds")
def test_the_records_of_the_source_document_load_as_they_are(tmp_path: Path) -> None:
    text = SOURCE_DOCUMENT.read_text(encoding="utf-8")
    lines = []
    for id_ in ("BF-TRACE-001", "KQA-BASE-001", "KQA-NEG-004"):
        start = text.rindex("{", 0, text.index(f'"{id_}"'))
        record = text[start : text.index("\n}", start) + 2]
        lines.append(" ".join(re.sub(r"(?m)\s//.*$", "", record).split("\n")))
    write(tmp_path, {"mockDataId": "MOCK-TRACE-001", "tools": {}}, name="mocks/trace.jsonl")
    found = check(tmp_path, write(tmp_path, *lines))
    assert (found.errors, found.warnings) == ([], [])
    (trace,) = found.cases(DatasetType.BASIC_FUNCTION)
    base, negative = found.cases(DatasetType.KNOWLEDGE_QA)
    assert (trace.expected_route, trace.eval_mode) == (Route.SKILL_HIT, EvalMode.E2E_MOCK)
    assert trace.expected_skill == trace.scene_code == "i18n-ic-trace-analyzer"
    assert (base.expected_skill, len(base.expected_knowledge or ())) == (None, 2)
    assert negative.keywords == ["存在しないインターフェース", "捏造"]
    assert negative.expected_knowledge == []
    assert {case.extra == {} for case in (trace, base, negative)} == {True}
