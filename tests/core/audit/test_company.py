"""A text beside other texts says what it says alone."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from pura.audit.options import AuditText
from pura.audit.run import audit_documents
from pura.base.errors import PuraError
from pura.documents import from_text
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def texts(samples: dict[str, Any]) -> list[str]:
    """Two plain texts, one with a pair of curly quotes and one with wrapped lines."""
    words = " ".join(one["text"] for one in samples["plain"]["texts"]).split(" ")
    quoted = words[:220]
    quoted[5], quoted[9] = f"“{quoted[5]}", f"{quoted[9]}”"
    return [" ".join(quoted), "\n".join(textwrap.wrap(" ".join(words[400:670]), 60))]


def audited(model: Any, sample: dict[str, Any], texts: list[str]) -> Iterator[Audit]:
    for found in audit_documents(
        [AuditText(document=from_text(text, name="text")) for text in texts],
        model=model,
        keys=[(SecretKey.from_hex(sample["key_hex"]), None)],
        profile=Profile.from_dict(sample["profile"]),
    ):
        assert not isinstance(found, PuraError)
        yield found


def test_two_plain_texts_are_read_beside_each_other(
    builtin_model: Any, samples: dict[str, Any], texts: list[str]
) -> None:
    together = list(audited(builtin_model, samples["marked"], texts))
    alone = [one for text in texts for one in audited(builtin_model, samples["marked"], [text])]
    for one, other in zip(together, alone, strict=True):
        assert one.verdict == other.verdict
        assert one.evidence.log10_e == pytest.approx(other.evidence.log10_e, abs=1e-3)
        assert one.evidence.usable == other.evidence.usable
