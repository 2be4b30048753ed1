"""What a specification names, and what stands round the agent while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import aiohttp
import pytest
from places import synchronous

from liftbay.agents.http import HttpAgent
from liftbay.agents.openai_chat import OpenAIChatAgent
from liftbay.agents.python import PythonAgent
from liftbay.agents.replay import ReplayAgent
from liftbay.datasets.project import Listening
from liftbay.domain.case import Case, MockAnswer, MockData
from liftbay.domain.vocabulary import DatasetType, EvalMode
from liftbay.errors import InputError
from liftbay.ports import SpanOrigin
from liftbay.telemetry.collector import SpanCollector
from liftbay.wiring import agents
from liftbay.wiring.agents import Wired, agent_of, lasting
from liftbay.wiring.surroundings import started

ANY_PORT = Listening(port=0)
HTTP = 'kind = "http"\nurl = "http://127.0.0.1:{port}/"\nresponse.text = "text"\n[start]\ncommand = ["x"]\n'
MOCKS = {"M": MockData("M", {"find": [MockAnswer(result=7)]})}
CASE = Case(id="1", dataset_type=DatasetType.TOOL_CALL, eval_mode=EvalMode.E2E_MOCK, mock_data_id="M", user_input="?")
MODULE = """
def find(n):
    return n

def answer(text):
    return str(find(text))
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module beside the agent files, forgotten at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "wired_module.py").write_text(MODULE)
    yield
    sys.modules.pop("wired_module", None)


def wired(folder: Path, text: str) -> Wired:
    """The agent of a file with this text."""
    (folder / "agent.toml").write_text(text)
    return agent_of(str(folder / "agent.toml"), listening=ANY_PORT)


class TestSpecifications:
    def test_each_kind_of_file(self, tmp_path: Path) -> None:
        (tmp_path / "talks.json").write_text('[{"task_id": 1, "reward": 1, "traj": []}]')
        for text, kind in (
            (HTTP, HttpAgent),
            ('kind = "openai_chat"\nname = "x"\nbase_url = "http://127.0.0.1:1/v1"', OpenAIChatAgent),
            ('kind = "python"\nfunction = "wired_module:answer"', PythonAgent),
            ('kind = "replay"\nfile = "talks.json"', ReplayAgent),
        ):
            found = wired(tmp_path, text)
            assert isinstance(found.agent, kind)
            assert (found.folder, found.tools is None) == (tmp_path, False)

    def test_functions_and_agents_as_they_are(self) -> None:
        def answer(text: str) -> str:
            return text

        found = agent_of(answer, listening=ANY_PORT)
        assert (found.agent.name.endswith("answer"), found.tools) == (True, None)
        assert agent_of(found.agent, listening=ANY_PORT).agent is found.agent
        with pytest.raises(InputError, match="this is no agent"):
            agent_of(7, listening=ANY_PORT)  # type: ignore[arg-type]

    def test_agents_of_installed_packages(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "agent.toml").write_text('kind = "python"\nfunction = "wired_module:answer"\nname = "installed"')
        (tmp_path / "shipped_module.py").write_text("def path(): return 'agent.toml'\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        point = EntryPoint("shipped", "shipped_module:path", "liftbay.agents")
        monkeypatch.setattr(agents, "entry_points", lambda group: [point] if group == "liftbay.agents" else [])
        assert agent_of("shipped", listening=ANY_PORT).agent.name == "installed"
        with pytest.raises(InputError, match="this names no agent") as caught:
            agent_of("shiped", listening=ANY_PORT)
        assert caught.value.values["names"] == "shipped"

    def test_a_specification_that_lasts(self, tmp_path: Path) -> None:
        assert lasting("replay:a/b.json", tmp_path) == f"replay:{tmp_path}/a/b.json"
        assert lasting("agents/a.toml", tmp_path) == f"{tmp_path}/agents/a.toml"
        for same in ("python:module:function", "installed", "/a/b.toml"):
            assert lasting(same, tmp_path) == same

    def test_port_zero_becomes_a_port(self, tmp_path: Path) -> None:
        found = wired(tmp_path, HTTP)
        assert found.listening.port > 0
        (tmp_path / "liftbay.toml").write_text("[telemetry]\nport = 7777\n")
        assert agent_of("agent.toml").listening.port == 7777


class TestReplacedFunctions:
    FILE = 'kind = "python"\nfunction = "wired_module:answer"\nmocked = ["wired_module:find"]\n'

    @synchronous
    async def test_they_are_replaced_until_the_run_ends(self, tmp_path: Path) -> None:
        found = wired(tmp_path, self.FILE)
        module = sys.modules["wired_module"]
        replaced = module.find
        async with started(found, MOCKS) as instruments:
            with instruments.open_tools("s", CASE):
                assert module.answer("x") == "7"
            assert module.answer("x") == "x", "outside a trial it passes through"
        assert module.find is not replaced
        assert module.find is replaced.__wrapped__

    def test_not_where_the_agent_cannot_be_imported(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="the function cannot be imported") as caught:
            wired(tmp_path, self.FILE.replace(":answer", ":nobody"))
        assert caught.value.place == f"{tmp_path / 'agent.toml'}: function"
        assert not hasattr(sys.modules["wired_module"].find, "__wrapped__")


class TestSurroundings:
    @synchronous
    async def test_a_function_without_a_file_has_nothing_round_it(self) -> None:
        async with started(agent_of(lambda text: text, listening=ANY_PORT), MOCKS) as instruments:
            assert instruments.tools is None

    @synchronous
    async def test_the_mock_endpoint_is_there_for_a_run_and_not_for_a_check(self, tmp_path: Path) -> None:
        text = 'kind = "python"\nfunction = "wired_module:answer"\n'
        async with started(wired(tmp_path, text)) as instruments:
            with instruments.open_tools("s", CASE) as tools:
                assert (tools and tools.endpoint) is None
        async with started(wired(tmp_path, text), {}) as instruments:
            with instruments.open_tools("s", CASE) as tools:
                assert tools is not None
                assert await self.status(f"{tools.endpoint}/find") == 404, "no mock data: the call is a fault"
        async with started(wired(tmp_path, text), MOCKS) as instruments:
            with instruments.open_tools("s", CASE) as tools:
                assert tools is not None
                assert await self.status(f"{tools.endpoint}/find") == 200
                address = tools.endpoint
        with pytest.raises(aiohttp.ClientConnectionError):
            await self.status(f"{address}/find")

    @synchronous
    async def test_the_receiver_listens_where_the_project_says(self, tmp_path: Path) -> None:
        found = wired(tmp_path, 'kind = "python"\nfunction = "wired_module:answer"\ntrace.otlp = true\n')
        assert found.agent.spans is SpanOrigin.OTLP
        async with started(found) as instruments:
            assert isinstance(instruments.traces, SpanCollector)
            assert instruments.traces.endpoint == f"http://127.0.0.1:{found.listening.port}"
            assert await self.status(f"{instruments.traces.endpoint}/v1/traces") == 415
            with pytest.raises(InputError, match="the port is in use") as caught:
                async with started(found):
                    raise AssertionError
            assert "[telemetry]" in (caught.value.remedy or "")

    @staticmethod
    async def status(address: str) -> int:
        """What the server answers to a post."""
        async with aiohttp.ClientSession() as client, client.post(address, data="{}") as response:
            return response.status

    @synchronous
    async def test_a_function_whose_spans_are_of_this_process_has_no_receiver(self, tmp_path: Path) -> None:
        import opentelemetry.sdk.trace  # noqa: F401, PLC0415 - an agent that makes spans has loaded it

        found = wired(tmp_path, 'kind = "python"\nfunction = "wired_module:answer"\n')
        assert found.agent.spans is SpanOrigin.IN_PROCESS
        async with started(found, MOCKS) as instruments:
            assert instruments.traces is not None
            assert instruments.traces.endpoint is None

    @pytest.mark.parametrize("more", ["", 'url = "http://x/"\ntools = "t.json"\n'])
    @synchronous
    async def test_a_stand_in_is_for_exactly_one_server(self, tmp_path: Path, more: str) -> None:
        found = wired(tmp_path, f'kind = "python"\nfunction = "wired_module:answer"\n[mcp_stand_in]\n{more}')
        with pytest.raises(InputError, match="give exactly one of") as caught:
            async with started(found):
                raise AssertionError
        assert caught.value.place == f"{tmp_path / 'agent.toml'}: mcp_stand_in"

    @synchronous
    async def test_a_stand_in_for_a_file_of_tools(self, tmp_path: Path) -> None:
        (tmp_path / "tools.json").write_text('[{"name": "find", "inputSchema": {"type": "object"}}]')
        found = wired(
            tmp_path, 'kind = "python"\nfunction = "wired_module:answer"\n[mcp_stand_in]\ntools = "tools.json"\n'
        )
        async with started(found, MOCKS) as instruments:
            with instruments.open_tools("session", CASE) as tools:
                assert tools is not None
                assert (tools.mcp_endpoint or "").endswith("/mcp/session")
