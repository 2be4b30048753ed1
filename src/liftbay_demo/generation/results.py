"""What a tool's result says, whatever its exact form."""

from __future__ import annotations

from typing import Any

from liftbay_demo.domain import Outcome
from liftbay_demo.perception.places_and_money import SALES_COUNTRIES

Data = dict[str, Any]


def data_of(outcome: Outcome) -> Data | None:
    """What was found; None where nothing was."""
    result = outcome.result
    if outcome.error is not None or not isinstance(result, dict) or result.get("success") is False:
        return None
    data = result.get("data", result)
    return data if isinstance(data, dict) else {"result": data}


def listed(data: Data, name: str) -> list[Data]:
    """The records of a list."""
    value = data.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def number(data: Data, name: str) -> int | float:
    """A number; 0 where there is none."""
    value = data.get(name)
    return value if isinstance(value, int | float) else 0


def why_not(outcome: Outcome) -> str:
    """Why there is no data, in words for the user."""
    if outcome.error is not None:
        return (
            f"{outcome.call.name} の呼び出しに失敗したため、確認できませんでした({outcome.error})。"
            "少し待ってから、もう一度お試しください。"
        )
    error = outcome.result.get("error") if isinstance(outcome.result, dict) else None
    if not isinstance(error, dict):
        return f"{outcome.call.name} の結果を読み取れませんでした。"
    code, field, value = (error.get(name) for name in ("code", "field", "value"))
    if code == "UNSUPPORTED_COUNTRY":
        return f"{value} は販売国ではありません。販売国は {'・'.join(SALES_COUNTRIES)} の8か国です。"
    if code == "NOT_FOUND" and field in _NOT_FOUND:
        return _NOT_FOUND[str(field)].format(value=value)
    return str(error.get("message") or "確認できませんでした。")


_NOT_FOUND = {
    "productId": "商品ID {value} の商品は見つかりません。商品IDをご確認ください。",
    "skuId": "SKU {value} は、この商品に属する SKU ではありません。SKU ID をご確認ください。",
    "traceId": (
        "トレース {value} は見つかりません。トレースの保存期間は14日で、過ぎたものは照会できません。"
        "トレースIDと日時をご確認ください。"
    ),
    "code": (
        "エラーコード {value} は登録されていません。コードをご確認ください。"
        "個別のリクエストの原因を調べるときは、トレースIDをお知らせください。"
    ),
    "categoryId": "カテゴリ {value} は見つかりません。カテゴリIDをご確認ください。",
}
