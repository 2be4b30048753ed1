"""The tool `check_listing`: a draft of a listing against the listing rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from liftbay_demo.mcp_server.answers import Answer, found, not_found
from liftbay_demo.mcp_server.records import Record, by_key, content

Finding = tuple[Any, Any]  # what it is, and what it should be


class Draft:
    """A listing that somebody thinks of, and the rules that it is held against."""

    def __init__(self, arguments: dict[str, Any], category: Record, rules: Record) -> None:
        self.title = unicodedata.normalize("NFKC", arguments["title"]).strip()
        self.category = category
        self.price: float = arguments["price"]
        self.currency: str = arguments["currency"]
        self.rules = rules

    @property
    def known_currency(self) -> bool:
        """Whether prices in this currency have rules."""
        return self.currency in self.rules["currencies"]


def check_listing(arguments: dict[str, Any]) -> Answer:
    """The violations, in the order in which the rules are looked at."""
    category = by_key("categories.json", "categoryId").get(arguments["categoryId"])
    if category is None:
        raise not_found("categoryId", arguments["categoryId"])
    rules: Record = content("listing_rules.json")
    draft = Draft(arguments, category, rules)
    described = {rule["ruleId"]: rule for rule in rules["rules"]}
    violations = [
        _violation(described[rule], finding)
        for rule in rules["evaluationOrder"]
        if (finding := _CHECKS[rule](draft)) is not None
    ]
    return found({"result": _result(violations), "ruleVersion": rules["version"], "violations": violations})


def _violation(rule: Record, finding: Finding) -> Record:
    actual, expected = finding
    return {
        "ruleId": rule["ruleId"],
        "field": rule["field"],
        "severity": rule["severity"],
        "message": rule["description"],
        "actual": actual,
        "expected": expected,
    }


def _result(violations: list[Record]) -> str:
    if any(one["severity"] == "ERROR" for one in violations):
        return "FAIL"
    return "PASS_WITH_WARNING" if violations else "PASS"


def _too_short(draft: Draft) -> Finding | None:
    least = draft.rules["title"]["minLength"]
    return (len(draft.title), least) if len(draft.title) < least else None


def _too_long(draft: Draft) -> Finding | None:
    most = draft.rules["title"]["maxLength"]
    return (len(draft.title), most) if len(draft.title) > most else None


def _banned_words(draft: Draft) -> Finding | None:
    title = draft.title.lower()
    banned = [
        word for word in draft.rules["title"]["bannedWords"] if unicodedata.normalize("NFKC", word).lower() in title
    ]
    return (banned, []) if banned else None


def _pattern(name: str) -> Callable[[Draft], Finding | None]:
    def check(draft: Draft) -> Finding | None:
        match = re.search(draft.rules["title"][name], draft.title)
        return (match[0], None) if match else None

    return check


def _not_a_leaf(draft: Draft) -> Finding | None:
    return None if draft.category["leaf"] else (draft.category["categoryId"], "leaf")


def _needs_permit(draft: Draft) -> Finding | None:
    return (draft.category["categoryId"], "permitNumber") if draft.category["permitRequired"] else None


def _unknown_currency(draft: Draft) -> Finding | None:
    return None if draft.known_currency else (draft.currency, list(draft.rules["currencies"]))


def _too_fine(draft: Draft) -> Finding | None:
    if not draft.known_currency:
        return None
    allowed: int = draft.rules["currencies"][draft.currency]["decimals"]
    exponent = Decimal(str(draft.price)).normalize().as_tuple().exponent
    return (draft.price, allowed) if isinstance(exponent, int) and -exponent > allowed else None


def _out_of_range(draft: Draft) -> Finding | None:
    if not draft.known_currency or not draft.category["leaf"]:
        return None
    ranges = {one["categoryId"]: one["ranges"] for one in draft.rules["priceRanges"]}
    limits = ranges[draft.category["categoryId"]][draft.currency]
    if limits["min"] <= draft.price <= limits["max"]:
        return None
    return draft.price, {"min": limits["min"], "max": limits["max"]}


_CHECKS: dict[str, Callable[[Draft], Finding | None]] = {
    "LR-T01": _too_short,
    "LR-T02": _too_long,
    "LR-T03": _banned_words,
    "LR-T04": _pattern("forbiddenPattern"),
    "LR-T05": _pattern("repeatPattern"),
    "LR-C01": _not_a_leaf,
    "LR-C02": _needs_permit,
    "LR-P03": _unknown_currency,
    "LR-P02": _too_fine,
    "LR-P01": _out_of_range,
}
