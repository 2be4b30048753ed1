"""The tree of commands. Each command imports what it needs when it runs, so that `--help` starts at once."""

from __future__ import annotations

from typing import Annotated

import typer

import liftbay
from liftbay.cli.agents import agents
from liftbay.cli.baseline import baseline
from liftbay.cli.catalog import catalog
from liftbay.cli.datasets import datasets
from liftbay.cli.diagnose import diagnose
from liftbay.cli.explain import explain
from liftbay.cli.gate import gate
from liftbay.cli.jmultiwoz import jmultiwoz
from liftbay.cli.judge import judge
from liftbay.cli.power import power
from liftbay.cli.project import init
from liftbay.cli.report import report
from liftbay.cli.run import rescope, run
from liftbay.cli.runs import runs
from liftbay.cli.trace import trace
from liftbay.language import tr

app = typer.Typer(
    name="liftbay",
    help=tr("Puts an AI agent on the lift: which module is at fault, how sure that is, and what to fix."),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich cuts Japanese, which has no spaces, off at the end of a line
)
app.command(name="run", help=tr("Run a scope against an agent and report each metric; resumes with --resume."))(run)
app.command(name="rescope", help=tr("Decide a finished run anew under another scope, without asking the agent."))(
    rescope
)
app.command(name="report", help=tr("Write the report of a run as text, JSON, HTML, Markdown, JUnit XML or CSV."))(
    report
)
app.command(name="gate", help=tr("Fail where a run is worse than a baseline by more than is allowed."))(gate)
app.command(name="power", help=tr("Say what drop so many cases can show, or how many cases a drop takes."))(power)
app.add_typer(baseline, name="baseline")
app.command(
    name="explain",
    help=tr(
        "Explain why two runs differ: which modules and scenes the change of the pass rate is laid to, and how sure."
    ),
)(explain)
app.command(
    name="diagnose",
    help=tr("Say where the failed trials of a run first go wrong; with --confirm, replay them to make sure."),
)(diagnose)
app.add_typer(jmultiwoz, name="jmultiwoz")
app.add_typer(datasets, name="datasets")
app.add_typer(runs, name="runs")
app.add_typer(agents, name="agents")
app.add_typer(judge, name="judge")
app.add_typer(trace, name="trace")
app.command(help=tr("Make a project: settings, an example agent and example cases."))(init)
app.command(name="catalog", help=tr("What can be evaluated: scopes, metrics, dataset types, probes."))(catalog)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"liftbay {liftbay.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help=tr("Print the version and exit."), callback=_print_version, is_eager=True),
    ] = False,
    lang: Annotated[
        str | None, typer.Option(help=tr("Language of messages: en or ja. Default: by locale."), metavar="en|ja")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help=tr("Print a traceback with an error."))] = False,
) -> None:
    """Hold the options of every command; `liftbay.cli.main` takes the last two out before they come here."""
