"""PURA: embed, read and defend a provably unbiased multi-bit watermark.

Five lines answer whether one of your models wrote a text, and for whom:

    import pura
    from pathlib import Path

    key = pura.SecretKey.from_hex(Path("demo.key").read_text())
    audit = pura.verify(Path("text.txt"), key=key, profile="house")
    print(audit.verdict, audit.evidence.log10_e, audit.payload.bits)

Stable between versions:

* ``load(model)``: a model, to be used for many texts.
* ``verify(text, key=…, profile=…, model=…)``: one audit, an :class:`Audit`.
* ``verify_many(texts, …)``: many, one :class:`Result` each; an error is a result.
* ``mark(prompt, payload=…, key=…, profile=…)``: a marked text, a :class:`Generated`.
* ``sign_manifest(text, payload=…, profile=…, certificate=…)``: a manifest (C2PA) that names what
  the mark names, a :class:`SignedText`.
* ``Profile.new(model, …)``: what generator and verifier share besides the key.
* ``MarkIdentity``, ``PayloadSeries``: what names a mark; every look-up of a recipient takes one.
* ``SecretKey``, ``Payload``, ``Audit`` (``to_dict``, ``to_row``, ``to_html``), ``PuraError``.

The package is importable without Qt, and importing it loads no torch: each name is fetched when it
is first used, and switches the model libraries offline before they are. The page architecture.md
describes the modules behind it, which may change; ``docs/reference/examples`` has a script for each
use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pura.version import __version__

if TYPE_CHECKING:
    from pura.api import Result, load, mark, sign_manifest, verify, verify_many
    from pura.base.errors import PuraError
    from pura.embed.generate import Generated
    from pura.provenance.writing import SignedText
    from pura.record.audit import Audit
    from pura.scheme import MarkIdentity, Payload, PayloadSeries, Profile, SecretKey

_HOMES = {
    "Audit": "pura.record.audit",
    "Generated": "pura.embed.generate",
    "MarkIdentity": "pura.scheme",
    "Payload": "pura.scheme",
    "PayloadSeries": "pura.scheme",
    "Profile": "pura.scheme",
    "PuraError": "pura.base.errors",
    "Result": "pura.api",
    "SecretKey": "pura.scheme",
    "SignedText": "pura.provenance.writing",
    "load": "pura.api",
    "mark": "pura.api",
    "sign_manifest": "pura.api",
    "verify": "pura.api",
    "verify_many": "pura.api",
}

__all__ = [
    "Audit",
    "Generated",
    "MarkIdentity",
    "Payload",
    "PayloadSeries",
    "Profile",
    "PuraError",
    "Result",
    "SecretKey",
    "SignedText",
    "__version__",
    "load",
    "mark",
    "sign_manifest",
    "verify",
    "verify_many",
]


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Name what is there, fetched or not."""
    return sorted({*globals(), *_HOMES})
