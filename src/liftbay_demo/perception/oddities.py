"""Input that is no request as it stands: empty, huge, garbled, markup, attempts to give the assistant orders."""

from __future__ import annotations

import re

LONGEST = 4000  # characters

_INSTRUCTIONS = re.compile(
    r"(?:以前|これまで|今まで|上記|前)の?(?:全ての?|すべての)?(?:指示|命令|ルール|設定|プロンプト"
    r"|制約).{0,8}(?:無視|忘れ|破棄|上書き|取り消)"
    r"|(?:指示|命令|ルール|制約|制限|設定)(?:を|は)?(?:全て|すべて|全部)?(?:無視|忘れ|破棄|解除)(?:し|て|せよ)"
    r"|システム ?プロンプト|system ?prompt|(?:隠し|内部|初期)(?:の)?(?:指示|プロンプト|設定|命令)"
    r"|プロンプトを(?:表示|見せ|教え|出力|開示)"
    r"|ignore (?:all|any|the|your|previous|above)|disregard (?:all|the|previous)|forget (?:all|your"
    r"|previous)|you are now|act as|jailbreak|DAN ?モード|\bDAN\b"
    r"|(?:あなた|君|お前|きみ)は(?:今から|これから|もう|今後)|(?:管理者|開発者|デバッグ|特権|root"
    r"|神)モード|(?:になりきって|として振る舞|のふりを)"
    r"|(?:パスワード|API ?キー|アクセスキー|秘密鍵|認証情報|個人情報|接続文字列).{0,10}(?:教え|表示"
    r"|見せ|出し|出力|くれ|ください)"
    r"|(?:全て|すべて|全|他)の?(?:顧客|ユーザー|利用者|会員)の?(?:情報|データ|住所|電話)|(?:権限|認証"
    r"|確認|承認)(?:を|は)(?:無視|省略|スキップ|バイパス)"
    r"|</?(?:system|assistant|instruction)s?>|\[(?:system|INST)\]|^\s*(?:system|assistant"
    r"|developer)\s*:|###\s*(?:system|instruction|新しい指示)",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(
    r"\b(?:DROP|TRUNCATE|ALTER)\s+TABLE\b|\bUNION\s+(?:ALL\s+)?SELECT\b|\bDELETE\s+FROM\b"
    r"|'\s*OR\s+'?1'?\s*=\s*'?1|\brm\s+-rf\b|\$\{jndi:|;\s*--",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"<(script|style|svg|iframe)\b[^>]*>.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(
    r"</?(?:html|head|body|div|span|p|a|img|table|tr|td|th|br|b|i|u|h[1-6]|ul|ol|li|input|form|button"
    r"|meta|link|script|style|svg|iframe|marquee|font)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LEGIBLE = re.compile(r"[ぁ-んァ-ヶ一-龠A-Za-z0-9ｦ-ﾟ０-９Ａ-Ｚａ-ｚ가-힣]")
_KANA = re.compile(r"[ぁ-んァ-ヶ]")
_MOJIBAKE = re.compile(
    r"[\ufffd\ue000-\uf8ff]|[縺繧繝蜒蛻譁]{2}|(?:[ÃãÂâ][\x80-\xbf¡-¿‚-”]){2}|[À-ÿ]{4}"
    r"|(?:\\x[0-9a-f]{2}){3}|(?:%[0-9A-F]{2}){4}",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{100,}")
_SAME_AGAIN = re.compile(r"(.{1,3})\1{9,}", re.DOTALL)


def instructs(text: str) -> bool:
    """Whether the text tries to give the assistant another job, or asks for what it must not say."""
    return _INSTRUCTIONS.search(text) is not None


def without_markup(text: str) -> str:
    """The text without HTML."""
    return _TAG.sub(" ", _BLOCK.sub(" ", text))


def holds_code(text: str) -> bool:
    """Whether the text holds something that wants to be run."""
    return _CODE.search(text) is not None


def own_words(text: str) -> str:
    """The text without what is pasted into it as a block: that is material, and asks for nothing."""
    return _QUOTED_LINE.sub(" ", _FENCED.sub(" ", text))


def unreadable(text: str) -> bool:
    """Whether nobody can tell what the text says."""
    bare = re.sub(r"\s", "", text)
    if not _LEGIBLE.search(bare) or len(text) > LONGEST:
        return True
    if len(bare) >= 4 and len(_MOJIBAKE.findall(text)) * 4 >= len(bare) / 3:
        return True
    if sum(len(match[0]) for match in _ENCODED.finditer(bare)) > 0.7 * len(bare):
        return True
    legible = sum(1 for _ in _LEGIBLE.finditer(bare))
    if len(bare) >= 8 and legible / len(bare) < 0.4:
        return True
    repeated = sum(len(match[0]) for match in _SAME_AGAIN.finditer(bare))
    if repeated > 0.7 * len(bare):
        return True
    return _keyboard_mash(bare)


def _keyboard_mash(bare: str) -> bool:
    """Long Latin letters without a vowel in sight, or letters and digits that are no id and no word."""
    if _KANA.search(bare) or re.search("[一-龠]", bare):
        return False
    letters = re.sub("[^A-Za-z]", "", bare)
    if len(letters) < 8 or len(letters) < 0.6 * len(bare) or "_" in bare:
        return False
    vowels = sum(letter in "aeiouAEIOU" for letter in letters)
    return vowels / len(letters) < 0.2 and not re.search("[0-9]", bare)
