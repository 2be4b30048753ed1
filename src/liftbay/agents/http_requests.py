"""The requests that an agent file of the kind `http` describes, checked once and filled in for each use."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec
from multidict import CIMultiDict
from yarl import URL

from liftbay.agents.http_file import HttpFile
from liftbay.agents.secrets import Secrets
from liftbay.agents.templates import ENVIRONMENT, Template, filled, names_in, template, templates_in
from liftbay.domain.override import said_before
from liftbay.domain.vocabulary import EvalMode
from liftbay.errors import AgentRefused, InputError, at
from liftbay.ports import AgentInput

PORT = "port"
OTLP_ENDPOINT = "otlpEndpoint"
MCP_ENDPOINT = "mcpEndpoint"
PYTHON = "python"  # the interpreter that runs liftbay
_OF_A_START = (PORT, OTLP_ENDPOINT)
_OF_A_HOOK = ("skill", "skillVersion")
_SESSION = "sessionId"
_OVERRIDES = "overrides"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ORIGIN = re.compile(r"[A-Za-z]+://[^/?#]*")


class Request(msgspec.Struct, frozen=True):
    """One request, ready to send."""

    method: str
    url: URL
    headers: Mapping[str, str]
    body: bytes | None = None


class HttpRequests:
    """Makes the requests of one agent."""

    def __init__(self, file: HttpFile, place: str, secrets: Secrets, otlp_endpoint: str | None) -> None:
        """Raises `InputError` for whatever in the file cannot be filled in."""
        self._place = place
        self._secrets = secrets
        self._method = file.method
        of_a_turn = (*_OF_A_START, *_TURN_VALUES)
        self._url = self._address(file.url, of_a_turn, "url")
        self._body = self._json(file.request, of_a_turn, "request")
        self._headers = {
            name: template(text, (*of_a_turn, ENVIRONMENT), place, f"headers.{name}")
            for name, text in file.headers.items()
        }
        self._ready = self._address(file.ready.url, _OF_A_START, "ready.url") if file.ready else None
        self._settled = (
            self._address(file.settled.url, (*_OF_A_START, _SESSION), "settled.url") if file.settled else None
        )
        version = file.version.url if not isinstance(file.version, str | None) else None
        self._version = self._address(version, _OF_A_START, "version.url") if version is not None else None
        self._hook = file.publish_skill
        if self._hook is not None:
            known = (*_OF_A_START, *_OF_A_HOOK)
            self._hook_url = self._address(self._hook.url, known, "publish_skill.url")
            self._hook_body = self._json(self._hook.request, known, "publish_skill.request")
        start = file.start
        self._command = self._json(start.command if start else [], (*_OF_A_START, PYTHON), "start.command")
        self._env = self._json(start.env if start else {}, (*_OF_A_START, MCP_ENDPOINT, ENVIRONMENT), "start.env")
        self._values: dict[str, Any] = {PORT: None, OTLP_ENDPOINT: otlp_endpoint}
        self._check_names(file)
        self._take_secrets()

    @property
    def wants_port(self) -> bool:
        """Whether a free port has to be chosen before anything is sent."""
        return PORT in self._all_names()

    @property
    def sends_overrides(self) -> bool:
        """Whether a turn's request has a place for what is to replace modules' outputs."""
        return any(_OVERRIDES in names_in(one) for one in (self._url, self._body, self._headers))

    def use_port(self, port: int) -> None:
        """The port that `{port}` stands for from now on."""
        self._values[PORT] = port

    @property
    def home(self) -> URL:
        """The scheme, host and port of the agent."""
        anything = dict.fromkeys(_TURN_VALUES, "")
        return URL(self._url.address(anything | self._values)).origin()

    def command(self) -> list[str]:
        """The command that starts the agent."""
        return [one.text({**self._values, PYTHON: sys.executable}) for one in self._command]

    def environment(self, mcp_endpoint: str | None) -> dict[str, str]:
        """The variables that the agent's process gets beside those of this process."""
        values = {**self._values, MCP_ENDPOINT: mcp_endpoint}
        return {name: one.text(values) for name, one in self._env.items()}

    def turn(self, turn: AgentInput) -> Request:
        """Ask for the answer of one turn. Raises `AgentRefused` where a value cannot stand in a header."""
        values = self._values | {name: read(turn) for name, read in _TURN_VALUES.items()}
        headers = self._filled_headers(self._headers, values)
        if turn.traceparent is not None:
            headers["traceparent"] = turn.traceparent
        if turn.case.eval_mode is EvalMode.E2E_MOCK:
            mocks = {"liftbay-mock-data-id": values["mockDataId"], "liftbay-mock-endpoint": values["mockEndpoint"]}
            headers.update({name: _header(name, value) for name, value in mocks.items() if value is not None})
        body = None if self._body is None else msgspec.json.encode(filled(self._body, values))
        return self._request(self._method, URL(self._url.address(values)), headers, body)

    def ready(self) -> Request | None:
        """Ask whether the agent is ready."""
        return None if self._ready is None else self._side_request(self._ready, {})

    def version(self) -> Request | None:
        """Ask for the agent's version."""
        return None if self._version is None else self._side_request(self._version, {})

    def settled(self, session_id: str) -> Request | None:
        """Ask whether a session is persisted."""
        return None if self._settled is None else self._side_request(self._settled, {_SESSION: session_id})

    def publish(self, skill_version: str) -> Request | None:
        """Publish the Skill of the hook in a new version."""
        if self._hook is None:
            return None
        values = {"skill": self._hook.skill, "skillVersion": skill_version}
        body = None if self._hook_body is None else msgspec.json.encode(filled(self._hook_body, self._values | values))
        return self._side_request(self._hook_url, values, self._hook.method, body)

    def _side_request(
        self, address: Template, own: Mapping[str, Any], method: str = "GET", body: bytes | None = None
    ) -> Request:
        """A request beside the turns: it gets those headers that can be filled in, and another host gets none."""
        values = {**self._values, **own}
        url = URL(address.address(values))
        ours = url.origin() == self.home
        headers = {
            name: header
            for name, header in self._headers.items()
            if ours and all(one in values for one in header.names)
        }
        return self._request(method, url, self._filled_headers(headers, values), body)

    def _request(self, method: str, url: URL, headers: CIMultiDict[str], body: bytes | None) -> Request:
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        headers.setdefault("Accept", "application/json, text/event-stream")
        return Request(method, url, headers, body)

    def _filled_headers(self, headers: Mapping[str, Template], values: Mapping[str, Any]) -> CIMultiDict[str]:
        """The headers; one that is a placeholder alone, and this without a value, is left out."""
        pairs = ((name, header.value(values), header) for name, header in headers.items())
        return CIMultiDict(
            (name, _header(name, header.text(values))) for name, value, header in pairs if value is not None
        )

    def _json(self, value: Any, known: Collection[str], field: str) -> Any:
        return templates_in(value, known, self._place, field)

    def _address(self, text: str, known: Collection[str], field: str) -> Template:
        address = template(text, known, self._place, field)
        place = at(self._place, None, field)
        origin = _ORIGIN.match(text)
        if origin is not None and any(name != PORT for name in template(origin[0], known, self._place, field).names):
            raise InputError(
                "the host depends on a placeholder", place=place, remedy="of the address, only the port may be {{port}}"
            )
        try:
            url = URL(address.address(dict.fromkeys(address.names, 1)))
        except ValueError:
            url = URL()
        if url.scheme not in ("http", "https") or not url.host:
            raise InputError(
                "this is not an http address", place=place, remedy="give an address such as http://127.0.0.1:9000/chat"
            )
        if url.user is not None or url.password is not None:
            raise InputError(
                "the address holds a user name or a password",
                place=place,
                remedy="take them out, and send them as a header of [headers], with {{env:NAME}}",
            )
        return address

    def _all_names(self) -> set[str]:
        found = [self._url, self._body, self._headers, self._ready, self._settled, self._version]
        if self._hook is not None:
            found += [self._hook_url, self._hook_body]
        return {name for one in (*found, self._command, self._env) for name in names_in(one)}

    def _check_names(self, file: HttpFile) -> None:
        for name in self._headers:
            if not _HEADER_NAME.fullmatch(name):
                raise InputError(
                    "this is no name of a header",
                    place=at(self._place, None, f"headers.{name}"),
                    remedy="use letters, digits and hyphens",
                )
        names = self._all_names()
        if PORT in names and file.start is None:
            raise InputError(
                "{{port}} has no value",
                place=self._place,
                remedy="write the port itself, or let liftbay start the agent with [start] command",
            )
        if MCP_ENDPOINT in {name for one in self._env.values() for name in one.names} and file.mcp_stand_in is None:
            raise InputError("{{mcpEndpoint}} has no value", place=self._place, remedy="add [mcp_stand_in]")
        if OTLP_ENDPOINT in names and not file.trace.otlp:
            raise InputError("{{otlpEndpoint}} has no value", place=self._place, remedy="add [trace] with otlp = true")

    def _take_secrets(self) -> None:
        tables = (("headers", self._headers), ("start.env", self._env))
        for table, templates in tables:
            for key, one in templates.items():
                place = at(self._place, None, f"{table}.{key}")
                for name in one.names:
                    if not name.startswith(ENVIRONMENT):
                        continue
                    value = self._values[name] = self._secrets.take(name.removeprefix(ENVIRONMENT), place)
                    if table == "headers" and _CONTROL.search(value.strip()):
                        raise InputError(
                            "the environment variable {name} holds a control character, such as an end of line",
                            place=place,
                            remedy="give the secret alone",
                            name=name.removeprefix(ENVIRONMENT),
                        )


def _header(name: str, value: str) -> str:
    value = value.strip()
    if _CONTROL.search(value):
        raise AgentRefused(
            "the header {name} would hold a control character, such as an end of line",
            remedy="send this value in [request]",
            name=name,
        )
    return value


def _history(turn: AgentInput) -> list[Any]:
    return [msgspec.to_builtins(message) for message in said_before(turn.case, turn.earlier)]


_TURN_VALUES: dict[str, Callable[[AgentInput], Any]] = {
    "userInput": lambda turn: turn.user_input,
    _SESSION: lambda turn: turn.session_id,
    "bizCode": lambda turn: turn.case.biz_code,
    "history": _history,
    "round": lambda turn: turn.round,
    "trial": lambda turn: turn.trial,
    "mockDataId": lambda turn: turn.case.mock_data_id,
    "evalMode": lambda turn: turn.case.eval_mode.value,
    "caseId": lambda turn: turn.case.id,
    "traceparent": lambda turn: turn.traceparent,
    "mockEndpoint": lambda turn: turn.tools.endpoint if turn.tools else None,
    _OVERRIDES: lambda turn: None if turn.overrides.empty else msgspec.to_builtins(turn.overrides),
    MCP_ENDPOINT: lambda turn: turn.tools.mcp_endpoint if turn.tools else None,
}
