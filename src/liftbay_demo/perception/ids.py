"""The ids of the product centre, and what was probably meant as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from liftbay_demo.domain import Malformed, Value


class Id(NamedTuple):
    """An id, or what should be one, and where it stands."""

    parameter: str
    value: str
    start: int
    end: int
    malformed: Malformed | None = None


FORMS: dict[str, re.Pattern[str]] = {
    "productId": re.compile(r"1005\d{12}"),
    "skuId": re.compile(r"12\d{10}"),
    "traceId": re.compile(r"[0-9a-f]{30}"),
    "code": re.compile(r"[FSW]_[A-Z]{2}_[A-Z]+_[A-Z]+_\d{3}"),
    "categoryId": re.compile(r"\d{6}"),
    "country": re.compile(r"[A-Z]{2}"),
    "currency": re.compile(r"[A-Z]{3}"),
}

_NOT_INSIDE = r"(?<![0-9A-Za-z_])"
_ENDS = r"(?![0-9A-Za-z_])"
_CODE = re.compile(rf"{_NOT_INSIDE}[A-Za-z]{{1,8}}(?:[_-][A-Za-z0-9]+){{1,5}}[_-]\d{{1,6}}{_ENDS}")
_CODE_LABEL = re.compile(
    r"(?:エラー(?:コード|番号)?|error ?code)\s*(?:は|が|:|「)?\s*(?P<it>[A-Za-z]+[-_]?\d{2,4}"
    r"|\d{3,5})(?![0-9A-Za-z_]|番台|番から|以|〜|~)",
    re.IGNORECASE,
)
_HEX = re.compile(rf"{_NOT_INSIDE}(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{{14,64}}{_ENDS}")
_TRACE_LABEL = re.compile(
    rf"(?:トレース|trace)\s*(?:ID)?\s*(?:は|が|:|「)?\s*(?P<it>(?=[0-9A-Za-z-]*\d)[0-9A-Za-z-]{{4,64}}){_ENDS}",
    re.IGNORECASE,
)
_GROUPED = re.compile(rf"{_NOT_INSIDE}\d{{4}}(?:[ -]\d{{4}}){{3}}{_ENDS}")
_DIGITS = re.compile(r"(?<![0-9A-Za-z_.,])\d{4,40}(?![0-9A-Za-z_]|[.,]\d)")
_PRODUCT_LABEL = re.compile(
    r"(?:商品|product)\s*(?:ID|番号|コード)?\s*(?:は|が|:|「"
    rf"|の)?\s*(?P<it>(?=[0-9A-Za-z-]*\d)[0-9A-Za-z-]{{3,40}}){_ENDS}",
    re.IGNORECASE,
)
_SKU_LABEL = re.compile(rf"SKU\s*(?:ID)?\s*(?:は|が|:|「|の)?\s*(?P<it>\d{{4,40}}){_ENDS}", re.IGNORECASE)
_CATEGORY_LABEL = re.compile(
    r"(?:カテゴリー?|category)\s*(?:ID|番号)?\s*(?:は|が|:|「|の"
    r"|=)?\s*(?P<it>\d{3,10})(?![0-9A-Za-z_]|つ|個|件|階|種)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s*(?:円|ドル|ウォン|ユーロ|個|件|回|人|点|枚|USD|JPY|KRW|EUR|MB|GB|文字|ミリ秒|秒|日|mAh)", re.IGNORECASE
)

Read = Callable[[re.Match[str]], Id | None]


def ids(text: str) -> Iterator[Id]:
    """The ids in the text. No part of it is read twice."""
    taken: list[tuple[int, int]] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            found = read(match)
            if found is not None and not any(start < found.end and found.start < end for start, end in taken):
                taken.append((found.start, found.end))
                yield found


def _spot(match: re.Match[str]) -> tuple[str, int, int]:
    group = "it" if "it" in match.re.groupindex else 0
    return match[group], match.start(group), match.end(group)


def _reader(parameter: str, suggest: Callable[[str], str] = str) -> Read:
    def read(match: re.Match[str]) -> Id | None:
        value, start, end = _spot(match)
        if FORMS[parameter].fullmatch(value):
            return Id(parameter, value, start, end)
        return Id(parameter, value, start, end, _malformed(parameter, value, suggest(value)))

    return read


def _malformed(parameter: str, value: str, candidate: str = "") -> Malformed:
    suggestion: Value | None = candidate if FORMS[parameter].fullmatch(candidate) else None
    return Malformed(parameter, value, suggestion)


def _code(match: re.Match[str]) -> Id | None:
    value, start, end = _spot(match)
    if FORMS["code"].fullmatch(value.upper()):
        return Id("code", value.upper(), start, end)
    parts = re.split("[_-]", value)
    shaped = parts[0].upper() in ("F", "S", "W") or (value.isupper() and len(parts[-1]) == 3)
    if not shaped or "" in parts or ("-" in value and len(parts) < 3):
        return None
    return Id("code", value, start, end, _malformed("code", value, value.upper().replace("-", "_")))


def _hex(match: re.Match[str]) -> Id | None:
    return _reader("traceId", str.lower)(match)


def _number(match: re.Match[str]) -> Id | None:
    value, start, end = _spot(match)
    for parameter in ("productId", "skuId", "traceId"):
        if FORMS[parameter].fullmatch(value):
            return Id(parameter, value, start, end)
    if len(value) == 6 and not _COUNTED.match(match.string, match.end()):
        return Id("categoryId", value, start, end)
    if len(value) in (11, 13) and value.startswith("12"):
        return Id("skuId", value, start, end, _malformed("skuId", value))
    meant = value.startswith("1005") and not _COUNTED.match(match.string, match.end())
    if meant or len(value) >= 14:
        return Id("productId", value, start, end, _malformed("productId", value))
    return None


_READERS: list[tuple[re.Pattern[str], Read]] = [
    (_CODE, _code),
    (_CODE_LABEL, _reader("code")),
    (_HEX, _hex),
    (_TRACE_LABEL, _reader("traceId", str.lower)),
    (_SKU_LABEL, _reader("skuId")),
    (_CATEGORY_LABEL, _reader("categoryId")),
    (_GROUPED, _reader("productId", lambda value: value.replace(" ", "").replace("-", ""))),
    (_DIGITS, _number),
    (_PRODUCT_LABEL, _reader("productId")),
]
