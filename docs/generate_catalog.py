"""Write docs/reference/catalog.md and catalog.ja.md from the tables of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from liftbay.catalog.dataset_types import DATASET_TYPES
from liftbay.catalog.metrics import METRICS
from liftbay.catalog.probes import PROBES
from liftbay.catalog.resolve import ChosenBy, MainMetric, resolve
from liftbay.catalog.rows import metrics_fed_by
from liftbay.catalog.scopes import SCOPES
from liftbay.catalog.words import (
    ASPECTS,
    BASES,
    DIMENSIONS,
    JUDGE_TASKS,
    MODULES,
    PREREQUISITES,
    text_of,
)
from liftbay.domain.metric import Metric
from liftbay.language import language, use_language

REFERENCE = Path(__file__).resolve().parent / "reference"
PAGES = {"en": REFERENCE / "catalog.md", "ja": REFERENCE / "catalog.ja.md"}

_SAID = {
    "title": ("Catalog: scopes, dataset types, metrics, probes", "カタログ: 評価範囲、評価セット、指標、計測項目"),
    "other language": ("[日本語](catalog.ja.md)", "[English](catalog.md)"),
    "note": (
        "Written by docs/generate_catalog.py from the catalog itself: run `make docs`, do not edit.",
        "docs/generate_catalog.py がカタログから生成するページです。編集せず `make docs` を実行してください。",
    ),
    "lead": (
        "`liftbay catalog` prints the same tables, and `liftbay catalog scopes --json` gives them to scripts.",
        "`liftbay catalog` で同じ表を表示できます。スクリプトからは `liftbay catalog scopes --json` を使います。",
    ),
    "scopes": ("Scopes", "評価範囲"),
    "scopes lead": (
        "A scope selects datasets, metrics, probes and the main metric, which alone decides whether a case passes.",
        "評価範囲を選ぶと、評価セット、指標、計測項目、主指標が決まります。ケースの合否を決めるのは主指標だけです。",
    ),
    "mains": ("What decides a case", "ケースの合否を決める指標"),
    "mains lead": (
        "The main metric of the scope decides. A dataset type that does not feed it is decided by the metric below.",
        "評価範囲の主指標が合否を決めます。主指標の対象にならない評価セットは、次の指標で決めます。",
    ),
    "datasets": ("Dataset types", "評価セットの種類"),
    "metrics": ("Quality metrics", "品質指標"),
    "probes": ("Probes", "計測項目"),
    "scope": ("scope", "評価範囲"),
    "name": ("name", "名前"),
    "dataset types": ("dataset types", "評価セット"),
    "main metric": ("main metric", "主指標"),
    "reason": ("reason", "理由"),
    "size": ("recommended size", "推奨件数"),
    "built": ("how it is built", "作り方"),
    "feeds": ("metrics", "指標"),
    "module": ("module", "モジュール"),
    "aspect": ("aspect", "観点"),
    "basis": ("decided by", "判定者"),
    "task": ("judge task", "判定タスク"),
    "needs": ("needs", "前提条件"),
    "dimension": ("dimension", "次元"),
    "unit": ("unit", "単位"),
    "read": ("how it is read", "測り方"),
    "not applicable": ("not applicable", "対象外のとき"),
    "in scopes": ("in the scopes", "含まれる評価範囲"),
    "any trace": ("any whose trace reports what it needs", "必要な情報がトレースにあるもの"),
    "real use": ("none: collected from real use", "なし（実際の利用から収集）"),
    "nothing": ("nothing", "なし"),
}


def pages() -> dict[Path, str]:
    """Every page with its text."""
    before = language()
    found = {}
    for each, path in PAGES.items():
        use_language(each)
        found[path] = "\n".join(_page())
    use_language(before)
    return found


def _page() -> Iterator[str]:
    yield f"# {_said('title')}\n"
    yield f"{_said('other language')}\n"
    yield f"<!-- {_said('note')} -->\n"
    yield f"{_said('lead')}\n"
    for title, section in (
        ("scopes", _scopes),
        ("mains", _mains),
        ("datasets", _datasets),
        ("metrics", _metrics),
        ("probes", _probes),
    ):
        yield f"## {_said(title)}\n"
        yield from section()


def _said(key: str) -> str:
    english, japanese = _SAID[key]
    return japanese if language() == "ja" else english


def _scopes() -> Iterator[str]:
    yield f"{_said('scopes lead')}\n"
    yield from _table(
        ("scope", "name", "main metric", "reason", "dataset types", "feeds", "probes"),
        (
            (
                _code(plan.scope),
                text_of(SCOPES[plan.scope].name),
                _code(plan.main_metric),
                text_of(plan.reason),
                _codes(plan.datasets),
                _codes(plan.metrics),
                _codes(plan.probes),
            )
            for plan in map(resolve, SCOPES)
        ),
    )


def _mains() -> Iterator[str]:
    yield f"{_said('mains lead')}\n"
    others: dict[tuple[str, MainMetric], list[str]] = {}
    for scope in SCOPES:
        for dataset, main in resolve(scope).main_metric_by_dataset.items():
            if main.chosen_by is not ChosenBy.SCOPE and scope != dataset:
                others.setdefault((dataset, main), []).append(scope)
    yield from _table(
        ("dataset types", "in scopes", "main metric", "not applicable", "reason"),
        (
            (
                _code(dataset),
                _codes(scopes),
                _code(main.metric),
                _code(main.fallback) if main.fallback else "–",
                text_of(main.reason),
            )
            for (dataset, main), scopes in others.items()
        ),
    )


def _datasets() -> Iterator[str]:
    yield from _table(
        ("dataset types", "name", "size", "built", "main metric", "reason", "feeds"),
        (
            (
                _code(row.id),
                text_of(row.name),
                f"≥ {row.recommended_size}",
                text_of(row.built),
                _code(row.main_metric),
                text_of(row.reason),
                _codes(metrics_fed_by(row.id)),
            )
            for row in DATASET_TYPES.values()
        ),
    )


def _metrics() -> Iterator[str]:
    for metric in METRICS.values():
        yield f"### `{metric.id}`: {text_of(metric.name)}\n"
        yield f"{text_of(metric.definition)}\n"
        task = text_of(JUDGE_TASKS[metric.judge_task]) if metric.judge_task else "–"
        for key, value in (
            ("module", text_of(MODULES[metric.module])),
            ("aspect", text_of(ASPECTS[metric.aspect])),
            ("basis", f"{text_of(BASES[metric.basis])} ({metric.basis})"),
            ("task", task),
            ("dataset types", _taken(metric)),
            ("needs", "; ".join(text_of(PREREQUISITES[each]) for each in metric.prerequisites) or _said("nothing")),
        ):
            yield f"- {_said(key)}: {value}"
        yield ""


def _taken(metric: Metric) -> str:
    if metric.dataset_types:
        return _codes(metric.dataset_types)
    return _said("any trace" if metric.judge_task else "real use")


def _probes() -> Iterator[str]:
    yield from _table(
        ("probes", "name", "dimension", "module", "unit", "read"),
        (
            (
                _code(probe.id),
                text_of(probe.name),
                text_of(DIMENSIONS[probe.dimension]),
                text_of(MODULES[probe.module]),
                probe.unit,
                text_of(probe.read),
            )
            for probe in PROBES.values()
        ),
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_said, columns))} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _code(name: str) -> str:
    return f"`{name}`"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(map(_code, names))


def main() -> None:
    """Write the pages."""
    REFERENCE.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
