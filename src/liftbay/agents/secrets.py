"""The environment variables that an agent file names: their values, and how these are kept from being seen again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from liftbay.errors import InputError

HIDDEN = "***"
_SHORTEST = 6  # shorter values turn up by chance, and hiding them would garble answers


class Secrets:
    """Gives out values of environment variables, and hides each one wherever it turns up from then on."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._spellings: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def take(self, name: str, place: str) -> str:
        """The value of the variable `name`, which is a secret from now on. Raises `InputError` where it is not set."""
        value = self._environment.get(name)
        if value is None:
            raise InputError(
                "the environment variable {name} is not set", place=place, remedy="set it: export {name}=…", name=name
            )
        if len(plain := value.strip()) >= _SHORTEST:
            self._spellings |= _spellings(plain)
            longest_first = sorted(self._spellings, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return value

    @property
    def any(self) -> bool:
        """Whether there is something to hide."""
        return self._pattern is not None

    def hide(self, text: str) -> str:
        """`text` with `***` in place of every secret in it."""
        return self._pattern.sub(HIDDEN, text) if self._pattern else text

    def hidden(self, value: Any) -> Any:
        """The same for all texts in a JSON value, the keys of its objects too."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hidden(item) for item in value]
        if isinstance(value, dict):
            return {self.hide(key): self.hidden(item) for key, item in value.items()}
        return value


def _spellings(value: str) -> set[str]:
    """`value` as it stands, in JSON as various languages write it, and in an address."""
    in_json = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return {value, quote(value, safe=""), *in_json, *(text.replace("/", "\\/") for text in in_json)}
