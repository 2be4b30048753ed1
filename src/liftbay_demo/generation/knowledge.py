"""Answers that are taken from the passages of the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Sequence

from liftbay_demo.domain import Chunk
from liftbay_demo.memory.synonyms import expanded
from liftbay_demo.words import Words

NOT_WRITTEN = "資料に記載がないため、お答えできません。"
_MOST_PASSAGES = 2
_CLOSE_TO_THE_BEST = 0.75
_NAME = re.compile(
    r"(?<![A-Za-z0-9_])(?:[a-z]+[A-Z][A-Za-z]+|[A-Z][a-z]+[A-Z][A-Za-z]+|[A-Z]{2,}[A-Z_]*"
    r"|[a-z]+[_-][a-z_-]+|[A-Z]\d)(?![A-Za-z0-9])"
)
_SENTENCES = re.compile(r"(?<=。)")
_NO_MATTER_WORDS = (
    "教える 知る 欲しい 願う 調べる 確認 見る 分かる 商品 場合 方法 方 決まり ルール 仕組み 必要 今 現在 "
    "具体 詳しい 詳細 説明 一般 件 数 回 日 人 円 個 日数 使う 遣る 行う 掛かる 終わる 有る 出す 入れる "
    "付く 付ける 教わる 資料 内容 情報 普通 全部 全て 時間 幾つ 幾ら 何処 何時 誰 何故 どれ位 位 程 "
    "ミナトクロス 弊社 当社 うち 社内 担当 定める 決まる 設定 名前 名 種類 違い 意味 理由 センター 可能 "
    "機能 手続き 手順 秒 分 営業 秒間 回数 上限 下限 期限 大丈夫 駄目 最大 最小 最短 最長 良い 悪い 側 用 他 以外 点"
)
_NO_MATTER = frozenset(_NO_MATTER_WORDS.split())


class FromPassages:
    """Quotes what answers a question, and says what is not written."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def answer(self, question: str, chunks: Sequence[Chunk], *, brief: bool) -> str:
        """The answer to the question out of these passages."""
        held = " ".join(f"{chunk.title} {chunk.content}" for chunk in chunks)
        unheard_of = [name for name in dict.fromkeys(_NAME.findall(question)) if name.lower() not in held.lower()]
        if unheard_of:
            return f"「{'」「'.join(unheard_of)}」については、{NOT_WRITTEN}名称をご確認ください。"
        if not chunks:
            return f"お尋ねの件は、{NOT_WRITTEN}"
        used = self._used(question, chunks)
        parts = [self._quoted(question, chunk, brief=brief) for chunk in used]
        missing = self._missing(question, held)
        if missing and len(missing) == len(self._nouns(question)):
            return f"「{'」「'.join(missing)}」については、{NOT_WRITTEN}"
        if missing:
            parts.append(f"なお、「{'」「'.join(missing)}」については資料に記載がありません。")
        return "\n\n".join(parts)

    def _used(self, question: str, chunks: Sequence[Chunk]) -> list[Chunk]:
        """The best passage, and those that are nearly as good."""
        asked = set(self._words.of(expanded(question)))
        best = max(chunk.score for chunk in chunks)
        close = [chunk for chunk in chunks if chunk.score >= best * _CLOSE_TO_THE_BEST]
        first, *others = close
        more = [
            one for one in others if (asked & set(self._words.of(one.content))) - set(self._words.of(first.content))
        ]
        return [first, *more][:_MOST_PASSAGES]

    def _quoted(self, question: str, chunk: Chunk, *, brief: bool) -> str:
        sentences = [sentence.strip() for sentence in _SENTENCES.split(chunk.content) if sentence.strip()]
        if brief and sentences:
            asked = set(self._words.of(expanded(question)))
            sentences = [max(sentences, key=lambda sentence: len(asked & set(self._words.of(sentence))))]
        source = chunk.title or chunk.id
        return f"{''.join(sentences)}\n(出典: {source})" if source else "".join(sentences)

    def _missing(self, question: str, held: str) -> list[str]:
        """The words of the question that no passage holds."""
        there = set(self._words.of(held))
        wider = expanded(question)
        if wider != question:  # said in other words, it may be there
            there |= {word for word in self._words.of(question) if self._explained(word, there)}
        return [
            noun
            for noun, words in self._nouns(question).items()
            if any(word not in there and word not in _NO_MATTER for word in words)
        ]

    def _nouns(self, question: str) -> dict[str, tuple[str, ...]]:
        """The nouns that say what the question is about."""
        found = self._words.nouns(question)
        return {noun: words for noun, words in found.items() if not _NO_MATTER.issuperset(words) and not noun.isdigit()}

    def _explained(self, word: str, there: set[str]) -> bool:
        others = set(self._words.of(expanded(word))) - {word}
        return bool(others & there)
