"""The agent file of the kind `http`: how to ask an agent over HTTP, and where its answer holds what."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from liftbay.agents.stand_in_file import StandInFor

Seconds = Annotated[float, msgspec.Meta(gt=0)]


class ResponseParts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Paths to single parts of the EvalTrace."""

    intent: str | None = None
    intents: str | None = None
    route: str | None = None
    skill: str | None = None
    skill_version: str | None = None
    input_tokens: str | None = None
    output_tokens: str | None = None
    tool_calls: str | None = None


class ResponseStream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to read an answer that arrives as server-sent events."""

    delta: str
    event: str | None = None
    done: str | None = None
    trace: str | None = None


class Response(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the answer holds what; a path is keys and list positions, separated by dots."""

    text: str | None = None
    trace: str | None = None
    error: str | None = None
    parts: ResponseParts = ResponseParts()
    stream: ResponseStream | None = None


class Ready(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the agent says that it is ready, and how many seconds it may take until then."""

    url: str
    timeout: Seconds = 30.0


class Settled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the agent says that a session is persisted."""

    url: str


class VersionSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the agent says its version."""

    url: str
    path: str = "version"


class Start(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The process to start, in the folder of the agent file."""

    command: Annotated[list[str], msgspec.Meta(min_length=1)]
    env: dict[str, str] = {}


class TraceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent's spans come."""

    otlp: bool = False


class PublishSkill(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The hook that publishes a changed Skill, and an input that hits this Skill."""

    url: str
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    skill: str
    input: str
    request: dict[str, Any] | None = None


class HttpFile(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="http", forbid_unknown_fields=True):
    """An agent behind an HTTP API that answers with JSON or with server-sent events."""

    url: str
    response: Response
    name: str | None = None
    version: str | VersionSource | None = None
    method: Literal["POST", "PUT", "PATCH", "GET"] = "POST"
    headers: dict[str, str] = {}
    request: dict[str, Any] | None = None
    ready: Ready | None = None
    settled: Settled | None = None
    start: Start | None = None
    trace: TraceSettings = TraceSettings()
    publish_skill: PublishSkill | None = None
    mcp_stand_in: StandInFor | None = None
