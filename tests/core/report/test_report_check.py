"""Signing a report, and naming what was done to it afterwards."""

import hashlib
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pikepdf
import pytest
import typst
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID
from tests.core.certificates import DAY, packed, self_signed
from tests.core.programs import run
from tests.core.records import RECORD

from pura.base.catalogue import phrase
from pura.base.errors import InputError, PuraError, ReportFileError, SigningError
from pura.base.identity import load_identity
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.json_io import findings_digest
from pura.report.check import (
    BAD,
    GOOD,
    NOTICE,
    OPEN,
    ReportCheck,
    check_report,
    compare,
    judge,
    load_trust,
    repeat,
)
from pura.report.check_child import dissect
from pura.report.signing import (
    SignOptions,
    check_detached,
    free_place,
    sign_detached,
    sign_report,
)

NOW = datetime.now(UTC).replace(microsecond=0)
SECRET = "grüner Baum am Fluss".encode()
SOURCE = b"""
#set document(title: "Report", date: datetime(year: 2026, month: 11, day: 21))
#set text(lang: "en")
#let d = json(bytes(sys.inputs.data))
#pdf.attach("record.json", bytes(d.json), relationship: "data",
  mime-type: "application/json", description: "Record")
= Report
#for line in d.lines [#line #linebreak()]
"""


@pytest.fixture(scope="module")
def audit() -> Audit:
    """A record as an audit wrote it: an invented one does not agree with itself."""
    return RECORD


def render(record: str, lines: list[str]) -> bytes:
    return typst.compile(
        SOURCE,
        sys_inputs={"data": json.dumps({"json": record, "lines": lines})},
        pdf_standards=["a-3a", "ua-1"],
    )


def lines_of(audit: Audit, record: str) -> list[str]:
    digest = hashlib.sha256(record.encode()).hexdigest()
    return [
        f"Item: {audit.input.sha256}",
        f"Key: {audit.key.fingerprint}",
        f"Payload: {audit.decoded.bits}",
        f"Record: {digest[:32]}",
        digest[32:],
        f"Findings: {findings_digest(audit)}",
    ]


@pytest.fixture(scope="module")
def report(audit: Audit) -> bytes:
    record = json_io.to_json(audit)
    return render(record, lines_of(audit, record))


def make_p12(
    key: Any = None,
    *,
    since: timedelta = -DAY,
    until: timedelta = 30 * DAY,
    usage: bool = True,
    with_key: bool = True,
    stamps: bool = False,
) -> bytes:
    extensions: list[x509.ExtensionType] = [
        x509.KeyUsage(usage, usage, not usage, False, False, False, False, False, False)
    ]
    if stamps:
        extensions.append(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]))
    term = {"now": NOW, "since": since, "until": until}
    who = {"organisation": "Beispiel & Söhne", **term}
    key, cert = self_signed("Reports Desk", key, *extensions, **who)
    if with_key:
        return packed(key, cert, SECRET)
    lock = serialization.BestAvailableEncryption(SECRET)
    return pkcs12.serialize_key_and_certificates(None, None, None, [cert], lock)


@pytest.fixture(scope="module")
def p12() -> bytes:
    return make_p12()


@pytest.fixture(scope="module")
def signed(report: bytes, p12: bytes) -> bytes:
    return sign_report(report, load_identity(p12, SECRET, now=NOW), SignOptions(), now=NOW)


def trust_of(p12: bytes) -> tuple[bytes, ...]:
    return (load_identity(p12, SECRET, now=NOW).cert_der,)


def found(check: ReportCheck) -> dict[str, list[tuple[str, str]]]:
    rows: dict[str, list[tuple[str, str]]] = {}
    for one in check.checks:
        rows.setdefault(one.name, []).append((one.state, one.key))
    return rows


def here(data: bytes, trust: tuple[bytes, ...] = (), moment: datetime = NOW) -> ReportCheck:
    """What :func:`check_report` finds, without the sandboxed child, which starts in a second."""
    return judge(dissect(data, trust, moment), trusted=bool(trust), moment=moment)


def bad(data: bytes, trust: tuple[bytes, ...] = ()) -> set[str]:
    return bad_of(here(data, trust))


def bad_of(result: ReportCheck) -> set[str]:
    for one in result.checks:
        assert one.text("en") != one.text("de")
    return {one.key for one in result.checks if one.state == BAD}


def test_a_signed_report_has_every_check_as_it_should_be(signed, p12):
    result = check_report(signed, moment=NOW, trust=trust_of(p12))
    assert found(result) == {
        "file": [(GOOD, "file.sound")],
        "record": [(GOOD, "record.found")],
        "digest": [(GOOD, "digest.same")],
        "schema": [(GOOD, "schema.valid")],
        "agrees": [(GOOD, "agrees.same")],
        "printed": [(GOOD, "printed.same")],
        "findings": [(GOOD, "findings.same")],
        "integrity": [(GOOD, "integrity.intact")],
        "signer": [(NOTICE, "signer.who")],
        "time": [(NOTICE, "time.clock")],
        "trust": [(GOOD, "trust.trusted")],
        "coverage": [(GOOD, "coverage.whole")],
        "changes": [(GOOD, "changes.none")],
        "pages": [(OPEN, "pages.no-particulars")],
        "repeat": [(OPEN, "repeat.not-asked")],
    }
    assert result.status == "trusted"
    assert len(result.audits) == 1
    who = next(one for one in result.checks if one.name == "signer")
    assert "Reports Desk, Beispiel & Söhne" in who.text()


def test_an_unsigned_report_says_what_that_leaves_open(report):
    result = here(report)
    assert ("notice", "integrity.none") in found(result)["integrity"]
    assert result.status == "unsigned"


def test_trust_is_said_and_never_assumed(signed):
    assert found(here(signed))["trust"] == [(OPEN, "trust.none-given")]
    assert here(signed).status == "signed"
    assert "signer was not examined" in here(signed).headline()
    assert bad(signed, trust_of(make_p12())) == {"trust.unknown"}
    late = here(signed, moment=NOW + 60 * DAY)
    assert found(late)["trust"] == [(BAD, "trust.expired")]
    assert late.status == "amiss"


def test_a_record_that_was_edited_embedded_anew_and_signed_by_a_stranger_is_named(audit):
    for other, what in (
        (replace(audit, verdict="no-mark"), "outcome is not what its own policy"),
        (replace(audit, decoded=replace(audit.decoded, bits="1" * 36)), "bits of the codeword"),
        (replace(audit, evidence=replace(audit.evidence, log10_e=1.0)), "mean of its readings"),
    ):
        record = json_io.to_json(other)
        forged = render(record, lines_of(other, record))
        stranger = sign_report(
            forged, load_identity(make_p12(), SECRET, now=NOW), SignOptions(), now=NOW
        )
        result = here(stranger)
        assert result.status == "amiss"
        assert bad_of(result) == {"agrees.other"}
        said = next(one for one in result.checks if one.name == "agrees")
        assert what in said.text()
        assert audit.input.name in said.text()


# Tampered samples, each named for what it is


def test_one_byte_is_named(signed, p12):
    place = signed.index(b"/Title") + 8
    other = signed[:place] + bytes([signed[place] ^ 1]) + signed[place + 1 :]
    assert "integrity.broken" in bad(other, trust_of(p12))


def test_a_byte_of_the_signature_itself_is_named(signed):
    place = signed.index(b"/Contents <") + 400
    swapped = b"0" if signed[place : place + 1] != b"0" else b"1"
    other = signed[:place] + swapped + signed[place + 1 :]
    assert bad(other) & {"integrity.broken", "integrity.invalid", "integrity.unreadable"}


def test_appended_bytes_are_named(signed, p12):
    keys = bad(signed + b"appended", trust_of(p12))
    assert keys == {"file.tail", "coverage.part", "changes.tail"}


def updated(signed: bytes, act: Any) -> bytes:
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

    writer = IncrementalPdfFileWriter(io.BytesIO(signed))
    act(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_an_incremental_update_that_edits_text_names_the_page(signed, p12):
    from pyhanko.pdf_utils import generic

    def empty(writer: Any) -> None:
        page = writer.root["/Pages"]["/Kids"][0]
        page = writer.root["/Pages"].raw_get("/Kids").get_object() if page is None else page
        page["/Contents"] = writer.add_object(generic.StreamObject(stream_data=b"BT ET"))
        writer.update_container(page)

    keys = bad(updated(signed, empty), trust_of(p12))
    assert {"coverage.part", "changes.pages", "changes.saved"} & keys >= {"changes.pages"}
    assert "printed.other" in keys
    assert "digest.other" in keys


def test_a_harmless_incremental_update_is_still_named(signed, p12):
    def touch(writer: Any) -> None:
        writer.update_root()

    keys = bad(updated(signed, touch), trust_of(p12))
    assert keys == {"file.saved", "coverage.part", "changes.saved"}


def test_a_swapped_attachment_is_named(report, signed, audit):
    other = replace(audit, evidence=replace(audit.evidence, log10_e=99.0))

    def swap(pdf: bytes) -> bytes:
        with pikepdf.open(io.BytesIO(pdf)) as document:
            del document.attachments["record.json"]
            document.attachments["record.json"] = pikepdf.AttachedFileSpec(
                document, json_io.to_json(other).encode(), filename="record.json"
            )
            out = io.BytesIO()
            document.save(out)
        return out.getvalue()

    assert bad(swap(report)) == {"digest.other", "findings.other", "agrees.other"}
    assert "digest.other" in bad(swap(signed))


def test_an_attachment_swapped_after_signing_is_named(signed, p12, audit):
    from pyhanko.pdf_utils import generic

    other = json_io.to_json(replace(audit, verdict="no-mark")).encode()

    def swap(writer: Any) -> None:
        tree = writer.root["/Names"]["/EmbeddedFiles"]
        names = tree["/Names"] if "/Names" in tree else tree["/Kids"][0]["/Names"]
        holder = names[1]["/EF"]
        holder["/F"] = holder["/UF"] = writer.add_object(
            generic.StreamObject(
                dict_data={generic.pdf_name("/Type"): generic.pdf_name("/EmbeddedFile")},
                stream_data=other,
            )
        )
        writer.update_container(holder)

    result = here(updated(signed, swap), trust_of(p12))
    said = {one.key: one.text() for one in result.checks if one.state == BAD}
    assert {"digest.other", "coverage.part", "changes.attachments"} <= said.keys()
    assert "record.json" in said["changes.attachments"]


def test_edited_text_of_an_unsigned_report_is_named(audit):
    record = json_io.to_json(audit)
    lines = lines_of(audit, record)
    lines[0] = "Item: " + "e" * 64
    assert bad(render(record, lines)) == {"printed.other"}


def test_a_damaged_record_is_named(audit):
    record = json_io.to_json(audit).replace('"verdict"', '"verdikt"')
    assert "schema.invalid" in bad(render(record, lines_of(audit, record)))


def test_other_files_are_named_for_what_they_are(report):
    assert bad(b"hello") == {"file.not-pdf"}
    damaged = check_report(b"%PDF-1.7\nnonsense", moment=NOW)
    assert bad_of(damaged) == {"file.damaged"}
    with pikepdf.open(io.BytesIO(report)) as document:
        del document.attachments["record.json"]
        out = io.BytesIO()
        document.save(out)
    assert bad(out.getvalue()) == {"record.none"}


def test_a_file_that_is_too_large_is_refused():
    with pytest.raises(ReportFileError, match="64 MiB"):
        check_report(b"%PDF-" + bytes(64 << 20), moment=NOW)


# A fresh audit


def test_a_fresh_audit_is_held_against_the_record(signed, audit):
    same = check_report(signed, moment=NOW, reaudit=lambda one: one)
    assert found(same)["repeat"] == [(GOOD, "repeat.identical")]
    recorded = here(signed).audits

    def unknown(_: Audit) -> Audit:
        raise InputError("repeat.absent", whole=phrase("whole.key"), fingerprint="ab")

    [gone] = repeat(recorded, unknown)
    assert (gone.state, gone.key) == (OPEN, "repeat.not-possible")
    assert "The key ab, which the audit used, is not on this computer." in gone.text()
    moved = replace(audit, evidence=replace(audit.evidence, log10_e=audit.evidence.log10_e + 0.01))
    assert compare(audit, moved).state == GOOD
    far = replace(audit, evidence=replace(audit.evidence, log10_e=audit.evidence.log10_e + 1))
    assert compare(audit, far).text("de").endswith("Festgehaltene: Anhaltspunkte.")
    flipped = replace(audit, decoded=replace(audit.decoded, bits=audit.payload.bits[::-1] + "1"))
    assert compare(audit, flipped).state == BAD


# The certificate


@pytest.mark.parametrize("kind", ["rsa", "ec", "ed25519"])
def test_every_kind_of_key_signs_and_is_checked_in_the_sandbox(report, kind):
    made: Any = {
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
        "ec": lambda: ec.generate_private_key(ec.SECP384R1()),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
    }[kind]()
    file = make_p12(made)
    identity = load_identity(file, SECRET, now=NOW)
    done = sign_report(report, identity, SignOptions(reason="Issue", seal=True), now=NOW)
    assert done.startswith(report)
    assert bad_of(check_report(done, moment=NOW, trust=trust_of(file))) == set()


def pss_p12(folder: Path, *restrictions: str) -> bytes:
    """Make a certificate whose key is for RSA-PSS alone; ``cryptography`` makes none."""
    options = [word for one in restrictions for word in ("-pkeyopt", one)]
    key, certificate, file = folder / "key", folder / "certificate", folder / "p12"
    bits = ("-pkeyopt", "rsa_keygen_bits:2048")
    run("openssl", "genpkey", "-algorithm", "RSA-PSS", *bits, *options, "-out", key)
    subject = ("-subj", "/CN=Desk PSS", "-days", "30")
    run("openssl", "req", "-x509", "-new", "-key", key, *subject, "-out", certificate)
    words = ("-passout", f"pass:{SECRET.decode()}")
    files = ("-inkey", key, "-in", certificate, "-out", file)
    run("openssl", "pkcs12", "-export", *files, *words)
    return file.read_bytes()


@pytest.mark.programs("openssl")
@pytest.mark.parametrize(
    "restrictions",
    [(), ("rsa_pss_keygen_md:sha512", "rsa_pss_keygen_mgf1_md:sha512")],
    ids=["any", "sha512"],
)
def test_a_key_for_rsa_pss_alone_signs(report, tmp_path, restrictions):
    file, now = pss_p12(tmp_path, *restrictions), datetime.now(UTC) + timedelta(seconds=5)
    identity = load_identity(file, SECRET, now=now)
    done = sign_report(report, identity, SignOptions(), now=now)
    assert bad_of(check_report(done, moment=now, trust=(identity.cert_der,))) == set()
    assert check_detached(sign_detached(b"x", identity), b"x", [identity.cert_der], now).trusted


@pytest.mark.parametrize(
    ("make", "passphrase", "code"),
    [
        (make_p12, b"wrong", "signing-passphrase"),
        (make_p12, None, "signing-passphrase"),
        (lambda: make_p12()[:-9], SECRET, "signing-file"),
        (lambda: b"hello", SECRET, "signing-file"),
        (lambda: b"-----BEGIN CERTIFICATE-----", SECRET, "signing-file"),
        (lambda: make_p12(until=-DAY / 2), SECRET, "signing-expired"),
        (lambda: make_p12(since=DAY), SECRET, "signing-not-yet-valid"),
        (lambda: make_p12(rsa.generate_private_key(65537, 1024)), SECRET, "signing-weak"),
        (lambda: make_p12(dsa.generate_private_key(1024)), SECRET, "signing-weak"),
        (lambda: make_p12(with_key=False), SECRET, "signing-no-certificate"),
        (lambda: make_p12(usage=False), SECRET, "signing-usage"),
    ],
)
def test_what_is_wrong_with_a_certificate_is_said(make, passphrase, code):
    with pytest.raises(SigningError) as caught:
        load_identity(make(), passphrase, now=NOW)
    assert caught.value.code == code
    assert SECRET.decode() not in str(caught.value)


def test_the_key_is_not_in_the_words_of_an_identity(p12):
    identity = load_identity(p12, SECRET, now=NOW)
    assert "key_der" not in repr(identity)


def test_a_signed_report_is_not_signed_again(signed, p12):
    identity = load_identity(p12, SECRET, now=NOW)
    with pytest.raises(SigningError, match="already signed"):
        sign_report(signed, identity, SignOptions(), now=NOW)
    with pytest.raises(SigningError, match="not a valid PDF"):
        sign_report(b"%PDF-1.7 nonsense", identity, SignOptions(), now=NOW)


def test_a_bad_or_silent_time_stamp_authority_is_named(report, p12):
    identity = load_identity(p12, SECRET, now=NOW)
    with pytest.raises(SigningError, match="not a web address"):
        sign_report(report, identity, SignOptions(tsa_url="file:///etc"), now=NOW)


def test_a_time_stamp_is_read(report, p12):
    from asn1crypto import keys as asn1_keys
    from asn1crypto import x509 as asn1_x509
    from pyhanko.sign.timestamps import DummyTimeStamper

    identity = load_identity(p12, SECRET, now=NOW)
    other = make_p12(rsa.generate_private_key(65537, 2048), stamps=True)
    authority = load_identity(other, SECRET, now=NOW)
    stamper = DummyTimeStamper(
        asn1_x509.Certificate.load(authority.cert_der),
        asn1_keys.PrivateKeyInfo.load(authority.key_der),
    )
    done = sign_report(report, identity, SignOptions(), now=NOW, time_stamper=stamper)
    result = here(done)
    assert found(result)["time"] == [(NOTICE, "time.unknown-authority")]
    both = (*trust_of(p12), authority.cert_der)
    known = here(done, both)
    assert found(known)["time"] == [(GOOD, "time.stamped")]


def test_the_seal_covers_nothing(report):
    place = free_place(report)
    assert place is not None
    page, (left, low, right, high) = place
    assert page == 0
    with pikepdf.open(io.BytesIO(report)) as document:
        box = [float(v) for v in document.pages[0].mediabox]
    assert 0 < left < right < box[2]
    assert 0 < low < high < box[3]
    import pypdfium2

    document = pypdfium2.PdfDocument(report)
    text = document[0].get_textpage().get_text_bounded(left, low, right, high)
    document.close()
    assert text == ""


def test_trust_files(p12):
    der = trust_of(p12)[0]
    pem = x509.load_der_x509_certificate(der).public_bytes(Encoding.PEM)
    assert load_trust(der) == load_trust(pem) == (der,)
    assert len(load_trust(pem + pem)) == 2
    for wrong in (b"hello", b"-----BEGIN CERTIFICATE-----\nxx"):
        with pytest.raises(PuraError, match="no certificate"):
            load_trust(wrong)


@pytest.mark.programs("pdfsig", "pdfinfo")
def test_another_program_reads_the_signature(signed, tmp_path):
    path = tmp_path / "signed.pdf"
    path.write_bytes(signed)
    told = run("pdfsig", path)
    assert "ETSI.CAdES.detached" in told
    assert "Total document signed" in told
    assert "Signature is Valid" in told
    facts = run("pdfinfo", path)
    assert "PDF version:     1.7" in facts
    assert "Tagged:          yes" in facts
