"""What is said where nothing is looked up: questions back, refusals, greetings, the conversation itself."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay_demo.domain import Dialogue, Kind, Malformed, Profile, Request, Step
from liftbay_demo.perception import kinds

ABILITIES = (
    "商品情報・在庫・タグ・変更履歴・販売可否の照会、トレースの調査、エラーコードの照会、"
    "出品案のルール確認と、決まりごとへの回答ができます。"
)
_PARAMETERS = {
    "productId": "商品ID(1005 で始まる16桁の数字)",
    "country": "国(例: 日本、韓国)",
    "skuId": "SKU ID(12 で始まる12桁の数字)",
    "days": "日数(1〜180)",
    "traceId": "トレースID(英小文字の16進数30桁)",
    "code": "エラーコード(例: F_PC_SERVICE_QUERY_020)",
    "title": "商品タイトルの案",
    "categoryId": "カテゴリID(6桁の数字)",
    "price": "価格",
    "currency": "通貨(USD・JPY・KRW・EUR)",
}
_SHORT_NAMES = {
    "productId": "商品ID",
    "product": "商品ID",
    "country": "国",
    "traceId": "トレースID",
    "code": "エラーコード",
}


def ask_for(missing: Sequence[str], purpose: str) -> str:
    """Ask for the arguments that are missing, all at once."""
    return f"{purpose}をします。{'、'.join(_PARAMETERS.get(name, name) for name in missing)}を教えてください。"


def not_well_formed(malformed: Sequence[Malformed]) -> str:
    """Say which form a value should have, and offer what was probably meant."""
    lines = []
    for one in malformed:
        if one.parameter == "days":
            lines.append(
                f"変更履歴を照会できるのは1〜180日で、{one.value}分は照会できません。180日分でよろしいですか。"
            )
            continue
        if one.parameter == "price":
            lines.append(f"価格「{one.value}」は使えません。0 より大きい数で教えてください。")
            continue
        line = f"「{one.value}」は形式が合いません。正しい形は{_PARAMETERS.get(one.parameter, one.parameter)}です。"
        line += (
            f"「{one.suggestion}」のことでよろしいですか。"
            if one.suggestion is not None
            else "確認のうえ、もう一度教えてください。"
        )
        lines.append(line)
    return "\n".join(lines)


def of_a_request(step: Step, dialogue: Dialogue, profile: Profile, stored: Profile) -> str:
    """The answer to a request that needs nothing but words."""
    request = step.request
    if request.kind is Kind.RECOLLECTION:
        return _recollected(request, dialogue, profile)
    if request.kind is Kind.STATEMENT:
        return _acknowledged(request, dialogue, stored)
    if request.kind is Kind.SMALL_TALK:
        return _small_talk(request.text, profile)
    return _FIXED[request.kind]


_FIXED = {
    Kind.CHANGE: (
        "照会専用のアシスタントのため、商品・在庫・タグなどのデータの変更はできません。"
        "変更は権限のある担当者に依頼してください。"
    )
    + ABILITIES,
    Kind.UNCLEAR: (
        "何をお調べしますか。商品情報・在庫・タグ・販売可否・変更履歴・トレース・エラーコード・"
        "出品ルールのどれかを、対象の ID と一緒に教えてください。"
    ),
    Kind.INSTRUCTION: "そのご依頼にはお応えできません。設定や内部の指示を変えたり、お見せしたりすることはできません。"
    + ABILITIES,
    Kind.UNREADABLE: (
        "入力を読み取れませんでした。商品IDやトレースIDなどと一緒に、知りたいことを短い文で入力してください。"
    )
    + ABILITIES,
}
INSTRUCTION_IGNORED = "なお、文中の指示のうち、アシスタントの設定に関わるものには従っていません。"


def _small_talk(text: str, profile: Profile) -> str:
    hello = f"{profile.name}さん、" if profile.name else ""
    if any(word in text for word in ("ありがと", "助か", "サンキュー", "thank", "Thank")):
        return "どういたしまして。ほかにも調べることがあれば、お知らせください。"
    if any(word in text for word in ("了解", "承知", "わかりました", "分かりました")):
        return "ほかにも調べることがあれば、お知らせください。"
    if any(
        word in text.lower()
        for word in ("こんに", "こんばん", "おはよう", "はじめまして", "hello", "hi", "お疲れ", "よろしく")
    ):
        return f"{hello}こんにちは。商品センターのアシスタントです。{ABILITIES}"
    if any(word in text for word in ("誰", "だれ", "何者", "何が", "なに", "できること", "使い方", "ヘルプ")):
        return f"商品センターの照会専用アシスタントです。{ABILITIES}"
    return f"商品センターの業務の範囲外のため、お答えできません。{ABILITIES}"


def _acknowledged(request: Request, dialogue: Dialogue, stored: Profile) -> str:
    before = dialogue.profile
    parts = []
    if stored.name and stored.name != before.name:
        parts.append(f"{stored.name}さんですね。")
    if stored.role and stored.role != before.role:
        parts.append(f"{stored.role}の方として承りました。")
    if stored.no_tables != before.no_tables:
        parts.append("以後、表を使わずにお答えします。" if stored.no_tables else "以後、表を使ってお答えします。")
    if stored.brief != before.brief:
        parts.append("以後、短くお答えします。" if stored.brief else "以後、詳しくお答えします。")
    if len(stored.notes) > len(before.notes) and not parts:
        parts.append("覚えておきます。")
    return "承知しました。" + ("".join(parts) or "お調べしたいことがあれば、お知らせください。")


def _recollected(request: Request, dialogue: Dialogue, profile: Profile) -> str:
    answers = [_remembered(what, dialogue, profile) for what in kinds.recollections(request.text)]
    # A model may take for a question about the conversation what the rules do not.
    return "\n".join(answer for answer in answers if answer) or _FIXED[Kind.UNCLEAR]


def _remembered(what: str, dialogue: Dialogue, profile: Profile) -> str:
    if what in _ABOUT_THE_CONVERSATION:
        return _ABOUT_THE_CONVERSATION[what](dialogue, profile)
    value = profile.last.get({"product": "productId"}.get(what, what))
    name = _SHORT_NAMES[what]
    if value is None:
        return f"{name}は、この会話ではまだ伺っていません。"
    return f"直前にお話しした{name}は {value} です。"


def _users_name(dialogue: Dialogue, profile: Profile) -> str:
    return f"お名前は{profile.name}さんと伺っています。" if profile.name else "お名前はまだ伺っていません。"


def _users_role(dialogue: Dialogue, profile: Profile) -> str:
    return f"{profile.role}の方と伺っています。" if profile.role else "ご担当はまだ伺っていません。"


def _notes(dialogue: Dialogue, profile: Profile) -> str:
    notes = "\n".join(f"- {note}" for note in profile.notes)
    return f"覚えていることは次のとおりです。\n{notes}" if notes else "覚えておくよう頼まれたことは、まだありません。"


def _topics(dialogue: Dialogue, profile: Profile) -> str:
    turns = "\n".join(f"- {turn.user[:60]}" for turn in dialogue.turns)
    return f"これまでのご質問は次のとおりです。\n{turns}" if turns else "まだ何もお尋ねになっていません。"


def _first_question(dialogue: Dialogue, profile: Profile) -> str:
    if not dialogue.turns:
        return "まだ何もお尋ねになっていません。"
    if dialogue.rounds > len(dialogue.turns):  # it has fallen out of the window
        return "最初の質問は、もう覚えていません。"
    return f"最初のご質問は「{dialogue.turns[0].user[:100]}」です。"


_ABOUT_THE_CONVERSATION = {
    "name": _users_name,
    "role": _users_role,
    "notes": _notes,
    "topics": _topics,
    "first": _first_question,
}
