"""A fresh audit of a recorded one, with the built-in model."""

from __future__ import annotations

from typing import Any

import pytest

from pura.audit.run import Options, audit_document
from pura.base.errors import ReportFileError
from pura.documents import from_text
from pura.record.audit import Audit
from pura.report.check import GOOD, OPEN, fresh_audit, repeat
from pura.scheme import Profile, SecretKey


@pytest.fixture(scope="module")
def recorded(builtin_model: Any, samples: dict[str, Any]) -> Audit:
    sample = samples["marked-tbcc"]
    return audit_document(
        from_text(sample["texts"][0]["text"][:900], name="memo"),
        model=builtin_model,
        keys=[(SecretKey.from_hex(sample["key_hex"]), "Desk")],
        profile=Profile.from_dict(sample["profile"]),
        options=Options(),
    )


def test_a_fresh_audit_reproduces_the_record(
    recorded: Audit, builtin_model: Any, samples: dict[str, Any]
) -> None:
    given: list[SecretKey] = []

    def key_of(fingerprint: str) -> SecretKey:
        assert fingerprint == recorded.key.fingerprint
        given.append(SecretKey.from_hex(samples["marked-tbcc"]["key_hex"]))
        return given[-1]

    checks = repeat([recorded], lambda one: fresh_audit(one, key_of, lambda _: builtin_model))
    assert [(one.state, one.key) for one in checks] == [(GOOD, "repeat.identical")]
    assert len(given) == 1


def test_a_key_or_model_that_is_not_here_is_named(recorded: Audit, sample_key: SecretKey) -> None:
    with pytest.raises(ReportFileError) as caught:
        fresh_audit(recorded, lambda _: None, lambda _: None)
    assert caught.value.code == "repeat-key"
    key = SecretKey.from_hex("11" * 32)
    checks = repeat([recorded], lambda one: fresh_audit(one, lambda _: key, lambda _: None))
    assert checks[0].state == OPEN
    assert recorded.model.fingerprint in checks[0].text()
