"""The two forms of a tool's answer."""

from __future__ import annotations

from typing import Any

Answer = dict[str, Any]


class Refusal(Exception):
    """A tool cannot answer; becomes the failed form of its answer."""

    def __init__(self, code: str, field: str, value: Any, message: str) -> None:
        super().__init__(message)
        self.answer: Answer = {
            "success": False,
            "error": {"code": code, "field": field, "value": value, "message": message},
        }


def found(data: Any) -> Answer:
    """The answer of a call that succeeded."""
    return {"success": True, "data": data}


def not_found(field: str, value: Any) -> Refusal:
    """What to raise when the form of a value is right, and there is nothing of that name."""
    return Refusal("NOT_FOUND", field, value, _NOT_FOUND[field])


_NOT_FOUND = {
    "productId": "商品が見つかりません。",
    "skuId": "この商品に属する SKU ではありません。",
    "traceId": "トレースが見つかりません。保存期間は14日です。",
    "code": "エラーコードが登録されていません。",
    "categoryId": "カテゴリが見つかりません。",
}
