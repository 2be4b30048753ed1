"""routing_accuracy: the actual route equals the expected one."""

from __future__ import annotations

from liftbay.domain.episode import Evidence
from liftbay.domain.metric import Metric, Prerequisite
from liftbay.domain.verdict import Verdict, failed, not_applicable, passed
from liftbay.domain.vocabulary import Aspect, Basis, Bilingual, DatasetType, JudgeTask, Module
from liftbay.scoring.trace_parts import route


def decide(evidence: Evidence) -> Verdict:
    """PASS where the trace's route is `expectedRoute`."""
    expected = evidence.case.expected_route
    if expected is None:
        return not_applicable(METRIC.id, "the case expects no route")
    actual = route(evidence)
    if actual is None:
        return not_applicable(METRIC.id, "the trace reports no route", missing="planning.route")
    if actual is expected:
        return passed(METRIC.id, expected=expected, actual=actual)
    return failed(METRIC.id, "another route was taken", expected=expected, actual=actual)


METRIC = Metric(
    id="routing_accuracy",
    name=Bilingual("Routing accuracy", "ルーティング判断精度"),
    definition=Bilingual(
        "The actual route equals the expected one; with the confusion matrix.",
        "実際のルートが期待ルートと一致したか。混同行列を併記する。",
    ),
    module=Module.PLANNING,
    basis=Basis.TRACE,
    aspect=Aspect.CAPABILITY,
    judge_task=JudgeTask.INTENT_ROUTE,
    dataset_types=(DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA),
    prerequisites=(Prerequisite.FINISHED,),
    needs=("planning.route",),
    decide=decide,
)
