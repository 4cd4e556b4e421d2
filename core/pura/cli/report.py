"""``pura report``: reports of saved records, signed, verified; the annex for regulators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import InputError, ProfileError, RecordError, SigningError, naming, unusable
from pura.base.files import read_bounded, refuse_taken
from pura.base.json_text import read_json
from pura.cli.options import (
    Auditor,
    Certificate,
    CertificatePassphrase,
    DeviceOption,
    DtypeOption,
    JsonPrinted,
    PolicyOption,
    ProfileOption,
    ReplaceFiles,
    Timestamp,
    environment,
    load_profile,
)
from pura.cli.terminal import (
    STATUS_CODES,
    FormerOutput,
    Language,
    RowsInto,
    as_printed,
    language,
    out,
    output_of,
    passphrase,
    passphrase_for,
    print_checks,
    print_made,
    say,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.caselog import Case, CaseItem
    from pura.record.audit import Audit
    from pura.report.request import ReportRequest
    from pura.usecases.reports import AnnexOptions, Built, WrittenReport


app = App()

MAX_RECORD_BYTES: Final = 512 << 20
MAX_REQUEST_BYTES: Final = 4 << 20
PdfToWrite = Annotated[Path, typer.Option(metavar="OUT", help="PDF to write.")]
ReportFile = Annotated[Path, typer.Argument(metavar="FILE", help="The PDF of a report.")]


@app.command("build")
def build(
    records: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RECORD…", help="Records: “pura verify … --json --full”."),
    ] = None,
    *,
    pdf: PdfToWrite,
    request: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON with parties, item, case …"),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Also the embedded record.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="OUT", help="Also one HTML file.")] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also bits and tokens as CSV.")
    ] = None,
    annex: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Where the sealed annex with names goes.")
    ] = None,
    annex_passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Encrypt the annex under this passphrase.")
    ] = None,
    original: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A PDF that was examined: its pages are shown."),
    ] = None,
    logo: Annotated[Path | None, typer.Option(metavar="FILE", help="PNG or SVG.")] = None,
    language: Annotated[str | None, typer.Option(help="en or de.")] = None,
    paper: Annotated[str | None, typer.Option(help="a4 or us-letter.")] = None,
    text: Annotated[str | None, typer.Option(help="full, excerpt, redacted or omitted.")] = None,
    final: Annotated[
        bool, typer.Option("--final", help="Reviewed and authorised: no draft any more.")
    ] = False,
    force: ReplaceFiles = False,
    case: Annotated[
        str | None, typer.Option(metavar="CASE", help="Of audits that are saved in this case.")
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option("--audit", metavar="AUDIT", help="With --case: only these; else all."),
    ] = None,
    auditor: Auditor = None,
    recipient: Annotated[
        str, typer.Option(help="With --case: who gets it; the log keeps it.")
    ] = "",
) -> None:
    """Make one PDF report of one or several records, with the record inside."""
    from pura.report.request import FULL
    from pura.usecases.cases import items_of, open_audits
    from pura.usecases.reports import (
        build_report,
        files_examined,
        filled_request,
        note_built,
        original_pages,
        write_report,
    )

    audits = [audit for path in records or [] for audit in read_records(path)]
    at = environment()
    saved: tuple[Case, tuple[CaseItem, ...]] | None = None
    if case is not None:
        saved = items_of(at, case, item or [])
        audits += open_audits(at, items=saved[1], auditor=auditor)
    wanted = read_request(request)
    given = {"language": language, "paper": paper, "text": text, "final": final or None}
    changes: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    wanted = replace(wanted, **changes)
    if saved is not None:
        wanted = filled_request(at, *saved, wanted)
    files = files_examined(audits, original or [])
    if files and wanted.text == FULL:
        pages = tuple(original_pages(one, files.get(one.input.sha256)) for one in audits)
        wanted = replace(wanted, pages=pages)
    built = build_report(at, audits, request=wanted, logo=logo)
    secret = None
    if annex_passphrase_file is not None and built.report.annex is not None:
        secret = passphrase(annex_passphrase_file, "")
    written = write_report(
        built,
        pdf=pdf,
        record=json_file,
        html=html,
        tables=tables,
        annex=annex,
        annex_passphrase=secret,
        replace=force,
    )
    show_files(built, written)
    if saved is not None:
        note_built(at, saved[0], built, auditor=auditor, recipient=recipient)


def show_files(built: Built, written: WrittenReport) -> None:
    """Say which files of a report were written."""
    if as_printed.json:
        print_made("report", built.report.number, "", files=written.files, count=len(written.files))
        return
    for path, size in written.files.items():
        out.print(say("file.written", path=str(path), count=size))
    if built.report.annex is not None and written.annex is None:
        out.print(say("report.names"))


def read_records(path: Path) -> list[Audit]:
    """Read a record, a list of them in a report's JSON, or one a line.

    Raises:
        InputError: The file cannot be read, or is far too large.
        RecordError: It holds no record, or one that does not agree with itself.
    """
    from pura.detect.verdict.agreement import check_agreement
    from pura.record import json_io

    data = read_bounded(path, MAX_RECORD_BYTES)
    try:
        found: list[Any] = [read_json(data)]
    except (ValueError, RecursionError):
        try:
            found = [read_json(line) for line in data.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            found = []
    rows: list[Any] = []
    for one in found:
        listed = one.get("audits") if isinstance(one, dict) else None
        rows += listed if isinstance(listed, list) else [one]
    if not rows:
        raise RecordError("command.no-record", name=path.name)
    audits = [json_io.from_dict(row) for row in rows]
    with naming(path.name):
        for audit in audits:
            check_agreement(audit)
    return audits


def read_request(path: Path | None) -> ReportRequest:
    """Read what a report is told from JSON; names are those of the documentation.

    Raises:
        InputError: Not such JSON, or with a field that does not exist.
    """
    from pura.base.decoder import DecodeError, decode
    from pura.report.request import ReportRequest

    if path is None:
        return ReportRequest()
    try:
        data = read_json(read_bounded(path, MAX_REQUEST_BYTES))
    except (ValueError, RecursionError):
        raise _refusal(phrase("what.no-json")) from None
    if not isinstance(data, dict):
        raise _refusal(phrase("what.object"))
    if "logo" in data:
        raise InputError("request.logo", code="report-request")
    try:
        return decode(ReportRequest, data, sparse=True)
    except DecodeError as error:
        raise _refusal(error.what, error.where) from None


def _refusal(what: Phrase, name: str = "") -> InputError:
    return unusable(InputError, "request", what, name, code="report-request")


@app.command("sign")
def sign(
    file: ReportFile,
    certificate: Certificate,
    to: FormerOutput = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Signed PDF to write.")
    ] = None,
    passphrase_file: CertificatePassphrase = None,
    reason: Annotated[str, typer.Option(help="Why it is signed.")] = "",
    place: Annotated[str, typer.Option(help="Where it is signed.")] = "",
    seal: Annotated[bool, typer.Option("--seal", help="Also a visible seal.")] = False,
    timestamp: Timestamp = None,
    language: Language = "",
    note: Annotated[
        bool, typer.Option("--log", help="Note it in the case log, and sign its head too.")
    ] = False,
    auditor: Auditor = None,
) -> None:
    """Sign the PDF of a report with the organisation's certificate (PAdES)."""
    from pura.report.signing import SignOptions
    from pura.usecases.reports import sign_report

    signed_file = output_of(output, to)
    refuse_taken(signed_file, SigningError)  # before the question, not after it
    secret = passphrase_for(certificate, passphrase_file, file)
    options = SignOptions(
        reason=reason, location=place, seal=seal, tsa_url=timestamp, language=language
    )
    signed = sign_report(
        environment(),
        path=file,
        to=signed_file,
        certificate=certificate,
        passphrase=secret,
        options=options,
        note=note,
        auditor=auditor,
    )
    facts = signed.certificate
    until = f"{facts.not_after:%Y-%m-%d}"
    sentence = say("signed", subject=facts.subject, key=facts.key, until=until)
    print_made("report", facts.subject, sentence, files=[signed_file])
    if signed.examiner and not as_printed.json:
        out.print(say("signed.examiner", examiner=signed.examiner))


@app.command("verify")
def verify(
    file: ReportFile,
    trust: Annotated[
        list[Path] | None,
        typer.Option(metavar="CERT", help="Certificate you trust (PEM or DER)."),
    ] = None,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Also audit the embedded text again.")
    ] = False,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    as_json: JsonPrinted = False,
    _rows: RowsInto = None,
    language: Language = "",
) -> None:
    """Check a report: each check with its own result, in words.

    Exit codes: 0 signed under a certificate that --trust names, and nothing was found that is not
    as it should be; 1 something was, or there is no signature although --trust or a policy asks for
    one; 2 usage; 3 not signed, so that only what is inside could be held against itself; 4 signed,
    but the signer was not examined, since --trust names nobody.
    """
    from pura.usecases.reports import check_report

    at = environment(device, dtype)
    found = check_report(at, path=file, trust=tuple(trust or ()), rerun=rerun)
    if as_json:
        row = {
            "file": file.name,
            "sha256": found.facts.sha256,
            "signed": found.signed,
            "standing": found.status,
            "headline": found.headline(language),
            "checks": [check.plain(language) for check in found.checks],
        }
        write_row(row, "report-check")
    else:
        print_checks(found, language)
    raise typer.Exit(STATUS_CODES[found.status])


DocumentLanguage = Annotated[str | None, typer.Option("--language", help="en or de.")]
PaperOption = Annotated[str, typer.Option(help="a4 or us-letter.")]
DetectorAddress = Annotated[
    str, typer.Option(metavar="URL", help="Where others may ask the detector.")
]


def annex_options(
    policy: Path | None, tongue: str | None, paper: str, detector: str
) -> AnnexOptions:
    """Return what the annex and the gap analysis are told."""
    from pura.usecases.reports import AnnexOptions

    chosen = tongue or language()
    return AnnexOptions(policy=policy, language=chosen, paper=paper, detector=detector)


@app.command("gap-analysis")
def gap_analysis(
    *,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="FILE",
            envvar="PURA_PROFILE",
            help="Profile: a file or a stored name. Not needed with --template.",
        ),
    ] = None,
    pdf: Annotated[Path | None, typer.Option(metavar="OUT", help="PDF to write.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="OUT", help="HTML file to write.")] = None,
    statements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What you state of measures that the program cannot see, and what is planned "
            "(JSON).",
        ),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write a file of statements to fill in, and stop."),
    ] = None,
    policy: PolicyOption = None,
    tongue: DocumentLanguage = None,
    paper: PaperOption = "a4",
    detector: DetectorAddress = "",
    force: ReplaceFiles = False,
) -> None:
    """Write a gap analysis against the EU's Code of Practice, with the annex as second part.

    Each measure with what the program saw of it; your own statements stand beside. No legal advice.
    """
    from pura.usecases.reports import write_gap_analysis, write_gap_template

    if template is not None:
        size = write_gap_template(template, replace=force)
        sentence = say("file.written", path=str(template), count=size)
        print_made("gap-analysis", template.name, sentence, files=[template], count=size)
        return
    if profile is None:
        raise ProfileError("command.profile-needed", code="usage")
    at = environment()
    written = write_gap_analysis(
        at,
        profile=load_profile(at, profile),
        pdf=pdf,
        html=html,
        statements=statements,
        options=annex_options(policy, tongue, paper, detector),
        replace=force,
    )
    sentences = [say("file.written", path=str(path), count=size) for path, size in written]
    files = [path for path, _ in written]
    size = sum(size for _, size in written)
    print_made("gap-analysis", files[0].name, "\n".join(sentences), files=files, count=size)


@app.command("annex")
def annex(
    *,
    profile: ProfileOption,
    pdf: PdfToWrite,
    policy: PolicyOption = None,
    tongue: DocumentLanguage = None,
    paper: PaperOption = "a4",
    detector: DetectorAddress = "",
    force: ReplaceFiles = False,
) -> None:
    """Write an annex for regulators: what can be shown under Article 50(2) of the EU AI Act.

    Filled from profile, policy and power tables; every number names its source. No legal advice.
    """
    from pura.usecases.reports import write_annex

    at = environment()
    size = write_annex(
        at,
        profile=load_profile(at, profile),
        pdf=pdf,
        options=annex_options(policy, tongue, paper, detector),
        replace=force,
    )
    sentence = say("file.written", path=str(pdf), count=size)
    print_made("annex", pdf.name, sentence, files=[pdf], count=size)
