"""The project: found upwards, its settings, where its cases are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from liftbay.datasets.cases import check_cases, load_cases
from liftbay.datasets.project import Listening, Project, find_project
from liftbay.datasets.sources import find_sources
from liftbay.domain.prices import ModelPrices, Prices
from liftbay.errors import InputError

CASE = json.dumps({"id": "A-1", "datasetType": "AMBIGUOUS_INTENT", "userInput": "x"})


def settings(folder: Path, text: str) -> Path:
    """Write the project's file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "liftbay.toml"
    path.write_text(text, encoding="utf-8")
    return path


def touch(path: Path, text: str = CASE) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def test_the_nearest_file_upwards_makes_the_project(tmp_path: Path) -> None:
    settings(tmp_path, '[project]\nname = "outer"')
    settings(
        tmp_path / "a", '[project]\nname = "内"\n[agent]\ndefault = "python:m:f"\n[store]\nurl = "postgresql://h/d"'
    )
    (tmp_path / "a" / "b").mkdir()
    (tmp_path / "c").mkdir()
    inner = find_project(tmp_path / "a" / "b")
    assert inner == Project(tmp_path / "a", "内", "python:m:f", "postgresql://h/d")
    assert inner.store_url == "postgresql://h/d"
    assert find_project(tmp_path / "c").name == "outer"


def test_without_a_file_the_folder_is_the_project(tmp_path: Path) -> None:
    project = find_project(tmp_path)
    assert project == Project(tmp_path, tmp_path.name, None, "sqlite:///.liftbay/liftbay.db")
    assert project.store_url == f"sqlite:///{tmp_path}/.liftbay/liftbay.db"


@pytest.mark.parametrize(
    ("url", "absolute"),
    [
        ("sqlite:///runs.db", "sqlite:///{root}/runs.db"),
        ("sqlite:////data/runs.db", "sqlite:////data/runs.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite://", "sqlite://"),
        ("postgresql+psycopg://u@h/d", "postgresql+psycopg://u@h/d"),
    ],
)
def test_the_path_of_the_store_is_relative_to_the_project(tmp_path: Path, url: str, absolute: str) -> None:
    assert Project(tmp_path, "", None, url).store_url == absolute.format(root=tmp_path)


@pytest.mark.parametrize(
    ("text", "place", "message", "remedy"),
    [
        ("[projct]\n", ": projct", "unknown key", "did you mean project?"),
        ("[agent]\ndefalt = 1\n", ": agent.defalt", "unknown key", "did you mean agent.default?"),
        ("[store]\nx = 1\n", ": store.x", "unknown key", "known are: store.url"),
        ("zzz = 1\n", ": zzz", "unknown key", "known are: project, agent, store, prices, telemetry, judge"),
        ("[project]\nname = 1\n", ": project.name", "expected str, found int", None),
        ("agent = 'x'\n", ": agent", "expected object, found str", None),
        ("[project]\nname = \n", ":2", "invalid TOML", None),
        ("[project", "", "invalid TOML", None),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, place: str, message: str, remedy: str | None) -> None:
    path = settings(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        find_project(tmp_path)
    error = caught.value
    assert (error.place or "").startswith(f"{path}{place}")
    assert (error.remedy and error.remedy.format(**error.values)) == remedy


def test_settings_in_another_encoding(tmp_path: Path) -> None:
    settings(tmp_path, "").write_bytes('[project]\nname = "東京"'.encode("cp932"))
    with pytest.raises(InputError, match="looks like CP932"):
        find_project(tmp_path)


def test_the_cases_of_a_project_are_found_and_routed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(tmp_path, "")
    touch(tmp_path / "datasets" / "a.jsonl")
    touch(tmp_path / "datasets" / "deep" / "b.jsonl", CASE.replace("A-1", "A-2"))
    touch(tmp_path / "datasets" / "mocks" / "m.jsonl", '{"mockDataId": "M", "tools": {}}')
    touch(tmp_path / "datasets" / ".hidden" / "c.jsonl", "bad")
    touch(tmp_path / "datasets" / "notes.txt", "bad")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    found = load_cases()
    assert [(version.type, version.cases) for version in found.versions] == [("AMBIGUOUS_INTENT", 2)]
    assert list(found.mock_data) == ["M"]
    monkeypatch.chdir(tmp_path)
    assert load_cases().versions[0].sources == ["datasets/a.jsonl", "datasets/deep/b.jsonl"]
    assert load_cases(["."]).versions == load_cases().versions


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = touch(tmp_path / "d" / "a.jsonl")
    found = find_sources([str(path), str(tmp_path / "d")], find_project(tmp_path))
    assert [source.name for source in found.cases] == [str(path)]


@pytest.mark.parametrize(
    ("path", "message", "remedy"),
    [
        ("none", "there is no such file or folder", "liftbay init"),
        ("empty", "there is no dataset in this folder", "liftbay init"),
        ("benchmark", "this folder holds JMultiWOZ-TC", "give it as jmultiwoz:"),
    ],
)
def test_a_path_without_cases(tmp_path: Path, path: str, message: str, remedy: str) -> None:
    (tmp_path / "empty").mkdir()
    touch(tmp_path / "benchmark" / "jmultiwoz_tc_input.jsonl")
    with pytest.raises(InputError, match=message) as caught:
        check_cases([str(tmp_path / path)], find_project(tmp_path))
    assert caught.value.place == str(tmp_path / path)
    assert remedy in (caught.value.remedy or "").format(**caught.value.values)


def test_where_liftbay_listens(tmp_path: Path) -> None:
    assert find_project(tmp_path).listening == Listening("127.0.0.1", 4318, "LIFTBAY_TOKEN")
    settings(tmp_path, "[telemetry]\nhost = '0.0.0.0'\nport = 0\ntoken_env = 'MINE'\n")
    assert find_project(tmp_path).listening == Listening("0.0.0.0", 0, "MINE")
    settings(tmp_path, "[telemetry]\nport = 70000\n")
    with pytest.raises(InputError) as caught:
        find_project(tmp_path)
    assert caught.value.place == f"{tmp_path / 'liftbay.toml'}: telemetry.port"


def test_prices(tmp_path: Path) -> None:
    (tmp_path / "liftbay.toml").write_text("[prices]\ninput_per_million = 1\noutput_per_million = 2.5\n")
    assert find_project(tmp_path).prices == Prices(1.0, 2.5, "USD")
    (tmp_path / "liftbay.toml").write_text(
        "[prices]\ninput_per_million = 1\noutput_per_million = 2.5\ncurrency = 'JPY'\n"
        '[prices.models."gpt-4.1"]\ninput_per_million = 10\noutput_per_million = 20\n'
        "[prices.models.own]\ninput_per_million = 0\noutput_per_million = 0\n"
    )
    by_model = {"gpt-4.1": ModelPrices(10.0, 20.0), "own": ModelPrices(0.0, 0.0)}
    assert find_project(tmp_path).prices == Prices(1.0, 2.5, "JPY", by_model)
    good = "input_per_million = 1\noutput_per_million = 1\n"
    for wrong in (
        *("input_per_million = 1", "input_per_million = -1\noutput_per_million = 1", "inputs = 1"),
        *(f"{good}[prices.models]\nm = 1", f"{good}[prices.models.m]\ninput_per_million = 1"),
        f"{good}[prices.models.m]\n{good}currency = 'JPY'",
    ):
        (tmp_path / "liftbay.toml").write_text(f"[prices]\n{wrong}\n")
        with pytest.raises(InputError):
            find_project(tmp_path)
