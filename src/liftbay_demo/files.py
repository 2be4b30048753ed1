"""Where the agent file and the evaluation cases lie: what an evaluator asks the installed package for."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def agent_file() -> Path:
    """The file that says how to start and ask the agent."""
    return _HERE / "agent.toml"


def datasets() -> Path:
    """The folder of all cases."""
    return _HERE / "datasets"


def open_datasets() -> Path:
    """The cases that whoever works on the agent may look at: two thirds of each type."""
    return datasets() / "open"


def sealed_datasets() -> Path:
    """The third of each type that is not looked at while the agent is worked on."""
    return datasets() / "sealed"
