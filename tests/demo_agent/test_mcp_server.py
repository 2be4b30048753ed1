"""The tools, through a real MCP client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

import liftbay_demo

PRODUCT = "1005006120457665"


def answers(server: str, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    async def made() -> list[dict[str, Any]]:
        source = str(Path(liftbay_demo.__file__).parent.parent)
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "liftbay_demo.mcp_server", server],
            env={"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])},
        )
        async with Client(parameters, cache=None) as client:
            return [(await client.call_tool(name, arguments)).structured_content for name, arguments in calls]

    return asyncio.run(made())


def test_each_server_answers_in_the_two_forms() -> None:
    stock, short, country, extra, missing, sku, tags, log, days = answers(
        "product",
        ("query_stock", {"productId": PRODUCT, "country": "KR"}),
        ("query_stock", {"productId": "1005"}),
        ("query_stock", {"productId": PRODUCT, "country": "CA"}),
        ("query_stock", {"productId": PRODUCT, "colour": "red"}),
        ("query_stock", {}),
        ("query_stock", {"productId": PRODUCT, "skuId": "129999999999"}),
        ("query_tags", {"productId": "1005006753188601"}),
        ("query_change_log", {"productId": "1005006194892560"}),
        ("query_change_log", {"productId": PRODUCT, "days": 365}),
    )
    assert stock["data"]["countries"][0]["totalAvailable"] == 0
    assert short["error"]["code"] == "INVALID_FORMAT"
    assert country["error"] == {
        "code": "UNSUPPORTED_COUNTRY",
        "field": "country",
        "value": "CA",
        "message": "販売国ではありません。",
    }
    assert extra["error"]["message"] == "colour は使えない引数です。"
    assert missing["error"] == {
        "code": "INVALID_FORMAT",
        "field": "productId",
        "value": None,
        "message": "productId は必須です。",
    }
    assert sku["error"]["field"] == "skuId"
    assert [tag["active"] for tag in tags["data"]["tags"]] == [True]
    assert [event["eventId"] for event in log["data"]["events"]] == ["CL00018"]
    assert days["error"]["field"] == "days"


def test_the_rules_for_listings_are_looked_at_in_their_order() -> None:
    listing = {"categoryId": "100103", "price": 200, "currency": "USD"}
    bad, good, unknown, euro_cents, yen = answers(
        "operations",
        ("check_listing", {"title": "世界一軽いモバイルバッテリー 薄型"} | listing),
        ("check_listing", {"title": "薄型軽量モバイルバッテリー 急速充電"} | listing | {"price": 30}),
        ("check_listing", {"title": "薄型軽量モバイルバッテリー"} | listing | {"categoryId": "999999"}),
        ("check_listing", {"title": "薄型★!!!"} | listing | {"price": 19.999, "currency": "EUR"}),
        ("check_listing", {"title": "薄型軽量モバイルバッテリー"} | listing | {"currency": "GBP"}),
    )
    assert [one["ruleId"] for one in bad["data"]["violations"]] == ["LR-T03", "LR-P01"]
    assert good["data"] == {"result": "PASS", "ruleVersion": "2026-04-01", "violations": []}
    assert unknown["error"]["code"] == "NOT_FOUND"
    assert [one["ruleId"] for one in euro_cents["data"]["violations"]] == ["LR-T01", "LR-T04", "LR-T05", "LR-P02"]
    assert [one["ruleId"] for one in yen["data"]["violations"]] == ["LR-P03"]
