"""Texts with placeholders in braces, and paths into JSON values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from liftbay.errors import InputError, at

ENVIRONMENT = "env:"  # begins the name of a placeholder that stands for an environment variable
_BRACES = re.compile(r"\{\{|\}\}|\{([A-Za-z]\w*(?::\w*)?)\}|[{}]")


class Placeholder(msgspec.Struct, frozen=True):
    """Something to fill in."""

    name: str


class Template(msgspec.Struct, frozen=True):
    """A text with placeholders."""

    pieces: tuple[str | Placeholder, ...]

    @property
    def names(self) -> list[str]:
        """The names of its placeholders."""
        return [piece.name for piece in self.pieces if isinstance(piece, Placeholder)]

    def value(self, values: Mapping[str, Any]) -> Any:
        """The text, filled in; a template that is one placeholder and no more gives the value itself."""
        match self.pieces:
            case (Placeholder(name),):
                return values[name]
        return self.text(values)

    def text(self, values: Mapping[str, Any]) -> str:
        """The text, filled in; None is empty, and what is no text stands there as JSON."""
        return "".join(
            _as_text(values[piece.name]) if isinstance(piece, Placeholder) else piece for piece in self.pieces
        )

    def address(self, values: Mapping[str, Any]) -> str:
        """The text, filled in with values that are quoted so that an address stays one."""
        return "".join(
            quote(_as_text(values[piece.name]), safe="") if isinstance(piece, Placeholder) else piece
            for piece in self.pieces
        )


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def template(text: str, known: Collection[str], file: str, field: str) -> Template:
    """What `text` says. Raises `InputError` for a placeholder that is not `known` and for a single brace.

    `ENVIRONMENT` among the known ones lets through all environment variables.
    """
    pieces: list[str | Placeholder] = []
    end = 0
    for found in _BRACES.finditer(text):
        pieces.append(text[end : found.start()])
        end = found.end()
        if name := found[1]:
            _check_name(name, known, at(file, None, field))
            pieces.append(Placeholder(name))
        elif len(found[0]) == 1:
            raise InputError(
                "a single brace in {text}",
                place=at(file, None, field),
                remedy="write {{{{ or }}}} for a brace, and {{name}} for a placeholder",
                text=repr(text),
            )
        else:
            pieces.append(found[0][0])
    pieces.append(text[end:])
    return Template(tuple(piece for piece in pieces if piece))


def _check_name(name: str, known: Collection[str], place: str) -> None:
    if name.startswith(ENVIRONMENT):
        if ENVIRONMENT not in known:
            raise InputError(
                "an environment variable cannot be filled in here",
                place=place,
                remedy="use {{env:NAME}} in [headers] and [start.env] only: what stands elsewhere may be shown",
            )
        return
    if name in known:
        return
    plain = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.replace("_", "").casefold(), plain, n=1)
    if near:
        raise InputError(
            "unknown placeholder {name}", place=place, remedy="did you mean {meant}?", name=name, meant=plain[near[0]]
        )
    raise InputError(
        "unknown placeholder {name}",
        place=place,
        remedy="known are: {known}",
        name=name,
        known=", ".join(sorted(known)),
    )


def templates_in(value: Any, known: Collection[str], file: str, field: str) -> Any:
    """A JSON value with a `Template` in place of every text; keys of objects are taken as they stand."""
    if isinstance(value, str):
        return template(value, known, file, field)
    if isinstance(value, list):
        return [templates_in(item, known, file, f"{field}.{position}") for position, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: templates_in(item, known, file, f"{field}.{key}") for key, item in value.items()}
    return value


def names_in(value: Any) -> Iterator[str]:
    """The names of all placeholders in what `templates_in` gave."""
    if isinstance(value, Template):
        yield from value.names
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from names_in(item)


def filled(value: Any, values: Mapping[str, Any]) -> Any:
    """What `templates_in` gave, filled in."""
    if isinstance(value, Template):
        return value.value(values)
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, values) for key, item in value.items()}
    return value


class JsonPath(msgspec.Struct, frozen=True):
    """Where something stands in a JSON value: keys and list positions; without any it is the value itself."""

    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join(self.steps)

    def find(self, value: Any) -> Any:
        """What stands there, or `msgspec.UNSET`."""
        for step in self.steps:
            value = _step(value, step)
            if value is msgspec.UNSET:
                break
        return value

    def parent(self, value: Any) -> Any:
        """What stands one step before, or `msgspec.UNSET`."""
        return JsonPath(self.steps[:-1]).find(value)

    def what_is_there(self, value: Any) -> str:
        """How far the path leads, and what is there in place of the next step: for errors."""
        for number, step in enumerate(self.steps):
            following = _step(value, step)
            if following is msgspec.UNSET:
                where = ".".join(self.steps[:number])
                return f"{where}: {_outline(value)}" if where else _outline(value)
            value = following
        return _outline(value)


def json_path(text: str, file: str, field: str) -> JsonPath:
    """The path that `text` describes. Raises `InputError` where a step is empty."""
    if not text:
        return JsonPath()
    steps = tuple(text.split("."))
    if not all(steps):
        raise InputError(
            "an empty step in the path {path}",
            place=at(file, None, field),
            remedy="separate keys and list positions by one dot each, such as choices.0.text",
            path=repr(text),
        )
    return JsonPath(steps)


def _step(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step, msgspec.UNSET)
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return msgspec.UNSET


_SHOWN_KEYS = 20


def _outline(value: Any) -> str:
    if isinstance(value, dict):
        keys = ", ".join([*list(value)[:_SHOWN_KEYS], *(["…"] if len(value) > _SHOWN_KEYS else [])])
        return f"{{{keys}}}"
    if isinstance(value, list):
        return f"[{len(value)}]"
    return {str: "text", bool: "true/false", type(None): "null"}.get(type(value), "number")
