"""The sections of the Skills about traces, error codes and listings. Each gives them in the order of its headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liftbay_demo.domain import Outcome, Step
from liftbay_demo.generation.results import Data, data_of, listed, number
from liftbay_demo.generation.style import Style, said

_RESULTS = {"SUCCESS": "成功", "FAILURE": "失敗", "PARTIAL": "一部失敗"}
_VERDICTS = {"PASS": "出品可", "PASS_WITH_WARNING": "注意付きで出品可", "FAIL": "出品不可"}
_SEVERITIES = {"ERROR": "違反", "WARNING": "警告"}
_TARGETS = {"title": "タイトル", "categoryId": "カテゴリ", "price": "価格", "currency": "通貨"}


def trace(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 処理の流れ / 原因 / 次の対応."""
    data = next((found for outcome in outcomes if (found := data_of(outcome)) is not None), {})
    spans = listed(data, "spans")
    result = str(data.get("result"))
    errors = [span for span in spans if span.get("status") == "ERROR"]
    warnings = [span for span in spans if span.get("status") == "WARN"]
    root = next(reversed(errors or warnings), None)
    slowest = max(spans[1:] or spans, key=lambda span: number(span, "durationMs"), default=None)
    begin = (
        f"トレース {said(data.get('traceId'))} の {said(data.get('entryService'))} "
        f"{said(data.get('entryOperation'))} は "
        f"{result}({_RESULTS.get(result, result)})で、所要時間は {said(data.get('totalDurationMs'))} ミリ秒です。"
    )
    if root is not None:
        begin += f"原因は {_span(root)} です。"
    elif slowest is not None:
        begin += (
            f"エラーはなく、下流で最も時間がかかったのは {_span(slowest)}({said(slowest.get('durationMs'))} "
            "ミリ秒)です。"
        )
    rows = [[span.get(key) for key in ("service", "operation", "status", "durationMs", "errorCode")] for span in spans]
    table = (
        style.table(["サービス", "処理", "状態", "所要時間(ms)", "エラーコード"], rows)
        if rows
        else "スパンはありません。"
    )
    return [begin, table, _causes(errors, warnings, slowest), _next(result, root)]


def _causes(errors: list[Data], warnings: list[Data], slowest: Data | None) -> str:
    if not errors and not warnings:
        if slowest is None:
            return "エラーも警告もありません。"
        return (
            f"エラーはありません。最も時間がかかったのは {_span(slowest)} の "
            f"{said(slowest.get('durationMs'))} ミリ秒です。"
        )
    lines = []
    for span in reversed(errors + warnings):
        message = f"、メッセージ「{span['message']}」" if span.get("message") else ""
        lines.append(
            f"- {_span(span)}: {said(span.get('status'))}、エラーコード {said(span.get('errorCode'))}{message}"
        )
    if len(errors) > 1:
        lines.append("上流のエラーは、最も下流のエラーから伝わったものとみられます。")
    return "\n".join(lines)


def _next(result: str, root: Data | None) -> str:
    if result == "SUCCESS":
        return "対応不要です。"
    code = str((root or {}).get("errorCode") or "")
    if code.startswith("S_"):
        return (
            f"一時的な障害の可能性があります。再試行し、続くときは {said((root or {}).get('service'))} "
            f"の担当チームに {code} を添えて確認してください。"
        )
    if code.startswith("F_"):
        return f"同じ内容での再試行では直りません。{code} の意味を確認し、リクエストの内容を見直してください。"
    if code:
        return f"{code} の意味を確認し、結果への影響を確かめてください。"
    return "入口のサービスの担当チームに、トレースIDを添えて確認してください。"


def _span(span: Data) -> str:
    return f"{said(span.get('service'))} の {said(span.get('operation'))}"


def error_code(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 原因 / 対処 / 担当."""
    data = next((found for outcome in outcomes if (found := data_of(outcome)) is not None), {})
    return [
        f"{said(data.get('code'))} は「{said(data.get('meaning'))}」を表します。",
        said(data.get("cause")),
        said(data.get("remedy")),
        said(data.get("ownerTeam")),
    ]


def listing(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 違反一覧 / 修正案."""
    data = next((found for outcome in outcomes if (found := data_of(outcome)) is not None), {})
    violations = listed(data, "violations")
    result = str(data.get("result"))
    conclusion = (
        f"この出品案は「{_VERDICTS.get(result, result)}」です({len(violations)} 件の指摘)。" if violations else ""
    )
    conclusion = conclusion or f"この出品案は「{_VERDICTS.get(result, result)}」です。"
    conclusion += "出品ルールの確認は審査の代わりにはならず、審査の合格を約束するものではありません。"
    if not violations:
        return [conclusion, "違反なし", "修正は不要"]
    rows = [
        [
            one.get("ruleId"),
            _TARGETS.get(str(one.get("field")), one.get("field")),
            _severity(one.get("severity")),
            one.get("message"),
            one.get("actual"),
            _expected(one.get("expected")),
        ]
        for one in violations
    ]
    table = style.table(["ルールID", "対象", "重大度", "内容", "実際の値", "求められる値"], rows)
    return [conclusion, table, "\n".join(f"- {said(one.get('ruleId'))}: {_repair(one)}" for one in violations)]


def _severity(value: Any) -> str:
    return f"{value}({_SEVERITIES[value]})" if value in _SEVERITIES else said(value)


def _expected(value: Any) -> str:
    if isinstance(value, dict) and {"min", "max"} <= value.keys():
        return f"{value['min']}〜{value['max']}"
    return said(value)


def _repair(violation: Data) -> str:
    rule, actual, expected = (violation.get(name) for name in ("ruleId", "actual", "expected"))
    repairs = {
        "LR-T01": f"タイトルを {said(expected)} 文字以上にする(今は {said(actual)} 文字)。",
        "LR-T02": f"タイトルを {said(expected)} 文字以内に縮める(今は {said(actual)} 文字)。",
        "LR-T03": f"禁止語「{said(actual)}」をタイトルから外す。",
        "LR-T04": f"使えない記号や URL「{said(actual)}」をタイトルから外す。",
        "LR-T05": f"「{said(actual)}」のような記号の連続を2つ以下にする。",
        "LR-C01": "末端カテゴリの ID を指定する。",
        "LR-C02": "審査に出すときに許可番号を提出する。",
        "LR-P01": f"価格を {_expected(expected)} の範囲に収める。",
        "LR-P02": f"価格の小数を {said(expected)} 桁までにする。",
        "LR-P03": f"通貨を {said(expected)} のいずれかにする。",
    }
    return repairs.get(str(rule), f"{said(violation.get('message'))}、という決まりに合わせる。")
