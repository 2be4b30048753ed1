"""How liftbay reaches a host: the standard proxy variables and private certificate authorities."""

from __future__ import annotations

import os
import ssl
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from yarl import URL

from liftbay.errors import InputError

# Read by OpenSSL itself: SSL_CERT_FILE, SSL_CERT_DIR. Other tools' names for the same thing:
_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def proxy_for(url: URL) -> URL | None:
    """The proxy that `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` name for `url`, or None.

    Raises `InputError` for a kind of proxy that is not supported.
    """
    proxies = urllib.request.getproxies()
    host = url.host or ""
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or urllib.request.proxy_bypass(host if url.port is None else f"{host}:{url.port}"):
        return None
    proxy = URL(named if "://" in named else f"http://{named}")
    if proxy.scheme not in ("http", "https"):
        raise InputError(
            "the proxy is of an unknown kind: {scheme}",
            place=f"{url.scheme.upper()}_PROXY",
            remedy="name an http:// or https:// proxy, or add the host to NO_PROXY",
            scheme=proxy.scheme,
        )
    return proxy


def tls_context(environment: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """A context that trusts the system's authorities and those that the environment names."""
    context = ssl.create_default_context()
    for name in _CA_VARIABLES:
        if path := environment.get(name):
            try:
                if Path(path).is_dir():
                    context.load_verify_locations(capath=path)
                else:
                    context.load_verify_locations(cafile=path)
            except (OSError, ssl.SSLError) as error:
                raise InputError(
                    "the certificate authorities cannot be loaded: {why}",
                    place=f"{name}={path}",
                    remedy="name a PEM file or a folder of hashed certificates",
                    why=error,
                ) from None
    return context
