"""What a request leaves out, from what was said before."""

from __future__ import annotations

import re
from collections.abc import Mapping

from liftbay_demo.domain import Asked, Dialogue, Kind, Request, Value, Values
from liftbay_demo.perception.cues import LISTING, SELLABLE, STOCK

_FIRST = re.compile(r"(?:最初|一番(?:目|初め)|1つ目|一つ目|初め|はじめ)の?(?:方|ほう|に(?:聞|見|調))?")
_BEFORE = re.compile(r"(?:一つ|1つ|ひとつ|その)前の|前の(?:商品|もの|方)|もう(?:一|1)(?:つ|方)の?|もう片方")
_BOTH = re.compile(r"両方|両者|どちらも|それぞれの?商品|[2二]つとも|どっちも")
_OTHER = re.compile(r"(?:別|他|ほか|新しい|違う)の(?:商品|トレース|コード|もの|やつ|件)")
_REFERS = re.compile(
    r"(?:この|その|あの|例の|さっき|先ほど|同じ|前の|当該|上の|今の)の?|それ|これ|こっち|そっち|上記"
    r"|その時|同(?:商品|SKU)"
)
_SAME_COUNTRY = re.compile(r"(?:その|同じ|この|さっきの)国")
_SAME_SKU = re.compile(r"(?:その|同じ|この|さっきの)SKU", re.IGNORECASE)
_YES = re.compile(r"^\s*(?:はい|うん|ええ|お願い|それで|OK|いい|そうです|合って|正しい)", re.IGNORECASE)
_LISTING_VALUES = ("title", "categoryId", "price", "currency")


def completed(request: Request, dialogue: Dialogue) -> Values:
    """The values that the request names, and those that it takes over from the conversation."""
    own = dict(request.mentions.values)
    wrong = {one.parameter for one in request.mentions.malformed}
    known = _of_the_turn_before(request, dialogue) if request.follows else {}
    if request.intent == LISTING:
        known = {name: found for name, found in _last(request, dialogue).items() if name in _LISTING_VALUES} | known
    if "productId" in own and own["productId"] != known.get("productId"):
        known.pop("skuId", None)
    values = {name: found for name, found in known.items() if name not in wrong} | own
    if request.mentions.all_countries and "country" not in own:
        values.pop("country", None)
    for name in ("productId", "traceId", "code", "country", "skuId"):
        if name not in values and name not in wrong and (found := _remembered(name, request, dialogue)):
            values[name] = found
    return values


def _of_the_turn_before(request: Request, dialogue: Dialogue) -> Values:
    known = dict(_last(request, dialogue))
    offered = dialogue.turns[-1].offered if dialogue.turns else {}
    if offered and _YES.match(request.text):
        known |= offered
    return known


def _last(request: Request, dialogue: Dialogue) -> Values:
    earlier: list[Asked] = [one for turn in reversed(dialogue.turns) for one in turn.asked]
    return next((one.values for one in earlier if one.intent == request.intent), {})


def _remembered(name: str, request: Request, dialogue: Dialogue) -> tuple[Value, ...]:
    """The value that the request leaves out, where it refers to one or can mean no other."""
    text, last = request.text, dialogue.profile.last
    if request.kind is not Kind.SKILL or _OTHER.search(text):
        return ()
    if name == "productId" and _BOTH.search(text) and len(dialogue.profile.products) > 1:
        return dialogue.profile.products[-2:]
    if name == "productId":
        found = _product(text, dialogue)
    elif name == "country":
        found = _country(request, dialogue)
    else:
        found = _by_name(name, request, last)
    return () if found is None else (found,)


def _by_name(name: str, request: Request, last: Mapping[str, Value]) -> Value | None:
    pattern = _SAME_SKU if name == "skuId" else _REFERS
    refers = pattern.search(request.text) is not None or (request.follows and name != "skuId")
    return last.get(name) if refers else None


def _country(request: Request, dialogue: Dialogue) -> Value | None:
    if request.mentions.all_countries:
        return None
    if request.intent == SELLABLE or _SAME_COUNTRY.search(request.text):
        return dialogue.profile.last.get("country")
    return _country_of_the_turn_before(dialogue) if request.intent == STOCK and _elliptical(request) else None


def _product(text: str, dialogue: Dialogue) -> Value | None:
    products = dialogue.profile.products
    if products and _FIRST.search(text):
        return products[0]
    if len(products) > 1 and _BEFORE.search(text):
        return products[-2]
    return dialogue.profile.last.get("productId")


def _elliptical(request: Request) -> bool:
    return "productId" not in request.mentions.values and len(request.text) <= 16


def _country_of_the_turn_before(dialogue: Dialogue) -> Value | None:
    asked = dialogue.turns[-1].asked if dialogue.turns else ()
    found = {country for one in asked for country in one.values.get("country", ())}
    return found.pop() if len(found) == 1 else None
