"""``pura report build``: reports of saved records; also serves ``pura verify --pdf``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from pura.base.errors import InputError, RecordError
from pura.base.files import read_bounded, write_atomic
from pura.cli.caselog_common import Auditor, Saved
from pura.cli.terminal import out
from pura.record import json_io
from pura.record.audit import Audit
from pura.report import (
    ItemNotes,
    Parties,
    Report,
    ReportRequest,
    build_report,
    html_page,
    table_files,
)

MAX_RECORD_BYTES: Final = 512 << 20
MAX_REQUEST_BYTES: Final = 4 << 20
MAX_LOGO_BYTES: Final = 1 << 20


def build(
    records: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RECORD…", help="Records: “pura verify … --json --full”."),
    ] = None,
    *,
    pdf: Annotated[Path, typer.Option(metavar="OUT", help="PDF to write.")],
    request: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON with parties, item, case … (docs/report.md)."),
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
    logo: Annotated[Path | None, typer.Option(metavar="FILE", help="PNG or SVG.")] = None,
    language: Annotated[str | None, typer.Option(help="en or de.")] = None,
    paper: Annotated[str | None, typer.Option(help="a4 or us-letter.")] = None,
    text: Annotated[str | None, typer.Option(help="full, excerpt, redacted or omitted.")] = None,
    final: Annotated[
        bool, typer.Option("--final", help="Reviewed and authorised: no draft any more.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
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
    audits = [audit for path in records or [] for audit in read_records(path)]
    saved = Saved(case, item or [], auditor) if case is not None else None
    if saved is not None:
        audits += saved.audits
    wanted = read_request(request)
    given = {"language": language, "paper": paper, "text": text}
    changes: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    wanted = replace(wanted, **changes)
    if final:
        wanted = replace(wanted, final=True)
    if logo is not None:
        wanted = replace(wanted, logo=read_bounded(logo, MAX_LOGO_BYTES))
    if saved is not None:
        wanted = saved.request(wanted)
    report = build_report(audits, wanted)
    if annex_passphrase_file is not None and report.annex is not None:
        report = replace(report, annex=_locked(report.annex, annex_passphrase_file))
    write_report(
        report,
        audits,
        wanted,
        pdf=pdf,
        json_file=json_file,
        html=html,
        tables=tables,
        annex=annex,
        force=force,
    )
    if saved is not None:
        saved.note(report, wanted, recipient)


def _locked(annex: bytes, file: Path) -> bytes:
    from pura.cli.passphrases import read_passphrase
    from pura.report.lock import lock_pdf

    words = read_passphrase(file)
    try:
        return lock_pdf(annex, words)
    finally:
        words[:] = bytes(len(words))


def write_report(
    report: Report,
    audits: Sequence[Audit],
    request: ReportRequest,
    *,
    pdf: Path | None,
    json_file: Path | None = None,
    html: Path | None = None,
    tables: Path | None = None,
    annex: Path | None = None,
    force: bool = False,
) -> None:
    """Write the files of a report; nothing is replaced unless that was asked for.

    Raises:
        InputError: A file is there already, or cannot be written; nothing was written then.
    """
    files: list[tuple[Path, bytes, bool]] = []
    if pdf is not None:
        files.append((pdf, report.pdf, False))
    if json_file is not None:
        files.append((json_file, report.json, False))
    if html is not None:
        files.append((html, html_page(report.content).encode(), False))
    if annex is not None and report.annex is not None:
        files.append((annex, report.annex, True))
    if tables is not None:
        files += [(tables / name, data, False) for name, data in table_files(audits, request)]
    refuse_existing([path for path, _, _ in files], force=force)
    for path, data, private in files:
        try:
            write_atomic(path, data, private=private)
        except OSError as error:
            raise InputError(
                "file.write", name=path.name, why=error.errno or 0, code="file-write"
            ) from None
        out.print(f"{path} ({len(data):,} bytes)", markup=False)
    if report.annex is not None and annex is None:
        out.print("Names to whom payloads were issued were left out; --annex OUT writes them.")


def refuse_existing(paths: Sequence[Path | None], *, force: bool) -> None:
    """Refuse to replace files, unless that was asked for.

    Raises:
        InputError: One is there already.
    """
    for path in paths:
        if path is not None and path.exists() and not force:
            raise InputError("command.there", name=path.name, code="file-exists")


def read_records(path: Path) -> list[Audit]:
    """Read a record, a list of them in a report's JSON, or one a line.

    Raises:
        InputError: The file cannot be read, or is far too large.
        RecordError: It holds no record.
    """
    data = read_bounded(path, MAX_RECORD_BYTES)
    try:
        found: list[Any] = [json.loads(data)]
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in data.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            found = []
    rows: list[Any] = []
    for one in found:
        listed = one.get("audits") if isinstance(one, dict) else None
        rows += listed if isinstance(listed, list) else [one]
    if not rows:
        raise RecordError("command.no-record", name=path.name)
    return [json_io.from_dict(row) for row in rows]


def read_request(path: Path | None) -> ReportRequest:
    """Read what a report is told from JSON; names are those of the documentation.

    Raises:
        InputError: Not such JSON, or with a field that does not exist.
    """
    if path is None:
        return ReportRequest()
    try:
        data = json.loads(read_bounded(path, MAX_REQUEST_BYTES))
    except (ValueError, RecursionError):
        raise InputError("request.json", code="report-request") from None
    if not isinstance(data, dict):
        raise InputError("request.not-object", code="report-request")
    data = dict(data)
    parts = {
        "parties": _part(Parties, data.pop("parties", {})),
        "item": _part(ItemNotes, data.pop("item", {})),
    }
    if "redactions" in data:
        data["redactions"] = _ranges(data["redactions"])
    if isinstance(data.get("further"), list):
        data["further"] = tuple(_ranges(one) for one in data["further"])
    if "logo" in data:
        raise InputError("request.logo", code="report-request")
    whole: ReportRequest = _part(ReportRequest, data)
    return replace(whole, parties=parts["parties"], item=parts["item"])


def _part(kind: Any, data: object) -> Any:
    usual = kind()
    if not isinstance(data, dict):
        raise InputError("request.part", code="report-request")
    names = {f.name for f in fields(kind)}
    for name, value in data.items():
        if name not in names:
            raise InputError("request.unknown", name=str(name)[:40], code="report-request")
        if type(value) is not type(getattr(usual, name)):
            raise InputError("request.type", name=name, code="report-request")
    return kind(**data)


def _ranges(value: object) -> tuple[tuple[int, int], ...]:
    if isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(x) is int for x in pair)
        for pair in value
    ):
        return tuple((pair[0], pair[1]) for pair in value)
    raise InputError("request.redactions", code="report-request")
