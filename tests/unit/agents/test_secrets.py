"""Values of environment variables are found again in whatever spelling, and hidden."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from liftbay.agents.secrets import Secrets
from liftbay.errors import InputError


def holding(*values: str) -> Secrets:
    """Secrets with these values."""
    secrets = Secrets({f"V{number}": value for number, value in enumerate(values)})
    for number, value in enumerate(values):
        assert secrets.take(f"V{number}", "a.toml: headers.x") == value
    return secrets


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError) as caught:
        Secrets({}).take("SHOP_TOKEN", "a.toml: headers.Authorization")
    assert str(caught.value) == "the environment variable SHOP_TOKEN is not set"
    assert caught.value.place == "a.toml: headers.Authorization"


@pytest.mark.parametrize("secret", ["abcdef", "a/b+c=d", 'quo"te\\d', "日本語の秘密", "line\nfeed", "{braces}.*"])
def test_every_spelling_is_hidden(secret: str) -> None:
    secrets = holding(secret)
    spellings = (
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
    )
    for spelling in spellings:
        assert secrets.hide(f"Bearer {spelling}, and {spelling}.") == "Bearer ***, and ***."


def test_short_values_stay() -> None:
    assert holding("12345", "", "      \n").hide("12345 apples") == "12345 apples"


def test_space_round_a_value_is_no_part_of_it() -> None:
    assert holding("secret-token\n").hide("secret-token") == "***"


def test_the_longer_of_two_is_hidden_whole() -> None:
    assert holding("secret", "secret-token").hide("secret-token secret") == "*** ***"


def test_only_what_was_taken_is_hidden() -> None:
    secrets = Secrets({"A": "secret-a", "B": "secret-b"})
    assert secrets.hide("secret-a") == "secret-a"
    secrets.take("A", "p")
    assert secrets.hide("secret-a secret-b") == "*** secret-b"


def test_a_json_value_is_hidden_everywhere() -> None:
    value = {"secret-1": ["Bearer secret-1", {"n": 1, "t": True, "x": None}], "f": 1.5}
    assert holding("secret-1").hidden(value) == {"***": ["Bearer ***", {"n": 1, "t": True, "x": None}], "f": 1.5}
    assert Secrets({}).hidden(value) is value
