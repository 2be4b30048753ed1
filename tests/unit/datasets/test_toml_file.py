"""TOML files read into Structs: what is right, and what each mistake is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.toml_file import read_toml
from liftbay.errors import InputError


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """One price."""

    amount: float
    currency: str = "JPY"


class Cat(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="cat"):
    """One kind."""

    name: str
    prices: dict[str, Price] = {}
    free: dict[str, Any] = {}


class Dog(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="dog"):
    """The other kind."""

    name: str
    tricks: list[Price] = []
    owner: str | Price | None = None


Pet = Cat | Dog


def read(folder: Path, text: str | bytes, kind: Any = Pet) -> Any:
    """What a file with this text is read as."""
    path = folder / "pet.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_toml(DataFile(path), kind)


def mistake(folder: Path, text: str | bytes, kind: Any = Pet) -> tuple[str, str, str]:
    """Where in the file, what and which remedy."""
    with pytest.raises(InputError) as caught:
        read(folder, text, kind)
    error = caught.value
    place = str(error.place).removeprefix(str(folder / "pet.toml"))
    return place, error.cause.format(**error.values), (error.remedy or "").format(**error.values)


def test_the_tag_chooses_the_kind(tmp_path: Path) -> None:
    assert read(tmp_path, 'kind = "cat"\nname = "タマ"') == Cat(name="タマ")
    assert read(tmp_path, 'kind = "dog"\nname = "b"\n[[tricks]]\namount = 1') == Dog(name="b", tricks=[Price(amount=1)])
    assert read(tmp_path, 'kind = "dog"\nname = "b"\nowner = "x"') == Dog(name="b", owner="x")
    assert read(tmp_path, "amount = 1.5", Price) == Price(amount=1.5)


def test_keys_that_the_user_chooses_may_be_any(tmp_path: Path) -> None:
    text = 'kind = "cat"\nname = "x"\n[prices."gpt-4.1"]\namount = 2\n[free.a]\nb = [{c = 1}]\n'
    assert read(tmp_path, text) == Cat(name="x", prices={"gpt-4.1": Price(amount=2)}, free={"a": {"b": [{"c": 1}]}})
    assert mistake(tmp_path, text.replace("amount", "amuont")) == (
        ": prices.gpt-4.1.amuont",
        "unknown key",
        "did you mean prices.gpt-4.1.amount?",
    )
    assert mistake(tmp_path, 'kind = "cat"\nname = "x"\n[prices]\na = 1')[1] == "expected object, found int"


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfamount = 1", Price) == Price(amount=1)


@pytest.mark.parametrize(
    ("text", "place", "cause", "remedy"),
    [
        ('name = "x"', ": kind", "the field is missing", "give one of: cat, dog"),
        ("", ": kind", "the field is missing", "give one of: cat, dog"),
        ('kind = "cow"', ": kind", "there is no cow", "give one of: cat, dog"),
        ("kind = {}", ": kind", "there is no {}", "give one of: cat, dog"),
        ("kind = 1", ": kind", "there is no 1", "give one of: cat, dog"),
        ('kind = "cat"', ": name", "the field is missing", ""),
        ('kind = "cat"\nnaame = "x"', ": naame", "unknown key", "did you mean name?"),
        ('kind = "cat"\nzzz = 1', ": zzz", "unknown key", "known are: name, prices, free"),
        ('kind = "cat"\ntricks = []', ": tricks", "unknown key", "known are: name, prices, free"),
        ('kind = "dog"\nname = "x"\n[[tricks]]\namout = 1', ": tricks[0].amout", "unknown key", "did you mean"),
        ('kind = "dog"\nname = "x"\n[owner]\ncurency = ""', ": owner.curency", "unknown key", "did you mean"),
        ('kind = "cat"\nname = 1', ": name", "expected str, found int", ""),
        ('kind = "cat"\nname = \n', ":2", "invalid TOML", ""),
        ("kind", "", "invalid TOML", ""),
    ],
)
def test_each_mistake_has_its_place(tmp_path: Path, text: str, place: str, cause: str, remedy: str) -> None:
    found = mistake(tmp_path, text)
    assert found[0].startswith(place)
    assert found[1].startswith(cause)
    assert found[2].startswith(remedy)
    assert bool(found[2]) == bool(remedy)


def test_another_encoding(tmp_path: Path) -> None:
    assert "CP932" in mistake(tmp_path, 'name = "東京"'.encode("cp932"))[1]


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    for path, cause in ((tmp_path / "no.toml", "there is no such file"), (tmp_path, "this is a folder, not a file")):
        with pytest.raises(InputError, match=cause) as caught:
            read_toml(DataFile(path), Pet)
        assert (caught.value.place, caught.value.remedy) == (str(path), "check the path")
