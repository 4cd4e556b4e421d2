"""Under which names the service is asked, and from which pages: a browser says both.

A page of another site can have its visitors' browsers ask here. Where it takes the visitor's own
address for that (a name of its own that leads here), ``Host`` is that name; where it does not,
``Origin`` and ``Sec-Fetch-Site`` tell.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from pura.base.errors import ServeError
from pura.serve.problems import RefusalError

_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_OWN: Final = ("none", "same-origin")
_LABEL: Final = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@?#\s]+)(?::\d*)?")
_NAME: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def named(host: str) -> str:
    """Return a name of the service as it is compared.

    Raises:
        ServeError: It is neither a name nor an address.
    """
    name = host.strip().lower().rstrip(".").removeprefix("[").removesuffix("]")
    if _address(name) is None and not _NAME.fullmatch(name):
        raise ServeError("serve.address", name=host[:100], code="usage")
    return name


def refusal(request: Request, names: Sequence[str]) -> RefusalError | None:
    """Return why a request is not taken: it is for somebody else, or another site sends it.

    Args:
        request: Its headers are looked at.
        names: Under which the service is asked, beside this machine's own.
    """
    hosts = request.headers.getlist("host")
    name = _host(hosts[0]) if len(hosts) == 1 else ""
    if not (name in names or _is_here(name)):
        return RefusalError("serve.host", code="serve-host")
    if request.method in _SAFE:
        return None
    site, origin = (request.headers.get(one, "") for one in ("sec-fetch-site", "origin"))
    elsewhere = RefusalError("serve.elsewhere", code="serve-elsewhere")
    if site and site not in _OWN:
        return elsewhere
    # A browser that was told to say nothing of where it comes from says “null”, to us too.
    if not origin or (origin == "null" and site == "same-origin"):
        return None
    try:
        same = (urlsplit(origin).hostname or "").rstrip(".") == name
    except ValueError:
        same = False
    return None if same else elsewhere


def _host(header: str) -> str:
    """Return the name in a header ``Host``; empty where it is none."""
    found = _HOST.fullmatch(header.strip().lower())
    return "" if found is None else found[1].strip("[]").rstrip(".")


def _is_here(name: str) -> bool:
    address = _address(name)
    return name == "localhost" if address is None else address.is_loopback


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
