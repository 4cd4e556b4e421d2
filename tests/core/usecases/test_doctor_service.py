"""What the doctor says of the detector that others may ask."""

import os

import pytest

from pura.base.catalogue import catalogue
from pura.base.paths import user_paths
from pura.usecases.doctor import examine
from pura.usecases.environment import Environment
from pura.usecases.reports import detector_key


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps rights of its own")
def test_what_the_service_keeps_is_looked_at():
    at = Environment(paths=user_paths(), device="cpu")

    def said() -> list[tuple[str, str]]:
        values = {"path": str(at.paths.config / "serve"), "command": f"chmod 600 {salt}"}
        known = {
            catalogue("doctor").fill(key, "en", values): key
            for key in ("service", "service.salt", "service.open")
        }
        found = [(one.grade, one.words("en")[0]) for one in examine(at) if one.name == "service"]
        return [(grade, known.get(words, words)) for grade, words in found]

    salt = at.paths.config / "serve" / "salt"
    assert said() == []
    detector_key(at)
    assert said() == [("ok", "service")]
    at.paths.data.mkdir(parents=True, exist_ok=True)
    (at.paths.data / "serve.sqlite3").touch()
    assert said() == [("fault", "service.salt")]
    salt.touch()
    salt.chmod(0o644)
    assert said() == [("fault", "service.open")]
