"""How often a judge agrees with the labelled items, metric by metric, and what a verdict costs.

`python bench/judge/agreement.py --judge URL --judge-model NAME [--language ja|en] [--metric ID …] [--json FILE]`

A metric that decides parts (chunks, points, rounds) counts each part; its interval knows that parts of one item belong
together. Agreement is over the decisions that the judge made; those it failed to make stand beside it as errors. The
key of the endpoint, if it needs one, comes from LIFTBAY_JUDGE_API_KEY.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec

from judge.items import Item, read_items
from liftbay.domain.judging import KEY_VARIABLE, CacheUse, JudgeSettings
from liftbay.domain.verdict import Verdict
from liftbay.domain.vocabulary import VerdictStatus
from liftbay.llm.asking import Asker
from liftbay.llm.judge import LlmJudge
from liftbay.llm.kept_answers import RecordedAnswers
from liftbay.llm.prompts import Words, prompt_of
from liftbay.ports import Judge
from liftbay.scoring.rates import Rate, clustered_rate
from liftbay.transport.chat_endpoint import ChatEndpoint

HEAD = (
    *("metric", "items", "n", "agreement (95 %)", "always the same", "false passes", "false fails"),
    *("n/a wrongly", "errors", "s", "tokens in", "out"),
)
NEITHER = (VerdictStatus.NOT_APPLICABLE, VerdictStatus.EXCLUDED)


class Decision(msgspec.Struct, frozen=True):
    """One label beside what the judge said; `judged` is None where it failed to say anything."""

    item: str
    part: str | None
    expected: str
    judged: str | None
    reasoning: str


class Judged(msgspec.Struct, frozen=True):
    """One item, judged."""

    metric: str
    decisions: list[Decision]
    seconds: float | None
    input_tokens: int
    output_tokens: int
    asked_again: bool


class Row(msgspec.Struct, frozen=True):
    """The figures of one metric, or of all."""

    metric: str
    items: int
    decisions: int
    agreement: Rate
    false_passes: int
    false_fails: int
    others: int  # disagreements about whether there is anything to decide
    errors: int
    majority: float  # what always saying the metric's most frequent label would reach
    seconds: float | None  # mean of a verdict
    input_tokens: float
    output_tokens: float
    asked_again: int  # answers that could not be read at first


async def judged(judge: Judge, item: Item, language: str) -> Judged:
    """Ask the judge about one item."""
    verdict = await judge.verdict(item.rule, item.evidence)
    words = prompt_of(item.metric, language).words
    votes = verdict.judgement.votes if verdict.judgement else []
    measured = [vote.latency_ms for vote in votes if vote.latency_ms is not None]
    return Judged(
        item.metric,
        decisions_of(item, verdict, words),
        sum(measured) / 1000 if measured else None,
        sum(vote.input_tokens or 0 for vote in votes),
        sum(vote.output_tokens or 0 for vote in votes),
        any(vote.calls > 1 for vote in votes),
    )


def decisions_of(item: Item, verdict: Verdict, words: Words) -> list[Decision]:
    """What the judge said of each label of the item."""
    if verdict.status is VerdictStatus.ERROR:
        return [Decision(item.id, None, label, None, verdict.reason or "") for label in item.labels]
    if isinstance(item.expected, str):
        reasoning = verdict.judgement.reasoning if verdict.judgement else ""
        return [Decision(item.id, None, item.expected, _word(verdict, words), reasoning)]
    return [
        Decision(item.id, part.label, label, words.passing if part.passed else words.failing, part.reasoning)
        for label, part in zip(item.expected, verdict.items, strict=True)
    ]


def _word(verdict: Verdict, words: Words) -> str | None:
    if verdict.status in NEITHER:
        return words.neither
    return words.passing if verdict.status is VerdictStatus.PASS else words.failing


def row_of(metric: str, found: Sequence[Judged]) -> Row:
    """The figures over items that were judged, of one metric or of several."""
    decisions = [(one.metric, decision) for one in found for decision in one.decisions]
    wrong = [
        (prompt_of(id_, "en").words, one.judged)
        for id_, one in decisions
        if one.judged is not None and one.judged != one.expected
    ]
    timed = [one.seconds for one in found if one.seconds is not None]
    return Row(
        metric,
        len(found),
        len(decisions),
        clustered_rate(map(_cluster, found)),
        sum(said == words.passing for words, said in wrong),
        sum(said == words.failing for words, said in wrong),
        sum(said == words.neither for words, said in wrong),
        sum(decision.judged is None for _, decision in decisions),
        sum(_most_frequent(one, decisions) for one in {one.metric for one in found}) / len(decisions),
        statistics.mean(timed) if timed else None,
        statistics.mean(one.input_tokens for one in found),
        statistics.mean(one.output_tokens for one in found),
        sum(one.asked_again for one in found),
    )


def _most_frequent(metric: str, decisions: Sequence[tuple[str, Decision]]) -> int:
    return max(Counter(decision.expected for id_, decision in decisions if id_ == metric).values())


def _cluster(one: Judged) -> tuple[int, int]:
    made = [decision for decision in one.decisions if decision.judged is not None]
    return sum(decision.judged == decision.expected for decision in made), len(made)


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" + "|---:" * (len(HEAD) - 1) + "|"]
    for row in rows:
        seconds = "–" if row.seconds is None else f"{row.seconds:.1f}"
        cells = (
            *(row.metric, row.items, row.decisions, _shown(row.agreement), f"{row.majority:.2f}"),
            *(row.false_passes, row.false_fails, row.others, row.errors),
            *(seconds, f"{row.input_tokens:.0f}", f"{row.output_tokens:.0f}"),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _shown(rate: Rate) -> str:
    return "–" if rate.value is None else f"{rate.value:.2f} ({rate.low:.2f}–{rate.high:.2f})"


async def measured(arguments: argparse.Namespace) -> list[Judged]:
    """Judge the items, a few at once, and say on the way how far it is."""
    items = [item for item in read_items() if not arguments.metric or item.metric in arguments.metric]
    settings = JudgeSettings(
        url=arguments.judge,
        model=arguments.judge_model,
        language=arguments.language,
        concurrency=arguments.concurrency,
        timeout=arguments.timeout,
        cache=CacheUse.OFF,
    )
    endpoint = ChatEndpoint(
        arguments.judge,
        os.environ.get(KEY_VARIABLE, ""),
        connections=settings.concurrency,
        timeout=settings.timeout,
    )
    asker = Asker(endpoint, concurrency=settings.concurrency)
    await asker.start()
    judge = LlmJudge(settings, asker, RecordedAnswers({}))
    done = 0

    async def one(item: Item) -> Judged:
        nonlocal done
        found = await judged(judge, item, arguments.language)
        done += 1
        print(f"{done}/{len(items)} {item.id}", file=sys.stderr, flush=True)
        return found

    try:
        return list(await asyncio.gather(*map(one, items)))
    finally:
        await judge.close()


def main() -> None:
    """Print the table; with `--json`, write the figures and every decision with its reasoning too."""
    parser = argparse.ArgumentParser(description="Hold a judge against the labelled items.")
    parser.add_argument("--judge", required=True, metavar="URL", help="an OpenAI-compatible endpoint")
    parser.add_argument("--judge-model", required=True, metavar="NAME")
    parser.add_argument("--language", choices=("ja", "en"), default="ja", help="of the prompts; the items are Japanese")
    parser.add_argument("--metric", action="append", metavar="ID", help="only this one; may be repeated")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600.0, help="of one call, in seconds")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    found = asyncio.run(measured(arguments))
    metrics = list(dict.fromkeys(one.metric for one in found))
    rows = [row_of(metric, [one for one in found if one.metric == metric]) for metric in metrics]
    rows.append(row_of("all", found))
    print(table(rows))
    if arguments.json:
        report: dict[str, Any] = {
            "model": arguments.judge_model,
            "language": arguments.language,
            "prompts": [prompt_of(metric, arguments.language).name for metric in metrics],
            "rows": rows,
            "items": found,
        }
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(report)))


if __name__ == "__main__":
    main()
