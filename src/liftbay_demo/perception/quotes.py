"""Text in quotation marks: in a request about a listing it is the title, and no part of the request's own words."""

from __future__ import annotations

import re
from typing import NamedTuple

from liftbay_demo.words import normalised

_QUOTES = re.compile(r"「([^「」]+)」|『([^『』]+)』|\"([^\"\n]+)\"|“([^“”]+)”|'([^'\n]{6,})'|【タイトル】\s*(.+)")
_LABELLED = re.compile(
    r"(?:タイトル(?:案)?|商品名|title)\s*(?:は|を"
    r"|が)?\s*[::=]?\s*(?P<it>[^\s「『\"“はをがの、。でに::=][^\n。、,「『]*?)"
    r"\s*(?=[、,。\n]|\s*で(?:、|出|す|カ|価|ルール|チェ|OK|いけ|大丈夫|問題|通|載)|$|カテゴリ|価格|値段|category)",
    re.IGNORECASE,
)
_ID = re.compile(r"1005\d{12}|[0-9a-fA-F]{30}|[FSWfsw]_[A-Za-z]{2}_")
_FIELDS = re.compile(r"[/、,\n→←|]|(?<=[。!?])")
_OTHER_FIELD = re.compile(
    r"(?<!\d)\d{6}(?!\d)|カテゴリ|円|ドル|ユーロ|ウォン|ポンド|USD|JPY|KRW|EUR|^\s*[\d,.]+\s*$"
    r"|出せ|出品|載せ|通る|いけ|でき|チェック|確認|お願い|おねがい|ください|[?]|(?:です|ます|けど)"
)
_SHORTEST_TITLE = 6
_HOLDER = "\ue000"  # stands for a title; of no text that anybody types


class Quoted(NamedTuple):
    """A message whose title, if it has one, is taken out of its text."""

    text: str
    title: str | None

    def restored(self, piece: str) -> str:
        """A piece of the text with the title in its place again."""
        return piece.replace(_HOLDER, f"「{self.title}」") if self.title else piece

    def plain(self, piece: str) -> str:
        """A piece of the text without the title, whose numbers and places are not those of the request."""
        return piece.replace(_HOLDER, " ")

    def title_in(self, piece: str) -> str | None:
        """The title, where it stands in this piece."""
        return self.title if _HOLDER in piece else None


def quoted(message: str, text: str, *, listing: bool) -> Quoted:
    """The text of the message, normalised; the title as it was typed, where the message is about a listing."""
    if not listing:
        return Quoted(text, None)
    match = next((one for one in _QUOTES.finditer(message) if not _ID.search(one[0])), None)
    group = None if match is None else match.lastindex
    if match is None:
        match = _LABELLED.search(message)
        group = 1
    if match is None and (bare := _as_a_field(message)) is not None:
        at, title = bare
        return Quoted(normalised(message[:at]) + _HOLDER + normalised(message[at + len(title) :]), title)
    if match is None or group is None:
        return Quoted(text, None)
    start, end = (match.start(), match.end()) if "it" not in match.re.groupindex else match.span("it")
    before, after = message[:start], message[end:]
    return Quoted(normalised(before) + _HOLDER + normalised(after), match[group].strip())


def _as_a_field(message: str) -> tuple[int, str] | None:
    """The title, where it stands unmarked among the category, the price and the request."""
    at = 0
    found: list[tuple[int, str]] = []
    separators = [*_FIELDS.finditer(message), None]
    for separator in separators:
        end = len(message) if separator is None else separator.start()
        field = message[at:end]
        if len(field.strip()) >= _SHORTEST_TITLE and not _OTHER_FIELD.search(normalised(field)):
            found.append((at + field.index(field.strip()), field.strip()))
        at = end if separator is None else separator.end()
    return found[0] if len(found) == 1 and len(separators) > 2 else None
