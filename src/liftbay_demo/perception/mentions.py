"""What a piece of text names: ids, countries, prices, spans of time, fields."""

from __future__ import annotations

import re
from collections.abc import Iterable

from liftbay_demo.domain import Malformed, Mentions, Value, Values
from liftbay_demo.perception import places_and_money
from liftbay_demo.perception.ids import ids

_DENIED = re.compile(
    r"\s*(?:の(?:方|ほう|こと|件|在庫|分))?\s*(?:じゃな[くい]|ではな[くい]|でな[くい]|でなしに|は違|は間違)"
)
_FIELDS = {
    "price": "価格|値段|ねだん|いくら|値上げ|値下げ|プライス",
    "status": "状態|ステータス|status|販売中|公開|審査|下書き|取り?下げ|まだ出て",
    "category": "カテゴリ",
    "seller": "販売者|セラー|出品者|売り手|seller",
    "title": "タイトル|商品名|名前|名称",
    "skus": r"SKU|(?:何|どんな)色|カラー|サイズ|バリエーション|色違い",
    "updatedAt": "最終更新|更新日|いつ更新",
    "tags": "タグ",
    "unknown": "原価|仕入れ?値|販売数|売上|売り上げ|レビュー|評価|重さ|重量|メーカー|ブランド|閲覧数|利益",
}
_FIELD_PATTERNS = {name: re.compile(words, re.IGNORECASE) for name, words in _FIELDS.items()}


def mentions_in(text: str, title: str | None = None) -> Mentions:
    """All that the text names and does not take back; `title` is that of a listing draft beside it."""
    values: dict[str, list[Value]] = {}
    malformed: list[Malformed] = []
    rest = text
    for found in ids(text):
        rest = rest[: found.start] + " " * (found.end - found.start) + rest[found.end :]
        if _DENIED.match(text, found.end):
            continue
        if found.malformed is not None:
            malformed.append(found.malformed)
        else:
            _add(values, found.parameter, found.value)
    for price in places_and_money.prices(rest):
        if price.amount is not None:
            _add(values, "price", price.amount)
        if price.currency is not None:
            _add(values, "currency", price.currency)
        rest = rest[: price.start] + " " * (price.end - price.start) + rest[price.end :]
    for parameter, found_all in (
        ("country", places_and_money.countries(rest)),
        ("days", places_and_money.days(rest)),
    ):
        for one in found_all:
            if not _DENIED.match(rest, one.end):
                _add(values, parameter, one.value)
    if title:
        values["title"] = [title]
    return Mentions(
        values={name: tuple(found_values) for name, found_values in values.items()},
        malformed=tuple(malformed),
        all_countries=places_and_money.ALL_COUNTRIES.search(text) is not None,
        fields=tuple(name for name, pattern in _FIELD_PATTERNS.items() if pattern.search(text)),
    )


def together(several: Iterable[Mentions]) -> Mentions:
    """All that several texts name."""
    values: Values = {}
    malformed: tuple[Malformed, ...] = ()
    fields: tuple[str, ...] = ()
    everywhere = False
    for one in several:
        for name, found in one.values.items():
            values[name] = tuple(dict.fromkeys(values.get(name, ()) + found))
        malformed += one.malformed
        fields = tuple(dict.fromkeys(fields + one.fields))
        everywhere = everywhere or one.all_countries
    return Mentions(values, malformed, everywhere, fields)


def _add(values: dict[str, list[Value]], parameter: str, value: Value) -> None:
    known = values.setdefault(parameter, [])
    if value not in known:
        known.append(value)
