"""Whatever is written into a trial, the request to the judge keeps its structure."""

from __future__ import annotations

import re

import pytest
from chat_server import ScriptedChat, serving
from injected import PLACES, injections, trial_with
from judge_double import judge_at, saying
from places import synchronous

from liftbay.llm.fences import clean
from liftbay.llm.prompts import prompt_of

TEXTS = {one["id"]: one["text"] for one in injections()}
NOTE = re.compile(r"\n[(（](?:control|marks|取り除いた|空白)[^\n]*[)）]")


def parts_of(message: str) -> tuple[str, list[str]]:
    """What stands outside the fences, without the notes on what was taken out, and what stands inside each."""
    nonce = re.search(r"<data-([0-9a-f]{16})>", message)
    assert nonce is not None
    block = re.compile(rf"^<data-{nonce[1]}>\n(.*?)\n</data-{nonce[1]}>$", re.DOTALL | re.MULTILINE)
    outside = NOTE.sub("", block.sub("<>", message)).replace(nonce[1], "N")
    return outside, block.findall(message)


def test_there_are_enough_of_them() -> None:
    assert len(TEXTS) == len(injections()) >= 30
    assert {one["place"] for one in injections()} == set(PLACES)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("place", PLACES)
@synchronous
async def test_the_request_keeps_its_structure(place: str, language: str) -> None:
    chat = ScriptedChat(saying("fail"))
    metric, harmless = trial_with(place)
    async with serving(chat) as url, judge_at(url, language=language) as judge:
        await judge.verdict(metric, harmless)
        for text in TEXTS.values():
            await judge.verdict(*trial_with(place, text))
    system = {"role": "system", "content": prompt_of(metric.id, language).system}
    plain, *others = chat.asked
    outside, inside = parts_of(plain["messages"][1]["content"])
    assert len(others) == len(TEXTS), "no two are the same question"
    for text, request in zip(TEXTS.values(), others, strict=True):
        first, user = request["messages"]
        assert first == system
        assert user["role"] == "user"
        found_outside, found_inside = parts_of(user["content"])
        assert found_outside == outside, "nothing of it stands outside"
        changed = [(one, other) for one, other in zip(inside, found_inside, strict=True) if one != other]
        assert len(changed) == 1, "only its own block has changed"
        assert clean(text)[0] in changed[0][1]
        assert request.keys() == plain.keys()
        assert {**request, "messages": None} == {**plain, "messages": None}


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_nothing_that_hides_or_ends_a_message_is_left(text: str) -> None:
    cleaned, _, _ = clean(text)
    assert not re.search(r"<\|\w+\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|<｜", cleaned)
    assert not any(ord(one) < 32 and one not in "\n\t" for one in cleaned)
    assert not re.search("[\u200b\u202a-\u202e\U000e0000-\U000e007f]", cleaned)
    cleaned.encode()
