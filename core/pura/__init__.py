"""PURA: embed, read and defend a provably unbiased multi-bit watermark.

The package is importable without Qt and without loading torch; the rooms are described in
``docs/architecture.md``. A text's way through them: ``pura.model`` reads it, ``pura.scheme``
schedules it, ``pura.extract`` weighs it, ``pura.decode`` decides, ``pura.audit`` records.
"""

from pura.version import __version__

__all__ = ["__version__"]
