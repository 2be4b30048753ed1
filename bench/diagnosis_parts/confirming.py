"""Whether replaying a failed case with one module's expected output in its place agrees with the blame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from diagnosis_parts.agent import InProcess
from diagnosis_parts.figures import ORDER, Blamed
from diagnosis_parts.judge import ScriptedJudge
from diagnosis_parts.runs import Runner, judged
from liftbay.domain.case import Case
from liftbay.domain.result import Outcome
from liftbay.ports import AgentInput
from liftbay_demo.domain import Message, Route, ToolCall
from liftbay_demo.faults.setting import Fault
from liftbay_demo.memory.knowledge import KnowledgeBase
from liftbay_demo.overrides import GivenChunk, Overrides
from liftbay_demo.places import KNOWLEDGE
from liftbay_demo.words import Words

MODULES = ("perception", "planning", "memory", "tool")


class Confirmed(msgspec.Struct, frozen=True):
    """How many replays passed: of the module that is blamed, and of one that comes before the module with the fault."""

    right: int
    blamed: int
    wrong: int
    others: int
    modules: str = ""  # the first two numbers by module, to be printed

    @property
    def flip(self) -> float | None:
        """The share of the cases that pass with the output of the blamed module replaced."""
        return self.right / self.blamed if self.blamed else None

    @property
    def false(self) -> float | None:
        """The share that pass though the fault comes after what was replaced, and is still there."""
        return self.wrong / self.others if self.others else None

    def __str__(self) -> str:
        return (
            f"with the blamed module's output replaced {self.right} of {self.blamed} pass; with that of a module "
            f"before the fault {self.wrong} of {self.others}{self.modules}"
        )


class Expected:
    """What a case says that a module should put out."""

    def __init__(self) -> None:
        self._passages = {one.id: one.content for one in KnowledgeBase(KNOWLEDGE, Words()).passages}

    def of(self, module: str, case: Case) -> bool:
        """Whether the case says it."""
        if module == "memory" and case.conversation_chain:
            return True
        return self._single(module, case) is not None

    def output(self, module: str, turn: AgentInput) -> Overrides:
        """What stands in the place of the module's output in this turn."""
        if module == "memory" and turn.case.conversation_chain:
            messages = [
                message
                for one in turn.earlier
                for message in (Message("user", one.user_input), Message("assistant", one.answer or ""))
            ]
            return Overrides(history=messages)
        return self._single(module, turn.case) or Overrides()

    def _single(self, module: str, case: Case) -> Overrides | None:
        calls = case.expected_tools
        if module == "perception" and case.expected_intents:
            return Overrides(intents=case.expected_intents)
        if module == "perception" and case.expected_intent is not None:
            return Overrides(intents=[case.expected_intent], skill=case.expected_skill)
        if module == "planning" and case.expected_route is not None:
            return Overrides(route=Route(case.expected_route.value))
        if module in ("planning", "tool") and calls is not None:
            return Overrides(tool_calls=[ToolCall(one.name, one.arguments) for one in calls])
        sources = case.extra.get("sourcePassages") or []
        if module == "memory" and sources:
            return Overrides(chunks=[GivenChunk(self._passages[id_], id_) for id_ in sources])
        return None


async def confirm(
    agent: InProcess, runner: Runner, judge: ScriptedJudge, rows: Sequence[Blamed], seed: int
) -> Confirmed:
    """Replay every failed case with its fault: once with the blamed module replaced, once with an earlier one."""
    expected = Expected()
    everything = {case.id: case for case in runner.cases}
    right: Counter[str] = Counter()
    blamed: Counter[str] = Counter()
    wrong = others = 0
    for (kind, module), kept in _by_kind_and_module(rows, expected).items():
        runner.cases = [everything[row.result.case.id] for row in kept]
        agent.overrides = lambda turn, module=module: expected.output(module, turn)  # type: ignore[misc]
        passed = await _passed(runner, judge, kind, seed)
        before = ORDER.index(module) < ORDER.index(kept[0].module)
        for row in kept:
            if row.named == module:
                blamed[module] += 1
                right[module] += passed[row.result.case.id]
            elif before:
                others += 1
                wrong += passed[row.result.case.id]
    agent.overrides = lambda turn: Overrides()
    runner.cases = list(everything.values())
    modules = "".join(f"\n  {module:12} {right[module]} of {blamed[module]}" for module in MODULES)
    return Confirmed(right.total(), blamed.total(), wrong, others, modules)


def _by_kind_and_module(rows: Sequence[Blamed], expected: Expected) -> dict[tuple[str, str], list[Blamed]]:
    found: defaultdict[tuple[str, str], list[Blamed]] = defaultdict(list)
    for row in rows:
        for module in MODULES:
            earlier = ORDER.index(module) < ORDER.index(row.module)
            if expected.of(module, row.result.case) and (row.named == module or earlier):
                found[row.kind, module].append(row)
    return dict(found)


async def _passed(runner: Runner, judge: ScriptedJudge, kind: str, seed: int) -> Mapping[str, bool]:
    results = await judged(await runner.episodes((Fault(kind, 1.0, seed),)), judge)
    return {id_: result.outcome is Outcome.PASSED for id_, result in results.items()}
