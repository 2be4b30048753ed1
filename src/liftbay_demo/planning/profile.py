"""What of a message is worth keeping in mind about the user and the things talked about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from liftbay_demo.domain import Kind, Message, Outcome, Perceived, Profile, Step, Value, Values
from liftbay_demo.perception import kinds
from liftbay_demo.perception.mentions import mentions_in
from liftbay_demo.words import Words, normalised

_ROLES = {
    "法務審査担当": r"法務審査(?:担当)?|法務|コンプライアンス|compliance",
    "審査担当": r"審査(?:担当|チーム|部)?|audit",
    "運営": r"運営(?:担当|チーム|部)?|オペレーション|ops",
    "開発": r"開発(?:担当|チーム|部|者)?|エンジニア|dev",
}
_I = r"(?:私|わたし|僕|俺|自分|こちら)(?:は|、)\s*"
_ROLE_PATTERNS = {
    role: re.compile(
        rf"(?:{_I}|^|[。、\s])(?:{words})(?:(?:の\S{{1,8}})?(?:です|だ(?![ろが])|と申します|といいます"
        r"|をして)|を担当|に所属|所属)",
        re.IGNORECASE,
    )
    for role, words in _ROLES.items()
}
_NAME = re.compile(
    rf"(?:名前は|{_I}(?:[^\s。、]{{1,8}}の)?|(?:担当|チーム|部|運営|審査|法務|開発)の|^)\s*"
    r"(?P<name>[一-龠々ァ-ヶーA-Za-z]{1,10}|[ぁ-ん]{2,5})(?:です|と申します|といいます|って(?:言い"
    r"|いい)ます|だよ?(?:[。、]|$))"
)
_NO_TABLES = re.compile(
    r"表(?:は|を|なし|じゃ|抜き|形式).{0,8}(?:いらない|要らない|不要|なし|使わ|やめ|抜き|なくて)|表(?:なし|抜き)で"
)
_TABLES = re.compile(r"表(?:で|に(?:して|まとめ)|形式で|を(?:付け|つけ|使っ))(?!.{0,6}(?:な[いく]|やめ))")
_BRIEF = re.compile(r"短く|簡潔に|手短に|結論だけ|要点だけ|一言で")
_LONG = re.compile(r"詳しく|くわしく|丁寧に|全部見せ|省略(?:せず|しない)")
_FROM_NOW_ON = re.compile(r"今後|以後|以降|これから|いつも|毎回|次から|常に")
_MOST_NOTES = 10
_MOST_PRODUCTS = 12
_KEPT = ("productId", "skuId", "country", "traceId", "code", "categoryId")


def for_this_answer(profile: Profile, message: str) -> Profile:
    """The profile with the preferences that the message states, for good or once."""
    text = normalised(message[:2000])
    no_tables = profile.no_tables
    if _NO_TABLES.search(text):
        no_tables = True
    elif _TABLES.search(text):
        no_tables = False
    brief = profile.brief
    if _BRIEF.search(text):
        brief = True
    elif _LONG.search(text):
        brief = False
    return _changed(profile, no_tables=no_tables, brief=brief)


def to_remember(profile: Profile, message: str, perceived: Perceived, steps: Iterable[Step], words: Words) -> Profile:
    """The profile as it is to be remembered after the message."""
    text = normalised(message[:2000])
    steps = tuple(steps)
    stated = for_this_answer(profile, message)
    lasting = _FROM_NOW_ON.search(text) or all(one.kind is Kind.STATEMENT for one in perceived.requests)
    last, products = dict(profile.last), list(profile.products)
    for values in [one.request.mentions.values for one in steps] + [one.values for one in steps]:
        _note(values, last, products)
    notes = profile.notes
    if kinds.to_remember(text) and text.strip() not in notes:
        notes = (*notes, text.strip()[:200])[-_MOST_NOTES:]
    return Profile(
        name=_name(text, words) or profile.name,
        role=_role(text) or profile.role,
        no_tables=stated.no_tables,
        brief=stated.brief if lasting else profile.brief,
        notes=notes,
        last=last,
        products=tuple(products[-_MOST_PRODUCTS:]),
    )


def with_results(profile: Profile, outcomes: Iterable[Outcome]) -> Profile:
    """The profile with what the tools found, so that later messages can refer to it."""
    last, products = dict(profile.last), list(profile.products)
    for outcome in outcomes:
        data = outcome.result.get("data") if isinstance(outcome.result, dict) else None
        if not isinstance(data, dict):
            continue
        if outcome.call.name == "query_trace":
            spans = [span for span in data.get("spans") or [] if isinstance(span, dict)]
            codes = [span["errorCode"] for span in spans if isinstance(span.get("errorCode"), str)]
            found: Values = {"code": (codes[-1],)} if codes else {}
            if isinstance(data.get("productId"), str):
                found["productId"] = (data["productId"],)
            _note(found, last, products)
    return _changed(profile, last=last, products=tuple(products[-_MOST_PRODUCTS:]))


def with_answer(profile: Profile, answer: Message) -> Profile:
    """The profile with what an answer names, where it is known only as text."""
    last, products = dict(profile.last), list(profile.products)
    values = mentions_in(normalised(answer.content[:4000])).values
    _note({name: found for name, found in values.items() if name == "code" and name not in last}, last, products)
    return _changed(profile, last=last, products=tuple(products))


def _note(values: Values, last: dict[str, Value], products: list[str]) -> None:
    for name in _KEPT:
        if values.get(name):
            last[name] = values[name][-1]
    for product in values.get("productId", ()):
        if str(product) in products:
            products.remove(str(product))
        products.append(str(product))


def _name(text: str, words: Words) -> str | None:
    for match in _NAME.finditer(text):
        name = match["name"]
        if words.person(name):
            return name
    return None


def _role(text: str) -> str | None:
    return next((role for role, pattern in _ROLE_PATTERNS.items() if pattern.search(text)), None)


def _changed(
    profile: Profile,
    *,
    no_tables: bool | None = None,
    brief: bool | None = None,
    last: dict[str, Value] | None = None,
    products: tuple[str, ...] | None = None,
) -> Profile:
    return Profile(
        name=profile.name,
        role=profile.role,
        no_tables=profile.no_tables if no_tables is None else no_tables,
        brief=profile.brief if brief is None else brief,
        notes=profile.notes,
        last=profile.last if last is None else last,
        products=profile.products if products is None else products,
    )
