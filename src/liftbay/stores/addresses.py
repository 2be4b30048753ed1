"""The addresses of stores, and how they are shown without passwords."""

from __future__ import annotations

from urllib.parse import urlsplit

from liftbay.errors import InputError


def bad_address(url: str) -> InputError:
    """The address cannot be read."""
    return InputError(
        "this is not the address of a store",
        place=without_secrets(url),
        remedy="give sqlite:///PATH or postgresql://USER@HOST/DATABASE",
    )


def without_secrets(url: str) -> str:
    """The address without user, password and options: host and database, where these can be told from the others."""
    scheme, separator, _ = url.partition("://")
    if scheme == "sqlite":
        return url
    hidden = f"{scheme}://…" if separator and scheme.isalnum() else "…"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return hidden
    if not separator or "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return hidden
    return f"{scheme}://{host or ''}{f':{port}' if port else ''}{parts.path}"
