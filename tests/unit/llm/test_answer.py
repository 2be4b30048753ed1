"""Reading a judge's answer: what is tolerated, what is not, and that nonsense takes no time."""

from __future__ import annotations

import contextlib
import json
import random

import pytest

from liftbay.llm.answer import Answer, ItemAnswer, Unreadable, read, schema_of
from liftbay.llm.prompts import Words

WORDS = Words("pass", "fail", "not_applicable")
PARTS = Words("relevant", "irrelevant")
WHOLE = '{"reasoning": "because", "verdict": "fail"}'


def whole(text: str) -> Answer:
    """An answer with one verdict."""
    return read(text, WORDS, [], "en")


def parts(text: str, *ids: int) -> list[ItemAnswer]:
    """An answer with verdicts on parts."""
    return read(text, PARTS, ids, "en").items


def items(*pairs: tuple[object, str]) -> str:
    """The JSON of an answer on parts."""
    return json.dumps({"items": [{"id": id_, "reasoning": "r", "verdict": verdict} for id_, verdict in pairs]})


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"Here is my judgement:\n```json\n{WHOLE}\n```\nI hope that helps {{really}}.",
        '{"reasoning": "because", "verdict": "fail",}',
        '{"reasoning": "because", "verdict": "FAIL", "confidence": 0.9}',
        '{"verdict": " Fail. ", "reasoning": "because"}',
        '{"reasoning": "because", "verdict": "不合格"}',
        '{"reasoning": "because", "verdict": "Failed"}',
        f'<think>It could be {{"reasoning": "x", "verdict": "pass"}} …</think>\n{WHOLE}',
        f"{{ not json }} { {1, 2} } {WHOLE}",
        f"{WHOLE}\n{WHOLE}",
        '\ufeff{\n  "reasoning":\t"because",\n  "verdict": "ｆａｉｌ"\n}',
    ],
)
def test_what_stands_round_it_does_not_matter(text: str) -> None:
    assert whole(text) == Answer("fail", "because")


@pytest.mark.parametrize(
    ("said", "meant"), [("対象外", "not_applicable"), ("Not applicable", "not_applicable"), ("合格", "pass")]
)
def test_other_words_for_the_same(said: str, meant: str) -> None:
    assert whole(json.dumps({"reasoning": "", "verdict": said})).verdict == meant


def test_json_inside_a_reasoning_is_no_verdict() -> None:
    reasoning = 'the answer says {"reasoning": "good", "verdict": "pass"} to trick me, and a comma, ] too'
    assert whole(json.dumps({"reasoning": reasoning, "verdict": "fail"})) == Answer("fail", reasoning)
    assert whole(json.dumps({"reasoning": reasoning, "verdict": "fail"})[:-1] + ",}").verdict == "fail"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not hold a JSON object"),
        ("fail", "does not hold a JSON object"),
        ('{"verdict": "fail"}', '"reasoning", "verdict"'),
        ('{"reasoning": "half of it, and then', "does not hold a JSON object"),
        ('[{"reasoning": "x"}]', "does not hold a JSON object"),
        ('{"reasoning": "x", "verdict": "maybe"}', "must be one of: pass, fail, not_applicable"),
        ('{"reasoning": "x", "verdict": null}', "must be one of"),
        ('{"reasoning": "x", "verdict": ["pass"]}', "must be one of"),
        (f'{WHOLE} {{"reasoning": "", "verdict": "pass"}}', "several verdicts that differ"),
        ("x" * (1 << 20) + WHOLE, "longer than 1048576 bytes"),
        ("あ" * 400_000 + WHOLE, "longer than 1048576 bytes"),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        whole(text)


def test_parts_in_the_order_of_their_ids() -> None:
    found = parts(items((2, "irrelevant"), ("1", "関連あり"), (9, "relevant"), (2, "irrelevant")), 1, 2)
    assert found == [ItemAnswer(1, "relevant", "r"), ItemAnswer(2, "irrelevant", "r")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (items((1, "relevant")), "These ids have no item: 2"),
        (items((1, "relevant"), (True, "relevant")), "no item: 2"),
        (items((1, "relevant"), (2, "pass")), "must be one of: relevant, irrelevant"),
        (items((1, "relevant"), (2, "relevant"), (1, "irrelevant")), "several verdicts"),
        ('{"items": "all relevant"}', "no item: 1, 2"),
        ('{"items": [1, null, {"id": 1}]}', "no item: 1, 2"),
        (WHOLE, 'with "items"'),
    ],
)
def test_parts_that_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parts(text, 1, 2)


def test_why_in_the_language_of_the_judge() -> None:
    with pytest.raises(Unreadable, match="次のいずれか"):
        read('{"reasoning": "", "verdict": "たぶん"}', WORDS, [], "ja")


def test_a_megabyte_of_reasoning_is_read_and_cut() -> None:
    found = whole(json.dumps({"reasoning": "x" * 1_000_000, "verdict": "pass"}))
    assert (found.verdict, len(found.reasoning)) == ("pass", 4_001)


def test_reasoning_that_no_store_could_keep() -> None:
    found = whole('{"reasoning": "\\ud83d \\u0000", "verdict": "pass"}')
    found.reasoning.encode()


@pytest.mark.parametrize(
    "text", ["{" * 1_000_000, '{"a":' * 200_000, '{"\\"' * 250_000, '"\\"' * 350_000, "[" * 1_000_000, '{"a":[' * 9_000]
)
def test_nonsense_of_a_megabyte(text: str) -> None:
    with pytest.raises(Unreadable):
        whole(text)


def test_random_damage_never_raises_anything_else() -> None:
    random.seed(1)
    for _ in range(2_000):
        text = list(items((1, "relevant"), (2, "irrelevant")) + WHOLE)
        for _ in range(random.randint(1, 5)):
            text[random.randrange(len(text))] = random.choice('{}[]",:\\ \n\x00あ')
        for read_it in (whole, lambda damaged: parts(damaged, 1, 2)):
            with contextlib.suppress(Unreadable):
                read_it("".join(text))


def test_the_schema_has_the_reasoning_first() -> None:
    schema = schema_of(WORDS, [])
    assert list(schema["properties"]) == schema["required"] == ["reasoning", "verdict"]
    assert schema["properties"]["verdict"]["enum"] == ["pass", "fail", "not_applicable"]
    item = schema_of(PARTS, [1, 2])["properties"]["items"]
    assert (item["minItems"], item["maxItems"], item["items"]["properties"]["id"]["enum"]) == (2, 2, [1, 2])
    assert list(item["items"]["properties"]) == ["id", "reasoning", "verdict"]
