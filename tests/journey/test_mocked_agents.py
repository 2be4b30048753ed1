"""E2E_MOCK and E2E_REAL through `liftbay run` and `liftbay.run`, for agents whose tools stand in different places."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import mcp_server
import pytest
from agent_projects import AGENTS, SHOP, exported, project, run, tool_case, trace_of
from command import read_lines
from scripted_model import ANSWER, INPUT, OUTPUT, serving

import liftbay

REAL_SERVER = [sys.executable, mcp_server.__file__]
CLERK: dict[str, Any] = {
    "kind": "http",
    "url": "http://127.0.0.1:{port}/chat",
    "request": {"message": "{userInput}"},
    "response": {"text": "answer"},
    "mcp_stand_in": {"command": REAL_SERVER},
    "start": {"command": [sys.executable, str(AGENTS / "clerk_agent.py"), "{port}"]},
}
PRICE = ("price", {"hotel": "Kyoto"})
ADD = ("add", {"a": 1, "b": 2})
THREE = [
    tool_case("mocked", "Kyoto", PRICE, mocked=True),
    tool_case("real", "Kyoto", PRICE),
    tool_case("unmocked", "add", ADD, mocked=True),
]
MOCKS = {"price": [{"match": {"hotel": "Kyoto"}, "result": "99 yen"}]}


def answers(results: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The answer to each case."""
    return {id_: result["episode"]["turns"][-1].get("answer", "") for id_, result in results.items()}


class TestAModelBehindAnEndpoint:
    """`openai_chat`: liftbay owns the tool loop."""

    @pytest.fixture
    def desk(self, tmp_path: Path) -> Path:
        """A project whose model calls a tool of a file, and then a Python function; the endpoint is missing."""
        calls: list[tuple[str, dict[str, Any]]] = [
            ("find_hotels", {"city": "京都", "nights": 2}),
            ("weather", {"city": "京都"}),
        ]
        cases = [tool_case("mocked", "a hotel", *calls, mocked=True), tool_case("real", "a hotel", *calls)]
        project(tmp_path, {}, cases, {"find_hotels": [{"match": {"city": "京都"}, "result": [{"name": "Inn"}]}]})
        definition = {"name": "find_hotels", "parameters": {"type": "object"}}
        (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": definition}]))
        (tmp_path / "desk_tools.py").write_text(
            "from pathlib import Path\n"
            "def weather(city: str) -> str:\n"
            "    Path(__file__).with_name('real.log').touch()\n"
            "    return f'sunny in {city}'\n"
        )
        return tmp_path

    def agent(self, address: str) -> dict[str, Any]:
        """The agent file."""
        tools = {"file": "tools.json", "python": ["desk_tools:weather"]}
        return {"kind": "openai_chat", "name": "desk", "base_url": address, "model": "m", "tools": tools}

    def test_the_command(self, desk: Path) -> None:
        with serving() as address:
            project(desk, self.agent(address), read_lines(desk / "datasets" / "cases.jsonl"), self.mocks(desk))
            report = run(desk)
        results = exported(desk)
        found, weather = trace_of(results["mocked"])["toolCalls"]
        assert (found["mocked"], found["result"]) == (True, [{"name": "Inn"}])
        assert (weather["unmocked"], weather["success"], "result" in weather) == (True, False, False)
        found, weather = trace_of(results["real"])["toolCalls"]
        assert (found["success"], found["error"]) == (False, "there is no implementation behind this tool")
        assert (weather["success"], weather["result"]) == (True, "sunny in 京都")
        assert set(answers(results).values()) == {f"{ANSWER} "}
        assert report["unmocked"] == {"trials": 1, "examples": ["mocked #1: weather"]}
        assert (report["agent"], report["agentVersion"], report["spans"]) == ("desk", "m", None)
        probes = {name: probe["values"] for name, probe in report["probes"].items()}
        assert (probes["model_calls"]["mean"], probes["input_tokens"]["mean"]) == (3, 3 * INPUT)
        assert probes["cost"]["mean"] == pytest.approx(3 * (INPUT + 2 * OUTPUT) / 1e6)
        assert (probes["time_to_first_token"]["n"], probes["tool_call_latency"]["n"]) == (2, 1)

    def test_liftbay_run(self, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(desk)
        monkeypatch.setattr("sys.path", list(sys.path))
        with serving() as address:
            project(desk, self.agent(address), read_lines(desk / "datasets" / "cases.jsonl"), self.mocks(desk))
            report = liftbay.run("TOOL_CALL", "agent.toml", eval_mode="E2E_MOCK")
        assert (report.cases.total, report.cases.passed, report.unmocked.trials) == (1, 1, 1)
        assert (report.tools["find_hotels"].mocked, report.tools["weather"].unmocked) == (1, 1)
        assert not (desk / "real.log").exists(), "the function was not called"

    def mocks(self, folder: Path) -> dict[str, Any]:
        """The mock data that the project has."""
        found: dict[str, Any] = read_lines(folder / "mocks" / "mocks.jsonl")[0]["tools"]
        return found


class TestAPythonFunction:
    """Spans of this process, and functions that are replaced."""

    def desk(self, folder: Path, cases: list[dict[str, Any]], **more: Any) -> Path:
        """A project with the desk."""
        shutil.copy(AGENTS / "desk_agent.py", folder)
        agent = {"kind": "python", "function": "desk_agent:answer", "name": "desk", "version": "7", **more}
        return project(folder, agent, cases, {"price": [{"match": {"hotel": "Kyoto", "nights": 1}, "result": 99}]})

    def test_a_conversation(self, tmp_path: Path) -> None:
        chain = [{"round": number, "userInput": hotel} for number, hotel in enumerate(("Kyoto", "Nara", "Osaka"), 1)]
        talk = {"id": "talk", "datasetType": "MULTI_TURN", "conversationChain": chain}
        report = run(self.desk(tmp_path, [talk]), scope="MULTI_TURN")
        assert (report["agentVersion"], report["spans"]) == ("7", {"received": 9, "used": 9})
        result = exported(tmp_path)["talk"]
        turns = result["episode"]["turns"]
        assert [turn["answer"] for turn in turns] == [f"9000 yen, after {number} turns" for number in range(3)]
        for number, hotel in enumerate(("Kyoto", "Nara", "Osaka")):
            (call,) = trace_of(result, number)["toolCalls"]
            assert (call["name"], call["arguments"], call["result"]) == ("price", {"hotel": hotel}, 9000)
            assert trace_of(result, number)["memory"]["rounds"] == number
        assert len({turn["traceId"] for turn in turns}) == 3
        probes = {name: probe["values"] for name, probe in report["probes"].items()}
        assert (probes["tool_calls"]["mean"], probes["memory_injection_latency"]["n"]) == (3, 3)

    def test_functions_that_mock_data_answer_for(self, tmp_path: Path) -> None:
        cases = [
            tool_case("mocked", "Kyoto", PRICE, mocked=True),
            tool_case("real", "Nara", ("price", {"hotel": "Nara"})),
            tool_case("failing", "Nowhere", ("price", {"hotel": "Nowhere"})),
            tool_case("unmocked", "Osaka", ("price", {"hotel": "Osaka"}), mocked=True),
        ]
        report = run(self.desk(tmp_path, cases, mocked=["desk_agent:price"]))
        results = exported(tmp_path)
        assert sorted((tmp_path / "real.log").read_text().split()) == ["Nara", "Nowhere"]
        calls = {id_: trace_of(result)["toolCalls"] for id_, result in results.items()}
        assert {id_: len(made) for id_, made in calls.items()} == dict.fromkeys(calls, 1), "the span is the same call"
        mocked, real, failing, unmocked = (calls[case["id"]][0] for case in cases)
        assert (mocked["mocked"], mocked["result"]) == (True, 99)
        assert (real["success"], real["result"], "mocked" in real) == (True, 9000, False)
        assert (failing["success"], "Nowhere" in failing["error"]) == (False, True)
        assert (unmocked["unmocked"], unmocked["success"]) == (True, False)
        assert answers(results)["mocked"] == "99 yen, after 0 turns"
        assert report["unmocked"] == {"trials": 1, "examples": ["unmocked #1: price"]}
        assert report["cases"]["undecidedByReason"] == {"the trial did not finish: the agent crashed": 2}

    def test_an_agent_that_uses_the_recorder(self, tmp_path: Path) -> None:
        (tmp_path / "recorded_agent.py").write_text(
            "from liftbay.telemetry import recorder\n"
            "def answer(text, session_id):\n"
            "    with recorder.agent('desk', session_id=session_id), recorder.tool('price', {'hotel': text}) as call:\n"
            "        call.result = 5\n"
            "    return text\n"
        )
        project(tmp_path, {"kind": "python", "function": "recorded_agent:answer"}, [tool_case("real", "Kyoto", PRICE)])
        report = run(tmp_path)
        assert (report["cases"]["passed"], report["spans"]) == (1, {"received": 2, "used": 2})
        assert report["metrics"]["parameter_mapping_accuracy"]["conditional"]["value"] == 1.0

    def test_an_mcp_server_that_liftbay_stands_in_for(self, tmp_path: Path) -> None:
        (tmp_path / "mcp_agent.py").write_text(
            "from mcp import Client\n"
            "async def answer(text, mcp_endpoint):\n"
            "    async with Client(mcp_endpoint) as client:\n"
            "        name = 'add' if text == 'add' else 'price'\n"
            "        result = await client.call_tool(name, {'hotel': text} if name == 'price' else {'a': 1, 'b': 2})\n"
            "    return result.content[0].text\n"
        )
        agent = {"kind": "python", "function": "mcp_agent:answer", "mcp_stand_in": {"command": REAL_SERVER}}
        report = run(project(tmp_path, agent, THREE, MOCKS))
        check_the_three(report, exported(tmp_path))


class TestAnMcpServerOfAnHttpAgent:
    def test_one_address_for_all_and_calls_found_by_their_trace(self, tmp_path: Path) -> None:
        start = {**CLERK["start"], "env": {"MCP_URL": "{mcpEndpoint}"}}
        report = run(project(tmp_path, {**CLERK, "trace": {"otlp": True}, "start": start}, THREE, MOCKS))
        check_the_three(report, exported(tmp_path))
        assert report["spans"]["received"] == report["spans"]["used"] > 3

    def test_the_address_of_the_turn_travels_with_the_request(self, tmp_path: Path) -> None:
        agent = {**CLERK, "request": {"message": "{userInput}", "mcp": "{mcpEndpoint}"}}
        report = run(project(tmp_path, agent, THREE, MOCKS))
        check_the_three(report, exported(tmp_path))
        assert report["spans"] is None


def check_the_three(report: dict[str, Any], results: dict[str, dict[str, Any]]) -> None:
    """The mock, the real server, and the fault."""
    assert answers(results) == {"mocked": "99 yen", "real": "Kyoto: 12,300 円", "unmocked": "unmocked call"}
    calls = {id_: trace_of(result)["toolCalls"] for id_, result in results.items()}
    assert [len(made) for made in calls.values()] == [1, 1, 1]
    assert (calls["mocked"][0]["mocked"], calls["mocked"][0]["result"]) == (True, "99 yen")
    assert (calls["real"][0]["success"], calls["real"][0]["result"]) == (True, "Kyoto: 12,300 円")
    assert (calls["unmocked"][0]["unmocked"], calls["unmocked"][0]["success"]) == (True, False)
    assert report["unmocked"] == {"trials": 1, "examples": ["unmocked #1: add"]}
    assert report["metrics"]["tool_call_accuracy"]["passed"] == 3
    assert report["warnings"] == []
    assert report["probes"]["tool_call_latency"]["values"]["n"] == 1, "a mock's time is nobody's"


def test_a_case_without_mock_data_asks_no_real_tool_of_an_http_agent(tmp_path: Path) -> None:
    """There is no mock data at all, and the agent exports no spans: the address is sent all the same."""
    case = {**tool_case("bare", "how many apple?", ("stock", {"fruit": "apple"})), "evalMode": "E2E_MOCK"}
    report = run(project(tmp_path, {**SHOP, "trace": {"otlp": False}}, [case]))
    assert report["unmocked"] == {"trials": 1, "examples": ["bare #1: stock"]}
    assert not (tmp_path / "real.log").exists()
