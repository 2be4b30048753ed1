"""Why calls are wrong: per tool and argument, by depth of the dialogue, with intervals.

The calls of a record are set against the expected ones in four steps: equal calls are matched; what is left is
paired by the name of the tool, the most similar first; then an expected and a made call that are left are a *wrong
tool*; what is still left is a *missed* or a *superfluous* call. Arguments are compared within pairs of one tool.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from liftbay.benchmarks.jmultiwoz_tc.score import Scored
from liftbay.datasets.data_file import DataFile
from liftbay.datasets.jmultiwoz_tc_records import InputRecord, read
from liftbay.datasets.json_lines import field_error
from liftbay.domain.toolcall import ToolCall
from liftbay.scoring.alignment import take_pairs
from liftbay.scoring.arguments import ArgumentFault, argument_faults, leniently_same_calls, same_calls
from liftbay.scoring.jmultiwoz_tc import CALLS, MEASURES, OVERALL, Decision, Measure
from liftbay.scoring.rates import Rate, clustered_rate


class FaultCounts(msgspec.Struct, frozen=True, rename="camel"):
    """How often arguments differed, by class; the fields are those of `ArgumentFault`."""

    missing: int
    superfluous: int
    wrong_type: int
    unicode_form: int
    kana_or_width: int
    wrong_value: int


class ArgumentCounts(FaultCounts, frozen=True, rename="camel"):
    """How one argument fared in the calls of its tool that could be set against an expected call."""

    expected: int  # pairs in which the expected call has the argument
    correct: int


class ToolCounts(msgspec.Struct, frozen=True, rename="camel"):
    """How the calls of one tool fared."""

    expected: int  # calls of this tool among the right answers
    made: int  # calls of this tool among the answers
    correct: int
    wrong_arguments: int  # the right tool, at least one argument differs
    missed: int  # expected, and no call left that could be it
    superfluous: int  # made, and no call expected
    wrong_tool: dict[str, int]  # expected this tool, and called that one instead
    arguments: dict[str, ArgumentCounts]


class DepthRates(msgspec.Struct, frozen=True, rename="camel"):
    """Accuracy at one depth: `turns` is how many user turns come before the utterance."""

    turns: int
    overall: Rate
    tool_calls: Rate


class MeasureRates(msgspec.Struct, frozen=True, rename="camel"):
    """The rate of one of the five lines: exact, and leniently matched where matching matters."""

    exact: Rate
    lenient: Rate | None


class Breakdown(msgspec.Struct, frozen=True, rename="camel"):
    """Everything that `--breakdown` shows; rates in 0..1 with 95 % intervals clustered by dialogue."""

    records: int
    errors: int
    errors_by_reason: dict[str, int]  # the exception's name, the most frequent first
    dialogues: int
    measures: dict[str, MeasureRates]
    missed_calls: int
    superfluous_calls: int
    wrong_tools: int
    argument_faults: FaultCounts  # over all tools and arguments
    tools: dict[str, ToolCounts]
    by_depth: list[DepthRates] | None  # None where there is no input file to count turns in


class Alignment(NamedTuple):
    """The calls of one record set against the expected ones."""

    correct: list[ToolCall]
    same_tool: list[tuple[ToolCall, ToolCall]]  # expected, made
    wrong_tool: list[tuple[ToolCall, ToolCall]]  # expected, made
    missed: list[ToolCall]
    superfluous: list[ToolCall]


def align(expected: Sequence[ToolCall], made: Sequence[ToolCall]) -> Alignment:
    """Set the made calls against the expected ones; a call that repeats another counts once."""
    left, rest = _distinct(expected), _distinct(made)
    correct = take_pairs(left, rest, lambda one, other: 0 if same_calls([one], [other]) else None)
    same_tool = take_pairs(left, rest, _distance)
    wrong_tool = list(zip(left, rest, strict=False))
    return Alignment(
        [one for one, _ in correct], same_tool, wrong_tool, left[len(wrong_tool) :], rest[len(wrong_tool) :]
    )


def _distinct(calls: Sequence[ToolCall]) -> list[ToolCall]:
    found: list[ToolCall] = []
    for call in calls:
        if not any(same_calls([call], [known]) for known in found):
            found.append(call)
    return found


def _distance(expected: ToolCall, made: ToolCall) -> int | None:
    if expected.name != made.name:
        return None
    return len(argument_faults(expected.arguments, made.arguments))


def break_down(scored: Sequence[Scored], depths: Mapping[str, int] | None) -> Breakdown:
    """The breakdown of all scored results; `depths` are the turns before each utterance, by id."""
    decided = [(one, one.decision) for one in scored if one.decision is not None]
    tools = _Tools()
    for one, _ in decided:
        tools.add(align(one.gold.ground_truth, one.result.tool_calls))
    counts = tools.counts()
    return Breakdown(
        records=len(scored),
        errors=len(scored) - len(decided),
        errors_by_reason=_reasons(scored),
        dialogues=len({one.gold.dialogue_id for one in scored}),
        measures=_measures(decided),
        missed_calls=sum(tool.missed for tool in counts.values()),
        superfluous_calls=sum(tool.superfluous for tool in counts.values()),
        wrong_tools=sum(sum(tool.wrong_tool.values()) for tool in counts.values()),
        argument_faults=tools.faults(),
        tools=counts,
        by_depth=None if depths is None else _by_depth(decided, depths),
    )


def _reasons(scored: Iterable[Scored]) -> dict[str, int]:
    names = (str(one.result.error).partition(":")[0] for one in scored if one.result.failed)
    return dict(Counter(names).most_common())


def _measures(decided: Sequence[tuple[Scored, Decision]]) -> dict[str, MeasureRates]:
    lenient = [
        (
            one,
            decision
            if decision.exact
            else decision._replace(exact=leniently_same_calls(one.gold.ground_truth, one.result.tool_calls)),
        )
        for one, decision in decided
    ]
    return {
        measure.name: MeasureRates(
            rate_of(measure, decided), rate_of(measure, lenient) if measure in (OVERALL, CALLS) else None
        )
        for measure in MEASURES
    }


def rate_of(measure: Measure, decided: Iterable[tuple[Scored, Decision]]) -> Rate:
    """The rate of one line over these records, clustered by dialogue."""
    passes: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for one, decision in decided:
        if measure.over(decision):
            sizes[one.gold.dialogue_id] += 1
            passes[one.gold.dialogue_id] += measure.correct(decision)
    return clustered_rate((passes[dialogue], size) for dialogue, size in sizes.items())


def _by_depth(decided: Sequence[tuple[Scored, Decision]], depths: Mapping[str, int]) -> list[DepthRates]:
    groups: dict[int, list[tuple[Scored, Decision]]] = defaultdict(list)
    for one, decision in decided:
        if (turns := depths.get(one.gold.data_id)) is not None:
            groups[turns].append((one, decision))
    return [
        DepthRates(turns, rate_of(OVERALL, groups[turns]), rate_of(CALLS, groups[turns])) for turns in sorted(groups)
    ]


class _Tools:
    """Counts as alignments come in."""

    def __init__(self) -> None:
        self._calls: dict[str, Counter[str]] = defaultdict(Counter)
        self._wrong: dict[str, Counter[str]] = defaultdict(Counter)
        self._faults: dict[tuple[str, str], Counter[ArgumentFault]] = defaultdict(Counter)
        self._given: dict[tuple[str, str], int] = defaultdict(int)

    def add(self, found: Alignment) -> None:
        for call in found.correct:
            self._calls[call.name].update(("expected", "made", "correct"))
            self._compare(call, call)
        for expected, made in found.same_tool:
            self._calls[expected.name].update(("expected", "made", "wrong_arguments"))
            self._compare(expected, made)
        for expected, made in found.wrong_tool:
            self._calls[expected.name]["expected"] += 1
            self._calls[made.name]["made"] += 1
            self._wrong[expected.name][made.name] += 1
        for call in found.missed:
            self._calls[call.name].update(("expected", "missed"))
        for call in found.superfluous:
            self._calls[call.name].update(("made", "superfluous"))

    def _compare(self, expected: ToolCall, made: ToolCall) -> None:
        for name in expected.arguments:
            self._given[expected.name, name] += 1
        for name, fault in argument_faults(expected.arguments, made.arguments).items():
            self._faults[expected.name, name][fault] += 1

    def counts(self) -> dict[str, ToolCounts]:
        return {
            tool: ToolCounts(
                expected=calls["expected"],
                made=calls["made"],
                correct=calls["correct"],
                wrong_arguments=calls["wrong_arguments"],
                missed=calls["missed"],
                superfluous=calls["superfluous"],
                wrong_tool=dict(self._wrong[tool].most_common()),
                arguments={
                    name: self._argument(tool, name)
                    for name in sorted({argument for of, argument in self._given | self._faults if of == tool})
                },
            )
            for tool, calls in sorted(self._calls.items())
        }

    def faults(self) -> FaultCounts:
        return FaultCounts(
            **{fault.value: sum(counts[fault] for counts in self._faults.values()) for fault in ArgumentFault}
        )

    def _argument(self, tool: str, name: str) -> ArgumentCounts:
        faults = self._faults[tool, name]
        expected = self._given[tool, name]
        wrong = {fault.value: faults[fault] for fault in ArgumentFault}
        correct = expected - sum(wrong.values()) + wrong[ArgumentFault.SUPERFLUOUS]
        return ArgumentCounts(expected=expected, correct=correct, **wrong)


class _Role(msgspec.Struct):
    role: str


def read_depths(file: DataFile) -> dict[str, int] | None:
    """How many user turns come before each utterance, by id, or None where there is no input file."""
    if not file.exists():
        return None
    decoder = msgspec.json.Decoder(list[_Role])
    depths = {}
    for number, record in read(file, InputRecord):
        try:
            messages = decoder.decode(record.question)
        except msgspec.ValidationError as error:
            raise field_error(file, number, error, "question") from None
        depths[record.data_id] = sum(message.role == "user" for message in messages[:-1])
    return depths
