"""The sections of the Skills that are about a product. Each gives them in the order of its headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liftbay_demo.domain import Outcome, Step
from liftbay_demo.generation.results import Data, data_of, listed, number
from liftbay_demo.generation.style import Style, country, said, when

_STATES = {
    "ONLINE": "販売中",
    "OFFLINE": "取り下げ",
    "DRAFT": "下書き",
    "AUDITING": "審査中",
    "BANNED": "掲載禁止",
}
_SOURCES = {"SYSTEM": "自動", "OPERATION": "運営", "COMPLIANCE": "法令", "SELLER": "販売者"}
_OPERATORS = {
    "seller_": "販売者",
    "ops_": "運営",
    "audit_": "審査担当",
    "compliance_": "法務審査担当",
    "system_": "自動処理",
}
_CHANGED = {"status": "状態", "price": "価格", "title": "タイトル", "tags": "タグ"}


def state(value: Any) -> str:
    """A state with its Japanese name."""
    return f"{value}({_STATES[value]})" if value in _STATES else said(value)


def stock(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 在庫の内訳."""
    found = [data for outcome in outcomes if (data := data_of(outcome)) is not None]
    product = said(found[0].get("productId")) if found else ""
    countries = [one for data in found for one in listed(data, "countries")]
    if not countries:
        return [f"商品 {product} は、どの国にも在庫の割当がありません。", "在庫割当なし"]
    parts: list[str] = []
    rows: list[list[Any]] = []
    for one in countries:
        name = country(one.get("country"))
        if one.get("allocated") is False:
            parts.append(f"{name}は在庫割当なし")
            rows.append([name, "在庫割当なし", "-", "-", "-"])
            continue
        parts.append(f"{name}は {said(one.get('totalAvailable', 0))} 個")
        rows += [[name, *[sku.get(key) for key in _STOCK_KEYS]] for sku in listed(one, "skus")]
    conclusion = f"商品 {product} の販売可能数は、{'、'.join(parts)}です。"
    if len(countries) > 1:
        conclusion += f"合計は {sum(number(one, 'totalAvailable') for one in countries)} 個です。"
    if "入荷" in step.request.text or "予定" in step.request.text:
        conclusion += "入荷の予定や将来の在庫は、照会の対象外です。"
    return [
        conclusion,
        style.table(["国", "SKU ID", "実在庫", "引当済み", "販売可能"], rows) if rows else "在庫の行はありません。",
    ]


_STOCK_KEYS = ("skuId", "onHand", "reserved", "available")


def product(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 商品情報 / SKU 一覧."""
    data = _first(outcomes)
    price = f"{said(data.get('price'))} {said(data.get('currency'))}"
    category = f"{said(data.get('categoryName'))}({said(data.get('categoryId'))})"
    skus = listed(data, "skus")
    asked = {
        "title": f"タイトルは「{said(data.get('title'))}」",
        "status": f"状態は {state(data.get('status'))}",
        "category": f"カテゴリは {category}",
        "seller": f"販売者は {said(data.get('sellerId'))}",
        "price": f"価格は {price}",
        "skus": f"SKU は {len(skus)} 件",
        "updatedAt": f"最終更新は {when(data.get('updatedAt'))}",
    }
    fields = [name for name in step.request.mentions.fields if name in asked] or ["title", "status"]
    conclusion = f"商品 {said(data.get('productId'))} の{'、'.join(asked[name] for name in fields)}です。"
    if "unknown" in step.request.mentions.fields:
        conclusion += "お尋ねの項目のうち、商品情報にないものは分かりません。"
    rows: list[list[Any]] = [
        ["商品ID", data.get("productId")],
        ["タイトル", data.get("title")],
        ["カテゴリ", category],
        ["状態", state(data.get("status"))],
        ["販売者ID", data.get("sellerId")],
        ["価格", price],
        ["最終更新日時", when(data.get("updatedAt"))],
    ]
    sku_rows = [[sku.get("skuId"), said(sku.get("attributes"))] for sku in skus]
    return [
        conclusion,
        style.table(["項目", "値"], rows),
        style.table(["SKU ID", "属性"], sku_rows) if sku_rows else "SKU はありません。",
    ]


def tags(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / タグ一覧 / 販売への影響."""
    data = _first(outcomes)
    found = listed(data, "tags")
    name = said(data.get("productId"))
    if not found:
        return [f"商品 {name} にタグは付いていません。", "タグなし", "タグによる販売への影響はありません。"]
    now = str(data.get("asOf", ""))
    active = [tag for tag in found if tag.get("active")]
    blocking = [tag for tag in active if tag.get("blockedCountries")]
    conclusion = f"商品 {name} に付いているタグは {len(found)} 件で、うち有効なものは {len(active)} 件です。"
    conclusion += (
        f"販売を止めているタグは {'、'.join(_tag(tag) for tag in blocking)} です。"
        if blocking
        else "販売を止めている有効なタグはありません。"
    )
    rows = [
        [
            tag.get("tagId"),
            tag.get("tagName"),
            _source(tag.get("source")),
            f"{when(tag.get('effectiveFrom'))} 〜 {when(tag['effectiveTo']) if tag.get('effectiveTo') else '期限なし'}",
            _tag_state(tag, now),
        ]
        for tag in found
    ]
    effects = [f"- {_tag(tag)}: {_blocked(tag)}の販売を止めています。" for tag in blocking]
    effects += [
        f"- {_tag(tag)}: 開始前です。{when(tag.get('effectiveFrom'))} から{_blocked(tag)}の販売を止めます。"
        for tag in found
        if tag.get("blockedCountries") and _tag_state(tag, now) == "開始前"
    ]
    harmless = [tag for tag in active if not tag.get("blockedCountries")]
    effects += [f"- {_tag(tag)}: 販売は止まりません。" for tag in harmless]
    table = style.table(["タグID", "名前", "出どころ", "有効期間", "状態"], rows)
    return [conclusion, table, "\n".join(effects) or "タグによる販売への影響はありません。"]


def changes(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 変更履歴."""
    data = _first(outcomes)
    events = listed(data, "events")
    wanted = [name for name in step.request.mentions.fields if name in _CHANGED]
    if wanted and any(event.get("field") in wanted for event in events):
        events = [event for event in events if event.get("field") in wanted]
    name, days = said(data.get("productId")), said(data.get("days", 30))
    stock_too = "在庫の増減は変更履歴の対象外です。" if "在庫" in step.request.text else ""
    if not events:
        return [f"商品 {name} には、直近{days}日間に変更がありません。{stock_too}", "対象の期間に変更はありません。"]
    newest = events[0]
    conclusion = (
        f"商品 {name} の直近{days}日間の変更は {len(events)} 件です。最新は {when(newest.get('at'))} で、"
        f"{_operator(newest.get('operator'))}が{_changed(newest)}。{stock_too}"
    )
    rows = [
        [
            when(event.get("at")),
            _operator(event.get("operator")),
            _CHANGED.get(str(event.get("field")), event.get("field")),
            event.get("before"),
            event.get("after"),
            event.get("note"),
        ]
        for event in events
    ]
    return [conclusion, style.table(["日時", "操作者", "項目", "変更前", "変更後", "備考"], rows)]


def sellability(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """結論 / 診断の内訳 / 理由 / 次の対応, for one product and one country."""
    by_tool = {outcome.call.name: data_of(outcome) for outcome in outcomes}
    where = next(
        (outcome.call.arguments["country"] for outcome in outcomes if "country" in outcome.call.arguments),
        next(iter(step.values.get("country", ())), "?"),
    )
    item, stocked, tagged = (by_tool.get(name) for name in ("query_product", "query_stock", "query_tags"))
    rows: list[list[Any]] = []
    reasons: list[str] = []
    actions: list[str] = []
    notes: list[str] = []
    _judge_state(item, rows, reasons, actions)
    _judge_tags(tagged, str(where), rows, reasons, actions, notes)
    _judge_stock(stocked, str(where), rows, reasons, actions, notes)
    unknown = any(row[2] == "不明" for row in rows)
    verdict = "販売不可" if reasons else "判定できません" if unknown else "販売可"
    name = next(iter(step.values.get("productId", ())), "?")
    conclusion = f"商品 {_of(outcomes, 'productId') or name} は、{country(where)}では{verdict}です。"
    if verdict == "判定できません":
        conclusion = (
            f"商品 {_of(outcomes, 'productId') or name} の{country(where)}での販売可否は、"
            "確認できない項目があり、判定できません。"
        )
    why = [f"- {reason}" for reason in reasons] or [
        "確認できない項目があります。" if unknown else "販売を妨げる要因なし"
    ]
    return [
        conclusion,
        style.table(["項目", "値", "判定"], rows),
        "\n".join(why + [f"- 注意: {note}" for note in notes]),
        "\n".join(f"- {action}" for action in actions)
        or ("時間をおいて、もう一度確認してください。" if unknown else "対応は不要です。"),
    ]


def _judge_state(item: Data | None, rows: list[list[Any]], reasons: list[str], actions: list[str]) -> None:
    if item is None:
        rows.append(["状態", "確認できません", "不明"])
        return
    value = item.get("status")
    online = value == "ONLINE"
    rows.append(["状態", state(value), "可" if online else "不可"])
    if not online:
        reasons.append(f"状態が {state(value)} です。")
        actions.append(_NEXT_BY_STATE.get(str(value), "状態を ONLINE に戻す手続きを、販売者か運営に確認してください。"))


_NEXT_BY_STATE = {
    "OFFLINE": "再掲載を販売者か運営に依頼してください(取り下げから90日を超えていれば再審査が必要です)。",
    "DRAFT": "販売者が審査に出し、合格する必要があります。",
    "AUDITING": "審査の完了を待ってください。",
    "BANNED": "掲載禁止の理由を法務審査担当に確認してください。",
}


def _judge_tags(
    tagged: Data | None,
    where: str,
    rows: list[list[Any]],
    reasons: list[str],
    actions: list[str],
    notes: list[str],
) -> None:
    if tagged is None:
        rows.append(["タグ", "確認できません", "不明"])
        return
    now = str(tagged.get("asOf", ""))
    stopping = [tag for tag in listed(tagged, "tags") if {where, "*"} & set(tag.get("blockedCountries") or [])]
    active = [tag for tag in stopping if tag.get("active")]
    rows.append(
        ["タグ", "、".join(_tag(tag) for tag in active) or "販売を止める有効なタグなし", "不可" if active else "可"]
    )
    for tag in active:
        until = f"{when(tag['effectiveTo'])} まで" if tag.get("effectiveTo") else "期限なし"
        reasons.append(f"{_tag(tag)}のタグが{_blocked(tag)}の販売を止めています({until})。")
        owner = {"COMPLIANCE": "法務審査担当", "OPERATION": "運営", "SELLER": "販売者"}.get(
            str(tag.get("source")), "運営"
        )
        waiting = "期限を待つか、" if tag.get("effectiveTo") else ""
        actions.append(f"{_tag(tag)}: {waiting}{owner}に解除を依頼してください。")
    notes += [
        f"{when(tag.get('effectiveFrom'))} から {_tag(tag)}のタグが{_blocked(tag)}の販売を止めます。"
        for tag in stopping
        if not tag.get("active") and _tag_state(tag, now) == "開始前"
    ]


def _judge_stock(
    stocked: Data | None,
    where: str,
    rows: list[list[Any]],
    reasons: list[str],
    actions: list[str],
    notes: list[str],
) -> None:
    if stocked is None:
        rows.append(["在庫", "確認できません", "不明"])
        return
    here = next((one for one in listed(stocked, "countries") if one.get("country") == where), None)
    if here is None or here.get("allocated") is False:
        rows.append(["在庫", "在庫割当なし", "不可"])
        reasons.append(f"{country(where)}に在庫の割当がありません。")
        actions.append(f"在庫チームに{country(where)}への在庫の割当を依頼してください。")
        return
    available = number(here, "totalAvailable")
    rows.append(["在庫", f"販売可能 {available} 個", "可" if available >= 1 else "不可"])
    if available < 1:
        reasons.append(f"{country(where)}の販売可能在庫が {available} 個です。")
        actions.append(f"{country(where)}の在庫の補充を販売者か在庫チームに依頼してください。")
        return
    out = [said(sku.get("skuId")) for sku in listed(here, "skus") if number(sku, "available") < 1]
    if out:
        notes.append(f"SKU {'、'.join(out)} は欠品しています。")


def _first(outcomes: Sequence[Outcome]) -> Data:
    return next((data for outcome in outcomes if (data := data_of(outcome)) is not None), {})


def _of(outcomes: Sequence[Outcome], argument: str) -> str | None:
    return next(
        (str(outcome.call.arguments[argument]) for outcome in outcomes if argument in outcome.call.arguments), None
    )


def _tag(tag: Data) -> str:
    return f"{said(tag.get('tagName'))}({said(tag.get('tagId'))})"


def _tag_state(tag: Data, now: str) -> str:
    if tag.get("active"):
        return "有効"
    return "開始前" if now and str(tag.get("effectiveFrom", "")) > now else "期限切れ"


def _blocked(tag: Data) -> str:
    codes = tag.get("blockedCountries") or []
    return "全ての国" if "*" in codes else "・".join(country(code) for code in codes)


def _source(value: Any) -> str:
    return f"{value}({_SOURCES[value]})" if value in _SOURCES else said(value)


def _operator(value: Any) -> str:
    kind = next((name for prefix, name in _OPERATORS.items() if str(value).startswith(prefix)), None)
    return f"{value}({kind})" if kind else said(value)


def _changed(event: Data) -> str:
    field = _CHANGED.get(str(event.get("field")), said(event.get("field")))
    before, after = event.get("before"), event.get("after")
    if event.get("field") == "tags":
        return f"タグ {said(after)} を付与しました" if before is None else f"タグ {said(before)} を解除しました"
    return f"{field}を {said(before)} から {said(after)} に変えました"
