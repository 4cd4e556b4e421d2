"""Reports: build, write, sign and check them; statements of a detector likewise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from pura.base.catalogue import quoted
from pura.base.errors import InputError, ReportError, ReportFileError, SigningError, naming
from pura.base.files import read_bounded, refuse_no_folder, refuse_taken, write_or_refuse
from pura.base.identity import Certificate
from pura.base.numerals import LANGUAGES
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.caselog import Case, CaseItem, CaseLog
from pura.caselog.cases import read_case
from pura.caselog.reports import confirmations, note_report, note_signed, request_of_case
from pura.detect.verdict.policy import load_policy
from pura.detect.verdict.power import shipped_power
from pura.documents.file_bytes import read_bytes_of
from pura.documents.pages import Pages, examined_bytes
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report import typesetter
from pura.report.annexes import lock_pdf, table_files
from pura.report.blocks import html_page, page_count, typeset
from pura.report.build import RECORD, Report
from pura.report.build import build_report as make_report
from pura.report.check import MAX_TRUST_BYTES, ReportCheck
from pura.report.check import check_report as examine
from pura.report.gap_analysis import (
    MAX_STATEMENTS_BYTES,
    GapAnalysis,
    GapStatements,
    gap_analysis_pdf,
)
from pura.report.page_pictures import page_pictures
from pura.report.regulators import AnnexFacts, regulators_annex
from pura.report.request import (
    MAX_LOGO,
    PAPERS,
    Confirmation,
    PagePicture,
    ReportRequest,
    check_choices,
)
from pura.report.signing import SignOptions
from pura.report.signing import sign_report as put_signature
from pura.report.statement import (
    MAX_FILE_BYTES,
    StatementCheck,
    StatementKey,
    Trust,
    find_statement,
)
from pura.report.statement import check_statement as examine_statement
from pura.scheme import Profile
from pura.usecases.audits import audit_again
from pura.usecases.cases import acting, open_log
from pura.usecases.duties import deployment, duties
from pura.usecases.environment import Environment
from pura.usecases.keys import open_identity, trusted_roots


def detector_key(environment: Environment) -> StatementKey:
    """Return the detector's own key; it is made the first time.

    Raises:
        ServeError: Its file is damaged.
    """
    return StatementKey.of(environment.paths.config / "serve" / "statements.key")


def certificate_key(path: Path, passphrase: Secret) -> StatementKey:
    """Return the key of a certificate.

    Args:
        path: PKCS#12.
        passphrase: Its passphrase; overwritten when it has been used.

    Raises:
        SigningError: See :func:`load_identity`.
        ServeError: Statements are not signed with a key of its kind.
    """
    return StatementKey.of_identity(open_identity(path, passphrase, SigningError))


def check_statement(
    *, path: Path, trust: tuple[Path, ...] = (), text: Path | None = None, sha256: str = ""
) -> StatementCheck:
    """Check a statement: single checks, each with its own result.

    Args:
        path: The statement, or an answer of the service that holds it.
        trust: Files with trusted certificates, or with a public key.
        text: What was asked about; or
        sha256: the digest of its bytes. Without either that is not examined.

    Raises:
        ReportFileError: A file holds no statement, or nothing to trust.
        InputError: The text cannot be read.
    """
    trusted = Trust()
    for one in trust:
        trusted += Trust.read(read_bounded(one, MAX_TRUST_BYTES, ReportFileError))
    if text is not None:
        sha256 = hashlib.sha256(read_bounded(text, MAX_FILE_BYTES, InputError)).hexdigest()
    return examine_statement(
        find_statement(read_bounded(path, MAX_FILE_BYTES, ReportFileError)),
        moment=datetime.now(UTC),
        trust=trusted,
        sha256=sha256,
    )


MAX_READ: Final = 64 << 20
_ATTACHED: Final = f"/F({RECORD})".encode()
_DRAFT: Final = b"pura-draft"  # a keyword of the document, which PDF/A keeps readable


@dataclass(frozen=True, kw_only=True)
class Built:
    """A report that is made.

    Attributes:
        report: Its files.
        audits: What it is made of.
        request: What it was told, the logo read.
        pages: How many it has.
    """

    report: Report
    audits: tuple[Audit, ...]
    request: ReportRequest
    pages: int


@dataclass(frozen=True, kw_only=True)
class WrittenReport:
    """A report that is written.

    Attributes:
        files: All files with their sizes in bytes, the PDF first.
        annex: Which of them is the sealed annex; None when it was not written.
    """

    files: dict[Path, int]
    annex: Path | None = None


class FilesTakenError(InputError):
    """Files would be replaced, and nobody has agreed to that; nothing was written.

    Attributes:
        paths: Which.
    """

    code = "file-exists"

    paths: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: Sequence[Path]) -> FilesTakenError:
        """Return the error for files that are in the way."""
        error = cls("file.there", name=paths[0].name)
        error.paths = tuple(paths)
        return error


def build_report(
    environment: Environment,
    audits: Sequence[Audit],
    *,
    request: ReportRequest,
    logo: Path | None = None,
    apart: bool = False,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Built:
    """Make a report: the same bytes for the same audits and request.

    Args:
        environment: Its case log holds the reviews; without one no report can be final.
        audits: What it is made of.
        request: What it is told beside them.
        logo: File of the logo; None leaves the one in the request.
        apart: Typeset in a process of its own: this one stands still for nobody.
        progress: Told of the one step.
        checkpoint: Called before it, and while it is typeset apart.

    Raises:
        InputError: No audit, too many, a bad choice, words that are not allowed, no logo, or a
            final report of what was not reviewed and authorised.
        CaseLogError: It shall be final, and the log cannot be read.
    """
    progress(Stage(name="report"))
    checkpoint()
    request, caselog = with_logo(request, logo), environment.paths.caselog
    confirmed: list[Confirmation] = []
    if request.final and caselog.exists():
        with CaseLog(caselog, read_only=True) as log:
            confirmed = confirmations(log, [audit.id for audit in audits])
    typesetting = typesetter.apart(checkpoint) if apart else typeset
    report = make_report(audits, request, confirmed=confirmed, typeset=typesetting)
    return Built(report=report, audits=tuple(audits), request=request, pages=page_count(report.pdf))


def original_pages(
    audit: Audit, path: Path | None, checkpoint: Checkpoint = never_cancelled
) -> tuple[PagePicture, ...]:
    """Draw the original pages of a text that hold a passage, for the report.

    Args:
        audit: What was found.
        path: Where its file is; None where nobody knows.
        checkpoint: Called before each page; may raise.

    Returns:
        Number and picture of each; nothing where the file has no pages, or is not there any more.
    """
    if path is None or audit.input.format != "pdf" or audit.text is None:
        return ()
    with closing(Pages(partial(examined_bytes, path, audit.input.sha256))) as pages:
        try:
            return page_pictures(audit, pages, checkpoint)
        except InputError:  # the text stands in the report all the same
            return ()


def files_examined(audits: Sequence[Audit], files: Iterable[Path]) -> dict[str, Path]:
    """Tell by their digests which files were examined; a record holds no file.

    Args:
        audits: What was found.
        files: Files that are said to be the originals.

    Returns:
        The file of each SHA-256, hex; for :func:`original_pages`.

    Raises:
        InputError: One cannot be read, or is the original of none of them.
    """
    known = {audit.input.sha256 for audit in audits}
    found: dict[str, Path] = {}
    for path in files:
        digest = hashlib.sha256(read_bytes_of(path)).hexdigest()
        if digest not in known:
            raise InputError("report.original", name=path.name, code="report-original")
        found[digest] = path
    return found


def with_logo(request: ReportRequest, logo: Path | None) -> ReportRequest:
    """Return a request with the logo read from its file.

    Raises:
        InputError: The file cannot be read, or is too large.
    """
    return request if logo is None else replace(request, logo=read_bounded(logo, MAX_LOGO))


def write_report(
    built: Built,
    *,
    pdf: Path | None = None,
    record: Path | None = None,
    html: Path | None = None,
    tables: Path | None = None,
    tables_prefix: str = "",
    annex: Path | None = None,
    annex_passphrase: Secret | None = None,
    replace: bool = False,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> WrittenReport:
    """Write the files of a report; those without a place are not written.

    Args:
        built: The report.
        pdf: The report itself.
        record: The record that is inside it, as JSON.
        html: The report as one HTML file.
        tables: Folder for bits and tokens as CSV.
        tables_prefix: Before the names of the tables.
        annex: The sealed annex with the names, if there is one; readable by this user only.
        annex_passphrase: Encrypts the annex; whoever made it wipes it.
        replace: Files that are there may be replaced.
        progress: Told of every file.
        checkpoint: Called before the first.

    Raises:
        FilesTakenError: Some are there; nothing was written.
        InputError: One cannot be written; those before it are named.
    """
    report = built.report
    files: list[tuple[Path, bytes, bool]] = []  # path, content, whether for this user only
    if pdf is not None:
        files.append((pdf, report.pdf, False))
    if record is not None:
        files.append((record, report.json, False))
    if html is not None:
        files.append((html, html_page(report.content).encode(), False))
    if report.annex is None:
        annex = None
    elif annex is not None:
        files.append((annex, _annex(report.annex, annex_passphrase), True))
    if tables is not None:
        files += [
            (tables / f"{tables_prefix}{name}", data, False)
            for name, data in table_files(built.audits, built.request)
        ]
    refuse_replacing([path for path, _, _ in files], replace=replace, made=tables)
    checkpoint()  # from here on all of them are written: half a set of files helps nobody
    written: dict[Path, int] = {}
    for path, data, private in files:
        progress(Stage(name="files", done=len(written), total=len(files)))
        try:
            write_or_refuse(path, data, private=private, own=path.parent == tables)
        except InputError as error:
            if not written:
                raise
            there = quoted([one.name for one in written])
            raise InputError(
                "file.write-after", code=error.code, there=there, **error.values
            ) from None
        written[path] = len(data)
    return WrittenReport(files=written, annex=annex)


def refuse_replacing(
    paths: Sequence[Path | None], *, replace: bool, made: Path | None = None
) -> None:
    """Refuse to replace files unless that was asked for, and to make folders.

    Args:
        paths: Files that shall be written.
        replace: Those that are there are replaced.
        made: The one folder that was asked for and is made; what holds it has to be there.

    Raises:
        FilesTakenError: Some are there.
        InputError: The folder of one is not there.
    """
    named = [path for path in paths if path is not None]
    for path in named:
        refuse_no_folder(path if path.parent != made else made)
    taken = [path for path in named if path.exists()]
    if taken and not replace:
        raise FilesTakenError.of(taken)


def _annex(pdf: bytes, passphrase: Secret | None) -> bytes:
    if passphrase is None:
        return pdf
    words = passphrase.copy()
    try:
        return lock_pdf(pdf, words)
    finally:
        words[:] = bytes(len(words))


@dataclass(frozen=True, kw_only=True)
class SignedReport:
    """A report that was signed.

    Attributes:
        certificate: With what; its subject is who signed.
        examiner: Whom the report names as examiner, where that is somebody else; else empty.
    """

    certificate: Certificate
    examiner: str = ""


def sign_report(
    environment: Environment,
    *,
    path: Path,
    to: Path,
    certificate: Path,
    passphrase: Secret,
    options: SignOptions | None = None,
    note: bool = False,
    auditor: str | None = None,
    replace: bool = False,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> SignedReport:
    """Sign the PDF of a report with the organisation's certificate (PAdES).

    Args:
        environment: Whose case log.
        path: The PDF.
        to: The signed PDF.
        certificate: Certificate and key, PKCS#12.
        passphrase: Its passphrase; overwritten when it has been used.
        options: Reason, place, seal, time-stamp authority.
        note: Note it in the case log, and sign its head too.
        auditor: Who works the program, for the log; None: whoever works here.
        replace: A file that is there may be replaced.
        progress: Told of the one step.
        checkpoint: Called before it.

    Raises:
        SigningError: Certificate or report do not fit, or the file is there or cannot be written.
        ReportFileError: A file cannot be read.
        CaseLogError: It shall be noted, and there is no log.
    """
    progress(Stage(name="sign"))
    checkpoint()
    with passphrase.used():
        refuse_taken(to, SigningError, replace=replace)
        before = read_bounded(path, MAX_READ, ReportFileError)
        identity = open_identity(certificate, passphrase, ReportFileError)
    after = put_signature(before, identity, options or SignOptions(), now=datetime.now(UTC))
    write_or_refuse(to, after, SigningError)
    if note:
        with open_log(environment) as log:
            note_signed(log, before, after, identity, acting(log, auditor))
    examiner, subject = _author(before), identity.certificate.subject
    same = examiner.casefold() == subject.casefold()
    return SignedReport(certificate=identity.certificate, examiner="" if same else examiner)


def _author(pdf: bytes) -> str:
    """Return whom a report names as its author: who examined; empty where it names nobody."""
    import pypdfium2

    with closing(pypdfium2.PdfDocument(pdf)) as document:
        return str(document.get_metadata_dict().get("Author", "")).strip()


def check_report(
    environment: Environment,
    *,
    path: Path,
    trust: tuple[Path, ...] = (),
    rerun: bool = False,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> ReportCheck:
    """Check a report: single checks, each with its own result.

    Args:
        environment: Whose.
        path: The PDF.
        trust: Files with trusted certificates, PEM or DER.
        rerun: Also audit the embedded text again, on the environment's device and model.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        ReportFileError: A file cannot be read, or the report's reader died.
        Cancelled: The checkpoint said so.
    """
    progress(Stage(name="check-report"))

    def again(record: Audit) -> Audit:
        return audit_again(environment, record, progress=progress, checkpoint=checkpoint)

    return examine(
        read_bounded(path, MAX_READ, ReportFileError),
        moment=datetime.now(UTC),
        trust=trusted_roots(trust, ReportFileError),
        policy=load_policy(environment.paths.policy).signed,
        reaudit=again if rerun else None,
        heartbeat=checkpoint,
    )


def carries_record(path: Path) -> bool:
    """Whether a file seems to be one of our reports, so that checking it can be offered.

    Only looks for the name of the attachment and parses nothing; a file that cannot be read, or is
    larger than a report that is checked can be, is none.
    """
    try:
        data = read_bounded(path, MAX_READ)
    except InputError:
        return False
    return data.startswith(b"%PDF-") and _ATTACHED in data


def is_draft(path: Path) -> bool:
    """Whether a file seems to be a report that was made as a draft; parses nothing."""
    try:
        return _DRAFT in read_bounded(path, MAX_READ)
    except InputError:
        return False


def filled_request(
    environment: Environment, case: Case, items: Sequence[CaseItem], base: ReportRequest
) -> ReportRequest:
    """Fill what the case log knows into the fields of a request that were left empty.

    Raises:
        CaseLogError: There is no log, or it is damaged.
    """
    with open_log(environment, read_only=True) as log:
        return request_of_case(log, case, items, base)


def filled_for_audits(
    environment: Environment, case: Case, audits: Sequence[Audit], base: ReportRequest
) -> ReportRequest:
    """Do the same for audits that were saved to a case just now.

    Raises:
        CaseLogError: There is no log, or it is damaged.
    """
    with open_log(environment, read_only=True) as log:
        now = read_case(log, case.id)
        return request_of_case(log, now, [now.item(audit.id) for audit in audits], base)


def note_built(
    environment: Environment,
    case: Case,
    built: Built,
    *,
    auditor: str | None = None,
    recipient: str = "",
) -> None:
    """Say in the case log what became of a report.

    Raises:
        CaseLogError: There is no log, or it cannot be written.
    """
    with open_log(environment) as log:
        note_report(
            log,
            case.id,
            [audit.id for audit in built.audits],
            built.request,
            built.report.number,
            built.report.pdf,
            acting(log, auditor),
            recipient=recipient,
        )


@dataclass(frozen=True, kw_only=True)
class AnnexOptions:
    """What the annex for regulators and the gap analysis are told.

    Attributes:
        policy: File with the rule; None takes the stored one.
        date: Of the document, ``YYYY-MM-DD``; empty: today.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        detector: Address of the detector that others may ask; empty where there is none.
    """

    policy: Path | None = None
    date: str = ""
    language: str = "en"
    paper: str = "a4"
    detector: str = ""


def write_annex(
    environment: Environment,
    *,
    profile: Profile,
    pdf: Path,
    options: AnnexOptions,
    replace: bool = False,
) -> int:
    """Fill the annex for a deployment and write it; returns its size in bytes.

    Args:
        environment: The installation, for its policy and tables.
        profile: What the deployment marks texts with.
        pdf: Where to.
        options: What the annex is told.
        replace: A file that is there may be replaced.

    Raises:
        PuraError: A choice does not exist, policy or a table cannot be used, the file is there
            already, or it cannot be written.
    """
    refuse_replacing([pdf], replace=replace)
    content = regulators_annex(_annex_facts(environment, profile, options))
    write_or_refuse(pdf, content)
    return len(content)


def _annex_facts(environment: Environment, profile: Profile, options: AnnexOptions) -> AnnexFacts:
    """Return what the annex is filled from."""
    check_choices(
        ("language", options.language, LANGUAGES),
        ("paper", options.paper, PAPERS),
    )
    policy = options.policy
    rule = load_policy(policy or environment.paths.policy, must_exist=policy is not None)
    stands = deployment(environment, profile, policy=rule, detector=options.detector)
    return AnnexFacts(
        profile=profile,
        policy=rule,
        own=stands.own,
        shipped=shipped_power(),
        date=options.date or datetime.now(UTC).date().isoformat(),
        language=options.language,
        paper=options.paper,
        detector=options.detector,
        duties=duties(stands),
    )


def write_gap_analysis(
    environment: Environment,
    *,
    profile: Profile,
    options: AnnexOptions,
    pdf: Path | None = None,
    html: Path | None = None,
    statements: Path | None = None,
    replace: bool = False,
) -> tuple[tuple[Path, int], ...]:
    """Write a gap analysis against the Code of Practice, with the annex as its second part.

    Args:
        environment: The installation, for its policy, tables and stores.
        profile: What the deployment marks texts with.
        options: What the documents are told.
        pdf: Where the PDF goes; None: nowhere.
        html: Where the same as one HTML file goes; None: nowhere.
        statements: The operator's file; None: nothing is stated.
        replace: Files that are there may be replaced.

    Returns:
        Each file that was written, with its size in bytes.

    Raises:
        PuraError: Nothing is to be written, the statements cannot be used, or as of
            :func:`write_annex`.
    """
    targets = [path for path in (pdf, html) if path is not None]
    if not targets:
        raise ReportError("gap.nowhere", code="usage")
    refuse_replacing(targets, replace=replace)
    stated = GapStatements()
    if statements is not None:
        with naming(statements.name):
            stated = GapStatements.from_json(
                read_bounded(statements, MAX_STATEMENTS_BYTES, ReportError)
            )
    facts = _annex_facts(environment, profile, options)
    analysis = GapAnalysis(annex=facts, statements=stated)
    files: list[tuple[Path, bytes]] = []
    if pdf is not None:
        files.append((pdf, gap_analysis_pdf(analysis)))
    if html is not None:
        files.append((html, html_page(analysis.content()).encode()))
    for path, content in files:
        write_or_refuse(path, content)
    return tuple((path, len(content)) for path, content in files)


def write_gap_template(path: Path, *, replace: bool = False) -> int:
    """Write a file of statements to fill in; returns its size in bytes.

    Raises:
        PuraError: The file is there already, or it cannot be written.
    """
    refuse_replacing([path], replace=replace)
    content = GapStatements.blank().to_json()
    write_or_refuse(path, content)
    return len(content)
