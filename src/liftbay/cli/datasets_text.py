"""What `liftbay datasets validate` found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liftbay.cli.messages import remedy_of, say
from liftbay.datasets.cases import Datasets
from liftbay.datasets.problem import Problem
from liftbay.domain.result import DatasetVersion
from liftbay.language import tr
from liftbay.report.table import table

_VERSION_SHOWN = 12


def text(found: Datasets, recommended: Mapping[str, int]) -> str:
    """The problems, the doubts apart, and a table of the datasets."""
    small = [_too_small(version, recommended[version.type]) for version in _small(found, recommended)]
    parts = []
    if found.errors:
        parts += [tr("Errors:"), *(line for each in found.errors for line in _lines(each)), ""]
    if found.warnings or small:
        parts += [tr("Warnings:"), *(line for each in found.warnings for line in _lines(each))]
        parts += [*(f"  {doubt}" for doubt in small), ""]
    if found.versions:
        parts += [_table(found.versions, recommended), ""]
    parts.append(
        tr(
            "good cases: {cases}, errors: {errors}, warnings: {warnings}",
            cases=sum(version.cases for version in found.versions),
            errors=len(found.errors),
            warnings=len(found.warnings) + len(small),
        )
    )
    return "\n".join(parts)


def _small(found: Datasets, recommended: Mapping[str, int]) -> list[DatasetVersion]:
    return [version for version in found.versions if version.cases < recommended[version.type]]


def _lines(problem: Problem) -> list[str]:
    more = tr(" (and {count} more lines of the file)", count=problem.lines - 1) if problem.lines > 1 else ""
    lines = [f"  {problem.error.place}: {say(problem.error)}{more}"]
    if remedy := remedy_of(problem.error):
        lines.append(f"    {tr('remedy')}: {remedy}")
    return lines


def _table(versions: list[DatasetVersion], recommended: Mapping[str, int]) -> str:
    names = (tr("dataset"), tr("version"), tr("cases"), tr("recommended"))
    rows = [
        (version.type.value, version.version[:_VERSION_SHOWN], str(version.cases), f"≥ {recommended[version.type]}")
        for version in versions
    ]
    return table(names, rows, text_columns=2)


def _too_small(version: DatasetVersion, recommended: int) -> str:
    return tr(
        "{type}: fewer cases than recommended ({cases} of {recommended}), so that its rates say little",
        type=version.type,
        cases=version.cases,
        recommended=recommended,
    )


def as_json(found: Datasets, recommended: Mapping[str, int]) -> dict[str, Any]:
    """The same as one object."""
    return {
        "datasets": [
            {
                "type": version.type,
                "cases": version.cases,
                "recommended": recommended[version.type],
                "version": version.version,
                "sources": version.sources,
            }
            for version in found.versions
        ],
        "errors": [_problem_json(problem) for problem in found.errors],
        "warnings": [_problem_json(problem) | {"lines": problem.lines} for problem in found.warnings]
        + [
            {"type": version.type, "message": _too_small(version, recommended[version.type])}
            for version in _small(found, recommended)
        ],
    }


def _problem_json(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "field": problem.field,
        "message": say(problem.error),
        "remedy": remedy_of(problem.error),
    }
