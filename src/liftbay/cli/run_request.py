"""From the options of `liftbay run` to a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liftbay.domain.result import RunRequest


def request_of(scope: str, agent: str | None, choices: dict[str, Any]) -> RunRequest:
    from pathlib import Path  # noqa: PLC0415

    from liftbay.datasets.project import find_project  # noqa: PLC0415
    from liftbay.domain.result import RunRequest  # noqa: PLC0415
    from liftbay.errors import InputError  # noqa: PLC0415
    from liftbay.wiring.agents import lasting  # noqa: PLC0415

    project = find_project(Path.cwd())
    chosen = lasting(agent, Path.cwd()) if agent else project.agent and lasting(project.agent, project.root)
    if chosen is None:
        raise InputError(
            "there is no agent",
            place="--agent",
            remedy="give an agent file, python:module:callable or replay:FILE, or set agent.default in liftbay.toml",
        )
    return RunRequest(scope=scope, agent=chosen, **choices)


def dataset_types(names: list[str]) -> list[Any]:
    from liftbay.domain.vocabulary import DatasetType  # noqa: PLC0415

    return [_one_of(DatasetType, name, "--dataset-type") for name in names]


def eval_mode_of(name: str | None) -> Any:
    from liftbay.domain.vocabulary import EvalMode  # noqa: PLC0415

    return None if name is None else _one_of(EvalMode, name, "--eval-mode")


def _one_of(kind: Any, name: str, option: str) -> Any:
    from liftbay.errors import InputError  # noqa: PLC0415

    try:
        return kind(name)
    except ValueError:
        raise InputError(
            "there is no {name}", place=option, remedy="give one of: {names}", name=name, names=", ".join(kind)
        ) from None
