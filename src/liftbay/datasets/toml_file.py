"""A TOML file read into a Struct; a key that the Struct does not know is refused by name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import msgspec

from liftbay.datasets.data_file import DataFile, not_utf8
from liftbay.datasets.did_you_mean import nearest
from liftbay.datasets.json_lines import field_error
from liftbay.errors import InputError, at


def read_toml(file: DataFile, kind: Any) -> Any:
    """What the file holds, as `kind`: a Struct, or a union of Structs that a tag tells apart.

    Raises `InputError` with the line or the key where the file is not right.
    """
    content = _content(file)
    try:
        values = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise not_utf8(content, at(file)) from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+)", str(error))
        place = at(file, int(line.group(1)) if line else None)
        raise InputError("invalid TOML: {why}", place=place, why=error) from None
    _refuse_unknown_tag(file, values, kind)
    _refuse_unknown_keys(file, values, kind, "")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise field_error(file, None, error) from None


def _content(file: DataFile) -> bytes:
    try:
        with file.open() as stream:
            return stream.read()
    except InputError as error:
        if error.remedy is not None:  # it tells of datasets
            error.remedy = "check the path"
        raise


def _refuse_unknown_tag(file: DataFile, values: Mapping[str, Any], kind: Any) -> None:
    """Where a tag tells several Structs apart, it must be that of one of them."""
    by_tag = {tag: struct for struct in _structs_in(kind) for tag in _tags(struct)}
    for struct in by_tag.values():
        key = str(struct.__struct_config__.tag_field)
        if values.get(key) not in list(by_tag):  # it may be a table, which no set can be asked for
            raise InputError(
                "there is no {name}" if key in values else "the field is missing",
                place=at(file, None, key),
                remedy="give one of: {names}",
                name=values.get(key),
                names=", ".join(map(str, by_tag)),
            )


def _refuse_unknown_keys(file: DataFile, values: Mapping[str, Any], kind: Any, inside: str) -> None:
    """Look for keys that `kind` has no field for, in the tables inside too."""
    if get_origin(kind) is dict:  # its keys are names that the user chose
        for name, value in values.items():
            if isinstance(value, Mapping):
                _refuse_unknown_keys(file, value, get_args(kind)[1], f"{inside}{name}.")
        return
    struct = _struct_of(kind, values)
    if struct is None:
        return
    known = {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    for key, value in values.items():
        if key in known:
            for table, place in _tables(value, f"{inside}{key}"):
                _refuse_unknown_keys(file, table, known[key], f"{place}.")
        elif key != struct.__struct_config__.tag_field:
            raise _unknown_key(file, f"{inside}{key}", [f"{inside}{name}" for name in known])


def _struct_of(kind: Any, values: Mapping[str, Any]) -> type[msgspec.Struct] | None:
    """The Struct that a table of this type is: itself, an item of a list or the one of a union that its tag names."""
    structs = list(_structs_in(kind))
    tagged = [struct for struct in structs if values.get(struct.__struct_config__.tag_field or "") in _tags(struct)]
    candidates = tagged or structs
    return candidates[0] if len(candidates) == 1 else None


def _tags(struct: type[msgspec.Struct]) -> tuple[object, ...]:
    tag = struct.__struct_config__.tag
    return () if tag is None else (tag,)


def _structs_in(kind: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from _structs_in(part)


def _tables(value: Any, place: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    if isinstance(value, Mapping):
        yield value, place
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, Mapping):
                yield item, f"{place}[{number}]"


def _unknown_key(file: DataFile, key: str, known: list[str]) -> InputError:
    if meant := nearest(key, known):
        return InputError("unknown key", place=at(file, None, key), remedy="did you mean {meant}?", meant=meant)
    return InputError("unknown key", place=at(file, None, key), remedy="known are: {known}", known=", ".join(known))
