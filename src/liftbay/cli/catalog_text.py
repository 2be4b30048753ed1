"""The catalog as text for the console."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.resolve import ChosenBy, MainMetric, resolve
from liftbay.catalog.rows import metrics_fed_by
from liftbay.catalog.scopes import SCOPES
from liftbay.catalog.words import ASPECTS, BASES, DIMENSIONS, JUDGE_TASKS, MODULES, PREREQUISITES, text_of
from liftbay.domain.vocabulary import DatasetType
from liftbay.language import tr
from liftbay.report.table import table


def overview(name: str) -> str:
    """A whole table, one line a row."""
    return _OVERVIEWS[name]()


def detail(name: str, row: str) -> str:
    """One row with all that is known of it."""
    return _DETAILS[name](row)


def _scopes() -> str:
    plans = [resolve(scope) for scope in SCOPES]
    return _titled(
        tr("Scopes: what a run covers"),
        (tr("scope"), tr("name"), tr("main metric"), tr("dataset types"), tr("metrics"), tr("probes")),
        [
            (
                plan.scope,
                text_of(SCOPES[plan.scope].name),
                plan.main_metric,
                *(str(len(part)) for part in (plan.datasets, plan.metrics, plan.probes)),
            )
            for plan in plans
        ],
        text_columns=3,
    )


def _metrics() -> str:
    return _titled(
        tr("Quality metrics"),
        (tr("metric"), tr("name"), tr("module"), tr("decided by"), tr("judge task")),
        [
            (
                metric.id,
                text_of(metric.name),
                text_of(MODULES[metric.module]),
                text_of(BASES[metric.basis]),
                text_of(JUDGE_TASKS[metric.judge_task]) if metric.judge_task else "–",
            )
            for metric in METRICS.values()
        ],
    )


def _datasets() -> str:
    return _titled(
        tr("Dataset types"),
        (tr("dataset type"), tr("name"), tr("main metric"), tr("recommended size")),
        [
            (row.id.value, text_of(row.name), row.main_metric, f"≥ {row.recommended_size}")
            for row in DATASET_TYPES.values()
        ],
        text_columns=3,
    )


def _probes() -> str:
    return _titled(
        tr("Probes: measured cost and performance"),
        (tr("probe"), tr("name"), tr("dimension"), tr("module"), tr("unit")),
        [
            (
                probe.id,
                text_of(probe.name),
                text_of(DIMENSIONS[probe.dimension]),
                text_of(MODULES[probe.module]),
                probe.unit,
            )
            for probe in PROBES.values()
        ],
    )


def _scope(name: str) -> str:
    plan = resolve(name)
    parts = [
        f"{name}: {text_of(SCOPES[name].name)}",
        "",
        f"{tr('main metric')}: {plan.main_metric}",
        f"  {text_of(plan.reason)}",
        "",
        f"{tr('What decides the cases of each dataset type')}:",
        *(line for dataset, main in plan.main_metric_by_dataset.items() for line in _main_metric(dataset, main)),
        "",
        f"{tr('metrics')}:",
        _indented([(metric, text_of(METRICS[metric].name)) for metric in plan.metrics]),
        "",
        f"{tr('probes')}:",
        _indented([(probe, text_of(PROBES[probe].name), PROBES[probe].unit) for probe in plan.probes]),
    ]
    return "\n".join(parts)


def _main_metric(dataset: DatasetType, main: MainMetric) -> list[str]:
    lines = [f"  {dataset} → {main.metric} ({_chosen_by(main.chosen_by)})"]
    if main.chosen_by is not ChosenBy.SCOPE:
        lines.append(f"    {text_of(main.reason)}")
    if main.fallback:
        lines.append("    " + tr("where it is not applicable: {metric}", metric=main.fallback))
    return lines


def _chosen_by(rule: ChosenBy) -> str:
    return {
        ChosenBy.SCOPE: tr("main metric of the scope"),
        ChosenBy.MODULE: tr("the module's own metric"),
        ChosenBy.DATASET: tr("main metric of the dataset type"),
    }[rule]


def _metric(name: str) -> str:
    metric = METRICS[name]
    facts = [
        (tr("module"), text_of(MODULES[metric.module])),
        (tr("aspect"), text_of(ASPECTS[metric.aspect])),
        (tr("decided by"), f"{text_of(BASES[metric.basis])} ({metric.basis})"),
        (tr("judge task"), text_of(JUDGE_TASKS[metric.judge_task]) if metric.judge_task else "–"),
        (tr("dataset types"), _dataset_types(metric.dataset_types, human=metric.judge_task is None)),
        (tr("needs"), _listed(text_of(PREREQUISITES[each]) for each in metric.prerequisites)),
        (tr("scopes"), _listed(scope for scope in SCOPES if name in resolve(scope).metrics)),
    ]
    return _described(f"{name}: {text_of(metric.name)}", text_of(metric.definition), facts)


def _dataset_types(types: Sequence[DatasetType], *, human: bool) -> str:
    if types:
        return ", ".join(types)
    return tr("none: collected from real use") if human else tr("any whose trace reports what it needs")


def _dataset(name: str) -> str:
    row = DATASET_TYPES[DatasetType(name)]
    facts = [
        (tr("recommended size"), tr("{count} cases or more; a conversation is one case", count=row.recommended_size)),
        (tr("main metric"), f"{row.main_metric}: {text_of(row.reason)}"),
        (tr("metrics"), _listed(metrics_fed_by(row.id))),
        (tr("scopes"), _listed(scope.id for scope in SCOPES.values() if row.id in scope.dataset_types)),
    ]
    return _described(f"{name}: {text_of(row.name)}", text_of(row.built), facts)


def _probe(name: str) -> str:
    probe = PROBES[name]
    facts = [
        (tr("dimension"), text_of(DIMENSIONS[probe.dimension])),
        (tr("module"), text_of(MODULES[probe.module])),
        (tr("unit"), probe.unit),
        (tr("scopes"), _listed(scope.id for scope in SCOPES.values() if name in scope.probes)),
    ]
    return _described(f"{name}: {text_of(probe.name)}", text_of(probe.read), facts)


def _titled(title: str, names: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int | None = None) -> str:
    return f"{title}\n\n{table(names, rows, text_columns or len(names))}"


def _described(title: str, text: str, facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join((title, "", text, "", *(f"{name}: {value}" for name, value in facts)))


def _indented(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, without names over them."""
    if not rows:
        return "  " + tr("none")
    text = table(rows[0], rows[1:], len(rows[0]))
    return "\n".join(f"  {line}" for line in text.splitlines())


def _listed(items: Iterable[str]) -> str:
    return ", ".join(items) or tr("none")


_OVERVIEWS: dict[str, Callable[[], str]] = {
    "scopes": _scopes,
    "metrics": _metrics,
    "datasets": _datasets,
    "probes": _probes,
}
_DETAILS: dict[str, Callable[[str], str]] = {
    "scopes": _scope,
    "metrics": _metric,
    "datasets": _dataset,
    "probes": _probe,
}
