"""Every quality metric, assembled from the files of `liftbay.metrics`: adding a file adds a metric."""

from __future__ import annotations

import importlib
import pkgutil

import liftbay.metrics
from liftbay.domain.metric import Metric
from liftbay.domain.vocabulary import Basis, DatasetType

# The order in which tables show them; a metric that is not named here follows, by its id.
_ORDER = (
    "task_completion_rate",
    "multi_turn_completion_rate",
    "instruction_adherence_rate",
    "faithfulness_rate",
    "abnormal_input_handling_rate",
    "user_satisfaction",
    "intent_accuracy",
    "intent_recall",
    "intent_precision",
    "multi_intent_recognition_rate",
    "ambiguity_clarification_rate",
    "fallback_trigger_accuracy",
    "routing_accuracy",
    "tool_decision_accuracy",
    "retrieval_decision_accuracy",
    "plan_path_score",
    "short_term_retention_rate",
    "retrieval_precision",
    "retrieval_recall",
    "memory_decay_curve",
    "tool_load_success_rate",
    "tool_call_accuracy",
    "tool_call_success_rate",
    "parameter_mapping_accuracy",
)


def _assembled() -> dict[str, Metric]:
    found = {
        module.name: importlib.import_module(f"liftbay.metrics.{module.name}").METRIC
        for module in pkgutil.iter_modules(liftbay.metrics.__path__)
    }
    ranks = {name: rank for rank, name in enumerate(_ORDER)}
    return {name: found[name] for name in sorted(found, key=lambda name: (ranks.get(name, len(ranks)), name))}


METRICS: dict[str, Metric] = _assembled()


def feeds(dataset_type: DatasetType, metric: Metric) -> bool:
    """Whether cases of this type give the metric something to decide on.

    A metric without dataset types takes any trace, unless people give it: that comes from real use, not from cases.
    """
    if not metric.dataset_types:
        return metric.basis is not Basis.HUMAN
    return dataset_type in metric.dataset_types
