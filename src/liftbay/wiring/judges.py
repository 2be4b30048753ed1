"""Judges by what the user says: an endpoint, a judge file, recorded answers, the project's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from liftbay.datasets.data_file import DataFile
from liftbay.datasets.json_lines import records
from liftbay.datasets.project import FILE_NAME, JudgeTable, Project, judge_table
from liftbay.domain.judging import CacheUse, JudgeSettings
from liftbay.domain.result import RunRecord
from liftbay.errors import InputError, LiftbayError, at
from liftbay.language import language, tr
from liftbay.ports import JudgeCache, RunStore

if TYPE_CHECKING:
    from liftbay.llm.asking import Asker
    from liftbay.llm.judge import LlmJudge
    from liftbay.llm.kept_answers import AnswerLine

RECORDED = "cache:"
NOBODY = "off"
_SUFFIX = ".toml"


class JudgeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What the options say of the judge; None: nothing."""

    judge: str | None = None
    model: str | None = None
    votes: int | None = None
    language: str | None = None
    concurrency: int | None = None
    cache: str | None = None


def judge_settings(choice: JudgeChoice, project: Project) -> JudgeSettings | None:
    """The judge that the options name, or else the project's, or None; single options outrank what it says.

    Raises `InputError` where the options or a file are not right.
    """
    if choice.judge == NOBODY:
        return None
    changes = _changes(choice)
    if choice.judge is None:
        if project.judge is not None:
            return _of_table(project.judge, project.root / FILE_NAME, changes)
        if changes:
            raise InputError(
                "there is no judge",
                place=", ".join(f"--judge-{name}" for name in changes),
                remedy="name one with --judge, or in [judge] of liftbay.toml",
            )
        return None
    if choice.judge.startswith(RECORDED):
        return JudgeSettings(answers=str(Path(choice.judge.removeprefix(RECORDED)).absolute()), **changes)
    if choice.judge.startswith(("http://", "https://")):
        return _of_address(choice.judge, changes)
    if choice.judge.endswith(_SUFFIX):
        path = Path(choice.judge).absolute()
        return _of_table(judge_table(path), path, changes)
    raise InputError(
        "this names no judge",
        place=f"--judge {choice.judge}",
        remedy="give the address of an endpoint, a file such as judge.toml, cache:FILE, or off",
    )


def _changes(choice: JudgeChoice) -> dict[str, Any]:
    given = {name: getattr(choice, name) for name in choice.__struct_fields__ if name != "judge"}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        table = msgspec.convert(given, JudgeTable)
    except msgspec.ValidationError as error:
        raise InputError("{why}", place="--judge-…", why=error) from None
    return {name: getattr(table, name) for name in given}


def _of_address(address: str, changes: dict[str, Any]) -> JudgeSettings:
    from yarl import URL  # noqa: PLC0415

    if URL(address).query_string:
        raise InputError(
            "the address of the judge has a query, which may hold a secret",
            place="--judge",
            remedy="put the address into a file as url = … and give --judge FILE.toml",
        )
    return JudgeSettings(url=_checked_address(address, "--judge"), **changes)


def _of_table(table: JudgeTable, path: Path, changes: dict[str, Any]) -> JudgeSettings:
    from liftbay.llm.judge import OURS  # noqa: PLC0415

    if table.url is None:
        raise InputError("the judge has no address", place=at(path), remedy="give url = … there")
    if ours := sorted(OURS & table.parameters.keys()):
        raise InputError("liftbay sets {names} itself", place=at(path, None, "parameters"), names=", ".join(ours))
    said = {name: getattr(table, name) for name in table.__struct_fields__ if name != "url"} | changes
    if table.url.startswith(RECORDED):
        return JudgeSettings(answers=str(path.parent / table.url.removeprefix(RECORDED)), **said)
    return JudgeSettings(url=_checked_address(table.url, at(path, None, "url")), file=str(path), **said)


def _checked_address(address: str, place: str) -> str:
    """The address as it may be shown."""
    from liftbay.transport.chat_endpoint import shown  # noqa: PLC0415

    return shown(_endpoint(address, "", place, connections=1, timeout=1).base_url)


def _endpoint(address: str, key: str, place: str, *, connections: int, timeout: float) -> Any:
    from liftbay.transport.chat_endpoint import ChatEndpoint  # noqa: PLC0415

    try:
        return ChatEndpoint(address, key, connections=connections, timeout=timeout)
    except InputError as error:
        raise InputError(
            error.cause,
            place=place,
            remedy="give an address such as http://localhost:8000/v1, and the key in the variable of api_key_env",
        ) from None


@contextlib.asynccontextmanager
async def judging(settings: JudgeSettings | None, cache: JudgeCache) -> AsyncIterator[LlmJudge | None]:
    """The judge, ready to be asked, with settings that name model and language; None without settings.

    Raises `InputError` where it is not clear which model judges, `AgentError` where the endpoint must say and does not.
    """
    if settings is None:
        yield None
        return
    from liftbay.llm.judge import LlmJudge  # noqa: PLC0415

    judge = _recorded(settings) if settings.answers is not None else None
    if judge is None:
        asker = await _started(settings)
        try:
            model = settings.model or await _only_model(asker, settings)
        except BaseException:
            await asker.close()
            raise
        known = msgspec.structs.replace(settings, model=model, language=settings.language or language())
        judge = LlmJudge(known, asker, cache)
    try:
        yield judge
    finally:
        await judge.close()


async def _started(settings: JudgeSettings) -> Asker:
    from liftbay.llm.asking import Asker  # noqa: PLC0415

    endpoint = _endpoint(
        _address(settings),
        os.environ.get(settings.api_key_env, ""),
        settings.api_key_env,
        connections=settings.concurrency,
        timeout=settings.timeout,
    )
    asker = Asker(endpoint, concurrency=settings.concurrency)
    await asker.start()
    return asker


def _address(settings: JudgeSettings) -> str:
    """The whole address: that of a file is read anew, since the settings hold only what may be shown."""
    assert settings.url is not None
    if settings.file is None:
        return settings.url
    address = judge_table(Path(settings.file)).url or ""
    if address.startswith(RECORDED) or _checked_address(address, settings.file) != settings.url:
        raise InputError(
            "the address of the judge has changed since the run began: it was {url}",
            place=settings.file,
            remedy="bring the old address back, or start a new run",
            url=settings.url,
        )
    return address


async def _only_model(asker: Asker, settings: JudgeSettings) -> str:
    models = await asker.models()
    if len(models) != 1:
        raise _several_models(models, settings.url or "")
    return models[0]


def _several_models(models: list[str], place: str) -> InputError:
    return InputError(
        "the judge's model is not named, and there are {count}",
        place=place,
        remedy="name one with --judge-model: {names}",
        count=len(models),
        names=", ".join(models[:20]) or "-",
    )


def answer_lines(path: Path) -> Iterator[AnswerLine]:
    """The answers of a file, JSON Lines. Raises `InputError` where it is not one."""
    from liftbay.llm.kept_answers import AnswerLine  # noqa: PLC0415

    for _, line in records(DataFile(path), msgspec.json.Decoder(AnswerLine)):
        yield line


def _recorded(settings: JudgeSettings) -> LlmJudge:
    """A judge that only knows the answers of a file; what the settings leave open is as it was recorded."""
    from liftbay.llm.judge import LlmJudge  # noqa: PLC0415
    from liftbay.llm.kept_answers import RecordedAnswers  # noqa: PLC0415

    assert settings.answers is not None
    lines = list(answer_lines(Path(settings.answers)))
    models = sorted({line.answer.model for line in lines})
    if settings.model is None and len(models) > 1:
        raise _several_models(models, settings.answers)
    languages = {line.answer.language for line in lines}
    parameters = {msgspec.json.encode(line.answer.parameters, order="sorted") for line in lines}
    known = msgspec.structs.replace(
        settings,
        model=settings.model or (models[0] if models else "-"),
        language=settings.language or (languages.pop() if len(languages) == 1 else language()),
        parameters=settings.parameters or (msgspec.json.decode(parameters.pop()) if len(parameters) == 1 else {}),
        cache=CacheUse.READ,
    )
    answers = RecordedAnswers({line.key: msgspec.json.encode(line.answer).decode() for line in lines})
    return LlmJudge(known, None, answers)


def with_judge(record: RunRecord, judge: LlmJudge | None) -> RunRecord:
    """The record with the settings of the judge as it was opened."""
    if judge is None:
        return record
    return msgspec.structs.replace(record, request=msgspec.structs.replace(record.request, judge=judge.settings))


@contextlib.asynccontextmanager
async def use_kept(store: RunStore, run: str, judge: LlmJudge | None) -> AsyncIterator[None]:
    """Add what the judge took meanwhile to the record of the run, however the work ends."""
    try:
        yield
    finally:
        if judge is not None:
            with contextlib.suppress(LiftbayError):  # a store that failed cannot be told so
                if record := await store.run(run):
                    await store.update_run(used(record, judge))


def used(record: RunRecord, judge: LlmJudge | None) -> RunRecord:
    """The record with what the judge took, and a warning where recorded answers were missing."""
    if judge is None:
        return record
    use = judge.use if record.judge is None else record.judge + judge.use
    warnings = list(record.warnings)
    if judge.use.unrecorded:
        warnings.append(
            tr(
                "the recorded answers do not hold {count} of the {votes} that the judge was asked for",
                count=judge.use.unrecorded,
                votes=judge.use.votes,
            )
        )
    if judge.first_failure is not None:
        warnings.append(
            tr(
                "the judge failed to answer: {errors} verdicts are errors; the first failure: {why}",
                errors=judge.use.errors,
                why=judge.first_failure,
            )
        )
    return msgspec.structs.replace(record, judge=use, warnings=warnings)
