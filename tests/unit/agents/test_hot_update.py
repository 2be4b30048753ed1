"""How long a changed Skill takes until it is in effect, against agents that take their time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web
from http_agents import TURN, agent_at, serving
from places import synchronous

from liftbay.agents.hot_update import measure
from liftbay.agents.http import HttpAgent
from liftbay.domain.trace import EvalTrace, Perception
from liftbay.errors import AgentError, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable

QUESTION = "Is it in stock?"
FILE = """
[request]
message = "{userInput}"
[response]
text = "text"
[response.parts]
skill = "skill"
skill_version = "version"
[publish_skill]
url = "HOME/skills/{skill}"
method = "PUT"
skill = "stock query"
input = "Is it in stock?"
[publish_skill.request]
version = "{skillVersion}"
"""


class Shop:
    """An agent whose Skills take `delay` seconds to change; each turn takes `turn` seconds."""

    def __init__(self, delay: float = 0.0, turn: float = 0.0, status: int = 200) -> None:
        self._delay = delay
        self._turn = turn
        self._status = status
        self.version = "old"
        self.changed: float | None = None
        self.published: list[tuple[str, str, str]] = []
        self.asked: list[tuple[float, str]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Take a Skill, or answer a turn."""
        if request.path.startswith("/skills"):
            version = (await request.json())["version"]
            self.published.append((request.method, request.raw_path, version))
            asyncio.get_running_loop().call_later(self._delay, self._change, version)
            return web.Response(status=self._status, text="no such Skill")
        self.asked.append((time.perf_counter(), (await request.json())["message"]))
        await asyncio.sleep(self._turn)
        return web.json_response({"text": "12", "skill": "stock query", "version": self.version})

    def _change(self, version: str) -> None:
        self.version = version
        self.changed = time.perf_counter()


@asynccontextmanager
async def agent_of_shop(shop: Shop) -> AsyncIterator[HttpAgent]:
    """The agent before the shop."""
    async with serving(shop) as url, agent_at(f"{url}/chat", FILE.replace("HOME", url)) as agent:
        yield agent


async def measured(shop: Shop, *, limit: float = 5.0) -> float | None:
    """What is measured of the shop."""
    async with agent_of_shop(shop) as agent:

        async def ask(user_input: str) -> EvalTrace | None:
            return (await agent.answer(msgspec.structs.replace(TURN, user_input=user_input))).trace

        return await measure(agent.publish_skill, QUESTION, ask, limit=limit)


@synchronous
async def test_a_change_that_is_in_effect_at_once() -> None:
    shop = Shop()
    found = await measured(shop)
    assert found is not None
    assert 0 < found < 5000
    ((method, path, version),) = shop.published
    assert (method, path) == ("PUT", "/skills/stock%20query")
    assert version.startswith("liftbay-")
    assert {message for _, message in shop.asked} == {"Is it in stock?"}


@synchronous
async def test_a_change_that_takes_its_time_is_found_within_a_step() -> None:
    shop = Shop(delay=0.3)
    begun = time.perf_counter()
    found = await measured(shop)
    assert found is not None
    assert shop.changed is not None
    took = (shop.changed - begun) * 1000
    assert 300 <= found <= took + 5000  # a step, and what the requests take on a busy machine
    steps = [after - before for (before, _), (after, _) in zip(shop.asked, shop.asked[1:], strict=False)]
    assert min(steps) > 0.04
    assert len(shop.asked) < 12


@synchronous
async def test_slow_turns_do_not_make_the_step_longer() -> None:
    shop = Shop(delay=0.15, turn=0.2)
    found = await measured(shop)
    assert found is not None
    assert found < 5000  # the first turn looked for its Skill at its end, when the change was in effect
    assert len(shop.asked) > 1  # while it was on its way


@synchronous
async def test_each_measurement_has_a_version_of_its_own() -> None:
    shop = Shop()
    await measured(shop)
    await measured(shop)
    assert len({version for _, _, version in shop.published}) == 2


@synchronous
async def test_a_change_that_never_comes() -> None:
    begun = time.perf_counter()
    assert await measured(Shop(delay=60), limit=0.3) is None
    assert await measured(Shop(delay=60, turn=30), limit=0.3) is None
    assert time.perf_counter() - begun < 3


@synchronous
async def test_a_hook_that_fails() -> None:
    with pytest.raises(AgentRefused, match="HTTP 404: no such Skill"):
        await measured(Shop(status=404))
    with pytest.raises(AgentUnreachable, match="HTTP 500: no such Skill"):
        await measured(Shop(status=500))


@synchronous
async def test_an_agent_without_a_hook() -> None:
    async def ask(user_input: str) -> EvalTrace | None:
        raise AssertionError

    async with agent_at("http://127.0.0.1:9") as agent:
        assert not agent.publishes_skills
        assert await agent.hot_update_latency(ask) is None


async def with_turns(*turns: EvalTrace | AgentError | None) -> float | None:
    """What is measured where the turns go like this; the version that was published stands for `new`."""
    shop = Shop()
    left = list(turns)
    async with agent_of_shop(shop) as agent:

        async def ask(user_input: str) -> EvalTrace | None:
            turn = left.pop(0)
            if isinstance(turn, AgentError):
                raise turn
            if turn == NEW:
                return EvalTrace(perception=Perception(skill_version=shop.published[0][2]))
            return turn

        found = await measure(agent.publish_skill, QUESTION, ask)
    assert left == []
    return found


NEW = EvalTrace(perception=Perception(skill_version="new"))
OLD = EvalTrace(perception=Perception(skill_version="old"))


@synchronous
async def test_turns_without_the_version_are_passed_over() -> None:
    turns = (OLD, EvalTrace(), AgentUnreachable("restarting"), AgentTimeout("slow"), NEW)
    found = await with_turns(*turns)
    assert found is not None
    assert found >= 200


@synchronous
async def test_a_black_box_is_not_asked_again() -> None:
    assert await with_turns(None) is None


@synchronous
async def test_a_turn_that_no_other_try_would_help_ends_it() -> None:
    with pytest.raises(AgentProtocol):
        await with_turns(OLD, AgentProtocol("nonsense"))
