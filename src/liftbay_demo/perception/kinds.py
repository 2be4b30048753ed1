"""Requests that no Skill is for, told by their words: changes, small talk, statements, the conversation itself."""

from __future__ import annotations

import re

_END = (
    r"(?:$|[。.!!、,」\s]|ください|下さい|くだ|ほしい|欲しい|くれ|もら|いただ|頂|おい|お?願い|よ(?:ね)?$"
    r"|ね$|な$|ちょうだい|頼)"
)
_ACTS = (
    "削除|消|更新|変更|修正|追加|登録|作成|停止|再開|公開|非公開|解除|付与|補充|調整|移動|移管|複製|統"
    "合|承認|却下|申請|送信|予約|"
    "取り下げ|取下げ|差し替え|振り替え|再掲載|掲載|有効化|無効化|設定|割り当て|割当|出品|審査に?(?:出|"
    "提出)|BAN|凍結|リセット|再送|再索引|切り戻|返金|発注|入荷"
)
_CHANGES = re.compile(
    rf"(?:(?:{_ACTS})\s*(?:し|させ)?(?:て|と(?:いて|け))|(?:上げ|下げ|変え|付け|つけ|外し|増やし|減らし|消し"
    rf"|止め|戻し|足し|入れ替え|書き換え|直し|落とし|取り消し)(?:て|と(?:いて|け)))(?:{_END})"
    r"|タグ.{0,6}(?:外し|付け|つけ|はずし)た(?:い|くて)"
    rf"|(?:{_ACTS})(?:を)?(?:お願い|頼|希望|よろしく)|(?:ONLINE|OFFLINE|BANNED|DRAFT|オンライン"
    r"|オフライン|販売中|公開|(?<!\d)\d{1,12}\s*(?:円|個|ドル|USD|JPY))に(?:し|変え|変更し|戻し|上げ"
    rf"|下げ)て(?:{_END})",
    re.IGNORECASE,
)
_ASKS_HOW = re.compile(
    r"(?:には|場合|とき|時は|手順|方法|やり方|どうすれば|どうやって|できますか|できる\?|していい|しても)"
)
_SMALL_TALK = re.compile(
    r"^(?:(?:おはよう|こんにち[はわ]|こんばん[はわ]|はじめまして|お疲れ(?:さま|様)?|おつかれ"
    r"|ありがとう?|ありがと|サンキュー|どうも|了解|承知|わかりました|分かりました|助かり|さすが|すごい"
    r"|よろしく"
    r"|hello|hi|hey|thanks|thank you|テスト|test|もしもし|ごめん|すみません|おやすみ|バイバイ"
    r"|さようなら|元気)[^。!?]{0,14}[。!?~ー\s]*)+$",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"(?:あなた|君|きみ|おまえ|お前|アシスタント|ボット)(?:は|って|の).{0,10}(?:誰|だれ|何者|名前|何が"
    r"|なに|でき|AI|人間)|何ができ(?:る|ます)|できること|^使い方|ヘルプ|^help$",
    re.IGNORECASE,
)
_OFF_TOPIC = re.compile(
    r"天気|気温|ランチ|レストラン|居酒屋|ニュース|占い|冗談|ジョーク|なぞなぞ|俳句|小説|歌(?:を|って"
    r"|詞)|映画|株価|サッカー|野球|恋愛|ダイエット|レシピ|旅行|ホテル"
    r"|(?:英語|中国語|韓国語|日本語)に(?:翻訳|訳し)|翻訳して|(?:メール|文章|作文|コード|プログラム"
    r"|スクリプト|SQL|詩)を?(?:書い|作っ|生成)|要約して|プログラミング|首相|大統領|首都|誕生日|暇"
)
_RECOLLECTIONS = {
    "name": (
        r"(?:私|わたし|僕|俺|自分|うち)の?(?:名前|氏名|苗字|名字)(?:は|って|を|、|を?覚え)|(?:私|わたし|僕"
        r"|俺)(?:は|って)?(?:誰|だれ)"
    ),
    "role": (
        r"(?:私|わたし|僕|俺|自分)の?(?:役割|担当|部署|所属|立場|チーム)(?:は|って|を)?(?:何|なん|どこ|覚え"
        r"|わか|分か|で|$|\?)"
    ),
    "first": (
        r"(?:最初|一番初め|はじめ|初め)に(?:何を|なにを)?.{0,6}(?:聞い|質問|尋ね|頼|話し|調べ|言っ)"
        r"|最初の(?:質問|話|依頼)"
    ),
    "topics": (
        r"(?:これまで|今まで|ここまで)(?:の|に).{0,12}(?:まとめ|整理|振り返|要約|聞い|調べ)"
        r"|会話の?(?:まとめ|要約|履歴)"
    ),
    "notes": (
        r"(?:覚えて(?:もらった|おいて(?:と|って)言った|る(?:こと)?|いる(?:こと)?|ます)|メモ(?:した|の内容"
        r"|は何|を見せ)|さっき(?:の)?メモ|頼んだ(?:こと|の)は)"
    ),
    "product": (
        r"(?:さっき|先ほど|前|最初|直前|今)?.{0,8}(?:商品ID|商品番号|(?:どの|何の)商品).{0,10}(?:何だっけ"
        r"|なんだっけ|だっけ|でしたっけ|何でした|だった|覚え)"
    ),
    "country": (
        r"(?:さっき|先ほど|前|最初|直前)?.{0,8}(?:どの国|何の国|どこの国|国).{0,8}(?:だっけ|でしたっけ"
        r"|だった\?|でした\?|覚え)"
    ),
    "traceId": r"トレース(?:ID)?.{0,8}(?:何だっけ|なんだっけ|だっけ|でしたっけ|何でした|覚え)",
    "code": r"(?:エラー)?コード.{0,8}(?:何だっけ|なんだっけ|だっけ|でしたっけ|何でした|覚え)",
}
_RECOLLECTION_PATTERNS = {what: re.compile(words) for what, words in _RECOLLECTIONS.items()}
_REMEMBER = re.compile(
    r"覚えて(?:おい|お[いけ]|ね|くだ)|覚えと|メモし|控えて?(?:お|と)|前提(?:で|に|とし)|今後は|以後|これ以降"
    r"|これから(?:は|の回答)|次から"
)
_NOT_YET = re.compile(r"(?:調べ|見|聞か|答え)なくて(?:も)?(?:いい|良い|OK|大丈夫)|まだ(?:調べ|見)(?:なく|ない)")
_TELLS = re.compile(
    r"(?:です|ます|でした|ました|だ|である|だよ|ですよ|してる|している|と申します|といいます)(?:ね|よ"
    r"|けど|が)?[。!\s]*$"
)
_ASKS = re.compile(
    r"[??]|教え|知りたい|調べ|見て|見せ|確認|確かめ|照会|チェック|診断|分析|ください|下さい|お願い"
    r"|ほしい|欲しい|何|なに|なん(?:で|の|だ)|いつ|どこ|どう|どれ|どの|誰|だれ|なぜ|いくつ|いくら"
    r"|ですか|ますか|かな|でしょうか|くれ|頼"
)


def wants_a_change(text: str) -> bool:
    """Whether somebody wants data to be changed."""
    return _CHANGES.search(text) is not None and not _ASKS_HOW.search(text)


def small_talk(text: str) -> bool:
    """Whether it is a greeting, thanks, a question about the assistant, or nothing of its business."""
    return any(pattern.search(text) for pattern in (_SMALL_TALK, _ABOUT_ITSELF, _OFF_TOPIC))


def recollections(text: str) -> list[str]:
    """What of the conversation is asked for: `name`, `role`, `first`, `topics`, `notes` or a parameter."""
    return [what for what, pattern in _RECOLLECTION_PATTERNS.items() if pattern.search(text)]


def to_remember(text: str) -> bool:
    """Whether somebody wants something to be kept in mind."""
    return _REMEMBER.search(text) is not None


def puts_off(text: str) -> bool:
    """Whether something is only named for later."""
    return _NOT_YET.search(text) is not None


def asks(text: str) -> bool:
    """Whether the text asks for anything."""
    return _ASKS.search(text) is not None


def tells(text: str) -> bool:
    """Whether the text only tells something."""
    return _TELLS.search(text) is not None and not asks(text)
