"""The child that takes a stranger's PDF apart: ``python -m pura.report.check.child``.

Standard input: one line of JSON, then the file. The line says the trusted certificates and the
time, or how long another PDF is that stands first and that the file should look like. Standard
output: one JSON object, or the list of the pages that look different. It shares the cage with the
readers of documents: no file, no socket, no program.
"""

from __future__ import annotations

import base64
import importlib
import json
import logging
import os
import sys
from dataclasses import asdict
from datetime import datetime
from typing import Final, NoReturn

from pura.base import linux
from pura.documents import cage
from pura.report.check.parse import differing_pages, dissect

MAX_FILE_BYTES: Final = 64 << 20
# Everything that is imported on the way, since the cage lets nothing in later.
_PRELOAD: Final = (
    "pypdfium2",
    "asn1crypto.tsp",
    "pyhanko.pdf_utils.reader",
    "pyhanko.sign.validation",
    "pyhanko.sign.diff_analysis",
    "pyhanko_certvalidator",
    "pyhanko_certvalidator.fetchers.requests_fetchers",
    "cryptography.hazmat.backends.openssl.backend",
    "cryptography.hazmat.primitives.asymmetric.ec",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.asymmetric.padding",
    "encodings.latin_1",
    "encodings.utf_8",
    "encodings.utf_16",
    "encodings.utf_16_be",
    "encodings.utf_16_le",
    "encodings.idna",
    "stringprep",
)


def main() -> None:
    """Read the request, shut the cage, take the file apart."""
    linux.die_with_parent()
    logging.disable(logging.CRITICAL)  # it would write tracebacks with names into the log
    source = sys.stdin.buffer
    request = json.loads(source.readline(1 << 22))
    for name in _PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # an optional part of a library
    if before := request.get("like"):
        _drawn_once()
        cage.close()
        data = source.read(before + MAX_FILE_BYTES + 1)
        _answer(list(differing_pages(data[:before], data[before:])))
    moment = datetime.fromisoformat(request["moment"])
    trust = [base64.b64decode(one) for one in request["trust"]]
    _warm(moment)
    cage.close()
    facts = dissect(source.read(MAX_FILE_BYTES + 1), trust, moment)
    _answer(asdict(facts))


def _answer(found: object) -> NoReturn:
    sys.stdout.buffer.write(json.dumps(found).encode("ascii"))
    sys.stdout.buffer.flush()
    os._exit(0)


def _drawn_once() -> None:
    """Let the library that draws load what it loads once."""
    import pypdfium2

    document = pypdfium2.PdfDocument.new()
    document.init_forms()
    document.new_page(8, 8).render()
    document.close()


def _warm(moment: datetime) -> None:
    """Let the libraries read what they read once: the time zone, their own tables."""
    import tzlocal
    from pyhanko_certvalidator import ValidationContext

    tzlocal.get_localzone()
    moment.astimezone()
    ValidationContext(trust_roots=[], allow_fetching=False, moment=moment)


if __name__ == "__main__":
    main()
