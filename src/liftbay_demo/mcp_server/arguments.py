"""Checks the form of a call's arguments: in their order, the first that is wrong is reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from liftbay_demo.mcp_server.answers import Refusal


def check(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise `Refusal` for the first argument that does not fit the parameters of the tool's definition."""
    required = parameters["required"]
    for name in parameters["properties"]:
        if name not in arguments:
            if name in required:
                raise Refusal("INVALID_FORMAT", name, None, f"{name} は必須です。")
            continue
        fits, message = _FORMS[name]
        if not fits(arguments[name]):
            raise Refusal("INVALID_FORMAT", name, arguments[name], message)
    for name, value in arguments.items():
        if name not in parameters["properties"]:
            raise Refusal("INVALID_FORMAT", name, value, f"{name} は使えない引数です。")


def _text(pattern: str) -> Callable[[Any], bool]:
    form = re.compile(pattern)
    return lambda value: isinstance(value, str) and form.fullmatch(value) is not None


def _days(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 180


def _price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "productId": (_text("1005[0-9]{12}"), "productId は 1005 で始まる16桁の数字で指定してください。"),
    "country": (_text("[A-Z]{2}"), "country は英大文字2文字の国コードで指定してください。"),
    "skuId": (_text("12[0-9]{10}"), "skuId は 12 で始まる12桁の数字で指定してください。"),
    "days": (_days, "days は 1 から 180 の整数で指定してください。"),
    "traceId": (_text("[0-9a-f]{30}"), "traceId は英小文字の16進数30桁で指定してください。"),
    "code": (_text("[FSW]_[A-Z]{2}_[A-Z]+_[A-Z]+_[0-9]{3}"), "code は F_PC_SERVICE_QUERY_020 の形で指定してください。"),
    "title": (_text("(?s).+"), "title は1文字以上で指定してください。"),
    "categoryId": (_text("[0-9]{6}"), "categoryId は6桁の数字で指定してください。"),
    "price": (_price, "price は 0 より大きい数で指定してください。"),
    "currency": (_text("[A-Z]{3}"), "currency は英大文字3文字で指定してください。"),
}
