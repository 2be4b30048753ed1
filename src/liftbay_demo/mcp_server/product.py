"""The tools of the server `product`. The form of their arguments has been checked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from liftbay_demo.mcp_server.answers import Answer, Refusal, found, not_found
from liftbay_demo.mcp_server.records import Record, by_key, content, now

_DEFAULT_DAYS = 30


def query_product(arguments: dict[str, Any]) -> Answer:
    """The product as it is stored."""
    return found(_product(arguments["productId"]))


def query_stock(arguments: dict[str, Any]) -> Answer:
    """The stock by country and SKU."""
    product = _product(arguments["productId"])
    country, sku = arguments.get("country"), arguments.get("skuId")
    if country is not None and country not in {one["code"] for one in content("meta.json")["countries"]}:
        raise Refusal("UNSUPPORTED_COUNTRY", "country", country, "販売国ではありません。")
    if sku is not None and sku not in {one["skuId"] for one in product["skus"]}:
        raise not_found("skuId", sku)
    allocated: list[Record] = by_key("stock.json", "productId")[product["productId"]]["countries"]
    if country is None:
        countries = [_country(one, sku) for one in allocated]
    else:
        countries = [_country(one, sku) for one in allocated if one["country"] == country] or [
            {"country": country, "allocated": False, "totalAvailable": 0, "skus": []}
        ]
    return found({"productId": product["productId"], "countries": countries})


def query_tags(arguments: dict[str, Any]) -> Answer:
    """The tags, with whether they are in effect now."""
    product = _product(arguments["productId"])
    tags = [tag | {"active": _active(tag)} for tag in by_key("tags.json", "productId")[product["productId"]]["tags"]]
    return found({"productId": product["productId"], "asOf": content("meta.json")["asOf"], "tags": tags})


def query_change_log(arguments: dict[str, Any]) -> Answer:
    """The changes of the last days, the newest first."""
    product = _product(arguments["productId"])
    days = arguments.get("days", _DEFAULT_DAYS)
    since = now() - timedelta(days=days)
    events = [
        event
        for event in by_key("change_log.json", "productId")[product["productId"]]["events"]
        if datetime.fromisoformat(event["at"]) >= since
    ]
    events.sort(key=lambda event: (datetime.fromisoformat(event["at"]), event["eventId"]), reverse=True)
    return found({"productId": product["productId"], "days": days, "events": events})


def _product(product_id: str) -> Record:
    product = by_key("products.json", "productId").get(product_id)
    if product is None:
        raise not_found("productId", product_id)
    return product


def _country(stock: Record, sku: str | None) -> Record:
    skus = [one for one in stock["skus"] if sku is None or one["skuId"] == sku]
    return {
        "country": stock["country"],
        "allocated": True,
        "totalAvailable": sum(one["available"] for one in skus),
        "skus": skus,
    }


def _active(tag: Record) -> bool:
    until = tag["effectiveTo"]
    begun = datetime.fromisoformat(tag["effectiveFrom"]) <= now()
    return begun and (until is None or now() < datetime.fromisoformat(until))
