"""Ask an endpoint for every input and append the answers as they arrive.

The same code starts and resumes: ids that the result file holds are skipped. `concurrency` workers take inputs
from one stream, so at most that many records are on their way, and memory does not grow with the input.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Generator, Iterable
from types import TracebackType
from typing import Any, Self

import msgspec

from liftbay.benchmarks.jmultiwoz_tc.id_index import IdIndex
from liftbay.benchmarks.jmultiwoz_tc.result_file import ResultFile
from liftbay.datasets.data_file import DataFile, not_utf8
from liftbay.datasets.jmultiwoz_tc_records import (
    InputRecord,
    ResultRecord,
    duplicated_ids,
    no_records,
    read,
)
from liftbay.datasets.json_lines import is_too_deep
from liftbay.domain.toolcall import ToolCall
from liftbay.errors import (
    AgentError,
    AgentProtocol,
    AgentRefused,
    AgentTimeout,
    AgentUnreachable,
    InputError,
    LiftbayError,
    RunError,
    at,
)
from liftbay.transport.chat_endpoint import ChatChoice, ChatEndpoint
from liftbay.transport.retry import RetryPolicy, with_retries

FIRST_ANSWERS = 20  # if these are all refusals, the run stops and records none of them
FAULTS_IN_A_ROW = 40  # records without an answer of the model, one after the other, for whatever reason: the run stops
MAX_ARGUMENT_DEPTH = 150  # well below what a line of the result file may have
_RESERVED = ("model", "messages", "tools", "stream", "n")


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the model beyond messages and tools; None is left to the endpoint."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra_body: dict[str, Any] = {}


class Request:
    """The body of every request: all but the messages is the same and is written once."""

    def __init__(self, model: str, tools: list[Any], sampling: Sampling) -> None:
        """Raises `InputError` where the extra body names what liftbay itself sends."""
        for name in _RESERVED:
            if name in sampling.extra_body:
                raise InputError(
                    "the extra body must not hold {name}: liftbay sends it itself",
                    place="--extra-body",
                    remedy="take it out",
                    name=name,
                )
        rest = {"model": model, "tools": tools, "tool_choice": "auto"}
        for name in ("temperature", "max_tokens", "seed"):
            if (value := getattr(sampling, name)) is not None:
                if name in sampling.extra_body:
                    raise InputError(
                        "{name} is given twice: as an option and in the extra body",
                        place="--extra-body",
                        remedy="take it out of one",
                        name=name,
                    )
                rest[name] = value
        body = msgspec.json.encode(rest | sampling.extra_body)
        self._start = b'{"messages":'
        self._end = b"," + body.removeprefix(b"{")

    def body(self, question: msgspec.Raw) -> bytes:
        """The JSON text of the request for one question."""
        return b"".join((self._start, question, self._end))


class Inputs:
    """The records of the input file, up to a limit, that are still to be asked for; used as a context manager.

    Making it reads the file once, so that a bad line is found before the first request. Raises `InputError` for a
    bad line, a duplicated id, and a file without records.
    """

    def __init__(self, file: DataFile, limit: int | None) -> None:
        self.file = file
        self._wanted = IdIndex()
        digest = hashlib.sha256()
        count = 0
        for number, record in read(file, InputRecord, digest):
            if count != limit:  # past the limit only the digest reads on
                self._check(number, record)
                count += 1
        if not count:
            raise no_records(file)
        self.records = count
        self.pending = count
        self.sha256 = digest.hexdigest()

    def _check(self, number: int, record: InputRecord) -> None:
        question = bytes(record.question)
        if not question.startswith(b"[") or question[1:].lstrip().startswith(b"]"):
            raise InputError("expected a list of messages", place=at(self.file, number, "question"))
        try:
            question.decode("utf-8")
        except UnicodeDecodeError:
            raise not_utf8(question, at(self.file, number, "question")) from None
        if not self._wanted.add(record.data_id):
            raise duplicated_ids(self.file, record.data_id, number, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wanted.close()

    def leave_out(self, ids: Iterable[str]) -> None:
        """Do not ask for these ids."""
        self.pending -= sum(map(self._wanted.discard, ids))

    def __iter__(self) -> Generator[InputRecord, None, None]:
        """The records still to be asked for, streamed from the file."""
        left = self.pending
        for _, record in read(self.file, InputRecord):
            if not left:
                return
            if record.data_id in self._wanted:
                left -= 1
                yield record


class Progress:
    """How far a run is; counted by the workers, read by whoever shows it."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.answered = 0
        self.errors = 0
        self.retries = 0
        self.cut = 0  # answers without a call that ended at the token limit
        self.last_error: str | None = None
        self.last_remedy: str | None = None
        self.last_trouble: AgentError | None = None  # why something was asked for again

    @property
    def done(self) -> int:
        """Records that are in the result file by this run."""
        return self.answered + self.errors


async def generate(
    endpoint: ChatEndpoint,
    request: Request,
    inputs: Inputs,
    results: ResultFile,
    *,
    concurrency: int,
    policy: RetryPolicy,
    progress: Progress,
) -> None:
    """Ask for every pending input and append each answer to `results`.

    Raises `RunError` where the endpoint refuses all of the first answers or cannot be reached for long, and
    `StoreError` where the result file cannot be written. What was appended stays (but for those first refusals).
    """
    pending = iter(inputs)
    watch = _Watch(results)

    async def work() -> None:
        for record in pending:
            result, fault = await _answer(endpoint, request, record, policy, progress)
            if watch.refused:
                return
            results.append(result)
            if result.failed:
                progress.errors += 1
                progress.last_error = result.error
                progress.last_remedy = fault.remedy if fault else None
            else:
                progress.answered += 1
            watch.saw(fault)

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(min(concurrency, progress.total)):
                workers.create_task(work())
    except* LiftbayError as failed:
        raise failed.exceptions[0] from None
    finally:
        pending.close()


async def _answer(
    endpoint: ChatEndpoint, request: Request, record: InputRecord, policy: RetryPolicy, progress: Progress
) -> tuple[ResultRecord, AgentError | None]:
    """The record to write, and why the model gave no answer, if it gave none; a bad answer is one too."""
    body = request.body(record.question)

    def count_retry(error: AgentError) -> None:
        progress.retries += 1
        progress.last_trouble = error

    try:
        choice = await with_retries(lambda: endpoint.chat(body), policy, count_retry)
    except AgentError as error:
        reason = "TimeoutError" if isinstance(error, AgentTimeout) else _reason(error)
        return ResultRecord(record.data_id, record.dialogue_id, [], reason), error
    try:
        calls = _tool_calls(choice)
    except AgentProtocol as error:
        return ResultRecord(record.data_id, record.dialogue_id, [], _reason(error)), None
    progress.cut += not calls and choice.finish_reason == "length"
    return ResultRecord(record.data_id, record.dialogue_id, calls), None


def _reason(error: AgentError) -> str:
    return f"{type(error).__name__}: {error}"


def _tool_calls(choice: ChatChoice) -> list[ToolCall]:
    calls = []
    for call in choice.message.tool_calls or ():
        arguments = call.function.arguments
        if not isinstance(arguments, str):
            arguments = msgspec.json.encode(arguments).decode()
        arguments = _parse_arguments(call.function.name, arguments, choice.finish_reason)
        calls.append(ToolCall(call.function.name, arguments))
    return calls


def _parse_arguments(name: str, text: str, finish_reason: str | None) -> dict[str, Any]:
    try:
        arguments = msgspec.json.decode(text, type=dict[str, Any])
        if is_too_deep(text.encode(), MAX_ARGUMENT_DEPTH):
            raise RecursionError
    except RecursionError:
        raise AgentProtocol(
            "the arguments of {name} are nested more than {limit} deep: {text}",
            name=name,
            limit=MAX_ARGUMENT_DEPTH,
            text=text[:200],
        ) from None
    except msgspec.DecodeError:
        cut = " (the answer was cut at the token limit)" if finish_reason == "length" else ""
        raise AgentProtocol(
            "the arguments of {name} are not a JSON object{cut}: {text}", name=name, cut=cut, text=text[:200]
        ) from None
    return arguments


class _Watch:
    """Stops a run that cannot succeed: the endpoint refuses everything, or gives no answers any more."""

    def __init__(self, results: ResultFile) -> None:
        self._results = results
        self._size_before = results.size
        self._first_refusals: int | None = 0  # None once an answer was not a refusal
        self._faults = 0  # in a row
        self.refused = False  # nothing more may be recorded

    def saw(self, fault: AgentError | None) -> None:
        """Take note of what came of a record; `fault` is why the model gave no answer, if it gave none."""
        if isinstance(fault, AgentRefused) and self._first_refusals is not None:
            self._first_refusals += 1
            if self._first_refusals == FIRST_ANSWERS:
                self._refuse(fault)
        elif not isinstance(fault, AgentUnreachable | AgentTimeout):  # which are no answers at all
            self._first_refusals = None
        self._faults = self._faults + 1 if fault else 0
        if fault and self._faults == FAULTS_IN_A_ROW:
            raise RunError(
                "the endpoint gave no answer for {count} records in a row, the last for this reason: {error}",
                place=fault.place,
                remedy=fault.remedy
                or "when it answers again, run the same command with --retry-errors: it goes on from here",
                count=FAULTS_IN_A_ROW,
                error=fault,
            )

    def _refuse(self, fault: AgentRefused) -> None:
        self.refused = True
        self._results.cut(self._size_before)
        raise RunError(
            "the endpoint refused the first {count} requests, and none of them was recorded: {error}",
            place=fault.place,
            remedy=fault.remedy or "mend what the endpoint complains about, then run the same command again",
            count=FIRST_ANSWERS,
            error=fault,
        )
