"""Read EvalTraces from a file: spans as OTLP, traces as JSON, or the export of a run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from liftbay.datasets.did_you_mean import nearest
from liftbay.domain.result import CaseResult
from liftbay.domain.spans import Span
from liftbay.domain.trace import EvalTrace
from liftbay.errors import InputError, at

_TRACE_KEYS = frozenset(field.encode_name for field in msgspec.structs.fields(EvalTrace))
_WHAT_TO_GIVE = "give OTLP (protobuf or JSON), EvalTraces, or the export of a run"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NOT_IN_JSON = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def traces_in(path: Path) -> list[EvalTrace | None]:
    """The traces of the file, one a trace id, line or turn; None for a turn that has none.

    Understood are OTLP as protobuf or JSON (one request, or one a line), EvalTraces and exported results, one a line.
    Raises `InputError` where the file is none of these.
    """
    try:
        content = path.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    except OSError as error:
        raise InputError("the file cannot be read: {why}", place=at(path), why=error.strerror) from None
    if not content.strip():
        raise InputError("the file is empty", place=at(path))
    if not _is_json(content):
        return list(_of_spans(_decoded(content, "application/x-protobuf", at(path))))
    traces: list[EvalTrace | None] = []
    spans: list[Span] = []
    for place, text, value in _values(path, content):
        if isinstance(value, dict) and "resourceSpans" in value:
            spans += _decoded(text, "application/json", place)
        elif isinstance(value, dict) and "episode" in value:
            traces += [turn.trace for turn in _converted(value, CaseResult, place).episode.turns]
        elif isinstance(value, dict) and (not value or value.keys() & _TRACE_KEYS):
            _refuse_unknown_keys(value, place)
            traces.append(_converted(value, EvalTrace, place))
        else:
            raise InputError("this is no trace", place=place, remedy=_WHAT_TO_GIVE)
    return [*traces, *_of_spans(spans)]


def _is_json(content: bytes) -> bool:
    """Whether this is text, and not protobuf: that may begin as JSON does, with a line feed and a brace."""
    return content.lstrip()[:1] in (b"{", b"[") and _NOT_IN_JSON.search(content) is None


def _refuse_unknown_keys(trace: dict[str, Any], place: str) -> None:
    for key in trace:
        if key not in _TRACE_KEYS:
            meant = nearest(key, _TRACE_KEYS)
            raise InputError(
                "unknown key",
                place=f"{place}: {key}",
                remedy="did you mean {meant}?" if meant else "known are: {known}",
                meant=meant,
                known=", ".join(sorted(_TRACE_KEYS)),
            )


def _values(path: Path, content: bytes) -> Iterator[tuple[str, bytes, Any]]:
    """The JSON values of a file with their places: a list's items, one value, or one a line."""
    try:
        whole = msgspec.json.decode(content)
    except msgspec.DecodeError:
        pass  # several values, one a line, or a mistake in one of these lines
    except RecursionError as error:
        raise InputError("invalid JSON: {why}", place=at(path), why=error) from None
    else:
        if not isinstance(whole, list):
            yield at(path), content, whole
            return
        for number, item in enumerate(whole):
            yield at(path, None, f"[{number}]"), msgspec.json.encode(item), item
        return
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            try:
                yield at(path, number), line, msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise InputError("invalid JSON: {why}", place=at(path, number), why=error) from None


def _converted(value: Any, kind: Any, place: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError("{why}", place=place, why=error) from None


def _decoded(content: bytes, content_type: str, place: str) -> list[Span]:
    from liftbay.telemetry.otlp import decode  # noqa: PLC0415

    try:
        return decode(content, content_type)
    except InputError as error:
        error.place, error.remedy = place, _WHAT_TO_GIVE
        raise


def _of_spans(spans: list[Span]) -> Iterator[EvalTrace | None]:
    from liftbay.telemetry.assemble import trace_of  # noqa: PLC0415

    by_trace: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        by_trace[span.trace_id].append(span)
    for of_trace in by_trace.values():
        yield trace_of(of_trace)
