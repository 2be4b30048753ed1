"""Prompt files: which there are, what they say, their versions."""

from __future__ import annotations

import pytest

from liftbay.catalog.metrics import METRICS
from liftbay.errors import InputError
from liftbay.llm.prompts import Words, prompt_of, read_prompt

JUDGED = {id_: metric.asks for id_, metric in METRICS.items() if metric.asks is not None}


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("metric", JUDGED)
def test_every_judged_metric_has_a_prompt_in_both_languages(metric: str, language: str) -> None:
    prompt = prompt_of(metric, language)
    assert (prompt.words.neither is not None) == JUDGED[metric].may_not_apply
    assert (len(prompt.version), prompt.name) == (12, f"{metric}.{language}@{prompt.version}")
    assert prompt.words == prompt_of(metric, "en").words, "an answer means the same in both languages"
    for word in prompt.words.all:
        assert word in prompt.system
    assert ('"items"' in prompt.system) == (JUDGED[metric].each is not None)


def test_what_a_file_says() -> None:
    content = b"---\r\nverdicts: yes, no, neither  # three\r\n---\r\n\r\nJudge.\r\n---\r\nmore\r\n"
    prompt = read_prompt(content, "m", "en")
    assert prompt.words == Words("yes", "no", "neither")
    assert prompt.system == "Judge.\n---\nmore"


def test_another_wording_is_another_version() -> None:
    one, other = (read_prompt(b"---\nverdicts: a, b\n---\n" + text, "m", "en") for text in (b"x", b"y"))
    assert one.version != other.version


@pytest.mark.parametrize("content", [b"", b"Judge.", b"---\nverdicts: pass\n---\nx", b"---\nverdicts: a,,b\n---\nx"])
def test_a_file_without_its_words(content: bytes) -> None:
    with pytest.raises(InputError, match="verdicts"):
        read_prompt(content, "m", "en")


def test_a_metric_without_a_prompt() -> None:
    with pytest.raises(InputError, match="mine has no prompt in the language en"):
        prompt_of("mine", "en")
