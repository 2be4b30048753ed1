"""`liftbay jmultiwoz`: generate, evaluate, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liftbay.cli.options import AsJson
from liftbay.cli.output import print_json
from liftbay.language import tr

if TYPE_CHECKING:
    from liftbay.benchmarks.jmultiwoz_tc.evaluate import Evaluation
    from liftbay.benchmarks.jmultiwoz_tc.generation import Settings, Summary
    from liftbay.datasets.jmultiwoz_tc_files import BenchmarkFiles

jmultiwoz = typer.Typer(
    help=tr("JMultiWOZ-TC: does a model call a tool when it should, with the right arguments?"),
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _path(help_text: str, *names: str) -> Any:
    """An option for a path; whether it can be read is found out on opening it, with the better message."""
    return typer.Option(*names, help=help_text, readable=False)


Data = Annotated[
    Path | None,
    _path(tr("Folder of the dataset, or its dataset.zip: gives the defaults of --tools, --input and --ground.")),
]
Tools = Annotated[Path | None, _path(tr("Tool definitions. Default: tools.json."))]
Input = Annotated[Path | None, _path(tr("Inputs. Default: jmultiwoz_tc_input.jsonl."), "--input")]
Ground = Annotated[Path | None, _path(tr("Right answers. Default: jmultiwoz_tc_ground.jsonl."))]
OutputDir = Annotated[Path, _path(tr("Folder for the files that are written; made if missing."))]


@jmultiwoz.command(help=tr("Ask an OpenAI-compatible endpoint for every input; resumes where it was stopped."))
def generate(
    data: Data = None,
    tools: Tools = None,
    input_: Input = None,
    base_url: Annotated[
        str, typer.Option(help=tr("OpenAI-compatible endpoint; its address usually ends in /v1."))
    ] = "http://localhost:8000/v1",
    openai_api_key: Annotated[
        str,
        typer.Option(help=tr("Key of the endpoint."), envvar="LIFTBAY_OPENAI_API_KEY", show_default="dummy"),
    ] = "dummy",
    model: Annotated[
        str | None, typer.Option(help=tr("Name of the model. Default: the first that the endpoint lists."))
    ] = None,
    output_dir: OutputDir = Path(),
    temperature: Annotated[
        float | None, typer.Option(help=tr("Sampling temperature. Default: the endpoint's."), min=0)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help=tr("Longest answer, in tokens. Default: the endpoint's."), min=1)
    ] = None,
    seed: Annotated[int | None, typer.Option(help=tr("Seed of sampling. Default: the endpoint's."))] = None,
    extra_body: Annotated[
        str | None,
        typer.Option(
            help=tr("JSON object with further fields of every request."),
            metavar="JSON",
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option(help=tr("Requests on their way at once."), min=1)] = 32,
    timeout: Annotated[float, typer.Option(help=tr("Seconds for one try."), min=0.001)] = 120.0,
    max_retries: Annotated[int, typer.Option(help=tr("Tries on a timeout, in all."), min=1)] = 3,
    limit: Annotated[
        int | None, typer.Option(help=tr("Only the first N records of the input."), min=1, metavar="N")
    ] = None,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help=tr("Ask again for the error records of the result file."))
    ] = False,
    json_: AsJson = False,
) -> None:
    """Generate a result file."""
    from liftbay.benchmarks.jmultiwoz_tc.generate import Sampling  # noqa: PLC0415
    from liftbay.benchmarks.jmultiwoz_tc.generation import Settings  # noqa: PLC0415
    from liftbay.datasets.jmultiwoz_tc_files import find_files  # noqa: PLC0415

    _refuse_no_number("--timeout", timeout)
    _refuse_no_number("--temperature", temperature)
    files = find_files(data, tools=tools, input=input_)
    settings = Settings(
        base_url=base_url,
        api_key=openai_api_key,
        model=model,
        output_dir=output_dir,
        sampling=Sampling(
            temperature=temperature, max_tokens=max_tokens, seed=seed, extra_body=_json_object(extra_body)
        ),
        concurrency=concurrency,
        timeout=timeout,
        max_retries=max_retries,
        limit=limit,
        retry_errors=retry_errors,
    )
    summary = _run(files, settings)
    if summary.cut:
        _warn(
            tr(
                "{count} answers ended at the token limit before any call; they count as no call",
                count=summary.cut,
            )
        )
    if summary.errors and not summary.answered and not summary.skipped:
        _warn(tr("no record was answered: {error}", error=summary.last_error))
        if summary.last_remedy:
            typer.echo(f"  {tr('remedy')}: {tr(summary.last_remedy)}", err=True)
    if json_:
        print_json(summary)
    else:
        _print_summary(summary, files)


def _refuse_no_number(option: str, value: float | None) -> None:
    import math  # noqa: PLC0415

    from liftbay.errors import InputError  # noqa: PLC0415

    if value is not None and not math.isfinite(value):
        raise InputError("this is not a number", place=f"{option} {value}", remedy="give a number")


def _json_object(text: str | None) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    from liftbay.errors import InputError  # noqa: PLC0415

    if text is None:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise InputError(
            "this is not a JSON object",
            place=f"--extra-body {text[:80]}",
            remedy="""give an object in single quotes: --extra-body '{{"top_k": 1}}'""",
        ) from None


def _run(files: BenchmarkFiles, settings: Settings) -> Summary:
    from liftbay.benchmarks.jmultiwoz_tc.generation import run_generation  # noqa: PLC0415
    from liftbay.cli.event_loop import run_to_end  # noqa: PLC0415
    from liftbay.cli.progress import GenerationDisplay  # noqa: PLC0415

    return run_to_end(lambda: run_generation(files, settings, GenerationDisplay()))


def _print_summary(summary: Summary, files: BenchmarkFiles) -> None:
    asked = summary.answered + summary.errors
    if not asked:
        typer.echo(tr("nothing left to ask: all {records} records are in the result file", records=summary.records))
    typer.echo(tr("result file: {path}", path=summary.result))
    typer.echo(tr("manifest: {path}", path=summary.manifest))
    if summary.errors:
        typer.echo(
            tr(
                "{errors} of {asked} ended in an error record (the last: {last}); --retry-errors asks for them again",
                errors=summary.errors,
                asked=asked,
                last=summary.last_error,
            )
        )
    typer.echo(tr("next: {command}", command=_evaluation_of(summary, files)))


def _evaluation_of(summary: Summary, files: BenchmarkFiles) -> str:
    """The command that evaluates what was generated."""
    import shlex  # noqa: PLC0415

    words = ["liftbay", "jmultiwoz", "evaluate", "--result", summary.result]
    if files.data is not None:
        words += ["--data", str(files.data)]
    elif files.input.path.parent != Path():
        words += ["--input", str(files.input), "--ground", str(files.input.path.parent / files.ground.path.name)]
    return shlex.join([*words, "--output-dir", str(Path(summary.result).parent)])


@jmultiwoz.command(help=tr("Score a result file: the five lines, the log of incorrect answers, the breakdown."))
def evaluate(
    result: Annotated[Path, _path(tr("Result file of the generator: result_{{model}}.jsonl."))],
    data: Data = None,
    ground: Ground = None,
    input_: Input = None,
    output_dir: OutputDir = Path(),
    breakdown: Annotated[
        bool,
        typer.Option(
            "--breakdown",
            help=tr("Also say why calls are wrong: per tool and argument, by depth of the dialogue, with intervals."),
        ),
    ] = False,
    json_: AsJson = False,
) -> None:
    """Evaluate a result file."""
    from liftbay.benchmarks.jmultiwoz_tc.evaluate import evaluate as score_file  # noqa: PLC0415
    from liftbay.datasets.jmultiwoz_tc_files import find_files  # noqa: PLC0415
    from liftbay.report.jmultiwoz_table import score_lines_table  # noqa: PLC0415

    files = find_files(data, input=input_, ground=ground)
    evaluation = score_file(result, files, output_dir)
    _warn_of_ids(evaluation)
    if not evaluation.questions_known:
        _warn(tr("there is no input file {path}: the log has no questions", path=files.input))
    if json_:
        print_json(evaluation.lines)
    else:
        typer.echo(score_lines_table(evaluation.lines))
    written = [evaluation.score_path, evaluation.incorrect_path]
    if breakdown:
        written.append(_break_down(evaluation, files, output_dir, show=not json_))
    for path in written:
        typer.echo(tr("written: {path}", path=path), err=json_)


def _warn_of_ids(evaluation: Evaluation) -> None:
    for ids, text in (
        (
            evaluation.scoring.unknown,
            "{count} records of the result file have an id that is not among the right answers, for example "
            "{example}: they are left out",
        ),
        (
            evaluation.scoring.missing,
            "{count} ids of the right answers are not in the result file, for example {example}: "
            "they are in none of the lines",
        ),
    ):
        if ids:
            _warn(tr(text, count=len(ids), example=ids[0]))


def _break_down(evaluation: Evaluation, files: BenchmarkFiles, output_dir: Path, *, show: bool) -> Path:
    import msgspec  # noqa: PLC0415

    from liftbay.benchmarks.jmultiwoz_tc.breakdown import break_down, read_depths  # noqa: PLC0415
    from liftbay.cli.jmultiwoz_text import breakdown_text  # noqa: PLC0415
    from liftbay.datasets.output import write_atomically  # noqa: PLC0415

    found = break_down(evaluation.scoring.scored, read_depths(files.input))
    path = output_dir / f"breakdown_{evaluation.model}.json"
    write_atomically(path, [msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"])
    if show:
        typer.echo(breakdown_text(found))
    return path


@jmultiwoz.command(help=tr("Compare two result files on the records that both answered."))
def compare(
    a: Annotated[Path, typer.Argument(help=tr("Result file A."), metavar="A", readable=False)],
    b: Annotated[Path, typer.Argument(help=tr("Result file B."), metavar="B", readable=False)],
    data: Data = None,
    ground: Ground = None,
    json_: AsJson = False,
) -> None:
    """Compare two result files."""
    from liftbay.benchmarks.jmultiwoz_tc.compare import compare as compare_files  # noqa: PLC0415
    from liftbay.cli.jmultiwoz_text import comparison_text  # noqa: PLC0415
    from liftbay.datasets.jmultiwoz_tc_files import find_files  # noqa: PLC0415

    found = compare_files(a, b, find_files(data, ground=ground).ground)
    if json_:
        print_json(found)
    else:
        typer.echo(comparison_text(found))


def _warn(text: str) -> None:
    typer.echo(f"liftbay: {tr('warning')}: {text}", err=True)
