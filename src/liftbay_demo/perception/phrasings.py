"""How people may ask for each Skill, to compare a request with where it holds no cue."""

from __future__ import annotations

from liftbay_demo.perception.cues import CHANGES, CODE, LISTING, PRODUCT, SELLABLE, STOCK, TAGS, TRACE

PHRASINGS: dict[str, tuple[str, ...]] = {
    TRACE: (
        "このリクエストがどこで失敗したか追ってほしい",
        "呼び出しが遅い原因をたどりたい",
        "リクエストの流れとどのサービスで落ちたか",
    ),
    SELLABLE: (
        "韓国のお客さんが買えないと言っている",
        "ドイツ向けに出せる状態か診断して",
        "購入ボタンが押せない理由",
    ),
    STOCK: ("あと何個残っているか", "倉庫の残りを国ごとに見たい", "欠品していないか"),
    PRODUCT: ("この品の中身を知りたい", "どの色がそろっているか", "どこの販売者のものか"),
    TAGS: ("付いているラベルの効き目", "認証の印が外れているか", "キャンペーンの対象になっているか"),
    CODE: ("このエラーの意味と直し方", "このコードはどのチームの担当か"),
    LISTING: ("この題名と値段で載せられるか見てほしい", "この内容で登録して審査の前に問題ないか"),
    CHANGES: ("最近だれかが手を加えたか", "前はいくらだったか経緯を知りたい", "だれが触ったのか"),
}
