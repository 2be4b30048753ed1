"""`liftbay agents check`."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from liftbay.cli.options import AsJson
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.jobs.agent_check import AgentCheck

agents = typer.Typer(help=tr("Agents: check that one can be evaluated."), no_args_is_help=True)


@agents.command(help=tr("Make one call to an agent and say what came back, what the trace held and what is missing."))
def check(
    agent: Annotated[
        str, typer.Argument(help=tr("An agent file, python:module:callable or replay:FILE."), metavar="AGENT")
    ],
    user_input: Annotated[str, typer.Option("--input", help=tr("What to say to it."), metavar="TEXT")] = "",
    timeout: Annotated[float, typer.Option(help=tr("Seconds for one turn."), min=0.001)] = 120.0,
    json_: AsJson = False,
) -> None:
    """Check an agent. Exit code 1 where it does not answer."""
    from liftbay.cli.event_loop import run_to_end  # noqa: PLC0415
    from liftbay.cli.output import print_json  # noqa: PLC0415
    from liftbay.jobs.agent_check import checked_agent  # noqa: PLC0415
    from liftbay.wiring.agents import agent_of  # noqa: PLC0415
    from liftbay.wiring.surroundings import started  # noqa: PLC0415

    async def work() -> AgentCheck:
        with contextlib.redirect_stdout(sys.stderr):  # what the agent prints is no part of the answer
            wired = agent_of(agent)
            async with started(wired) as instruments:
                said = user_input or tr("Hello. What can you do?")
                return await checked_agent(wired.agent, said, timeout, instruments)

    found = run_to_end(work)
    if json_:
        print_json(_as_json(found))
    else:
        typer.echo(_text(found))
    if found.fault is not None:
        raise typer.Exit(1)


def _as_json(found: AgentCheck) -> dict[str, object]:
    import msgspec  # noqa: PLC0415

    from liftbay.cli.readiness_text import checked  # noqa: PLC0415

    return {**msgspec.to_builtins(found), "readiness": msgspec.to_builtins(checked([found.trace]))}


def _text(found: AgentCheck) -> str:
    from liftbay.cli.readiness_text import checked, checked_text, trace_text  # noqa: PLC0415
    from liftbay.report.table import printable  # noqa: PLC0415

    lines = [f"{found.agent} {found.version or ''}".rstrip(), f"{tr('user')}: {printable(found.user_input)}"]
    if found.fault is not None:
        lines.append(tr("It did not answer: {why}", why=printable(found.fault)))
    else:
        lines.append(f"{tr('agent')}: {printable(found.answer or '')}")
    unknown = tr("not reported")
    lines.append(
        tr(
            "response latency {latency}, time to first token {first}",
            latency=unknown if found.response_latency_ms is None else f"{found.response_latency_ms:.0f} ms",
            first=unknown if found.time_to_first_token_ms is None else f"{found.time_to_first_token_ms:.0f} ms",
        )
    )
    lines += [tr("Note: {note}", note=printable(note)) for note in found.caveats]
    if found.trace is None:
        lines += ["", tr("It has no trace: a black box, of which only the answer and its time can be judged.")]
    else:
        lines += ["", tr("The trace:"), trace_text(found.trace), "", checked_text(checked([found.trace]))]
    return "\n".join(lines)
