"""A routing fault lowers routing_accuracy by its share and leaves what comes after it alone, unless told otherwise."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from command import write_lines

from liftbay.agents.python import PythonAgent
from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Decide
from liftbay.domain.plan import RunPlan
from liftbay.domain.result import RunRequest
from liftbay.domain.verdict import Verdict, failed, passed, scored
from liftbay.domain.vocabulary import DatasetType
from liftbay.engine.run import Control
from liftbay.jobs.execute import Silent, execute
from liftbay.jobs.prepare import prepare
from liftbay.jobs.reporting import build_report
from liftbay.report.report import Report
from liftbay.stores.memory import MemoryStore

KQA = DatasetType.KNOWLEDGE_QA
CASES = 40
MISROUTED = {*range(5, 10), *range(25, 30)}  # a quarter
UNFAITHFUL = set(range(0, CASES, 5))  # a fifth, of the misrouted too
DOWNSTREAM = ("faithfulness_rate", "retrieval_precision", "retrieval_recall")


def number_of(evidence: Evidence) -> int:
    """Which case it is."""
    return int(evidence.case.id.removeprefix("K-"))


def misrouted(evidence: Evidence) -> bool:
    """Whether the trial took a Skill, which looked up something else."""
    assert evidence.trace is not None
    assert evidence.trace.planning is not None
    return evidence.trace.planning.route == "SKILL_HIT"


def faithful(evidence: Evidence) -> Verdict:
    """Stands in for a judge: a fifth of the answers invent something, and every one without the knowledge base."""
    if misrouted(evidence) or number_of(evidence) in UNFAITHFUL:
        return failed("faithfulness_rate", "scripted")
    return passed("faithfulness_rate")


def relevant(evidence: Evidence) -> Verdict:
    """Stands in for a judge: three chunks of four are relevant, and none that a Skill looked up."""
    return scored("retrieval_precision", 0 if misrouted(evidence) else 3, 4)


def covered(evidence: Evidence) -> Verdict:
    """Stands in for a judge: every point is covered, but by a Skill none."""
    return scored("retrieval_recall", 0 if misrouted(evidence) else 2, 2)


JUDGES: dict[str, Decide] = dict(zip(DOWNSTREAM, (faithful, relevant, covered), strict=True))


def judged(plan: RunPlan) -> RunPlan:
    """The plan with stand-ins for the judges."""
    metrics = {
        dataset: tuple(
            msgspec.structs.replace(metric, decide=JUDGES.get(metric.id, metric.decide)) for metric in of_dataset
        )
        for dataset, of_dataset in plan.metrics.items()
    }
    return msgspec.structs.replace(plan, metrics=metrics)


def agent_that_misroutes(numbers: set[int]) -> PythonAgent:
    """Takes a Skill in the cases of these numbers, and the knowledge base in all others."""

    def agent(user_input: str) -> dict[str, Any]:
        route = "SKILL_HIT" if int(user_input) in numbers else "SKILL_MISS"
        chunks = [{"content": f"chunk {number}"} for number in range(4)]
        return {"text": "x", "trace": {"planning": {"route": route}, "retrievals": [{"count": 4, "chunks": chunks}]}}

    return PythonAgent(agent, "scripted")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty questions that no Skill covers."""
    return write_lines(
        tmp_path_factory.mktemp("prerequisites") / "cases.jsonl",
        [
            {
                "id": f"K-{number}",
                "datasetType": "KNOWLEDGE_QA",
                "userInput": str(number),
                "expectedRoute": "SKILL_MISS",
                "expectedSkill": None,
                "expectedKnowledge": ["a", "b"],
            }
            for number in range(CASES)
        ],
    )


def report_of(dataset: Path, agent: PythonAgent, *, prerequisites: bool = True) -> Report:
    """The report on an agent, with stand-ins for the judges."""
    request = RunRequest(scope="KNOWLEDGE_QA", agent=agent.name, dataset=[str(dataset)], prerequisites=prerequisites)
    prepared = prepare(request, agent)
    plan = judged(prepared.plan)

    async def work() -> Report:
        store = MemoryStore()
        await store.add_run(prepared.record)
        record = await execute(prepared.record, plan, prepared.cases(), agent, store, Silent(), Control())
        return await build_report(store, record, plan)

    return asyncio.run(work())


def conditional(report: Report) -> dict[str, float | None]:
    """The conditional rates of the metrics after the route."""
    return {name: report.metrics[name].conditional.value for name in DOWNSTREAM}


BEFORE = {"faithfulness_rate": 0.8, "retrieval_precision": 0.75, "retrieval_recall": 1.0}


def test_an_agent_that_routes_rightly(dataset: Path) -> None:
    report = report_of(dataset, agent_that_misroutes(set()))
    assert report.metrics["routing_accuracy"].conditional.value == 1.0
    assert conditional(report) == BEFORE
    assert all(report.metrics[name].coverage.value == 1.0 for name in DOWNSTREAM)


def test_with_prerequisites_only_the_route_shows_the_fault(dataset: Path) -> None:
    report = report_of(dataset, agent_that_misroutes(MISROUTED))
    share = len(MISROUTED) / CASES
    routing = report.metrics["routing_accuracy"]
    assert (routing.conditional.value, routing.conditional.n) == (1 - share, CASES)
    assert routing.confusion == {"SKILL_MISS": {"SKILL_MISS": 30, "SKILL_HIT": 10}}
    assert conditional(report) == BEFORE
    for name in DOWNSTREAM:
        metric = report.metrics[name]
        assert metric.excluded == {"routing fault": len(MISROUTED)}
        assert (metric.coverage.value, metric.coverage.n) == (1 - share, CASES)
        before = BEFORE[name]
        assert metric.all_cases.value == pytest.approx(before * (1 - share)), "nothing is hidden"
    assert report.metrics["fallback_trigger_accuracy"].conditional.value == 1 - share


def test_without_prerequisites_the_fault_spreads(dataset: Path) -> None:
    report = report_of(dataset, agent_that_misroutes(MISROUTED), prerequisites=False)
    share = len(MISROUTED) / CASES
    assert report.metrics["routing_accuracy"].conditional.value == 1 - share
    assert conditional(report) == {name: pytest.approx(before * (1 - share)) for name, before in BEFORE.items()}
    for name in DOWNSTREAM:
        assert report.metrics[name].excluded == {}
        assert report.metrics[name].coverage.value == 1.0


@pytest.mark.parametrize("prerequisites", [True, False])
def test_no_retrieval_and_no_call_are_prerequisites_too(tmp_path: Path, prerequisites: bool) -> None:
    """Where the agent retrieved nothing, what was retrieved cannot be judged."""
    case = {
        "id": "K-1",
        "datasetType": "KNOWLEDGE_QA",
        "userInput": "1",
        "expectedRoute": "SKILL_MISS",
        "expectedKnowledge": ["a"],
    }
    path = write_lines(tmp_path / "cases.jsonl", [case])
    agent = PythonAgent(
        lambda _: {"text": "x", "trace": {"planning": {"route": "SKILL_MISS"}, "retrievals": []}}, "scripted"
    )
    report = report_of(path, agent, prerequisites=prerequisites)
    excluded = {"no retrieval was made": 1} if prerequisites else {}
    assert report.metrics["retrieval_precision"].excluded == excluded
    assert report.metrics["retrieval_recall"].excluded == excluded
    assert report.metrics["faithfulness_rate"].excluded == {}
    assert report.metrics["retrieval_decision_accuracy"].conditional.value == 0.0
