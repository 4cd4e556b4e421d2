"""Options that commands share, and what they become: keys, profile, environment, set-up."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_type_hints

import typer

from pura.base.errors import InputError, KeyStoreError, PayloadError, ProfileError
from pura.base.files import read_start
from pura.base.json_text import is_hex, read_json
from pura.base.numerals import visible
from pura.base.paths import user_paths
from pura.cli.terminal import (
    ask_folder,
    notes,
    refuse_unknown,
    say,
    warn_exposed,
    with_key_passphrase,
)
from pura.measure import Bounds
from pura.record.decoders import DECODERS
from pura.usecases.choices import (
    EPOCHS,
    RESTORE,
    STOP_EARLY,
    WEIGH,
    refuse_other_rules,
    together,
    trusted,
)

if TYPE_CHECKING:
    from pura.documents.folders import Summary, WalkOptions
    from pura.keys import KeyRef
    from pura.scheme import Payload, Profile
    from pura.usecases.audits import Setup
    from pura.usecases.environment import Environment


def stored_keys() -> list[str]:
    """Return the names of keys that a shell completes."""
    return [entry.name for entry in environment().keys.list()]


def stored_profiles() -> list[str]:
    """Return the names of profiles that a shell completes."""
    return list(environment().profiles.names())


def stored_setups() -> list[str]:
    """Return the names of set-ups that a shell completes."""
    from pura.usecases.setups import SetupFolder

    return list(SetupFolder(user_paths().setups).names())


def _installed_models() -> list[str]:
    return [model.name for model in environment().models.list()]


_FINGERPRINT_DIGITS: Final = 16

# Each option that several commands take, with the same words.
Auditor = Annotated[
    str | None,
    typer.Option(
        "--auditor",
        metavar="NAME",
        envvar="PURA_AUDITOR",
        help="Who acts, as the log shall say; else whoever works here.",
    ),
]
Certificate = Annotated[
    Path, typer.Option(metavar="FILE.p12", help="Certificate and key, PKCS#12.")
]
CertificatePassphrase = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Its passphrase; else asked.")
]
CERTIFICATE: Final[Any] = typer.Option(
    metavar="FILE", help="Sign a manifest (C2PA) with this certificate: PKCS#12, or PEM."
)
PRIVATE_KEY: Final[Any] = typer.Option(
    metavar="FILE", help="Its private key, where the certificate is PEM."
)
SOFT_BINDING: Final[Any] = typer.Option(
    metavar="NAME",
    envvar="PURA_SOFT_BINDING",
    help="The mark's name in C2PA's list of algorithms, like org.example.pura.1.",
)
Embed = Annotated[
    str | None,
    typer.Option(
        help="Where the manifest is: a8, invisible at the end; a9, in a comment; none, in a file of"
        " its own; left out: a9 for Markdown, else a8.",
    ),
]
Timestamp = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Time-stamp authority; this uses the network."),
]
StoreToWrite = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE.c2pa", help="Write the manifest to this new file."),
]
DrawSeed = Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")]
FileToWrite = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
JsonLines = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
JsonPrinted = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PayloadFields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=VALUE", help="A field of the payload's layout."),
]
PayloadOrFields = Annotated[
    str | None, typer.Option(metavar="BITS", help="The payload as 0 and 1, or 0x… in hex.")
]
PayloadBits = Annotated[
    str, typer.Option(metavar="BITS", help="The payload as 0 and 1, or 0x… in hex.")
]
ReplaceFile = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
ReplaceFiles = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
KeyName = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="NAME",
        envvar="PURA_KEY",
        help="Stored key; may be given several times.",
        autocompletion=stored_keys,
    ),
]
KeyFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="File with a key: hex, base64 or encrypted. It is used for this run only.",
    ),
]
PROFILE: Final[Any] = typer.Option(
    "--profile",
    metavar="FILE",
    envvar="PURA_PROFILE",
    help="Profile: a file or a stored name.",
    autocompletion=stored_profiles,
)
ProfileOption = Annotated[str, PROFILE]
ProfileOfSetup = Annotated[str | None, PROFILE]
SetupOption = Annotated[
    str | None,
    typer.Option(
        "--setup",
        metavar="NAME",
        help="Stored set-up: keys, profile and model. --key, --profile and --model replace its"
        " parts; environment variables do not.",
        autocompletion=stored_setups,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        envvar="PURA_MODEL",
        help="Installed model, or a local folder or GGUF.",
        autocompletion=_installed_models,
    ),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda or mps; cuda is never replaced silently.")
]
DtypeOption = Annotated[
    str,
    typer.Option(
        "--dtype",
        help="Number format: float32; bfloat16 where GPU or processor has it; float16 on a GPU.",
    ),
]
LeaveOutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--leave-out",
        metavar="WHAT",
        help="Leave quotations or references out of the examined text; may be given twice.",
    ),
]
QuestionsOption = Annotated[
    bool,
    typer.Option(
        "--questions",
        help="Also read each text after the stored questions that it may answer.",
    ),
]
QuestionStoreOption = Annotated[
    Path | None,
    typer.Option(
        "--question-store",
        metavar="FILE",
        envvar="PURA_QUESTION_STORE",
        help="File of the question store. [default: the user's]",
    ),
]
PolicyOption = Annotated[
    Path | None, typer.Option("--policy", metavar="FILE", help="Policy instead of the stored one.")
]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", "-j", min=1, help="Processes or actors, each with a model of its own."),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", help="Who reads: local, or ray: actors of a cluster (RAY_ADDRESS)."),
]
FdrOption = Annotated[
    float | None,
    typer.Option(
        "--fdr",
        metavar="ALPHA",
        help="Also choose from the batch with this false discovery rate (e-BH).",
    ),
]


def number(bounds: Bounds, words: str) -> Any:
    """Return an option for a number between bounds.

    Args:
        bounds: Its limits.
        words: Its help.
    """
    return typer.Option(min=bounds.least, max=bounds.most, help=words)


def refuse_rate(fdr: float | None) -> None:
    """Refuse a false discovery rate that is none."""
    if fdr is not None and not 0 < fdr < 1:
        raise typer.BadParameter(say("choose.rate"), param_hint="--fdr")


def environment(device: str = "auto", dtype: str = "float32") -> Environment:
    """Return the user's environment, for one call of the command."""
    from pura.usecases.environment import Environment

    paths = user_paths()
    folder = paths.config / "keys"
    return Environment(
        paths=paths, device=device, dtype=dtype, ask_folder=lambda new: ask_folder(folder, new=new)
    )


@contextmanager
def session(device: str = "auto", dtype: str = "float32") -> Iterator[Environment]:
    """Lend the user's environment; keys that are read for this run are wiped afterwards."""
    at = environment(device, dtype)
    try:
        yield at
    finally:
        at.session_keys.wipe()


def find_keys(
    at: Environment,
    names: list[str] | None,
    files: list[Path] | None,
    profile: Profile | None = None,
) -> list[KeyRef]:
    """Return the keys that the options name; those of files are read for this run.

    Args:
        at: Where keys are.
        names: Of stored keys.
        files: With keys.
        profile: Of a mark by others: without any option its own key is taken.

    Raises:
        PuraError: None is named, or one is not there or cannot be read.
    """
    found = [_from_file(at, path) for path in files or []]
    found += [at.stored_key(name) for name in names or []]
    if not found and profile is not None and profile.foreign is not None:
        found = [at.key_of(profile.key or "")]
    if not found:
        raise KeyStoreError("audit.no-key", code="key-missing")
    return found


def find_key(at: Environment, names: list[str] | None, files: list[Path] | None) -> KeyRef:
    """Return the one key that the options name.

    Raises:
        PuraError: None is named, several are, or it is not there or cannot be read.
    """
    found = {ref.fingerprint: ref for ref in find_keys(at, names, files)}
    if len(found) != 1:
        raise KeyStoreError("command.one-key", code="key-one")
    return next(iter(found.values()))


@dataclass(frozen=True, kw_only=True)
class SetupParts:
    """Keys, profile and model that the options of a command name.

    Attributes:
        profile: What generator and verifier share.
        keys: All are tried.
        model: Name or path; None: the one that the profile names, else the only one installed.
        leave_out: What the set-up leaves out of examined texts.
        questions: The set-up takes stored questions.
    """

    profile: Profile
    keys: tuple[KeyRef, ...]
    model: str | None
    leave_out: tuple[str, ...] = ()
    questions: bool = False


def setup_parts(
    at: Environment,
    context: typer.Context,
    *,
    setup: str | None,
    profile: str | None,
    key: list[str] | None,
    key_file: list[Path] | None,
    model: str | None,
    foreign: bool = False,
) -> SetupParts:
    """Return the parts of a stored set-up, or those that are named one by one.

    A set-up is chosen whole. Parts that the command line names as well replace its parts, and a
    note says so; environment variables replace none, or a forgotten one would mix two set-ups.

    Args:
        at: Where set-ups, keys and profiles are.
        context: Tells options of the command line from environment variables.
        setup: Name of a stored set-up.
        profile: A profile's file or stored name.
        key: Names of stored keys.
        key_file: Files with keys.
        model: Name or path of a model.
        foreign: The profile may be of a mark by others.

    Raises:
        PuraError: A part is missing or damaged, or the parts of the set-up do not fit.
    """
    if setup is None:
        if profile is None:
            raise typer.BadParameter(say("setup.needed"), param_hint="--setup")
        shared = load_profile(at, profile, foreign=foreign)
        return SetupParts(
            profile=shared, keys=tuple(find_keys(at, key, key_file, shared)), model=model
        )
    from pura.usecases.audits import stored_setup

    replaced = [
        f"--{name.replace('_', '-')}"
        for name in ("profile", "key", "key_file", "model")
        if _on_command_line(context, name)
    ]
    if replaced:
        notes.print(say("setup.replaced", name=setup, parts=", ".join(replaced)))
    names = key if "--key" in replaced else None
    files = key_file if "--key-file" in replaced else None
    used = stored_setup(
        at,
        setup,
        profile=load_profile(at, profile or "", foreign=foreign)
        if "--profile" in replaced
        else None,
        keys=find_keys(at, names, files) if names or files else (),
        other_model="--model" in replaced,
    )
    return SetupParts(
        profile=used.profile,
        keys=used.keys,
        model=model if "--model" in replaced else used.model,
        leave_out=used.leave_out,
        questions=bool(used.questions),
    )


def _on_command_line(context: typer.Context, name: str) -> bool:
    """Whether an option was typed, and does not come from the environment or its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def key_of_mark(
    at: Environment, name: str | None, files: list[Path] | None, profile: Profile
) -> KeyRef:
    """Return the key of a mark; what is kept about marks needs its fingerprint, not its secret.

    Args:
        at: Where keys are stored.
        name: A stored name, or a fingerprint; None: the key that the profile names.
        files: Files with a key.
        profile: The profile that the mark is made with.

    Raises:
        PuraError: None is named and the profile names none, or it cannot be read.
    """
    from pura.keys import KeyRef

    if files or name is None:
        if not files and profile.key is not None:
            return KeyRef(fingerprint=profile.key)
        return find_key(at, None, files)
    try:
        return find_key(at, [name], None)
    except KeyStoreError:
        if not is_hex(name, _FINGERPRINT_DIGITS):
            raise
        return KeyRef(fingerprint=name)


def _from_file(at: Environment, path: Path) -> KeyRef:
    from pura.usecases.keys import open_key_file

    warn_exposed(path)
    return with_key_passphrase(lambda secret: open_key_file(at, path, secret), path.name)


def load_profile(at: Environment, name: str, *, foreign: bool = False) -> Profile:
    """Return a profile by file path or stored name.

    Args:
        at: Where profiles are stored.
        name: The path or name.
        foreign: It may be of a mark by others, which can be looked for and nothing else.

    Raises:
        ProfileError: There is none, it is damaged, or of a mark by others.
    """
    from pura.scheme import Profile
    from pura.usecases.profiles import find_profile

    profile = Profile.load(find_profile(at, name))
    if profile.foreign is not None and not foreign:
        raise ProfileError("profile.foreign-only", code="usage")
    return profile


def payload_of(profile: Profile, text: str | None, fields: list[str] | None) -> Payload:
    """Return the payload that the options name, as bits, in hex or by its fields."""
    from pura.scheme import pack, parse_payload

    if (text is None) == (not fields):
        raise PayloadError("command.payload")
    if fields:
        pairs = [item.partition("=") for item in fields]
        if bad := next((name for name, sign, _ in pairs if not sign), None):
            raise PayloadError("command.field", bad=bad)
        return pack(profile.fields, {name: value for name, _, value in pairs})
    assert text is not None
    return parse_payload(text, profile.payload_bits)


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

    context: typer.Context
    setup_name: SetupOption = None
    profile: ProfileOfSetup = None
    key: KeyName = None
    key_file: KeyFile = None
    epochs: Annotated[
        str,
        typer.Option(
            metavar="FROM..TO",
            help="Try the keys of these days, weeks or months, derived from each key; "
            "none: keys as they are.",
        ),
    ] = EPOCHS
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
    questions: QuestionsOption = False
    question_store: QuestionStoreOption = None
    policy: PolicyOption = None
    decoder: Annotated[str, typer.Option(help="exact, or paper (the published method).")] = (
        DECODERS[0]
    )
    restore: Annotated[
        bool,
        typer.Option(
            "--restore/--no-restore",
            help="Also read the text with the substitutions of office software undone.",
        ),
    ] = RESTORE
    stop_early: Annotated[
        bool,
        typer.Option("--stop-early", help="Read no further once the evidence has reached the cap."),
    ] = STOP_EARLY
    weigh: Annotated[
        bool,
        typer.Option(
            "--weigh",
            help="Marks by others: let the model read the text too, which sharpens Gumbel-max.",
        ),
    ] = WEIGH
    trust: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="PURA_TRUST",
            help="Certificates (PEM) whose signed manifests are trusted; else the stored ones.",
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files, if it is known.")
    ] = None
    leave_out: LeaveOutOption = None
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
        refuse_unknown("--decoder", self.decoder, DECODERS)
        refuse_other_rules(self.leave_out or ())
        refuse_rate(self.fdr)

    def environment(self) -> Environment:
        """Return the user's environment, with this device."""
        return environment(self.device, self.dtype)

    def setup(self, at: Environment) -> Setup:
        """Return with what texts are audited."""
        from pura.usecases.audits import Setup

        parts = setup_parts(
            at,
            self.context,
            setup=self.setup_name,
            profile=self.profile,
            key=self.key,
            key_file=self.key_file,
            model=self.model,
            foreign=True,
        )
        return Setup(
            profile=parts.profile,
            keys=parts.keys,
            also=tuple(load_profile(at, one, foreign=True) for one in self.also or ()),
            model=parts.model,
            decoder=self.decoder,
            policy=self.policy,
            ask_register=self.register,
            questions=(self.questions or parts.questions) and (self.question_store or True),
            restore=self.restore,
            stop_early=self.stop_early,
            epochs=self.epochs,
            weigh=self.weigh,
            trust=self.trusted,
            leave_out=together(parts.leave_out, tuple(self.leave_out or ())),
            resume=True,
        )

    @cached_property
    def trusted(self) -> str:
        """The certificates whose signed manifests are trusted, PEM."""
        return trusted(user_paths(), self.trust)

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
