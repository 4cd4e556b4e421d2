"""Inputs and options that ``pura verify`` and ``pura batch run`` share.

Both are made into what the use cases take.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_type_hints

import typer

from pura.base.errors import InputError
from pura.base.files import read_start
from pura.base.json_text import read_json
from pura.base.numerals import visible
from pura.cli.common import (
    DeviceOption,
    DtypeOption,
    FdrOption,
    KeyFile,
    KeyName,
    ModelOption,
    PolicyOption,
    ProfileOption,
    environment,
    find_keys,
    load_profile,
    refuse_rate,
    stored_profiles,
)
from pura.cli.terminal import notes, say
from pura.usecases.choices import DECODERS, Choices

if TYPE_CHECKING:
    from pura.documents.folders import Summary, WalkOptions
    from pura.usecases.audits import Setup
    from pura.usecases.environment import Environment


MAX_IDS_BYTES: Final = 16 << 20
MAX_LISTED: Final = 5  # names that are said of each reason; the rest is counted


def named_files(names: Sequence[str], options: WalkOptions) -> list[str]:
    """Replace folders by the files inside them, and say on standard error what was left out.

    Args:
        names: Files and folders as given; ``-`` is standard input.
        options: Filters for what is inside the folders.

    Returns:
        Names of files, and ``-`` where it stood.
    """
    from pura.documents.folders import gather

    found: list[str] = []
    for name in names:
        if name == "-" or not Path(name).is_dir():
            found.append(name)
            continue
        files, summary = gather([Path(name)], options)
        found += [str(path) for path in files]
        _tell(name, summary)
    return found


def _tell(name: str, summary: Summary) -> None:
    """Say what became of one folder."""
    from pura.documents.folders import MAX_DEPTH, MAX_FILES

    notes.print(
        say(
            "folder.taken",
            name=visible(name),
            found=summary.found,
            skipped=summary.total_skipped,
        ),
    )
    for reason, count in summary.skipped.most_common():
        shown = [s.path for s in summary.examples if s.reason == reason][:MAX_LISTED]
        more = ", …" if count > len(shown) else ""
        listed = ", ".join(visible(path.name) for path in shown)
        why = say(f"skipped.{reason}", depth=MAX_DEPTH, most=MAX_FILES)
        notes.print(say("folder.row", count=count, why=why, listed=f"{listed}{more}"))


def read_ids(path: Path, names: Sequence[str]) -> tuple[int, ...]:
    """Read token ids as ``pura generate --ids`` saves them, or a bare JSON list.

    Args:
        path: The file.
        names: The inputs of the command; saved ids belong to one text.

    Raises:
        InputError: More than one input, or the file cannot be read or holds something else.
    """
    if len(names) != 1:
        raise InputError("command.ids-many", count=len(names), code="usage")
    data = read_start(path, MAX_IDS_BYTES, InputError)
    try:
        found = read_json(data) if len(data) <= MAX_IDS_BYTES else None
    except (ValueError, RecursionError):
        raise InputError("audit.ids-list") from None
    listed = found.get("ids") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(type(i) is int for i in listed):
        raise InputError("audit.ids-list", code="input-ids")
    return tuple(listed)


R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """With what texts are audited, how, and which files of folders are."""

    profile: ProfileOption
    key: KeyName = None
    key_file: KeyFile = None
    epochs: Annotated[
        str,
        typer.Option(
            metavar="FROM..TO",
            help="Try the keys of these days, weeks or months, derived from each key; "
            "none: keys as they are.",
        ),
    ] = Choices.epochs
    model: ModelOption = None
    device: DeviceOption = "auto"
    dtype: DtypeOption = "float32"
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Also try this profile of a mark by others; the evidence is the mean.",
            autocompletion=stored_profiles,
        ),
    ] = None
    register: Annotated[
        bool, typer.Option("--register", help="Ask the register of issued payloads.")
    ] = False
    policy: PolicyOption = None
    decoder: Annotated[str, typer.Option(help="exact, or paper (the published method).")] = (
        Choices.decoder
    )
    restore: Annotated[
        bool,
        typer.Option(
            "--restore/--no-restore",
            help="Also read the text with the substitutions of office software undone.",
        ),
    ] = Choices.restore
    stop_early: Annotated[
        bool,
        typer.Option("--stop-early", help="Read no further once the evidence has reached the cap."),
    ] = Choices.stop_early
    weigh: Annotated[
        bool,
        typer.Option(
            "--weigh",
            help="Marks by others: let the model read the text too, which sharpens Gumbel-max.",
        ),
    ] = Choices.weigh
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files, if it is known.")
    ] = None
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Audit this part of a file, or “all” of them."),
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Folders: take these names only, e.g. *.docx."),
    ] = None
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Folders: leave these names out.")
    ] = None
    hidden: Annotated[bool, typer.Option("--hidden", help="Folders: take hidden files too.")] = (
        False
    )
    links: Annotated[bool, typer.Option("--links", help="Folders: follow symbolic links.")] = False
    fdr: FdrOption = None

    def refuse(self) -> None:
        """Refuse a decoder that is none, and a rate that is none, before any work."""
        if self.decoder not in DECODERS:
            known = ", ".join(DECODERS)
            raise typer.BadParameter(say("choose", known=known), param_hint="--decoder")
        refuse_rate(self.fdr)

    def environment(self) -> Environment:
        """Return the user's environment, with this device."""
        return environment(self.device, self.dtype)

    def setup(self, at: Environment) -> Setup:
        """Return with what texts are audited."""
        from pura.usecases.audits import Setup

        used = load_profile(at, self.profile, foreign=True)
        return Setup(
            profile=used,
            keys=tuple(find_keys(at, self.key, self.key_file, used)),
            also=tuple(load_profile(at, one, foreign=True) for one in self.also or ()),
            model=self.model,
            decoder=self.decoder,
            policy=self.policy,
            ask_register=self.register,
            restore=self.restore,
            stop_early=self.stop_early,
            epochs=self.epochs,
            weigh=self.weigh,
        )

    def walk(self, *, recursive: bool) -> WalkOptions:
        """Return which files of folders are meant."""
        from pura.documents.folders import WalkOptions

        return WalkOptions(
            recursive=recursive,
            include=tuple(self.include or ()),
            exclude=tuple(self.exclude or ()),
            hidden=self.hidden,
            links=self.links,
        )


def with_audit_options(function: Callable[..., R]) -> Callable[..., R]:
    """Give a command the fields of :class:`AuditOptions`; it gets them as ``options``."""
    own = inspect.signature(function, eval_str=True).parameters.values()
    hints = get_type_hints(AuditOptions, include_extras=True)
    shared = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(AuditOptions)
    ]
    others = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own if one.name != "options"
    ]

    @wraps(function)
    def command(**given: Any) -> R:
        options = AuditOptions(**{one.name: given.pop(one.name) for one in shared})
        return function(**given, options=options)

    # Typer reads these, and would follow the function that is wrapped.
    parameters = [*shared, *others]
    del command.__wrapped__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command
