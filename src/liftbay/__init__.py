"""liftbay puts an AI agent on the lift: which module is at fault, how sure that is, and what to fix."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liftbay.agents.given_overrides import overrides
    from liftbay.api import run, run_async
    from liftbay.ports import AgentAnswer
    from liftbay.report.report import Report

__version__ = "0.1.0"
__all__ = ["AgentAnswer", "Report", "__version__", "overrides", "run", "run_async"]

_HOMES = {
    "overrides": "liftbay.agents.given_overrides",
    "run": "liftbay.api",
    "run_async": "liftbay.api",
    "AgentAnswer": "liftbay.ports",
    "Report": "liftbay.report.report",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the command starts at once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'liftbay' has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module(_HOMES[name]), name)
