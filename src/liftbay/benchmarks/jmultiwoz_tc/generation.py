"""A whole run of the generator: files checked, model found, result file locked, answers appended, manifest kept."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time
from pathlib import Path
from typing import Protocol

import msgspec
from yarl import URL

from liftbay.benchmarks.jmultiwoz_tc.files import safe_model_name
from liftbay.benchmarks.jmultiwoz_tc.generate import Inputs, Progress, Request, Sampling, generate
from liftbay.benchmarks.jmultiwoz_tc.manifest import (
    Manifest,
    Session,
    changed_settings,
    read_manifest,
    without_secrets,
)
from liftbay.benchmarks.jmultiwoz_tc.result_file import ResultFile
from liftbay.datasets.jmultiwoz_tc_files import BenchmarkFiles, read_tools
from liftbay.datasets.output import make_folder, sweep
from liftbay.errors import AgentProtocol, InputError, LiftbayError
from liftbay.transport.chat_endpoint import ChatEndpoint, shown
from liftbay.transport.retry import RetryPolicy

_LONGEST_NAME = 200  # bytes, so that every file's name fits where 255 are allowed


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose; `timeout` is for one try, in seconds."""

    base_url: str
    api_key: str
    model: str | None
    output_dir: Path
    sampling: Sampling
    concurrency: int
    timeout: float
    max_retries: int
    limit: int | None
    retry_errors: bool


class Summary(msgspec.Struct, frozen=True, rename="camel"):
    """What one start of the generator did."""

    model: str
    result: str
    manifest: str
    records: int  # in the input, up to the limit
    skipped: int  # in the result file already
    answered: int
    errors: int
    retries: int
    cut: int  # answers without a call that ended at the token limit
    seconds: float
    last_error: str | None = None
    last_remedy: str | None = None


class Observer(Protocol):
    """Who watches a run, to show it."""

    def setting_changed(self, name: str, before: object, now: object) -> None:
        """A setting that changes answers differs from the last start on the same result file."""

    def errors_dropped(self, count: int) -> None:
        """Error records were taken out of the result file, to be asked again."""

    def started(self, model: str, result: Path, skipped: int, progress: Progress) -> None:
        """Asking begins; `progress` is counted up from now on."""

    def stopped(self, summary: Summary) -> None:
        """Asking ended, however it ended; every answer that came is in the result file."""


async def run_generation(files: BenchmarkFiles, settings: Settings, observer: Observer) -> Summary:
    """Generate, or resume generating, a result file.

    Raises `InputError` for what the user gave, `AgentError` where the models cannot be listed, `StoreError` where
    a file cannot be written or is in use, and `RunError` where the endpoint does not serve.
    """
    tools, tools_sha256 = read_tools(files.tools)
    Request("", tools, settings.sampling)  # a wrong option is found before the first request
    with Inputs(files.input, settings.limit) as inputs:
        async with ChatEndpoint(
            settings.base_url, settings.api_key, connections=settings.concurrency, timeout=settings.timeout
        ) as endpoint:
            model = settings.model or await _first_model(endpoint)
            name = _checked_name(model)
            make_folder(settings.output_dir)
            path = settings.output_dir / f"result_{name}.jsonl"
            manifest_path = settings.output_dir / f"manifest_{name}.json"
            with ResultFile(path) as results:
                if settings.retry_errors:
                    observer.errors_dropped(results.drop_errors())
                inputs.leave_out(record.data_id for record in results.records())
                sweep(manifest_path)  # the lock on the result file covers the manifest too
                manifest = read_manifest(manifest_path, model, path.name)
                if manifest.model != model:
                    raise InputError(
                        "the result file of {other} has the name that that of {model} would have",
                        place=str(path),
                        remedy="choose another --output-dir",
                        other=manifest.model,
                        model=model,
                    )
                session = _session(files, settings, inputs, tools_sha256)
                if inputs.pending:
                    for change in changed_settings(manifest, session):
                        observer.setting_changed(*change)
                manifest.with_session(session).write(manifest_path)
                return await _generate_observed(
                    endpoint,
                    Request(model, tools, settings.sampling),
                    inputs,
                    results,
                    settings,
                    observer,
                    _Book(manifest, manifest_path, session),
                )


async def _first_model(endpoint: ChatEndpoint) -> str:
    models = await endpoint.models()
    if not models:
        raise AgentProtocol(
            "the endpoint lists no model",
            place=str(endpoint.base_url),
            remedy="name the model with --model",
        )
    return models[0]


def _checked_name(model: str) -> str:
    name = safe_model_name(model)
    if not model or not model.isprintable() or len(name.encode()) > _LONGEST_NAME:
        raise InputError(
            "this model's name cannot be part of a file's name: {model}",
            place="--model",
            remedy="name the model with --model, in at most {limit} bytes and without control characters",
            model=ascii(model[:80]),
            limit=_LONGEST_NAME,
        )
    return name


def _session(files: BenchmarkFiles, settings: Settings, inputs: Inputs, tools_sha256: str) -> Session:
    return Session(
        started=_now(),
        base_url=shown(URL(settings.base_url)),
        tools=str(files.tools),
        tools_sha256=tools_sha256,
        input=str(files.input),
        input_sha256=inputs.sha256,
        records=inputs.records,
        skipped=inputs.records - inputs.pending,
        temperature=settings.sampling.temperature,
        max_tokens=settings.sampling.max_tokens,
        seed=settings.sampling.seed,
        extra_body=without_secrets(settings.sampling.extra_body),
        concurrency=settings.concurrency,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
        limit=settings.limit,
        retry_errors=settings.retry_errors,
    )


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")


class _Book(msgspec.Struct, frozen=True):
    """Where the end of a session is written down."""

    manifest: Manifest
    path: Path
    session: Session

    def close(self, outcome: str, progress: Progress) -> None:
        ended = msgspec.structs.replace(
            self.session,
            ended=_now(),
            outcome=outcome,
            answered=progress.answered,
            errors=progress.errors,
            retries=progress.retries,
        )
        self.manifest.with_session(ended).write(self.path)


async def _generate_observed(
    endpoint: ChatEndpoint,
    request: Request,
    inputs: Inputs,
    results: ResultFile,
    settings: Settings,
    observer: Observer,
    book: _Book,
) -> Summary:
    progress = Progress(inputs.pending)
    skipped = inputs.records - inputs.pending
    begun = time.monotonic()

    def summary() -> Summary:
        return Summary(
            model=book.manifest.model,
            result=str(results.path),
            manifest=str(book.path),
            records=inputs.records,
            skipped=skipped,
            answered=progress.answered,
            errors=progress.errors,
            retries=progress.retries,
            cut=progress.cut,
            seconds=round(time.monotonic() - begun, 3),
            last_error=progress.last_error,
            last_remedy=progress.last_remedy,
        )

    observer.started(book.manifest.model, results.path, skipped, progress)
    try:
        await generate(
            endpoint,
            request,
            inputs,
            results,
            concurrency=settings.concurrency,
            policy=RetryPolicy(timeout_tries=settings.max_retries),
            progress=progress,
        )
    except BaseException as error:
        with contextlib.suppress(LiftbayError):  # what stopped the run is the news, not the manifest
            book.close("interrupted" if isinstance(error, asyncio.CancelledError) else "failed", progress)
        raise
    else:
        book.close("finished", progress)
        return summary()
    finally:
        observer.stopped(summary())
