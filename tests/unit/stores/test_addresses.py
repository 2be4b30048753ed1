"""How the address of a store is shown, and the error of a missing extra."""

from __future__ import annotations

import asyncio
import sys

import pytest

from liftbay.errors import MissingExtra
from liftbay.stores.addresses import without_secrets
from liftbay.stores.memory import MemoryStore
from liftbay.stores.open import open_store


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://user:sesame@db.example:5433/runs", "postgresql://db.example:5433/runs"),
        ("postgresql://db.example/runs?user=u&password=sesame", "postgresql://db.example/runs"),
        ("postgresql://user:sesame@/runs?host=/run/postgresql", "postgresql:///runs"),
        ("postgresql://user:ses@me@db.example/runs", "postgresql://db.example/runs"),
        ("postgresql://user:sesame/x@db.example/runs", "postgresql://…"),
        ("postgresql://user:sesame?x@db.example/runs", "postgresql://…"),
        ("postgresql://user:sesame#x@db.example/runs", "postgresql://…"),
        ("postgresql://db.example/runs?password=sesame@x", "postgresql://…"),
        ("sesame", "…"),
        ("sqlite:///runs.db", "sqlite:///runs.db"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


def test_a_store_in_memory_has_an_address() -> None:
    assert isinstance(asyncio.run(open_store("sqlite:///:memory:")), MemoryStore)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    monkeypatch.delitem(sys.modules, "liftbay.stores.postgres", raising=False)
    with pytest.raises(MissingExtra) as caught:
        import liftbay.stores.postgres  # noqa: F401, PLC0415
    assert caught.value.exit_code == 2
    assert caught.value.remedy is not None
    assert 'pip install "liftbay[postgres]"' in caught.value.remedy.format(**caught.value.values)
