"""Texts with placeholders, and paths into JSON values."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from liftbay.agents.templates import ENVIRONMENT, filled, json_path, names_in, template, templates_in
from liftbay.errors import InputError

KNOWN = ("userInput", "sessionId", "history", "round", "bizCode")
VALUES = {
    "userInput": "在庫は? {round}",
    "sessionId": "a/b c",
    "history": [{"role": "user"}],
    "round": 3,
    "bizCode": None,
}


def value(text: str) -> Any:
    """What `text` gives with the values."""
    return template(text, KNOWN, "a.toml", "request.q").value(VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{userInput}", "在庫は? {round}"),
        ("Q: {userInput}", "Q: 在庫は? {round}"),
        ("{history}", [{"role": "user"}]),
        ("h={history}", 'h=[{"role":"user"}]'),
        ("{round}", 3),
        ("no. {round}", "no. 3"),
        ("{bizCode}", None),
        ("<{bizCode}>", "<>"),
        ("{round}{sessionId}", "3a/b c"),
        ("{{round}}", "{round}"),
        ('{{"q": {round}}}', '{"q": 3}'),
        ("{{{round}}}", "{3}"),
        ("", ""),
        ("plain", "plain"),
    ],
)
def test_a_template_is_filled_in(text: str, expected: object) -> None:
    assert value(text) == expected


def test_values_in_an_address_are_quoted() -> None:
    address = template("http://h/{sessionId}?q={userInput}&n={round}", KNOWN, "a.toml", "url").address(VALUES)
    assert address == "http://h/a%2Fb%20c?q=%E5%9C%A8%E5%BA%AB%E3%81%AF%3F%20%7Bround%7D&n=3"


def refused(text: str, known: tuple[str, ...] = KNOWN) -> InputError:
    """The error of `text`."""
    with pytest.raises(InputError) as caught:
        template(text, known, "a.toml", "request.q")
    assert caught.value.place == "a.toml: request.q"
    return caught.value


@pytest.mark.parametrize(
    ("name", "meant"),
    [("user_input", "userInput"), ("userinput", "userInput"), ("session_id", "sessionId"), ("historie", "history")],
)
def test_an_unknown_placeholder_is_refused_with_a_suggestion(name: str, meant: str) -> None:
    error = refused(f"a {{{name}}}")
    assert str(error) == f"unknown placeholder {name}"
    assert (error.remedy, error.values["meant"]) == ("did you mean {meant}?", meant)


def test_where_none_is_near_all_are_named() -> None:
    error = refused("{zzz}", ("port", "caseId"))
    assert error.remedy is not None
    assert error.remedy.format(**error.values) == "known are: caseId, port"


@pytest.mark.parametrize("text", ["{", "a } b", "{}", "{a b}", '{"q": 1}', "{round", "{{}"])
def test_a_single_brace_is_refused(text: str) -> None:
    error = refused(text)
    assert str(error) == f"a single brace in {text!r}"
    assert error.remedy is not None
    assert error.remedy.format(**error.values) == "write {{ or }} for a brace, and {name} for a placeholder"


def test_an_environment_variable_only_where_it_may_stand() -> None:
    assert str(refused("{env:TOKEN}")) == "an environment variable cannot be filled in here"
    assert template("{env:TOKEN}", (ENVIRONMENT,), "a.toml", "headers.x").names == ["env:TOKEN"]


def test_a_json_value_is_filled_in_everywhere() -> None:
    body = {"q": "{userInput}", "deep": [{"n": "{round}", "{round}": "x"}, 1, True, None, 1.5]}
    made = templates_in(body, KNOWN, "a.toml", "request")
    assert sorted(names_in(made)) == ["round", "userInput"]
    assert filled(made, VALUES) == {
        "q": "在庫は? {round}",
        "deep": [{"n": 3, "{round}": "x"}, 1, True, None, 1.5],
    }


def test_the_field_of_a_mistake_is_named() -> None:
    with pytest.raises(InputError) as caught:
        templates_in({"a": [{"b": "{zzz}"}]}, KNOWN, "a.toml", "request")
    assert caught.value.place == "a.toml: request.a.0.b"


ANSWER = {"choices": [{"text": "x", "0": "zero"}], "n": None, "t": True, "f": 1.5}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("choices.0.text", "x"),
        ("choices.0.0", "zero"),
        ("n", None),
        ("", ANSWER),
        ("choices.1", msgspec.UNSET),
        ("choices.text", msgspec.UNSET),
        ("choices.-1", msgspec.UNSET),
        ("n.x", msgspec.UNSET),
        ("nothing", msgspec.UNSET),
        ("choices.0.text.0", msgspec.UNSET),
    ],
)
def test_a_path_is_followed(path: str, expected: object) -> None:
    assert json_path(path, "a.toml", "response.text").find(ANSWER) == expected


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("reply", "{choices, n, t, f}"),
        ("choices.1.text", "choices: [1]"),
        ("choices.0.content", "choices.0: {text, 0}"),
        ("choices.0.text.x", "choices.0.text: text"),
        ("n.x", "n: null"),
        ("t.x", "t: true/false"),
        ("f.x", "f: number"),
        ("choices", "[1]"),
    ],
)
def test_what_is_there_instead_is_said(path: str, there: str) -> None:
    assert json_path(path, "a.toml", "response.text").what_is_there(ANSWER) == there


def test_of_many_keys_only_some_are_said() -> None:
    there = json_path("x", "a.toml", "f").what_is_there({f"k{number}": 0 for number in range(100)})
    assert there.startswith("{k0, k1, ")
    assert there.endswith("k19, …}")


@pytest.mark.parametrize("path", ["a..b", ".a", "a.", "."])
def test_an_empty_step_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="an empty step in the path") as caught:
        json_path(path, "a.toml", "response.text")
    assert caught.value.place == "a.toml: response.text"
