"""A project: the folder that holds `liftbay.toml`, or else the working folder."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from liftbay.datasets.data_file import DataFile, not_utf8
from liftbay.datasets.did_you_mean import nearest
from liftbay.datasets.json_lines import field_error
from liftbay.domain.prices import Prices
from liftbay.errors import InputError, at

FILE_NAME = "liftbay.toml"
DATASETS = "datasets"
MOCKS = "mocks"
DEFAULT_STORE = "sqlite:///.liftbay/liftbay.db"
_SQLITE_PATH = "sqlite:///"


class _ProjectTable(msgspec.Struct, frozen=True):
    name: str = ""


class _AgentTable(msgspec.Struct, frozen=True):
    default: str | None = None


class _StoreTable(msgspec.Struct, frozen=True):
    url: str = DEFAULT_STORE


class _PricesTable(msgspec.Struct, frozen=True):
    input_per_million: Annotated[float, msgspec.Meta(ge=0)]
    output_per_million: Annotated[float, msgspec.Meta(ge=0)]
    currency: str = "USD"


class _Settings(msgspec.Struct, frozen=True):
    """All that `liftbay.toml` may hold."""

    project: _ProjectTable = _ProjectTable()
    agent: _AgentTable = _AgentTable()
    store: _StoreTable = _StoreTable()
    prices: _PricesTable | None = None


_TABLES: dict[str, type[msgspec.Struct]] = {
    "project": _ProjectTable,
    "agent": _AgentTable,
    "store": _StoreTable,
    "prices": _PricesTable,
}


class Project(msgspec.Struct, frozen=True):
    """A project's folder and settings."""

    root: Path
    name: str
    agent: str | None  # the specification of the agent that runs where none is named
    store: str  # a URL as the file gives it
    prices: Prices | None = None

    @property
    def store_url(self) -> str:
        """The URL of the store; a path in it is relative to the project's folder."""
        path = self.store.removeprefix(_SQLITE_PATH)
        if path == self.store or not path or path == ":memory:":
            return self.store
        return f"{_SQLITE_PATH}{self.root / path}"


def find_project(start: Path) -> Project:
    """The project that `start` is in: of the nearest `liftbay.toml` upwards, or else of `start` itself.

    Raises `InputError` where the file is not right.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return _project(folder, _read_settings(DataFile(folder / FILE_NAME)))
    return _project(start, _Settings())


def _project(root: Path, settings: _Settings) -> Project:
    table = settings.prices
    prices = Prices(table.input_per_million, table.output_per_million, table.currency) if table else None
    return Project(root, settings.project.name or root.name, settings.agent.default, settings.store.url, prices)


def _read_settings(file: DataFile) -> _Settings:
    with file.open() as stream:
        content = stream.read()
    try:
        values = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise not_utf8(content, at(file)) from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+)", str(error))
        place = at(file, int(line.group(1)) if line else None)
        raise InputError("invalid TOML: {why}", place=place, why=error) from None
    _refuse_unknown_keys(file, values)
    try:
        return msgspec.convert(values, _Settings)
    except msgspec.ValidationError as error:
        raise field_error(file, None, error) from None


def _refuse_unknown_keys(file: DataFile, values: Mapping[str, Any]) -> None:
    for table, content in values.items():
        if table not in _TABLES:
            raise _unknown_key(file, table, list(_TABLES))
        known = [field.name for field in msgspec.structs.fields(_TABLES[table])]
        for key in content if isinstance(content, dict) else ():
            if key not in known:
                raise _unknown_key(file, f"{table}.{key}", [f"{table}.{name}" for name in known])


def _unknown_key(file: DataFile, key: str, known: list[str]) -> InputError:
    if meant := nearest(key, known):
        return InputError("unknown key", place=at(file, None, key), remedy="did you mean {meant}?", meant=meant)
    return InputError("unknown key", place=at(file, None, key), remedy="known are: {known}", known=", ".join(known))
