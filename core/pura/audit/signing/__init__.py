"""Signing reports with the organisation's certificate (docs/report-checking.md)."""

from pura.audit.signing.identity import Certificate, Identity, load_identity
from pura.audit.signing.seal import draw_seal, free_place
from pura.audit.signing.sign import SignOptions, sign_report

__all__ = [
    "Certificate",
    "Identity",
    "SignOptions",
    "draw_seal",
    "free_place",
    "load_identity",
    "sign_report",
]
