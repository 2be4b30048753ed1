"""What the `[response]` of an agent file says: where an answer holds its text, its failure and its trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from liftbay.agents.http_file import Response
from liftbay.agents.inline_trace import TRACE, trace_of
from liftbay.agents.secrets import Secrets
from liftbay.agents.templates import JsonPath, json_path
from liftbay.domain.trace import EvalTrace
from liftbay.errors import AgentCrash, AgentProtocol, InputError

_NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_SHOWN = 300


class AnswerForm:
    """The paths of one agent file, and how what stands there is read: no secret passes."""

    def __init__(self, response: Response, file: str, secrets: Secrets) -> None:
        """Raises `InputError` where a path in `file` is none, or none leads to the text."""
        if response.text is None and response.stream is None:
            raise InputError(
                "nothing says where the answer holds its text",
                place=file,
                remedy="add text to [response], or delta to [response.stream]",
            )

        def path(text: str | None, field: str) -> JsonPath | None:
            return None if text is None else json_path(text, file, f"response.{field}")

        parts = {name: path(text, f"parts.{name}") for name, text in msgspec.structs.asdict(response.parts).items()}
        self.file = file
        self.text = path(response.text, "text")
        self.stream = response.stream
        self.delta = path(response.stream.delta, "stream.delta") if response.stream else None
        self.parts = {name: one for name, one in {**parts, TRACE: path(response.trace, "trace")}.items() if one}
        of_stream = path(response.stream.trace, "stream.trace") if response.stream else None
        self.parts_of_events = {**self.parts, TRACE: of_stream} if of_stream else self.parts
        self._error = path(response.error, "error")
        self._secrets = secrets

    def decoded(self, content: bytes) -> Any:
        """The JSON value of an answer. Raises `AgentProtocol` where it is none."""
        try:
            return msgspec.json.decode(content)
        except _NOT_JSON as error:
            raise AgentProtocol(
                "the answer is not JSON: {why}: {answer}", why=error, answer=self.beginning(content)
            ) from None

    def beginning(self, content: bytes | str) -> str:
        """The beginning of what came, on one line."""
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        return " ".join(self._secrets.hide(text).split())[:_SHOWN] or "(empty)"

    def shown(self, text: str) -> str:
        """A text of the answer as it may be kept."""
        return self._secrets.hide(text)

    def text_in(self, answer: Any, path: JsonPath) -> str:
        """The text at `path`. Raises `AgentProtocol` where there is none."""
        found = path.find(answer)
        if isinstance(found, str):
            return self.shown(found)
        raise AgentProtocol(
            "the answer has nothing at {path}; there is {there}"
            if found is msgspec.UNSET
            else "what the answer has at {path} is no text: {there}",
            remedy="check the path in {file}",
            path=repr(str(path)),
            there=self.beginning(path.what_is_there(answer)),
            file=self.file,
        )

    def refuse_failure(self, answer: Any) -> None:
        """Raise `AgentCrash` where the answer says that it is a failure."""
        said = msgspec.UNSET if self._error is None else self._error.find(answer)
        if said is not msgspec.UNSET and said:
            self.fail(said)

    def fail(self, said: Any) -> None:
        """Raise `AgentCrash` with what the agent says of its failure."""
        text = said if isinstance(said, str) else msgspec.json.encode(said).decode()
        raise AgentCrash("the agent says that it failed: {why}", why=self.beginning(text))

    def trace_from(self, parts: Mapping[str, Any]) -> EvalTrace | None:
        """The trace that the parts of an answer add up to."""
        try:
            hidden = self._secrets.hidden(dict(parts))
        except RecursionError:
            raise AgentProtocol("the trace in the answer is nested too deeply") from None
        return trace_of(hidden)
