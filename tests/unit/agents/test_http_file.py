"""The agent file of the kind `http`: what it may hold, and what is refused before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from http_agents import agent_of

from liftbay.agents.http import HttpAgent
from liftbay.agents.http_file import HttpFile
from liftbay.errors import InputError
from liftbay.ports import SpanOrigin

URL = "http://127.0.0.1:9/chat"
WHOLE = """
kind = "http"
name = "product-centre"
url = "http://127.0.0.1:{port}/chat/{sessionId}"
method = "PUT"
[headers]
Authorization = "Bearer {env:SHOP_TOKEN}"
[request]
message = "{userInput}"
history = "{history}"
[request.meta]
tools = "{mcpEndpoint}"
[response]
text = "answer.text"
trace = "trace"
error = "error.message"
[response.parts]
intent = "meta.intent"
intents = "meta.intents"
route = "meta.route"
skill = "meta.skill"
skill_version = "meta.version"
input_tokens = "usage.prompt_tokens"
output_tokens = "usage.completion_tokens"
tool_calls = "choices.0.message.tool_calls"
[response.stream]
delta = ""
event = "message"
done = "[DONE]"
trace = "trace"
[ready]
url = "http://127.0.0.1:{port}/ready"
timeout = 5
[settled]
url = "http://127.0.0.1:{port}/sessions/{sessionId}/settled"
[version]
url = "http://127.0.0.1:{port}/version"
path = "build.version"
[start]
command = ["python", "-m", "shop", "--port", "{port}"]
env = {TOKEN = "{env:SHOP_TOKEN}", EXPORT = "{otlpEndpoint}"}
[trace]
otlp = true
[publish_skill]
url = "http://127.0.0.1:{port}/skills/{skill}"
method = "PUT"
skill = "stock-query"
input = "Is it in stock?"
[publish_skill.request]
version = "{skillVersion}"
[mcp_stand_in]
command = ["shop-tools"]
"""


def test_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "secret")
    file = msgspec.toml.decode(WHOLE, type=HttpFile)
    given = msgspec.toml.decode(WHOLE)
    given["mcp_stand_in"] |= {"url": None, "tools": None}
    assert msgspec.to_builtins(file) == given

    agent = HttpAgent(file, "a.toml", Path(), connections=1, otlp_endpoint="http://127.0.0.1:4318")
    assert (agent.name, agent.version, agent.spans) == ("product-centre", None, SpanOrigin.OTLP)
    assert agent.publishes_skills


def test_name_and_version() -> None:
    agent = agent_of(URL)
    assert (agent.name, agent.version, agent.spans, agent.publishes_skills) == ("shop", None, SpanOrigin.NONE, False)
    agent = agent_of(URL, 'name = "Shop"\nversion = "2.3"\n[response]\ntext = "t"')
    assert (agent.name, agent.version) == ("Shop", "2.3")


RESPONSE = '\n[response]\ntext = "text"\n'
REFUSED: dict[str, tuple[str, str, str | None, str]] = {
    "unknown placeholder": (
        '[request]\nq = ["{user_input}"]',
        "unknown placeholder user_input",
        "request.q.0",
        "did you mean userInput?",
    ),
    "turn's placeholder outside of turns": (
        f'[settled]\nurl = "{URL}/{{userInput}}"',
        "unknown placeholder userInput",
        "settled.url",
        "known are: otlpEndpoint, port, sessionId",
    ),
    "variable that is not set": (
        'headers = {Authorization = "Bearer {env:LIFTBAY_NOT_SET}"}',
        "the environment variable LIFTBAY_NOT_SET is not set",
        "headers.Authorization",
        "set it: export LIFTBAY_NOT_SET=…",
    ),
    "variable in the body": (
        '[request]\nkey = "{env:HOME}"',
        "an environment variable cannot be filled in here",
        "request.key",
        "use {env:NAME} in [headers] and [start.env] only: what stands elsewhere may be shown",
    ),
    "port without start": (
        f'[ready]\nurl = "{URL}:{{port}}"'.replace(":9", ""),
        "{port} has no value",
        None,
        "write the port itself, or let liftbay start the agent with [start] command",
    ),
    "exporter without spans": (
        '[request]\nexport = "{otlpEndpoint}"',
        "{otlpEndpoint} has no value",
        None,
        "add [trace] with otlp = true",
    ),
    "name of a header": (
        'headers = {"two words" = "x"}',
        "this is no name of a header",
        "headers.two words",
        "use letters, digits and hyphens",
    ),
    "address": (
        '[ready]\nurl = "ftp://host/x"',
        "this is not an http address",
        "ready.url",
        "give an address such as http://127.0.0.1:9000/chat",
    ),
    "password": (
        '[version]\nurl = "http://me:secret@host/x"',
        "the address holds a user name or a password",
        "version.url",
        "take them out, and send them as a header of [headers], with {env:NAME}",
    ),
    "host": (
        '[settled]\nurl = "http://{sessionId}.host/x"',
        "the host depends on a placeholder",
        "settled.url",
        "of the address, only the port may be {port}",
    ),
    "path": (
        f'[version]\nurl = "{URL}"\npath = "a..b"',
        "an empty step in the path 'a..b'",
        "version.path",
        "separate keys and list positions by one dot each, such as choices.0.text",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_work_is_refused_when_the_file_is_read(name: str) -> None:
    rest, message, field, remedy = REFUSED[name]
    with pytest.raises(InputError) as caught:
        agent_of(URL, rest + RESPONSE)
    error = caught.value
    assert str(error) == message
    assert error.place == ("agents/shop.toml" if field is None else f"agents/shop.toml: {field}")
    assert error.remedy is not None
    assert error.remedy.format(**error.values) == remedy


def test_an_answer_without_a_text_is_refused() -> None:
    with pytest.raises(InputError, match="nothing says where the answer holds its text"):
        agent_of(URL, '[response]\ntrace = "trace"')


def test_a_variable_with_a_line_end_inside_cannot_be_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = 'headers = {Authorization = "{env:SHOP_TOKEN}"}' + RESPONSE
    monkeypatch.setenv("SHOP_TOKEN", "secret\nX-Admin: 1")
    with pytest.raises(InputError, match="SHOP_TOKEN holds a control character") as caught:
        agent_of(URL, rest)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("SHOP_TOKEN", "secret\n")
    agent_of(URL, rest)


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ("", "missing required field `url`"),
        ('url = "http://h"', "missing required field `response`"),
        ('url = "http://h"\nresponse = {txt = "a"}', "unknown field `txt`"),
        ('url = "http://h"\nrespons = {}\nresponse = {}', "unknown field `respons`"),
        ('url = "http://h"\nmethod = "DELETE"\nresponse = {}', "Invalid enum value 'DELETE'"),
        ('url = "http://h"\nresponse = {}\nready = {url = "http://h", timeout = 0}', "Expected `float` > 0.0"),
        ('url = "http://h"\nresponse = {}\nstart = {command = []}', "Expected `array` of length >= 1"),
        ('url = "http://h"\nresponse = {stream = {}}', "missing required field `delta`"),
    ],
)
def test_the_form_of_the_file(toml: str, why: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=why):
        msgspec.toml.decode(f'kind = "http"\n{toml}', type=HttpFile)


def test_the_kind_is_needed() -> None:
    other: dict[str, Any] = {"kind": "openai_chat", "url": URL, "response": {}}
    with pytest.raises(msgspec.ValidationError, match="openai_chat"):
        msgspec.convert(other, HttpFile)
