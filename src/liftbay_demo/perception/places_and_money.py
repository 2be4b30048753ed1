"""Countries, prices and spans of time, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

SALES_COUNTRIES = {
    "JP": "日本",
    "KR": "韓国",
    "US": "アメリカ",
    "FR": "フランス",
    "DE": "ドイツ",
    "ES": "スペイン",
    "BR": "ブラジル",
    "AU": "オーストラリア",
}
CURRENCIES = ("USD", "JPY", "KRW", "EUR")

_COUNTRY_WORDS = {
    "JP": "日本|JPN|JP|japan",
    "KR": "韓国|大韓民国|KOR|KR|korea",
    "US": "アメリカ|米国|合衆国|USA|US|america",
    "FR": "フランス|仏国|FRA|FR|france",
    "DE": "ドイツ|独国|DEU|DE|germany",
    "ES": "スペイン|ESP|ES|spain",
    "BR": "ブラジル|BRA|BR|brazil",
    "AU": "オーストラリア|豪州|AUS|AU|australia",
    "CA": "カナダ|CAN|CA|canada",
    "CN": "中国|CHN|CN|china",
    "TW": "台湾|TWN|TW|taiwan",
    "HK": "香港|HKG|HK|hong ?kong",
    "GB": "イギリス|英国|GBR|GB|UK",
    "IT": "イタリア|ITA|IT|italy",
    "TH": "タイ国?|THA|TH|thailand",
    "IN": "インド|IND|IN|india",
    "MX": "メキシコ|MEX|MX|mexico",
    "SG": "シンガポール|SGP|SG|singapore",
    "VN": "ベトナム|VNM|VN|vietnam",
    "ID": "インドネシア|IDN|indonesia",  # the code itself is the word "ID"
    "MY": "マレーシア|MYS|malaysia",
    "PH": "フィリピン|PHL|PH|philippines",
    "RU": "ロシア|RUS|RU|russia",
    "NL": "オランダ|NLD|NL|netherlands",
    "PT": "ポルトガル|PRT|PT|portugal",
    "NZ": "ニュージーランド|NZL|NZ|new ?zealand",
}
_NOT_A_COUNTRY = r"(?!語|時間|円|人|ウォン|キャンペーン)"


def _whole(word: str) -> str:
    if word[0].isascii():
        return rf"(?<![A-Za-z0-9_]){word}(?![A-Za-z0-9_])"
    return rf"(?<![ァ-ヶー]){word}(?![ァ-ヶー]){_NOT_A_COUNTRY}"  # スタイル holds タイ


_COUNTRIES = re.compile(
    "|".join(f"(?P<{code}>{'|'.join(map(_whole, words.split('|')))})" for code, words in _COUNTRY_WORDS.items()),
    re.IGNORECASE,
)
_TIMES_TWO = {"日韓": ("JP", "KR"), "日米": ("JP", "US"), "米韓": ("US", "KR"), "独仏": ("DE", "FR")}
_ENGLISH = re.compile(r"[a-z]+ [a-z]+ [a-z]+")
ALL_COUNTRIES = re.compile(r"全ての?国|すべての国|全部の国|全世界|全[販売]*国|各国|国別|国ごと|どの国|全体")


class Found(NamedTuple):
    """A value, and where it stands."""

    value: str | int | float
    start: int
    end: int


def countries(text: str) -> Iterator[Found]:
    """The countries that are named, as their codes."""
    for pair, codes in _TIMES_TWO.items():
        for match in re.finditer(pair, text):
            yield from (Found(code, match.start(), match.end()) for code in codes)
    for match in _COUNTRIES.finditer(text):
        english = match[0].islower() and len(match[0]) == 2 and _ENGLISH.search(text)  # "in" is no India
        if match.lastgroup is not None and not english:
            yield Found(match.lastgroup, match.start(), match.end())


_UNITS = {
    "USD": r"米ドル|アメリカドル|ドル|USD|\$",
    "JPY": r"日本円|円|JPY|¥",
    "KRW": r"韓国ウォン|ウォン|KRW|₩",
    "EUR": r"ユーロ|EUR|€",
    "GBP": r"ポンド|GBP|£",
    "CNY": r"人民元|CNY|RMB",
}
_UNIT = "|".join(f"(?P<{code}{{n}}>{words})" for code, words in _UNITS.items())
_PLAIN = r"\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,6})?|\d{1,15}(?:\.\d{1,6})?"
_NUMBER = rf"(?:{_PLAIN})(?:万(?:\d+千?)?|千)?"
_PRICES = re.compile(
    rf"(?:{_UNIT.format(n=1)})\s*(?P<before>-?{_NUMBER})|(?P<after>(?<![\d.,])-?{_NUMBER})\s*(?:{_UNIT.format(n=2)})"
    rf"|(?:価格|値段|金額|売値|price)\s*(?:は|を|が|:|=)?\s*(?P<bare>-?{_NUMBER})(?![\d_])\s*(?:{_UNIT.format(n=5)})?",
    re.IGNORECASE,
)
_CURRENCY_ALONE = re.compile(
    rf"(?:通貨|建値|currency)\s*(?:は|を|が|:|=)?\s*(?:{_UNIT.format(n=3)})"
    rf"|(?:{_UNIT.format(n=4)})(?=建て|で(?:す|お願い)?|の場合|だと|に)",
    re.IGNORECASE,
)
_ANY_CURRENCY = re.compile(r"(?:通貨|currency)\s*(?:は|を|が|:|=)?\s*(?P<code>[A-Z]{3})(?![A-Za-z])", re.IGNORECASE)


class Price(NamedTuple):
    """An amount, its currency where it is said, and where they stand."""

    amount: int | float | None
    currency: str | None
    start: int
    end: int


def prices(text: str) -> Iterator[Price]:
    """The prices that are named, and currencies that stand alone."""
    taken = 0
    for match in _PRICES.finditer(text):
        number = match["before"] or match["after"] or match["bare"]
        yield Price(_amount(number), _currency(match), match.start(), match.end())
        taken = match.end()
    for match in _CURRENCY_ALONE.finditer(text, taken):
        yield Price(None, _currency(match), match.start(), match.end())
        return
    if (other := _ANY_CURRENCY.search(text)) is not None:
        yield Price(None, other["code"].upper(), other.start(), other.end())


def _currency(match: re.Match[str]) -> str | None:
    return next((name[:3] for name, found in match.groupdict().items() if found and name[:3].isupper()), None)


def _amount(text: str) -> int | float:
    plain = re.fullmatch(rf"(?P<sign>-?)(?P<number>{_PLAIN})(?P<unit>万|千)?(?P<rest>\d+)?(?P<thousand>千)?", text)
    if plain is None:
        return 0
    amount = float(plain["number"].replace(",", ""))
    amount *= {"万": 10_000, "千": 1_000}.get(plain["unit"] or "", 1)
    amount += int(plain["rest"] or 0) * (1_000 if plain["thousand"] else 1)
    amount = round(amount, 6) * (-1 if plain["sign"] else 1)
    return int(amount) if amount.is_integer() else amount


_KANJI = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_SPANS = re.compile(
    r"(?P<half>半年)|(?:(?P<count>(?<!\d)\d{1,5}|[一二三四五六七八九十])|(?P<some>数))\s*"
    r"(?P<unit>日|週間?|[かカヵヶケ箇]月|年)(?!前に作|目|[0-9]|以内|生)(?:間|分|前|半)?"
)
_LENGTH = {"日": 1, "週": 7, "月": 30, "年": 365}
_DATE = re.compile(r"\d{4}年\d{1,2}月(?:\d{1,2}日)?|\d{1,2}月\d{1,2}日|\d{1,4}/\d{1,2}")
_DAYS_BY_WORD = {
    "昨日": 1,
    "一昨日": 2,
    "おととい": 2,
    "先週": 7,
    "今週": 7,
    "先月": 30,
    "今月": 30,
    "ここ最近一年": 365,
}


def days(text: str) -> Iterator[Found]:
    """The spans of time that are named, in days."""
    dates = [match.span() for match in _DATE.finditer(text)]
    for match in _SPANS.finditer(text):
        if any(start <= match.start() < end for start, end in dates):
            continue
        if match["half"]:
            yield Found(180, match.start(), match.end())
            continue
        if match["some"]:
            continue
        count = _KANJI.get(match["count"]) or int(match["count"])
        unit = next(length for sign, length in _LENGTH.items() if sign in match["unit"])
        yield Found(count * unit, match.start(), match.end())
    for word, length in _DAYS_BY_WORD.items():
        if (at := text.find(word)) >= 0:
            yield Found(length, at, at + len(word))
            return
