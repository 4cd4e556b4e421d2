"""``pura verify``: audit texts, print findings in words or as JSON."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from pura.base.errors import InputError, PuraError, RegisterError
from pura.base.paths import user_paths
from pura.cli.caselog_common import Auditor, Saver
from pura.cli.common import (
    DeviceOption,
    DtypeOption,
    KeyFile,
    KeyName,
    ModelOption,
    ProfileOption,
    find_keys,
    load_profile,
    workplace,
)
from pura.cli.inputs import named_files, read_ids
from pura.cli.progress import progress
from pura.cli.terminal import complain, err, out
from pura.cli.words import print_audit
from pura.desk.workplace import OpenKey, Workplace
from pura.documents import Document, ReadOptions, choose, read_document, read_file, read_input
from pura.documents.folders import WalkOptions
from pura.record.json_io import summary, to_dict
from pura.scheme import Profile
from pura.verdict.policy import load_policy

if TYPE_CHECKING:
    from pura.audit.run import Options
    from pura.model.load import LanguageModel
    from pura.record.audit import Audit
    from pura.register.store import Register


def verify(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Files or folders; “-” is standard input.")
    ],
    profile: ProfileOption,
    key: KeyName = None,
    key_file: KeyFile = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    prompt_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt, if it is known.")
    ] = None,
    decoder: Annotated[str, typer.Option(help="exact, or paper (the published method).")] = "exact",
    register: Annotated[
        bool, typer.Option("--register", help="Ask the register of issued payloads.")
    ] = False,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Policy instead of the stored one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a file.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --json: the whole record.")] = False,
    fdr: Annotated[
        float | None,
        typer.Option(
            metavar="ALPHA",
            help="Also choose from the batch with this false discovery rate (e-BH).",
        ),
    ] = None,
    language: Annotated[str, typer.Option(help="en or de.")] = "en",
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files, if it is known.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Read files as this format.")
    ] = None,
    field: Annotated[
        str | None, typer.Option(metavar="NAME", help="JSON: the field that holds the text.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Audit this part of a file, or “all” of them."),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Token ids that the generator saved (JSON); one text."),
    ] = None,
    restore: Annotated[
        bool,
        typer.Option(help="Also read the text with the substitutions of office software undone."),
    ] = True,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Folders: enter those inside them too.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Folders: take these names only, e.g. *.docx."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Folders: leave these names out."),
    ] = None,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Folders: take hidden files too.")
    ] = False,
    links: Annotated[bool, typer.Option("--links", help="Folders: follow symbolic links.")] = False,
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
    if decoder not in ("exact", "paper"):
        raise typer.BadParameter("Choose exact or paper.", param_hint="--decoder")
    if language not in ("en", "de"):
        raise typer.BadParameter("Choose en or de.", param_hint="--language")
    if fdr is not None and not 0 < fdr < 1:
        raise typer.BadParameter("Choose a rate between 0 and 1.", param_hint="--fdr")
    if pdf is not None or json_file is not None:
        from pura.cli.report_build import read_request, refuse_existing

        refuse_existing([pdf, json_file], force=force)  # before the work, not after it
        read_request(request)
    saver = Saver(save, auditor, keep_text, text_passphrase_file) if save is not None else None
    run = _Run(as_json=as_json, full=full, language=language)
    run.reading = ReadOptions(encoding=encoding, format=format_name, field=field)
    run.parts = tuple(part or ())
    run.saver = saver
    chosen = WalkOptions(
        recursive=recursive,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        hidden=hidden,
        links=links,
    )
    files = named_files(files, chosen)
    if not files:
        raise InputError("command.no-files")
    try:
        run.prepare(key, key_file, profile, model, device, dtype)
        run.options = replace(
            _options(prompt_file, decoder, policy, use_register=register),
            restore=restore,
            ids=np.asarray(read_ids(ids, files)) if ids is not None else None,
        )
    except PuraError as error:
        # Without key, profile and model no input can be audited; each of them says so.
        for name in files:
            run.refuse(name, error, once=not as_json)
        raise typer.Exit(1) from None
    try:
        for name in files:
            run.audit(name)
    finally:
        run.wipe()
    if fdr is not None:
        run.choose(fdr)
    if run.audits and (pdf is not None or json_file is not None):
        _write_report(run.audits, pdf, json_file, request, language, force=force, saver=saver)
    raise typer.Exit(1 if run.failed else 0)


def _write_report(
    audits: list[Audit],
    pdf: Path | None,
    json_file: Path | None,
    request: Path | None,
    language: str,
    *,
    force: bool,
    saver: Saver | None = None,
) -> None:
    from pura.cli.report_build import read_request, write_report
    from pura.report import build_report

    wanted = read_request(request)
    if request is None:
        wanted = replace(wanted, language=language)
    if saver is not None:
        wanted = saver.request(wanted, audits)
    report = build_report(audits, wanted)
    write_report(report, audits, wanted, pdf=pdf, json_file=json_file, force=force)
    if saver is not None and pdf is not None:
        saver.drafted(report, wanted, audits)


def _options(
    prompt_file: Path | None, decoder: str, policy: Path | None, *, use_register: bool
) -> Options:
    from pura.audit.run import Options

    return Options(
        prompt=read_file(prompt_file).text if prompt_file else None,
        decoder=decoder,
        policy=load_policy(policy or user_paths().policy, must_exist=policy is not None),
        register=_register() if use_register else None,
    )


def _register() -> Register:
    from pura.register.store import Register

    path = user_paths().register
    if not path.exists():
        raise RegisterError("command.no-register", code="register-missing")
    return Register(path, read_only=True)


class _Run:
    """One call of the command: what it needs, and what it has said."""

    def __init__(self, *, as_json: bool, full: bool, language: str) -> None:
        self._json, self._full, self._language = as_json, full, language
        self._said: set[str] = set()
        self._strengths: list[tuple[str, float]] = []
        self.audits: list[Audit] = []
        self.failed = False
        self.reading = ReadOptions()
        self.parts: tuple[str, ...] = ()
        self.saver: Saver | None = None
        self.options: Options
        self._opened = ExitStack()
        self._at: Workplace
        self._keys: list[OpenKey]
        self._profile: Profile
        self._model: LanguageModel

    def prepare(
        self,
        key: list[str] | None,
        key_file: list[Path] | None,
        profile: str,
        model: str | None,
        device: str,
        dtype: str,
    ) -> None:
        self._at = at = workplace(device, dtype)
        self._profile = load_profile(at, profile)
        self._keys = self._opened.enter_context(at.opened_keys(find_keys(at, key, key_file)))
        self._model = at.model(model)

    def wipe(self) -> None:
        """Overwrite the keys in memory."""
        self._opened.close()
        self._at.session_keys.wipe()
        if self.saver is not None:
            self.saver.wipe()

    def audit(self, name: str) -> None:
        """Audit every part of a file that is asked for; each is one finding or one error."""
        try:
            if name == "-":
                found = read_input(self.reading)
            else:
                found = read_document(Path(name), options=self.reading)
            documents = choose(found, self.parts)
        except PuraError as error:
            self.refuse(name, error)
            return
        for document in documents:
            self._audit(name, document)

    def _audit(self, name: str, document: Document) -> None:
        from pura.audit.run import audit_document

        try:
            if self.saver is not None:
                self.saver.start(document.title)
            self._say_what_to_expect(document)
            with progress(document.title) as report:
                audit = audit_document(
                    document,
                    model=self._model,
                    keys=self._keys,
                    profile=self._profile,
                    options=self.options,
                    progress=report,
                )
        except PuraError as error:
            self.refuse(name, error, part=document.part)
            return
        if self.saver is not None:
            self.saver.save(audit)
        self._strengths.append((document.title, audit.evidence.log10_e))
        self.audits.append(audit)
        if self._json:
            self._write(to_dict(audit) if self._full else summary(audit))
        else:
            print_audit(out, audit, self._language)

    def _say_what_to_expect(self, document: Document) -> None:
        """Say on standard error, before the model reads, how much can be found."""
        from pura.verdict.expect import expect

        known = self.options.prompt is not None
        threshold = self.options.policy.t_found
        found = expect(document.text, self._profile, prompt_known=known, threshold=threshold)
        for line in found.lines():
            err.print(line, markup=False)

    def refuse(self, name: str, error: PuraError, *, part: str = "", once: bool = False) -> None:
        self.failed = True
        if self.saver is not None:
            self.saver.fail(Path(name).name, error)
        if self._json:
            shown = "-" if name == "-" else Path(name).name
            row: dict[str, Any] = {"input": {"name": shown}, "error": error.to_dict()}
            if part:
                row["input"]["part"] = part
            if _unsuitable(name, error):
                row["verdict"] = "not-examinable"
            self._write(row)
        elif once:
            if str(error) not in self._said:
                complain(error)
        else:
            complain(error, f"{name} · {part}" if part else name)
        self._said.add(str(error))

    def choose(self, alpha: float) -> None:
        """Say which of the batch are chosen at this false discovery rate."""
        from pura.decode.significance import e_bh

        chosen = e_bh([log10_e for _, log10_e in self._strengths], alpha)
        names = [name for (name, _), yes in zip(self._strengths, chosen, strict=True) if yes]
        if self._json:
            row = {"fdr": alpha, "texts": len(self._strengths), "chosen": names}
            self._write({"batch": row})
        else:
            out.print(
                f"Of {len(self._strengths)} texts, {len(names)} are chosen at a false discovery "
                f"rate of at most {alpha:g} (e-BH): {', '.join(names) or 'none'}.",
                markup=False,
            )

    @staticmethod
    def _write(row: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        sys.stdout.flush()


def _unsuitable(name: str, error: PuraError) -> bool:
    """Whether the item itself cannot be examined, as opposed to not being found or set up."""
    if error.code in ("tokenizer-mismatch", "key-mismatch"):
        return True
    return isinstance(error, InputError) and (name == "-" or Path(name).is_file())
