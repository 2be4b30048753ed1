"""Read what an HTTP agent answered: its type of content says whether as JSON or as a stream of events."""

from __future__ import annotations

import aiohttp

from liftbay.agents.answer_form import AnswerForm
from liftbay.agents.http_stream import read_stream
from liftbay.agents.inline_trace import parts_in
from liftbay.errors import AgentProtocol
from liftbay.ports import AgentAnswer
from liftbay.transport.chat_endpoint import whole

_STREAM = "text/event-stream"
_JSON = ("application/json", "text/json")


async def read_answer(form: AnswerForm, response: aiohttp.ClientResponse, begun: float) -> AgentAnswer:
    """The answer; `begun` is when the request was sent, by `time.perf_counter`.

    Raises `AgentProtocol` where it is none, and `AgentCrash` where the agent says that it failed.
    """
    kind = response.content_type
    if kind == _STREAM:
        return await read_stream(form, response, begun)
    content = await whole(response)
    if not content.strip():
        raise AgentProtocol("the answer is empty")
    if "Content-Type" in response.headers and kind not in _JSON and not kind.endswith("+json"):
        raise AgentProtocol(
            "the answer is of the type {kind}, not JSON: {answer}", kind=kind, answer=form.beginning(content)
        )
    answer = form.decoded(content)
    form.refuse_failure(answer)
    if form.text is None:
        raise AgentProtocol(
            "the answer is JSON, where a stream of events was expected: {answer}",
            remedy="if both may come, say in {file}, under [response], where JSON holds its text",
            answer=form.beginning(content),
            file=form.file,
        )
    return AgentAnswer(text=form.text_in(answer, form.text), trace=form.trace_from(parts_in(answer, form.parts)))
