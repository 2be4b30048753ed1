"""The manifest beside a result file: what the answers were made with, one entry for each start of the generator."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import msgspec

import liftbay
from liftbay.datasets.data_file import DataFile, read_json
from liftbay.datasets.output import write_atomically
from liftbay.errors import InputError, at

# Settings that change the answers, or may; the others change only how fast they come.
ANSWER_SETTINGS = ("base_url", "tools_sha256", "input_sha256", "temperature", "max_tokens", "seed", "extra_body")
_SECRET_WORDS = ("key", "secret", "password", "passwd", "authorization", "credential", "bearer")


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the generator; times in UTC, ISO 8601."""

    started: str
    ended: str | None = None
    outcome: str = "running"  # finished, interrupted, failed; `running` where the process was killed
    liftbay: str = liftbay.__version__
    python: str = platform.python_version()
    base_url: str
    tools: str
    tools_sha256: str
    input: str
    input_sha256: str
    records: int  # in the input, up to the limit
    skipped: int  # in the result file already
    answered: int = 0
    errors: int = 0
    retries: int = 0
    temperature: float | None
    max_tokens: int | None
    seed: int | None
    extra_body: dict[str, Any]
    tool_choice: str = "auto"
    concurrency: int
    timeout: float
    max_retries: int
    limit: int | None
    retry_errors: bool


class Manifest(msgspec.Struct, frozen=True):
    """The model and the starts of the generator, oldest first."""

    model: str
    result: str
    sessions: list[Session] = []

    def with_session(self, session: Session) -> Manifest:
        """This manifest with `session` at the end, in place of the entry of the same start."""
        earlier = [known for known in self.sessions if known.started != session.started]
        return msgspec.structs.replace(self, sessions=[*earlier, session])

    def write(self, path: Path) -> None:
        """Write the manifest; raises as `write_atomically` does."""
        write_atomically(path, [msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"])


def read_manifest(path: Path, model: str, result: str) -> Manifest:
    """The manifest at `path`, or a new one. Raises `InputError` where the file is not a manifest."""
    if not path.exists():
        return Manifest(model, result)
    try:
        return msgspec.convert(read_json(DataFile(path)), Manifest)
    except msgspec.ValidationError as error:
        raise InputError(
            "this is not a manifest of liftbay: {why}",
            place=at(path),
            remedy="move the file away, or choose another --output-dir",
            why=error,
        ) from None


def changed_settings(manifest: Manifest, session: Session) -> list[tuple[str, object, object]]:
    """The settings that change answers and differ from an earlier start that may have got some: name, before, now.

    Of a setting that had several earlier values the last is named.
    """
    changes = []
    earlier = [known for known in manifest.sessions if known.answered or known.ended is None]
    for name in ANSWER_SETTINGS:
        now = getattr(session, name)
        others = [before for known in earlier if (before := getattr(known, name)) != now]
        if others:
            changes.append((name, others[-1], now))
    return changes


def without_secrets(value: Any) -> Any:
    """`value` with what stands under a key that speaks of a secret replaced by `***`."""
    if isinstance(value, dict):
        return {key: "***" if _speaks_of_a_secret(key) else without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    return value


def _speaks_of_a_secret(key: str) -> bool:
    name = key.lower().replace("-", "_")
    return name.endswith("token") or any(word in name for word in _SECRET_WORDS)
