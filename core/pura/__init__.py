"""PURA: embed, read and defend a provably unbiased multi-bit watermark.

Five lines answer whether one of your models wrote a text, and for whom:

    import pura
    from pathlib import Path

    key = pura.SecretKey.load(Path("demo.key"))
    audit = pura.verify(Path("text.txt"), key=key, profile="house")
    print(audit.found, audit.evidence.log10_e, audit.to_row()["payload"])

Stable between versions:

* ``load(model)``: a model, to be used for many texts, a :class:`LanguageModel`.
* ``verify(text, key=…, profile=…, model=…)``: one audit, an :class:`Audit`.
* ``verify_many(texts, …)``: many, one :class:`Result` each; an error is a result.
* ``to_pandas(results)``: the same as a data frame.
* ``mark(prompt, payload=…, key=…, profile=…)``: a marked text, a :class:`Generated`.
* ``sign_manifest(text, payload=…, profile=…, certificate=…)``: a manifest (C2PA) that names what
  the mark names, a :class:`SignedText`.
* ``Profile.new(model, …)``: what generator and verifier share besides the key; its payload may have
  a layout of ``Field``.
* ``MarkIdentity``, ``PayloadSeries``: what names a mark; every look-up of a recipient takes one.
* ``SecretKey``, ``Payload``, ``Setup``, ``Policy``, ``Audit`` (``to_dict``, ``to_row``,
  ``to_html``, ``plot``), ``PuraError``.

The package is importable without Qt, and importing it loads no torch: each name is fetched when it
is first used, and switches the model libraries offline before they are. The page architecture.md
describes the modules behind it, which may change; ``docs/reference/examples`` has a script for each
use, ``docs/reference/api.md`` an example for each function.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from pura.version import __version__ as __version__

if _TYPE_CHECKING:
    from pura.api import Result as Result
    from pura.api import load as load
    from pura.api import mark as mark
    from pura.api import sign_manifest as sign_manifest
    from pura.api import to_pandas as to_pandas
    from pura.api import verify as verify
    from pura.api import verify_many as verify_many
    from pura.base.errors import PuraError as PuraError
    from pura.detect.verdict.policy import Policy as Policy
    from pura.embed.generate import Generated as Generated
    from pura.model.load import LanguageModel as LanguageModel
    from pura.provenance.writing import SignedText as SignedText
    from pura.record.audit import Audit as Audit
    from pura.scheme import Field as Field
    from pura.scheme import MarkIdentity as MarkIdentity
    from pura.scheme import Payload as Payload
    from pura.scheme import PayloadSeries as PayloadSeries
    from pura.scheme import Profile as Profile
    from pura.scheme import SecretKey as SecretKey
    from pura.usecases.audits import Setup as Setup

_HOMES = {
    "Audit": "pura.record.audit",
    "Field": "pura.scheme",
    "Generated": "pura.embed.generate",
    "LanguageModel": "pura.model.load",
    "MarkIdentity": "pura.scheme",
    "Payload": "pura.scheme",
    "PayloadSeries": "pura.scheme",
    "Policy": "pura.detect.verdict.policy",
    "Profile": "pura.scheme",
    "PuraError": "pura.base.errors",
    "Result": "pura.api",
    "SecretKey": "pura.scheme",
    "Setup": "pura.usecases.audits",
    "SignedText": "pura.provenance.writing",
    "load": "pura.api",
    "mark": "pura.api",
    "sign_manifest": "pura.api",
    "to_pandas": "pura.api",
    "verify": "pura.api",
    "verify_many": "pura.api",
}

__all__ = [
    "Audit",
    "Field",
    "Generated",
    "LanguageModel",
    "MarkIdentity",
    "Payload",
    "PayloadSeries",
    "Policy",
    "Profile",
    "PuraError",
    "Result",
    "SecretKey",
    "Setup",
    "SignedText",
    "__version__",
    "load",
    "mark",
    "sign_manifest",
    "to_pandas",
    "verify",
    "verify_many",
]


def __getattr__(name: str) -> object:
    """Fetch a name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    member = getattr(_import_module(_HOMES[name]), name)
    globals()[name] = member
    return member


def __dir__() -> list[str]:
    """Name what is stable, fetched or not, and nothing else."""
    return [*__all__]
