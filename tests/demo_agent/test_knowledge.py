"""What is found in the knowledge base, and what an answer makes of it."""

from __future__ import annotations

from liftbay_demo.generation.knowledge import FromPassages
from liftbay_demo.memory.knowledge import KnowledgeBase
from liftbay_demo.words import Words


def test_passages(knowledge: KnowledgeBase) -> None:
    assert len(knowledge.passages) >= 80
    assert knowledge.search("障害の振り返りはいつまでに書く?")[0].id == "kb-incident#4"
    assert len(knowledge.search("審査")) <= 4
    assert knowledge.search("駅前のおいしいパン屋") == []


def test_answers_say_what_is_not_written(knowledge: KnowledgeBase, words: Words) -> None:
    def answer(question: str) -> str:
        return FromPassages(words).answer(question, knowledge.search(question), brief=False)

    assert "資料に記載がない" in answer("駅前のおいしいパン屋は?")
    assert "「cloneProduct」" in answer("cloneProduct の使い方は?")
    written = answer("引当の期限は何分?")
    assert "30分" in written
    assert "出典" in written
    assert "「字幕」については資料に記載がありません" in answer("動画の字幕の決まりは?")
