"""``pura verify``: audit texts, print findings in words or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pura.base.catalogue import catalogue
from pura.base.errors import InputError, PuraError
from pura.base.numerals import visible, weight
from pura.cli.options import AuditOptions, Auditor, named_files, read_ids, with_audit_options
from pura.cli.terminal import (
    Language,
    RowsInto,
    complain,
    details,
    err,
    exit_code,
    interactive,
    language,
    notes,
    out,
    passphrase,
    refuse_unknown,
    say,
    write_row,
)
from pura.record.provenance import MARK_ONLY
from pura.words.sentences import fill, noted, step_name

if TYPE_CHECKING:
    from pura.detect.options import AuditText
    from pura.documents import Document, Extraction, ReadOptions
    from pura.record.audit import Audit
    from pura.record.naming import NamedMark
    from pura.scheme import Profile
    from pura.usecases.audits import Audited, Item, Prepared
    from pura.usecases.cases import SaveTo, SavingRun
    from pura.usecases.environment import Environment


_CANDIDATES: Final = 5  # of each mark that are printed
_TONES: Final = {
    "mark": "bold green",
    "indication": "bold yellow",
    "not-examinable": "bold red",
}
"""Ink of the headline by verdict; the others are in bold."""
Line = tuple[str, str]
"""Words and their style, as :meth:`pura.cli.terminal.Terminal.print` takes them."""


def audit_lines(audit: Audit, language: str, *, explain: bool = True) -> Iterator[Line]:
    """Say the findings: the outcome first, then what supports it, then what weakens it.

    Args:
        audit: The record.
        language: ``en`` or ``de``.
        explain: All that a record says in words; else the outcome in one sentence, the payload
            with its fields, and what weakens it.
    """
    from pura.record.finding import rendered

    found = audit.finding
    name = " · ".join(filter(None, (audit.input.name, audit.input.part)))
    yield f"{name}: {fill(found.headline, language)}", _TONES.get(found.verdict, "bold")
    if explain:
        shown, scale = (*found.compared, *found.wording), found.scale_lines(language)
    else:
        shown, scale = (*found.answer, *found.caveat, *found.qualifications), []
    for words in rendered(shown, language):
        yield words, ""
    if scale:
        yield f"{_word('scale', language)}:", ""
        for row in scale:
            yield f"  {row}", ""
    yield from _marks(audit, language, explain=explain)
    cautions = found.cautions if explain else found.further_cautions
    if cautions:
        yield _word("cautions", language), "bold"
        for words in rendered(cautions, language):
            yield f"- {words}", ""
    # That no manifest came with a marked text is the rule; it is told to whoever wants all.
    idle = () if explain or found.layers != MARK_ONLY else ("conditions",)
    for words in (*found.notes(language, without=idle), *rendered(found.basis, language)):
        yield words, ""
    if idle:
        of_questions = [line for line in found.conditions if line.key.startswith("question.")]
        for text in rendered(of_questions, language):
            yield text, ""
    if explain:
        yield from _facts(audit, language)
    yield "", ""


def _marks(audit: Audit, language: str, *, explain: bool) -> Iterator[Line]:
    """Say of each mark where it stands, and its payload where that is identified."""
    found = audit.finding
    for mark, lines in zip(found.marks, found.mark_lines(language), strict=True):
        for number, line in enumerate(lines):
            yield line, "" if number else "bold"
        if explain:
            yield from _details(audit, mark, language)


def _details(audit: Audit, mark: NamedMark, language: str) -> Iterator[Line]:
    if len(mark.candidates) > 1 and audit.decoder == "exact":
        yield f"{_word('candidates', language)}:", ""
        for candidate in mark.candidates[:_CANDIDATES]:
            other = audit.other_key_title(candidate)
            key = f"  {other}" if other else ""
            yield f"  {candidate.bits}  {weight(candidate.posterior, language)}{key}", ""
    if len(audit.finding.marks) < 2:
        from pura.record.naming import limits_words

        for passage in mark.passages:
            place = audit.finding.place(passage, language)
            yield f"{_word('passages', language)}: {place}", ""
            if words := limits_words(passage, language):
                yield f"  {words}", "dim"


def _facts(audit: Audit, language: str) -> Iterator[Line]:
    evidence = audit.evidence
    device = f"{_word('device', language)} {audit.device.name} ({audit.device.dtype})"
    reason = noted(audit.device.reason, language)
    tokens = f"{audit.input.tokens} {_word('tokens', language)}"
    lines = (
        f"{_word('evidence', language)}: {evidence.log10_e:.1f}",
        f"{tokens}, {evidence.usable} {_word('usable', language)}",
        f"{device}. {reason}",
        f"SHA-256 {audit.input.sha256}",
    )
    for line in lines:
        yield line, "dim"


def _word(key: str, language: str) -> str:
    return catalogue("command").fill(f"audit.{key}", language, {})


@with_audit_options
def verify(
    options: AuditOptions,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Files or folders; “-” is standard input.")
    ],
    prompt_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt, if it is known.")
    ] = None,
    prompts_file: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            metavar="FILE",
            help="Candidate prompts, one a line, or JSON lines with “prompt”.",
        ),
    ] = None,
    input_format: Annotated[
        str | None, typer.Option(metavar="NAME", help="Read files as this format.")
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="JSON: the field that holds the text.")
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Token ids that the generator saved (JSON); one text."),
    ] = None,
    recursive: Annotated[
        bool,
        typer.Option(
            "--recursive/--no-recursive", "-r", help="Folders: enter those inside them too."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Say all: what is compared, all numbers, how they came about."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a file.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --json: the whole record.")] = False,
    _rows: RowsInto = None,
    language: Language = "",
    pdf: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write a PDF report of all findings.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the report's record as JSON.")
    ] = None,
    request: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --pdf: parties, case … as JSON.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With --pdf: replace files that are there.")
    ] = False,
    save: Annotated[
        str | None,
        typer.Option(metavar="CASE", help="Save all findings to this case of the case log."),
    ] = None,
    auditor: Auditor = None,
    keep_text: Annotated[
        str, typer.Option(metavar="HOW", help="With --save: keep, seal (encrypted) or leave-out.")
    ] = "keep",
    text_passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --keep-text seal; else asked.")
    ] = None,
) -> None:
    """Audit texts: does one carry a mark of these keys, and which payload?

    Exit codes: 0 every input was audited, 1 some input could not be, 2 usage.
    """
    from pura.cli.progress import ProgressLine
    from pura.documents import ReadOptions
    from pura.usecases.audits import prepared

    if prompt_file is not None and prompts_file is not None:
        raise typer.BadParameter(say("choose.prompt"), param_hint="--prompts")
    options.refuse()
    reported = pdf is not None or json_file is not None
    _refuse_idle("--json", as_json, {"--full": full})
    _refuse_idle("--pdf, --json-file", reported, {"--force": force, "--request": request})
    _refuse_idle("--save", save, {"--keep-text": keep_text != "keep"})
    _refuse_idle(
        "--keep-text seal", keep_text == "seal", {"--text-passphrase-file": text_passphrase_file}
    )
    if reported:
        from pura.cli.report import read_request
        from pura.usecases.reports import refuse_replacing

        refuse_replacing([pdf, json_file], replace=force)  # before the work, not after it
        read_request(request)
    at = options.environment()
    files = named_files(files, options.walk(recursive=recursive))
    if not files:
        raise InputError("command.no-files")
    run = _Run(
        as_json=as_json,
        full=full,
        explain=explain,
        keeping=reported,
        reading=ReadOptions(
            encoding=options.encoding, format=input_format, field=text_column, trust=options.trusted
        ),
        parts=tuple(options.part or ()),
    )
    with ExitStack() as opened:
        opened.callback(at.session_keys.wipe)
        to = None
        if save is not None:
            to = _save_to(at, save, auditor, keep_text, text_passphrase_file)
        if to is not None and to.passphrase is not None:
            opened.callback(to.passphrase.wipe)
        try:
            setup = options.setup(at)
            run.prompts = _prompts(prompt_file, prompts_file)
            run.ids = read_ids(ids, files) if ids is not None else None
            with ProgressLine(say("texts", count=len(files))) as bar:
                ready = opened.enter_context(prepared(at, setup, progress=bar))
        except PuraError as error:
            # Without key, profile and model no input can be audited; that is no fault of theirs.
            if as_json:
                write_row({"error": error.to_dict()}, "error")
            else:
                complain(error)
            raise typer.Exit(exit_code(error)) from None
        run.reading = replace(run.reading, leave_out=ready.policy.leave_out)
        if to is not None:
            from pura.usecases.cases import saving_run

            run.saver = opened.enter_context(saving_run(at, to))
            if run.saver.opened:
                err.print(say("case.opened", name=run.saver.case.name or ""))
        run.audit(ready, setup.profile, files)
    if options.fdr is not None:
        run.choose(options.fdr)
    if run.audits:
        _write_report(at, run, pdf, json_file, request, language, force=force)
    raise typer.Exit(1 if run.failed else 0)


def _refuse_idle(needed: str, there: object, given: Mapping[str, object]) -> None:
    """Refuse options that do nothing without another one."""
    for name, value in given.items():
        if value and not there:
            raise typer.BadParameter(say("choose.idle", needed=needed), param_hint=name)


def _save_to(
    at: Environment, case: str, auditor: str | None, keep_text: str, passphrase_file: Path | None
) -> SaveTo:
    """Return where to save.

    Whoever works here is asked for a name once, and for the passphrase of texts that are sealed.
    """
    from pura.caselog import SEAL, TEXT_MODES
    from pura.usecases.cases import SaveTo, name_worker, worker_of

    refuse_unknown("--keep-text", keep_text, TEXT_MODES)
    if auditor is None and interactive() and not worker_of(at).name:
        auditor = typer.prompt(say("ask.worker"), err=True)
    name_worker(at, auditor or "")
    words = None
    if keep_text == SEAL:
        words = passphrase(
            passphrase_file, say("ask.texts"), new=True, option="--text-passphrase-file"
        )
    return SaveTo(case=case, auditor=auditor, text=keep_text, passphrase=words)


def _prompts(one: Path | None, several: Path | None) -> tuple[str, ...]:
    """Return the known prompt, or the candidates."""
    from pura.documents import read_file
    from pura.usecases.choices import read_candidates

    path = several if several is not None else one
    if path is None:
        return ()
    try:
        return read_candidates(path) if several is not None else (read_file(path).text,)
    except InputError as error:
        raise error.in_file(path.name) from None


def _write_report(
    at: Environment,
    run: _Run,
    pdf: Path | None,
    json_file: Path | None,
    request: Path | None,
    language: str,
    *,
    force: bool,
) -> None:
    from pura.cli.report import read_request, show_files
    from pura.report.request import FULL
    from pura.usecases.reports import (
        build_report,
        filled_for_audits,
        note_built,
        original_pages,
        write_report,
    )

    wanted = read_request(request)
    if request is None:
        wanted = replace(wanted, language=language)
    if run.saver is not None:
        wanted = filled_for_audits(at, run.saver.case, run.audits, wanted)
    if wanted.text == FULL:
        wanted = replace(wanted, pages=tuple(map(original_pages, run.audits, run.files)))
    built = build_report(at, run.audits, request=wanted)
    written = write_report(built, pdf=pdf, record=json_file, replace=force)
    show_files(built, written)
    if run.saver is not None and pdf is not None:
        note_built(at, run.saver.case, built, auditor=run.saver.actor.name)


@dataclass(kw_only=True)
class _Run:
    """One call of the command: what it was asked for, and what it has said.

    Attributes:
        as_json: One JSON object a finding.
        full: The whole record in it.
        explain: Say all that the record says in words.
        keeping: Keep the records, for a report.
        reading: How files are read.
        parts: Which parts of a file; none are the usual ones.
        prompts: The known prompt, or the candidates.
        ids: The token ids, where they are known.
        saver: Saves to a case; None where none was named.
        audits: The records that are kept.
        files: The file of each of them.
        strengths: The evidence of each text, to choose from the batch.
        failed: Some input could not be audited.
    """

    as_json: bool
    full: bool
    explain: bool
    keeping: bool
    reading: ReadOptions
    parts: tuple[str, ...]
    prompts: tuple[str, ...] = ()
    ids: tuple[int, ...] | None = None
    saver: SavingRun | None = None
    audits: list[Audit] = field(default_factory=list)
    files: list[Path | None] = field(default_factory=list)
    strengths: list[tuple[str, float]] = field(default_factory=list)
    failed: bool = False

    def audit(self, ready: Prepared, profile: Profile, names: Sequence[str]) -> None:
        """Audit every part of the files that is asked for; each is one finding or one error."""
        from pura.cli.progress import ProgressLine
        from pura.detect.options import Notice

        alone = 0
        with ProgressLine(say("texts", count=len(names))) as bar:
            items = self._items(ready, profile, names)
            for (name, part), found in ready.stream(items, progress=bar):
                bar.rest()
                if isinstance(found, PuraError):
                    self.refuse(name, found, part=part)
                else:
                    alone += Notice.READ_ALONE in found.notices
                    self._take(found, name)
        if alone:
            notes.print(say("read-alone", count=alone))

    def _items(
        self, ready: Prepared, profile: Profile, names: Sequence[str]
    ) -> Iterator[tuple[tuple[str, str], Item]]:
        """Read files and hand on each text under its name and part; of one, say what to expect."""
        from pura.detect.options import AuditText
        from pura.documents import choose, read_document, read_input
        from pura.usecases.audits import unread_file, unread_parts

        for name in names:
            path = None if name == "-" else Path(name)

            def read(path: Path | None = path) -> tuple[Extraction, tuple[Document, ...]]:
                extraction = (
                    read_input(self.reading)
                    if path is None
                    else read_document(path, options=self.reading)
                )
                return extraction, choose(extraction, self.parts)

            found = ready.contained(read)
            if isinstance(found, PuraError):
                yield (name, ""), unread_file(path, found) or found
                continue
            extraction, documents = found
            for document in documents:
                self._begin(document.title)
                text = AuditText(document=document, prompts=self.prompts, ids=self.ids)
                try:
                    if len(names) == len(documents) == 1:  # in a batch each finding says it
                        self._say_what_to_expect(profile, text)
                except PuraError as error:
                    yield (name, document.part), error
                else:
                    yield (name, document.part), text
            for missed in unread_parts(extraction, self.parts):
                yield (name, missed.part), missed

    def _begin(self, title: str) -> None:
        self._keep(title, lambda saver: saver.start(title))

    def _take(self, found: Audited, name: str) -> None:
        """Say a finding, then save it; one that nothing could be examined of is one as well."""
        audit, error = found.audit, found.error
        self.failed |= error is not None
        whole = _whole(name, audit.input.part)
        if self.keeping:
            self.audits.append(audit)
            self.files.append(None if name == "-" else Path(name))
        if error is None:
            self.strengths.append((whole, audit.evidence.log10_e))
        try:
            self._tell(found, name)
        finally:
            self._keep(whole, lambda saver: saver.save(audit))

    def _tell(self, found: Audited, name: str) -> None:
        from pura.detect.options import Notice
        from pura.record.json_io import summary

        audit, error = found.audit, found.error
        if self.as_json and self.full:
            write_row(audit.to_dict())
        elif self.as_json:
            row = summary(audit)
            row["input"]["path"] = visible(name)
            if error is not None:
                row["error"] = error.to_dict()
            if Notice.READ_ALONE in found.notices:
                row["read_alone"] = True
            write_row(row)
        else:
            for words, style in audit_lines(audit, language(), explain=self.explain):
                out.paragraph(words, style=style)
            # Where both outputs are one screen, the finding has said why already.
            if error is not None and not (out.is_terminal and err.is_terminal):
                complain(error, _whole(name, audit.input.part))
        for step in audit.log:
            if step.done:
                details.print(
                    say(
                        "step",
                        number=step.number,
                        name=step_name(step.name, language()),
                        seconds=f"{step.seconds:.2f}",
                        note=step.words(language()),
                    )
                )

    def _keep(self, name: str, write: Callable[[SavingRun], object]) -> None:
        """Write to the case log, if one is kept; what it refuses is said and costs no finding."""
        if self.saver is None:
            return
        try:
            write(self.saver)
        except PuraError as error:
            self.failed = True
            complain(error, name)

    @staticmethod
    def _say_what_to_expect(profile: Profile, text: AuditText) -> None:
        """Say on standard error, before the model reads, how much can be found."""
        if profile.foreign is not None:  # nothing was measured of it
            return
        from pura.detect.verdict.expect import expect

        expectation = expect(text.document.text, profile)
        if "short" in expectation.notes:  # the finding is there at once, and says it
            return
        for line in expectation.lines(language()):
            notes.print(line)

    def refuse(self, name: str, error: PuraError, *, part: str = "") -> None:
        """Say why an input is no finding, and note it in the case."""
        self.failed = True
        shown = visible("-" if name == "-" else Path(name).name)
        if self.as_json:
            row: dict[str, Any] = {
                "input": {"name": shown, "path": visible(name)},
                "error": error.to_dict(),
            }
            if part:
                row["input"]["part"] = part
            write_row(row, "error")
        else:
            complain(error, _whole(name, part))
        self._keep(name, lambda saver: saver.fail(shown, error))

    def choose(self, alpha: float) -> None:
        """Say which of the batch are chosen at this false discovery rate."""
        from pura.detect.decode.significance import e_bh

        chosen = e_bh([log10_e for _, log10_e in self.strengths], alpha)
        names = [name for (name, _), yes in zip(self.strengths, chosen, strict=True) if yes]
        texts = len(self.strengths)
        if self.as_json:
            write_row({"fdr": alpha, "texts": texts, "chosen": names}, "choice")
        else:
            listed, rate = ", ".join(names) or say("none"), f"{alpha:g}"
            out.print(say("chosen", texts=texts, count=len(names), alpha=rate, names=listed))


def _whole(name: str, part: str) -> str:
    """Return a file as it was named and the part of it."""
    return visible(f"{name} · {part}" if part else name)
