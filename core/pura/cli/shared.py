"""Options that ``pura verify`` and ``pura batch run`` share, and what they are made into."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

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
from pura.cli.terminal import say
from pura.usecases.choices import DECODERS, Choices

if TYPE_CHECKING:
    from pura.documents.folders import WalkOptions
    from pura.usecases.audits import Setup
    from pura.usecases.environment import Environment

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
