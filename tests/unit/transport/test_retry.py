"""Who is asked again, how often, and after how long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from liftbay.errors import AgentError, AgentProtocol, AgentRefused, AgentTimeout, AgentUnreachable
from liftbay.transport.retry import RetryPolicy, with_retries

POLICY = RetryPolicy(timeout_tries=3, server_tries=4)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which take no time here."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return slept


def timeout() -> AgentError:
    return AgentTimeout("slow")


def fault(retry_after: float | None = None) -> AgentError:
    return AgentUnreachable("down", retry_after=retry_after)


def run(*outcomes: AgentError | str) -> tuple[str | AgentError, int]:
    """The answer or the error after these outcomes, and how many retries were counted."""
    left: Iterator[AgentError | str] = iter(outcomes)
    retries = 0

    async def ask() -> str:
        outcome = next(left)
        if isinstance(outcome, AgentError):
            raise outcome
        return outcome

    def count(error: AgentError) -> None:
        nonlocal retries
        retries += 1

    try:
        answer: str | AgentError = asyncio.run(with_retries(ask, POLICY, count))
    except AgentError as error:
        answer = error
    assert next(left, None) is None, "not all outcomes were asked for"
    return answer, retries


def test_timeouts_are_tried_so_often_in_all(waits: list[float]) -> None:
    last = timeout()
    assert run(timeout(), timeout(), last) == (last, 2)
    assert waits == [2.0, 2.0]


def test_server_faults_have_a_bound_of_their_own(waits: list[float]) -> None:
    assert run(fault(), timeout(), fault(), timeout(), fault(), "answer") == ("answer", 5)
    last = fault()
    assert run(fault(), fault(), fault(), last) == (last, 3)


def test_backing_off_doubles(waits: list[float]) -> None:
    run(fault(), fault(), fault(), "answer")
    for wait, least in zip(waits, (0.5, 1.0, 2.0), strict=True):
        assert least <= wait <= 1.5 * least


def test_retry_after_is_honoured(waits: list[float]) -> None:
    run(fault(17.0), fault(99999.0), "answer")
    assert waits == [17.0, POLICY.retry_after_longest]


def test_a_server_that_asks_for_no_wait_is_not_stormed(waits: list[float]) -> None:
    run(fault(0.0), fault(0.0), fault(0.0), "answer")
    for wait, least in zip(waits, (0.5, 1.0, 2.0), strict=True):
        assert least <= wait <= 1.5 * least


@pytest.mark.parametrize("kind", [AgentRefused, AgentProtocol])
def test_what_cannot_help_is_not_tried(waits: list[float], kind: type[AgentError]) -> None:
    error = kind("no")
    assert run(error) == (error, 0)
    assert waits == []
    assert not error.retry_may_help
