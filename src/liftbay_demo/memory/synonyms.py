"""Words of the trade that people say in several ways."""

from __future__ import annotations

import re

_SAME: dict[str, str] = {
    r"何[件個枚本人]まで|いくつまで|最大|マックス|何文字まで|リミット": "上限",
    r"いつまで|何日以内|何日まで|締め?切り": "期限 期間",
    r"どれ(?:くらい|ぐらい)(?:かか|待)|どのくらい(?:かか|待)|何分|何秒|所要": "時間",
    r"値段|金額|いくら": "価格",
    r"何営業日|何日(?:くらい|ぐらい|で|かか|待)": "営業日 時間",
    r"取り?下げ": "取り下げ",  # as a verb it is read as two words
    r"写真": "画像",
    r"ビデオ|ムービー": "動画",
    r"セラー|出品者|売り手|ショップ|出店者": "販売者",
    r"購入者|お客(?:様|さん)?|顧客|バイヤー": "買い手",
    r"BAN(?!NED)|凍結": "掲載禁止 banned",
    r"ロールバック|巻き戻し": "切り戻し",
    r"ポストモーテム|反省会": "振り返り",
    r"レート制限|レートリミット|QPS|スロットリング|秒間": "流量制限 毎秒 上限",
    r"CSV(?:で)?(?:まとめて|一括)|まとめて登録|バルク": "一括登録",
    r"インデックス": "索引",
    r"在庫引当|取り置き|確保": "引当",
    r"リトライ": "再送 再試行",
    r"DLQ|デッドレター": "退避キュー",
    r"配送料|発送料": "送料",
    r"発送": "出荷",
    r"返却|返金|払い戻し|返送": "返品",
    r"NGワード|使えない(?:言葉|単語|語)|使っちゃ(?:いけない|だめ|ダメ)(?:言葉|単語|語)?": "禁止語",
    r"不服|抗議": "異議",
    r"ログ(?:の)?保管|保管期間|残る期間|何日残": "保存期間",
    r"リジェクト|不合格|落ち(?:た|る)": "差し戻し 不合格",
    r"承認(?:され)?(?:る|ない)|許可証": "承認 許可",
    r"消え(?:る|た)|消される": "削除",
    r"サイト|ページ": "商品ページ",
    r"重大度|レベル分け|ランク": "等級",
    r"並行|同時に": "同時",
}
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), words) for pattern, words in _SAME.items()]


def expanded(query: str) -> str:
    """The query, with the knowledge base's words for what it says in others."""
    return " ".join([query, *(words for pattern, words in _PATTERNS if pattern.search(query))])
