"""A project: the folder that holds `liftbay.toml`, or else the working folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.toml_file import read_toml
from liftbay.domain.judging import KEY_VARIABLE, CacheUse
from liftbay.domain.prices import ModelPrices, Prices

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


class _ModelPricesTable(msgspec.Struct, frozen=True):
    input_per_million: Annotated[float, msgspec.Meta(ge=0)]
    output_per_million: Annotated[float, msgspec.Meta(ge=0)]


class _PricesTable(_ModelPricesTable, frozen=True):
    currency: str = "USD"
    models: dict[str, _ModelPricesTable] = {}


class _TelemetryTable(msgspec.Struct, frozen=True):
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 4318  # of OTLP over HTTP
    token_env: str = "LIFTBAY_TOKEN"  # noqa: S105 - the name of a variable


class JudgeTable(msgspec.Struct, frozen=True):
    """A judge, in `[judge]` of `liftbay.toml` or as a file of its own; times in seconds."""

    url: str | None = None  # or cache:FILE, relative to the folder of the file that says it
    model: str | None = None  # None: the only one that there is
    votes: Annotated[int, msgspec.Meta(ge=1, le=99)] = 1
    language: Literal["en", "ja"] | None = None  # None: that of the messages
    concurrency: Annotated[int, msgspec.Meta(ge=1)] = 4
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    parameters: dict[str, Any] = {}
    api_key_env: str = KEY_VARIABLE
    cache: CacheUse = CacheUse.READ_WRITE
    most_characters: Annotated[int, msgspec.Meta(ge=1000)] = 16_000


class _Settings(msgspec.Struct, frozen=True):
    """All that `liftbay.toml` may hold."""

    project: _ProjectTable = _ProjectTable()
    agent: _AgentTable = _AgentTable()
    store: _StoreTable = _StoreTable()
    prices: _PricesTable | None = None
    telemetry: _TelemetryTable = _TelemetryTable()
    judge: JudgeTable | None = None


class Listening(msgspec.Struct, frozen=True):
    """Where liftbay listens for spans and for calls of mocked tools during a run."""

    host: str = "127.0.0.1"
    port: int = 4318
    token_env: str = "LIFTBAY_TOKEN"  # noqa: S105 - the name of a variable


class Project(msgspec.Struct, frozen=True):
    """A project's folder and settings."""

    root: Path
    name: str
    agent: str | None  # the specification of the agent that runs where none is named
    store: str  # a URL as the file gives it
    prices: Prices | None = None
    listening: Listening = Listening()
    judge: JudgeTable | None = None  # who judges where no judge is named

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
            return _project(folder, read_toml(DataFile(folder / FILE_NAME), _Settings))
    return _project(start, _Settings())


def _project(root: Path, settings: _Settings) -> Project:
    return Project(
        root,
        settings.project.name or root.name,
        settings.agent.default,
        settings.store.url,
        _prices(settings.prices),
        Listening(settings.telemetry.host, settings.telemetry.port, settings.telemetry.token_env),
        settings.judge,
    )


def judge_table(path: Path) -> JudgeTable:
    """The judge that a file describes: `[judge]` of a `liftbay.toml`, or a file with its keys alone.

    Raises `InputError` where the file is not right.
    """
    file = DataFile(path)
    if path.name == FILE_NAME:
        settings: _Settings = read_toml(file, _Settings)
        return settings.judge or JudgeTable()
    table: JudgeTable = read_toml(file, JudgeTable)
    return table


def _prices(table: _PricesTable | None) -> Prices | None:
    if table is None:
        return None
    by_model = {
        name: ModelPrices(prices.input_per_million, prices.output_per_million) for name, prices in table.models.items()
    }
    return Prices(table.input_per_million, table.output_per_million, table.currency, by_model)
