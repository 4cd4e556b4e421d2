"""Signing reports with the organisation's certificate (reports.md)."""

from pura.report.sign.identity import Certificate, Identity, load_identity
from pura.report.sign.sign import SignOptions, draw_seal, free_place, sign_report

__all__ = [
    "Certificate",
    "Identity",
    "SignOptions",
    "draw_seal",
    "free_place",
    "load_identity",
    "sign_report",
]
