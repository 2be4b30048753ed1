"""The words by which a request shows which Skill it is for, and how several of them go together."""

from __future__ import annotations

import re
from collections.abc import Mapping

TRACE = "trace-analyzer"
SELLABLE = "sellability-diagnosis"
STOCK = "stock-query"
PRODUCT = "product-query"
TAGS = "tag-analysis"
CODE = "error-code-lookup"
LISTING = "listing-check"
CHANGES = "change-history"

# what is done to a product and stays in its history, up to the end of the verb
_DONE = (
    r"(?:変わ[っる]|変[えわ]|か[えわ]っ|替え|いじ[っる]|触[っらる]|さわ[っらる]|直し|直っ|上[げが]|下[げが]|あげ|さげ|値上げ|値下げ"
    r"|付[けい]|つけ|外[しされ]|はず[しされ]|落とし|落ち|取り?下げ|引っ?込め|ひっこめ|引き?下げ|下ろし|おろし|降ろし|消[しさ]"
    r"|止め|停め|止まっ|戻[しっさ]|もど[しっ]|動[いか]|うご[いか]|更新|編集|変更|修正|改定|解除|付与|申請|(?:審査に?)?出し)"
)
_PAST = r"(?:し|され|させ|られ|れ|っ|い|て|ちゃっ|えた)*(?:た|だ)(?!ら|り|い|め|く|しか|だけど)"
_WHO_OR_WHEN = r"(?:誰|だれ|どなた|いつ(?!まで|でも|も)|何者|何時|どっち|販売者|運営|担当者|どこの人)"

_CUES: dict[str, tuple[str, ...]] = {
    TRACE: (
        "トレース|とれーす|trace|トレイス",
        r"(?:リクエスト|呼び?出し|通信|API|処理|request).{0,30}(?:追[っえいう]|追跡|辿|たど|どのサービス|どこで(?:落|失敗|止|こけ|コケ))",
    ),
    SELLABLE: (
        r"売れ(?:る(?!数)|ない|なく|ます|ません|て(?:い)?(?:る|ない|ます|ません)|ん|そう|ず)|売って(?:る|い|も)|売り止め",
        r"販売(?:可否|不可|でき|出来|可能(?!数|在庫|な数|の多|の少)|して(?:い)?(?:る|ない|いい|良い)|の可否|状況|OK)|売りたい|売るに",
        r"買え(?:る|ない|ます|ません|なく|ず|ん)|購入(?:でき|可能|不可|出来)|sellable",
        r"購入ボタン|(?:売上|売り上げ|注文)(?:が|は)?(?:ゼロ|0(?!\d)|ない|なし|止ま|途絶|入らな)|カート(?:に|へ)(?:入|追加)",
    ),
    STOCK: (
        r"在庫|ざいこ|ストック|stock|引当済|実在庫|販売可能(?:数|在庫|な数)|売れる数|available|on ?hand|reserved",
        r"残り?数|残数|残量|個数|何個(?!まで)",
        r"(?:いくつ|幾つ|なんぼ|どれ(?:くらい|だけ)|何[本足台枚着点箱])(?!まで).{0,4}(?:残|余|あ[るり]|買え|だせ|出せ|売れ|置)",
    ),
    TAGS: (r"タグ|たぐ|tag(?!Id)|TG\d{4}",),
    CODE: (r"エラー(?:コード|番号)|えらーこーど|error ?code",),
    CHANGES: (
        r"変更(?:履歴|ログ|記録|された|した|が?あ[っるり]|は(?:あ|何)|者|内容|点|の)|履歴|change ?log",
        rf"{_WHO_OR_WHEN}(?!以外).{{0,14}}{_DONE}{_PAST}|(?:どう|何回|何が|なにが).{{0,12}}(?:変わっ|変え|変更し|更新し)",
        rf"{_DONE}{_PAST}\s*(?:の|ん|やつ|人|ひと)?(?:は|って|が|を)?.{{0,5}}{_WHO_OR_WHEN}",
        rf"{_DONE}{_PAST}\s*(?:人|ひと|者|日時?|時期|理由|経緯|形跡|記録)",
        r"(?:値上げ|値下げ|取り?下げ|改定|付与|解除|変更)(?:の)?(?:経緯|記録|時期|前後|日時|理由|者)",
        r"(?:値上げ|値下げ).{0,8}(?:誰|だれ|いつ(?!まで))|値動き|変更前|(?:何か|最近).{0,12}変わ|変わった|変えた",
        r"(?:いくら|なんぼ|値段|価格|名前|タイトル|ステータス)(?:は|って)?(?:だった|でした|やった)(?!っけ|かな)",
        r"更新者|操作者|操作した|ログを?見",
    ),
    LISTING: (
        r"出品(?:案|ルール|でき|して(?:も)?(?:いい|良い|大丈夫|OK)|可能|可否|チェック|したい|予定|しよう|OK|の(?:件|確認))|タイトル案",
        r"違反(?:し|が|は|に|ない)|ルールに(?:合|適|違|通|引)|ルール的|規約的|引っかか|通る|通り(?:ます|そう)",
        r"(?:載せ|出し)て(?:も)?(?:いい|良い|大丈夫|OK)",
    ),
    PRODUCT: (
        r"商品(?:情報|名|の?詳細|データ|内容|の?概要|の?基本)|基本情報|(?:どんな|何の|なんの|どういう|なんて)商品",
        r"タイトル|カテゴリ|価格|値段|ねだん|いくら|販売者|セラー|出品者|売り手|状態|ステータス|status|SKU|最終更新",
        r"名前|何色|スペック|属性|プロダクト|レビュー|原価|販売数|売上|誰が売|price|title|seller",
    ),
}
# words that say it only where a thing is named, or was being talked about
_HINTS: dict[str, tuple[str, ...]] = {
    SELLABLE: (
        r"出せ(?:る|ます|ない|ません|ん)|だせ(?:る|ない)|押せ(?:ない|ません|ず|ん)|グレーアウト|灰色|(?:表示|公開)され(?:ない|ません|ず)",
        r"見え(?:ない|ません)|出て(?:こ|き(?:ません|てない))|可否|売り場|買い物かご",
    ),
    STOCK: (
        r"残り|のこり|残って|余って|余り|余裕|手持ち|手元|倉庫|入庫|入荷|欠品|品切|切れて|実物|積んで|眠って|押さえ|引き?当て|取り置き",
        r"足り[てなるま]|たり(?:て|な|ます)|何[本足台枚着点箱](?!まで)|いくつ(?!まで)|幾つ(?!まで)|なんぼ|の?数(?:は|を|が|と|も|$)|数量|数字",
        r"(?:一番|最も|いちばん|どっちが|どちらが).{0,6}(?:多|少|すくな|おお)|(?:色|カラー|サイズ|SKU|国)(?:別|ごと)(?:だと|は|の数|に)",
    ),
    TAGS: (
        r"ラベル|マーク|目印|印(?:が|は|っ|の|ま)|貼ら|貼って|貼り|付いて|くっつ|(?<!に)ついて(?:る|ます|ない|い)|何(?:が|か)付",
        r"認証|(?<![A-Za-z])(?:KC|PSE|FCC|CE)(?![A-Za-z])|一時(?:販売)?停止|届出|証明|申し?立て?|検疫|リチウム|キャンペーン|除外|対象外|公式店",
        r"送料無料|セール対象|配送遅延|遅延注意|外れ(?:る|ます|ん|て)|はずれ(?:る|ます|て)|効いて(?:る|い)|止めて(?:る|い)",
    ),
    CHANGES: (
        r"形跡|動き|動い[てた]|うごい[てた]|ノータッチ|手を加|手が入|推移|経過|いつから|いつの間|いつのま|誰が|だれが|誰の仕業",
        r"触[っら]|さわ[っら]|いじ[っら]|前(?:は|の|、)?(?:名前|値段|価格|なん|いくら)|以前|もともと|元々|備考|やった(?:人|の|やつ)|(?:その|同じ)期間",
    ),
    PRODUCT: (
        r"まだ.{0,6}(?:出て|審査|下書き|販売|公開|掲載|売)|もう.{0,6}(?:出て|審査|販売|公開|掲載)|取り?下げ|下書き|公開中|販売中|掲載中|BAN",
        r"審査(?:中|は|って|どう|通|終|結果|待ち)|どうなっ|概要|何の(?:やつ|もの|品)|なんの(?:やつ|もの|品)|何者|中身|色|サイズ|登録値|(?:だし|出し)て",
    ),
}
_PATTERNS = {skill: re.compile("|".join(words), re.IGNORECASE) for skill, words in _CUES.items()}
_HINT_PATTERNS = {skill: re.compile("|".join(words), re.IGNORECASE) for skill, words in _HINTS.items()}
_JOINS = re.compile(
    r"(?:情報|一覧|状況|履歴|数|有無|可否|の?(?:情報|一覧|状況|有無|内訳|影響))?\s*(?:と|や|・|、|,|&"
    r"|\+|/|も|および|及び|かつ|と?か)"
)
# the cue of the one says what the request is about, and the other's only what of it
_OUTRANKS = {
    CHANGES: {PRODUCT, TAGS, STOCK, SELLABLE, LISTING},
    SELLABLE: {STOCK, TAGS, PRODUCT, LISTING},
    LISTING: {PRODUCT},
    TRACE: {CODE, PRODUCT, STOCK, CHANGES},
    STOCK: {PRODUCT},
    TAGS: {PRODUCT, SELLABLE},
    CODE: {PRODUCT},
}
_STOPS_SALES = re.compile(
    r"販売(?:への影響|を止め|に影響|停止|制限)|(?:売れな|買えな|売れ|止)[ぁ-ん]{1,4}タグ|タグ.{0,12}(?:って|は|だと)売れ"
)


def cued(text: str, *, hints: bool = False) -> dict[str, int]:
    """The Skills whose cues the text holds, by where the first cue stands; those that are outranked are left out.

    Hints count as well where the text is known to be about a thing, and only for what no cue tells.
    """
    found = {skill: match for skill, pattern in _PATTERNS.items() if (match := pattern.search(text)) is not None}
    kept = _ranked(text, found)
    if hints:
        hinted = {skill: match for skill, pattern in _HINT_PATTERNS.items() if (match := pattern.search(text))}
        if not kept:
            kept = _ranked(text, hinted)
        elif kept.keys() == {PRODUCT}:  # a field may be asked for in any of these ways
            kept = _ranked(text, {**hinted, **kept})
    return {skill: match.start() for skill, match in sorted(kept.items(), key=lambda one: one[1].start())}


def _ranked(text: str, found: Mapping[str, re.Match[str]]) -> dict[str, re.Match[str]]:
    # where somebody asks whether it sells, tags may be why not
    ranks = _OUTRANKS if _STOPS_SALES.search(text) or SELLABLE not in found else {**_OUTRANKS, TAGS: {PRODUCT}}
    kept = dict(found)
    if _STOPS_SALES.search(text) and TAGS in kept:
        kept.pop(SELLABLE, None)
    for strong, match in found.items():
        for weak in ranks.get(strong, set()):
            if strong in kept and weak in kept and not _joined(text, found[weak], match):
                del kept[weak]
    return kept


def _joined(text: str, weak: re.Match[str], strong: re.Match[str]) -> bool:
    """Whether the two stand side by side, as things that are both asked for."""
    first, second = sorted((weak, strong), key=lambda match: match.start())
    between = text[first.end() : second.start()]
    return first.end() <= second.start() and len(between) <= 12 and _JOINS.match(between) is not None


def without_cues(text: str) -> str:
    """The text without its cues."""
    for pattern in _PATTERNS.values():
        text = pattern.sub(" ", text)
    return text
