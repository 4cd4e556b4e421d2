"""What is asked of whoever marks texts: each state, from what is really here."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pypdfium2 import PdfDocument
from tests.core.cli.conftest import pura
from tests.core.cli.test_power_command import table
from tests.core.manifest_stores import store
from tests.core.serve.conftest import Start, Token
from tests.core.serve.test_softbinding import ALG, published

from pura.base.catalogue import catalogue
from pura.base.numerals import LANGUAGES
from pura.base.paths import user_paths
from pura.cli.terminal import use_language
from pura.detect.verdict.policy import Policy, load_policy
from pura.detect.verdict.power import PowerFile, seal, shipped_power
from pura.keys import Secret
from pura.provenance.binding import binding_value
from pura.record.answers import Role
from pura.register.rows import Issue
from pura.register.store import Register
from pura.report.statement import StatementKey
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey
from pura.serve.grants import Grant
from pura.usecases import duties as asked
from pura.usecases.duties import DUTIES, deployment, duties
from pura.usecases.environment import Environment
from pura.usecases.measurements import add_power, rely_on_power, sign_power

KNOWN = Profile(
    payload_bits=36, vocab_size=64, code="tbcc", model="0" * 16, temperature=0.7, top_p=0.95
)
"""What the table of ``test_power_command`` was measured under."""
ROOT = Path(__file__).resolve().parents[3]
NAMES = {name for name, _, _ in DUTIES}


@pytest.fixture
def secret() -> Secret:
    """The passphrase of the certificate."""
    return Secret(bytearray("Grüße 7".encode()))


@pytest.fixture
def desk() -> Environment:
    """An installation without anything; its key files have a passphrase."""
    return Environment(
        paths=user_paths(), device="cpu", ask_folder=lambda _new: bytearray(b"four words in a row")
    )


def states(at: Environment, profile: Profile | None = KNOWN, detector: str = "") -> dict[str, str]:
    """Return the state of each duty, and note what was said of it."""
    found = duties(deployment(at, profile, detector=detector))
    SEEN.update(duty.seen.key for duty in found)
    return {duty.id: duty.state for duty in found}


SEEN: set[str] = set()


def taken(at: Environment, sealed: PowerFile, tmp_path: Path) -> None:
    """Take a table in, and rely on it."""
    path = tmp_path / "table.json"
    path.write_bytes(sealed.to_bytes())
    add_power(at, path)
    rely_on_power(at, name=sealed.fingerprint)


def unedited(found: list[int]) -> PowerFile:
    """Return the table of ``test_power_command`` with unedited texts only."""
    data = json.loads(json.dumps(table().data))
    data["entries"] = [one | {"found": found} for one in data["entries"] if not one.get("edit")]
    return seal(data)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps rights of its own")
def test_every_state_comes_from_what_is_here(
    desk: Environment,
    certificate: Path,
    secret: Secret,
    detector: Start,
    token: Token,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    SEEN.clear()
    nothing = states(desk, None)
    assert set(nothing) == NAMES
    with monkeypatch.context() as without:
        without.setattr(asked, "PROVENANCE", ("no_such_part",))
        assert states(desk)["layers"] == "absent"
    assert nothing["layers"] == "partly"
    # Profile and key.
    assert nothing["marked"] == "absent"
    assert states(desk, KNOWN.with_(model=None))["marked"] == "partly"
    assert states(desk)["marked"] == "partly"
    desk.keys.add("House", SecretKey(bytes(range(32))))
    assert states(desk)["marked"] == "have"
    # Policy.
    assert nothing["reliable"] == "partly"
    replace(Policy(), yearly_volume=10_000_000).save(desk.paths.policy)
    assert states(desk)["reliable"] == "have"
    # What was measured: nothing, by the study, too little, unedited, edited, signed.
    names = ("effective", "robust", "tested")
    assert [nothing[name] for name in names] == ["absent"] * 3
    study = KNOWN.with_(model=shipped_power()[0].models[0], temperature=1.0, top_p=1.0)
    assert [states(desk, study)[name] for name in names] == ["have", "partly", "partly"]
    taken(desk, unedited([30, 40]), tmp_path)
    assert [states(desk)[name] for name in names] == ["partly", "partly", "partly"]
    for fingerprint in load_policy(desk.paths.policy).power_tables:
        rely_on_power(desk, name=fingerprint, on=False)
    taken(desk, table(), tmp_path)
    assert [states(desk)[name] for name in names] == ["have", "have", "partly"]
    sign_power(desk, name=table().fingerprint, certificate=certificate, passphrase=secret)
    assert [states(desk)[name] for name in names] == ["have"] * 3
    # The register.
    assert nothing["logged"] == "absent"
    with Register(desk.paths.register, create=True) as register:
        assert states(desk)["logged"] == "partly"
        series = PayloadSeries(key="a" * 16, profile=KNOWN.fingerprint)
        entry = register.add(Issue(payload=Payload(text="01" * 18), series=series, who="north"))
        found = states(desk)
        assert (found["logged"], found["layers"]) == ("have", "partly")
        register.name_manifest(entry.number, "urn:c2pa:of-north")
    assert states(desk)["layers"] == "have"
    for path, mode in ((desk.paths.register, 0o644), (desk.paths.data, 0o755)):
        path.chmod(mode)
    assert states(desk)["logged"] == "partly"
    desk.paths.data.chmod(0o700)
    # What a payload says of people.
    assert nothing["pseudonyms"] == "absent"
    assert states(desk)["pseudonyms"] == "have"
    assert states(desk, KNOWN.with_(payload_use="recipient"))["pseudonyms"] == "partly"
    # A detector: none, elsewhere, for tokens, for anybody with all that it may say.
    served = ("detector", "standard", "plain", "told", "routed", "layers")
    served += ("technique", "signpost")
    assert [nothing[name] for name in served] == ["absent"] * 5 + ["partly", "absent", "absent"]
    desk.paths.register.unlink()
    elsewhere = states(desk, detector="https://ask.example.org/")
    expected = ["partly", "partly", "absent", "absent", "absent", "partly", "absent", "absent"]
    assert [elsewhere[name] for name in served] == expected
    detector(anyone=False)
    expected = ["partly", "partly", "partly", "partly", "absent", "partly", "absent", "absent"]
    assert [states(desk)[name] for name in served] == expected
    whole: dict[str, Any] = {
        "languages": ("en",),
        "contact": "desk@example.org",
        "key": StatementKey.of(tmp_path / "statements.key"),
        "soft_binding": ALG,
    }
    client = detector(**whole)
    expected = ["have", "partly", "have", "have", "partly", "partly", "partly", "partly"]
    assert [states(desk)[name] for name in served] == expected
    press = token(Role.PUBLISHER, grants=[Grant.of_profile(KNOWN)])
    published(client, press, store(), binding_value("01" * 18, KNOWN.fingerprint))
    detector(**whole, public_lookups=True)
    expected = ["have", "partly", "have", "have", "have", "have", "partly", "partly"]
    assert [states(desk)[name] for name in served] == expected
    assert states(desk)["pseudonyms"] == "partly"
    # Whatever can be said of a duty was said, and nothing else.
    reasons = {key for key in catalogue("duties") if key.split(".")[0] in NAMES and "." in key}
    assert reasons - SEEN == set()
    assert SEEN - reasons == set()
    # A record of the service that cannot be read counts as none.
    desk.paths.detector.write_text("[")
    assert states(desk)["detector"] == "absent"


@pytest.mark.parametrize("language", LANGUAGES)
def test_command_and_annex_show_the_same_duties(
    language: str, detector: Start, tmp_path: Path
) -> None:
    """In every combination of an address that is given and a detector that was started here."""
    paths = user_paths()
    paths.profiles.mkdir(parents=True)
    (paths.profiles / "house.json").write_text(KNOWN.to_json())
    pdf = tmp_path / "annex.pdf"
    texts = catalogue("duties")
    none = texts.fill("detector.none", language, {})
    started: tuple[dict[str, Any] | None, ...] = (None, {"anyone": False}, {"anyone": True})
    for settings in started:
        if settings is not None:
            detector(**settings)
        for address in ("", "/", "https://ask.example.org/"):
            given = ("--detector", address) if address else ()
            done = pura("--language", language, "doctor", "--duties", *given)
            use_language("en")
            assert done.exit_code == 1, done.exception  # much is absent
            words = ("--profile", "house", "--pdf", pdf, "--language", language, "--force")
            written = pura("report", "annex", *words, *given)
            assert written.exit_code == 0, written.exception
            with PdfDocument(pdf) as document:
                pages = " ".join(p.get_textpage().get_text_range() for p in document)
            at = Environment(paths=paths, device="cpu")
            seen = duties(deployment(at, KNOWN, detector=address))
            assert [duty.id for duty in seen] == [name for name, _, _ in DUTIES]
            for shown in (done.output, pages):
                bare = squeezed(shown)
                for duty in seen:
                    for said in duty.words(language):
                        assert squeezed(said) in bare, (settings, address, duty.id)
                # It names a detector that others may ask, or says that there is none: never both.
                named = "ask.example.org" in bare or settings is not None
                assert (squeezed(none) in bare) is not named, (settings, address)
            with pikepdf.open(pdf) as inside:
                assert "profile.json" in inside.attachments
            found = pura("doctor", "--duties", *given, "--json").output.splitlines()
            rows = [json.loads(line) for line in found]
            assert [(row["duty"], row["state"]) for row in rows] == [
                (duty.id, duty.state) for duty in seen
            ]
            assert {row["profile"] for row in rows} == {"house"}


def squeezed(text: str) -> str:
    """Return a text without blanks and hyphens at the ends of lines, as neither is copied well."""
    return re.sub(r"[\s\u00ad\ufffe\x02-]", "", text)


def test_the_pages_have_a_row_for_each_duty() -> None:
    texts = catalogue("duties")
    for language, folder in (("en", "docs"), ("de", "docs/de")):
        page = (ROOT / folder / "how-to" / "duties.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (.+?) \| (.+?) \| .+ \|$", page.partition("\n## ")[2], re.MULTILINE)
        wanted = [
            (texts.fill(name, language, {}), texts.fill(source.key, language, source.values))
            for name, source, _ in DUTIES
        ]
        assert rows[-len(wanted) :] == wanted
