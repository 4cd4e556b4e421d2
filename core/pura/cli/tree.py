"""The tree of commands, and what each says of itself: a page of help or of the manual."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import zip_longest
from typing import Annotated, Any, Final, cast

import typer
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import CommandFunctionType

from pura.base.catalogue import catalogue
from pura.base.files import replacing
from pura.base.numerals import LANGUAGES
from pura.cli.terminal import (
    as_printed,
    err,
    go_into_detail,
    language,
    notes,
    rows_into,
    say,
    use_language,
)

_MEANS: Final = (
    "setup_name profile key key_file epochs model device dtype also register questions"
    " question_store policy"
)
_READING: Final = "decoder restore stop_early weigh trust encoding leave_out part"
_FOLDERS: Final = "recursive include exclude hidden links"
COMMANDS: Final = (
    (
        "key",
        "keys:app",
        "Secret keys in the keyring, or in encrypted files. Secrets are never arguments.",
    ),
    ("model", "models:app", "The local models that read texts."),
    ("profile", "profiles:app", "What generator and verifier share besides the key."),
    ("setup", "setups:app", "Keys, profile and model that belong together, under one name."),
    ("bundle", "keys:bundles", "What a team shares, in one file under one passphrase."),
    ("power", "power:app", "How often marked texts of your own kind are found."),
    ("register", "register:app", "The register of issued payloads."),
    ("questions", "questions:app", "The question store: what stood before answers, sealed."),
    ("report", "report:app", "Reports: make, sign and check them."),
    ("manifest", "manifest:app", "Signed metadata (C2PA) that goes with a text's mark."),
    ("caselog", "caselog:app", "The case log: cases, and what was saved in them."),
    (
        "generate",
        "generate:generate",
        "Write a marked text: the payload hides in the sampling, not the probabilities.",
    ),
    (
        "verify",
        "verify:verify",
        "Audit texts: does one carry a mark of these keys, and which payload?",
    ),
    (
        "batch",
        "batch:app",
        "Audit many texts into one file of rows, and put such files together.",
    ),
    (
        "serve",
        "serve:app",
        "A detector that others may ask, over HTTP, until this program is ended.",
    ),
    (
        "selftest",
        "doctor:selftest",
        "Recompute every test vector; then try to get out of the sandbox for files from others.",
    ),
    (
        "doctor",
        "doctor:doctor",
        "Look at everything that an audit needs, and say what to do about what is wrong.",
    ),
    (
        "help",
        "help_pages:help_page",
        "Show the page of a command, or of the documentation.",
    ),
    (
        "completion",
        "doctor:completion",
        "Print what makes a shell complete commands, options and stored names.",
    ),
)
"""Commands and groups: the name, where it is at home, and what the first page says of it."""
HEADINGS: Final = {
    "verify": {
        "page.means": _MEANS,
        "page.reading": f"prompt_file prompts_file {_READING} input_format text_column ids",
        "page.folders": _FOLDERS,
        "page.output": "explain as_json full _rows fdr language",
        "page.report": "pdf json_file request force",
        "page.case": "save auditor keep_text text_passphrase_file",
    },
    "batch run": {
        "page.means": _MEANS,
        "page.reading": f"text_column id_column {_READING}",
        "page.folders": f"files_from nul {_FOLDERS}",
        "page.output": "output form records fdr force by_outcome as_json _language",
        "page.work": "jobs engine shard journal",
    },
    "serve": {
        "page.means": "setup_name profile key key_file model device dtype policy questions"
        " question_store",
        "page.work": "jobs engine",
        "page.listening": "listen certificate certificate_key without_tls proxy host",
        "page.answers": "anyone per_day per_day_block release name contact languages",
        "page.manifests": "manifests soft_binding public_lookups",
        "page.statements": "statement_certificate statement_passphrase_file",
    },
}
"""Under which heading, a word of the volume ``typer``, the parameters of a command stand."""
EXAMPLES: Final = {
    "batch merge": "part-1.parquet part-2.parquet --output all.parquet --fdr 0.05",
    "batch run": "letters/ --profile house --key newsroom -o letters.jsonl --jobs 4",
    "batch summary": "letters.jsonl",
    "bundle create": "--key newsroom --profile house --output newsroom.purateam",
    "bundle import": "newsroom.purateam",
    "caselog close": "2026-017",
    "caselog deposit": "/media/notary",
    "caselog erase": "2026-017 --reason 'End of the retention period'",
    "caselog export": "2026-017 --output 2026-017.puracase",
    "caselog forget": "'Ada Lovelace' --reason 'She asked for it'",
    "caselog hold": "2026-017 --reason 'Proceedings are pending'",
    "caselog import": "2026-017.puracase",
    "caselog list": "--state open --since 2026-11-01",
    "caselog new": "2026-017",
    "caselog note": "2026-017 'The original came by registered mail.'",
    "caselog record": "item-transferred --case 2026-017 --details 'Handed to the second examiner'",
    "caselog release": "2026-017 --reason 'Proceedings have ended'",
    "caselog rename": "2026-017 'City paper'",
    "caselog reopen": "2026-017",
    "caselog review": "2026-017 0f3c9a --recomputed 'Read again, the same' --agree",
    "caselog show": "2026-017",
    "caselog sign-head": "--certificate desk.p12",
    "caselog tag": "2026-017 press urgent",
    "caselog verify": "",
    "completion": "bash",
    "doctor": "",
    "generate": "--profile house --key newsroom --prompt-file prompt.txt --who 'City paper'",
    "help": "serving",
    "key remove": "newsroom",
    "key derive": "newsroom --epoch 2026-11",
    "key export": "newsroom --output newsroom.key",
    "key import": "newsroom --file newsroom.key",
    "key list": "",
    "key new": "newsroom --note 'For what the newsroom writes'",
    "key note": "newsroom 'In use since 1 November'",
    "key rename": "newsroom newsroom-2026",
    "key state": "",
    "lab attack": "delete letter.txt --strength 0.1",
    "lab attacks": "",
    "lab compare": "--folder compared",
    "lab decompose": "letter.txt edited.txt --profile house --key newsroom --payload 0x1a2b3c4d5",
    "lab experiments": "",
    "lab run": "capacity --output results",
    "lab score": "letter.txt",
    "manifest assertion": "letter.txt --profile house --payload 0x1a2b3c4d5"
    " --soft-binding org.example.pura.1",
    "manifest sign": "letter.txt --profile house --payload 0x1a2b3c4d5"
    " --soft-binding org.example.pura.1 --certificate desk.p12 -o letter.signed.txt",
    "model import": "models/mistral-7b --name mistral",
    "model fitness": "smollm2-135m --profile house --key newsroom",
    "model install": "",
    "model list": "",
    "model path": "smollm2-135m",
    "model remove": "mistral",
    "model show": "mistral",
    "model verify": "mistral",
    "power import": "house.power.json",
    "power export": "house --output house.power.json",
    "power list": "",
    "power measure": "house --profile house --texts 64",
    "power remove": "house",
    "power show": "house",
    "power sign": "house --certificate desk.p12",
    "power use": "house",
    "profile export": "house --output house.json",
    "profile foreign": "vllm.json --key newsroom --name vllm",
    "profile import": "house.json",
    "profile limit": "house --limit customer=..4999 --limit date=2026-01-01..today",
    "profile list": "",
    "profile new": "--bits 36 --name house",
    "profile remove": "house",
    "profile show": "house",
    "questions erase": "--before 2026-11-01",
    "questions status": "",
    "questions verify": "",
    "register add": "0x1a2b3c4d5 --profile house --key newsroom --who 'City paper'",
    "register assign": "--profile house --key newsroom --rows 1-500",
    "register export": "--output issued.csv",
    "register find": "0x1a2b3c4d5 --profile house --key newsroom",
    "register import": "issued.csv --profile house --key newsroom",
    "register issue": "--profile house --key newsroom --who 'City paper'",
    "register revoke": "17 --reason 'Issued by mistake'",
    "register verify": "",
    "report annex": "--profile house --pdf annex.pdf",
    "report gap-analysis": "--profile house --statements gaps.json --pdf gaps.pdf",
    "report build": "record.json --pdf report.pdf",
    "report sign": "report.pdf --output signed.pdf --certificate desk.p12",
    "report verify": "signed.pdf",
    "selftest": "",
    "serve": "--profile house --key newsroom --listen 127.0.0.1:8080",
    "serve statement key": "",
    "serve statement verify": "answer.json --text letter.txt --trust detector.pem",
    "serve token grant": "'City paper' --profile house --range customer=400..499",
    "serve token list": "",
    "serve token new": "'City paper' --role trusted",
    "serve token revoke": "'City paper'",
    "setup list": "",
    "setup new": "newsroom --profile house --key newsroom",
    "setup remove": "newsroom",
    "setup show": "newsroom",
    "verify": "letter.docx --profile house --key newsroom",
}
"""What stands after the words of each command in its example."""


FORMER_COMMANDS: Final = {
    "key delete": "remove",
    "model add": "import",
    "power add": "import",
}
"""Former names of commands, which 0.5 still takes: the words, and what replaces the last one."""
FORMER_OPTIONS: Final = {
    "manifest sign": {"--key": "--certificate-key"},
    "report sign": {"--tsa": "--timestamp"},
    "serve": {"--statement-passphrase": "--statement-passphrase-file"},
    "verify": {"--field": "--text-column", "--format": "--input-format"},
    "batch run": {"--format": "--output-format"},
    "batch merge": {"--format": "--output-format"},
    "batch summary": {"--format": "--input-format"},
}
"""Former names of options, likewise."""


_WIDEST: Final = 100
_LONGEST_NAME: Final = 26  # a longer one stands on a line of its own
_INDENT: Final = 2


PageRow = tuple[str, str]
"""An argument, option or inner command: how it is written and what it is for."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a command says of itself.

    Attributes:
        path: How it is called, as in ``pura key new``.
        usage: What comes after that.
        about: Its paragraphs, each on one line.
        tables: Arguments, options under their headings, commands inside: titles and rows.
        example: How it is called, for instance; empty for a group.
    """

    path: str
    usage: str
    about: tuple[str, ...]
    tables: tuple[tuple[str, tuple[PageRow, ...]], ...]
    example: str


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, each on one line: the keys of the volume ``help``."""
    return [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]


def typer_words(key: str, **values: str) -> str:
    """Return a text of the volume ``typer`` in the language of this run."""
    return catalogue("typer").fill(key, language(), values)


def page_of(command: TyperCommand | TyperGroup, context: Any) -> Page:
    """Gather what a command says of itself."""
    path = context.command_path
    words = path.partition(" ")[2]
    headings = HEADINGS.get(words, {})
    titles = ("page.arguments", *headings, "page.options", "page.commands")
    tables: dict[str, list[PageRow]] = {title: [] for title in titles}
    for param in command.get_params(context):
        title = "page.arguments" if isinstance(param, TyperArgument) else "page.options"
        title = next((t for t, names in headings.items() if param.name in names.split()), title)
        if not getattr(param, "hidden", False):
            tables[title].append(_row(param, context))
    if isinstance(command, TyperGroup):
        tables["page.commands"] = [
            (c.name or "", paragraphs(c.help or "")[0]) for c in command.commands.values()
        ]
    example = EXAMPLES.get(words)
    return Page(
        path=path,
        usage=usage_of(command, context),
        about=tuple(paragraphs(command.help or "")),
        tables=tuple((typer_words(title), tuple(rows)) for title, rows in tables.items() if rows),
        example="" if example is None else f"{path} {example}".rstrip(),
    )


def usage_of(command: TyperCommand | TyperGroup, context: Any) -> str:
    """Return what comes after the command's name."""
    arguments = [
        p for p in command.get_params(context) if isinstance(p, TyperArgument) and not p.hidden
    ]
    pieces = [command.options_metavar or ""]
    pieces += [_argument(p) if p.required else f"[{_argument(p)}]" for p in arguments]
    if isinstance(command, TyperGroup):
        pieces.append(command.subcommand_metavar)
    return " ".join(pieces)


def as_text(page: Page) -> str:
    """Lay a page out for a terminal."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    used = f"{typer_words('page.usage')} {page.path} {page.usage}"
    blocks = [_wrapped(used, width, later=4)]
    blocks += [_wrapped(part, width, first=_INDENT, later=_INDENT) for part in page.about]
    for title, rows in page.tables:
        lines = (_in_columns(row, width) for row in rows)
        blocks.append("\n".join((f"{title}:", *lines)))
    if page.example:
        blocks.append(f"{typer_words('page.example')}:\n{' ' * _INDENT}{page.example}")
    return "\n\n".join(blocks) + "\n"


def _in_columns(row: PageRow, width: int) -> str:
    column, (name, about) = _INDENT + _LONGEST_NAME + 2, row
    words, written = _wrapped(about, width, first=column, later=column), " " * _INDENT + name
    if len(name) > _LONGEST_NAME:
        return f"{written}\n{words}"
    return written.ljust(column) + words.lstrip()


def _wrapped(text: str, width: int, *, first: int = 0, later: int = 0) -> str:
    return textwrap.fill(
        text,
        max(width, later + 20),
        initial_indent=" " * first,
        subsequent_indent=" " * later,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _row(param: Any, context: Any) -> PageRow:
    positional = isinstance(param, TyperArgument)
    name = _argument(param) if positional else _option(param, context)
    # These two are of no command, so that nothing has put them into the language of the run.
    text = _helped(param.help) if param in (force_option(), json_option()) else param.help
    return name, " ".join(filter(None, (text, *_notes(param, context))))


def _argument(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return f"{name}…" if param.nargs != 1 and not name.endswith("…") else name


def _option(param: Any, context: Any) -> str:
    names = ", ".join(sorted(param.opts, key=len))
    if param.secondary_opts:
        names += f", {', '.join(param.secondary_opts)}"
    if param.is_flag or param.count:
        return names
    return f"{names} {param.metavar or _kind_of(param, context)}"


def _kind_of(param: Any, context: Any) -> str:
    """Return what stands for the value of an option that says nothing better."""
    kind = param.display_type(context)
    return next((word for name, word in _KINDS.items() if name in kind), "TEXT")


_KINDS: Final = {"path": "FILE", "int": "N", "float": "N"}


def _notes(param: Any, context: Any) -> Iterator[str]:
    """Say what else is to be known: the variable, what holds when it is left out, the range."""
    if param.envvar and param.show_envvar:
        yield typer_words("page.variable", value=str(param.envvar))
    before, context.resilient_parsing = context.resilient_parsing, True
    try:
        default = param.get_default(context, call=False)
    finally:
        context.resilient_parsing = before
    plain = getattr(param, "is_flag", False) and not param.secondary_opts
    if param.show_default and default not in (None, "") and not plain:
        if param.param_type_name == "option" and param.secondary_opts:
            default = (param.opts if default else param.secondary_opts)[0]
        yield typer_words("page.default", value=str(default))
    if param.min is not None or param.max is not None:
        ends = ("" if end is None else str(end) for end in (param.min, param.max))
        yield f"[{'–'.join(ends)}]"
    if param.required:
        yield typer_words("page.required")


PROGRAM: Final = "pura"
COMPLETING: Final = "_PURA_COMPLETE"  # as Typer makes it of the program's name
_INTERRUPTED: Final = 130


class App(typer.Typer):
    """A group of commands.

    Args:
        about: Its help; that of a group inside another stands where it is hung up there.
    """

    def __init__(self, about: str | None = None) -> None:
        super().__init__(
            cls=Group,
            help=about,
            no_args_is_help=True,
            add_completion=False,
            pretty_exceptions_enable=False,
        )

    def command(
        self, name: str | None = None, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Register a function as a command."""
        return super().command(name, **({"cls": PageCommand} | settings))

    def later(self, name: str, home: str, about: str) -> None:
        """Hang up a command or group that is imported when it is called.

        Args:
            name: As it is called.
            home: Its module and its name there, as in ``pura.cli.keys:app``.
            about: What the page of this group says of it.
        """

        def fetch() -> object:
            module, _, its_name = home.partition(":")
            return getattr(import_module(module), its_name)

        super().command(name, cls=LazyCommand, help=about)(fetch)


class _InLanguage:
    """Page and usage line in the language of the run."""

    def format_usage(self: Any, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        _format_usage(self, ctx, formatter)

    def format_help(self: Any, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        formatter.write(as_text(page_of(self, ctx)))

    def get_help_option(self: Any, ctx: Any) -> TyperOption | None:
        """Return ``--help``."""
        return _in_language(super().get_help_option(ctx))  # type: ignore[misc]


def _quieten(enabled: bool) -> None:
    if enabled:
        notes.quiet = True


def _go_into_detail(enabled: bool) -> None:
    if enabled:
        go_into_detail()


@cache
def options_everywhere() -> tuple[TyperOption, ...]:
    """Return the options of the program that each command takes behind its name as well."""

    def function(
        *,
        _quiet: Annotated[
            bool,
            typer.Option("--quiet", "-q", help="…", hidden=True, callback=_quieten),
        ] = False,
        _verbose: Annotated[
            bool,
            typer.Option("--verbose", "-v", help="…", hidden=True, callback=_go_into_detail),
        ] = False,
        _language: Annotated[
            str,
            typer.Option("--language", help="…", hidden=True, callback=use_language),
        ] = "",
    ) -> None:
        """Hold the options."""

    for option in (options := _options_of(function)):
        option.expose_value = False
    return options


@cache
def force_option() -> TyperOption:
    """Return ``--force``, which each command has that writes a file."""

    def function(
        *,
        _replace: Annotated[
            bool, typer.Option("--force", help="Replace files that are there.")
        ] = False,
    ) -> None:
        """Hold the option."""

    return _options_of(function)[0]


def _options_of(function: Callable[..., None]) -> tuple[TyperOption, ...]:
    app = typer.Typer(add_completion=False)
    app.command()(function)
    params = typer.main.get_command(app).params
    return tuple(param for param in params if isinstance(param, TyperOption))


@cache
def json_option() -> TyperOption:
    """Return ``--json``, which each command has that makes, changes or removes something."""

    def function(
        *, _json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    ) -> None:
        """Hold the option."""

    return _options_of(function)[0]


MAKERS: Final = frozenset(
    (
        "bundle create",
        "bundle import",
        "caselog export",
        "caselog import",
        "caselog new",
        "generate",
        "key derive",
        "key import",
        "key new",
        "key note",
        "key remove",
        "key rename",
        "model import",
        "model install",
        "model remove",
        "model verify",
        "power import",
        "power sign",
        "power use",
        "power export",
        "power remove",
        "profile export",
        "profile foreign",
        "profile import",
        "profile new",
        "profile remove",
        "register add",
        "register assign",
        "register export",
        "register import",
        "register revoke",
        "report annex",
        "report build",
        "report sign",
        "serve token grant",
        "serve token new",
        "serve token revoke",
        "setup new",
        "setup remove",
    )
)
"""Commands that say with :func:`~pura.cli.terminal.print_made` what they made or removed."""
_WRITTEN: Final = {"output", "_rows", "ids", "store", "pdf", "to", "json_file"}
"""Parameters that name a file to write."""


class PageCommand(_InLanguage, TyperCommand):
    """A command whose page and usage line are in the language of the run.

    It takes the options of the program behind its own name too, and former names of its options.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options and arguments, and the options of the program."""
        params = super().get_params(ctx)
        names = {name for param in params for name in param.opts}
        options = [*options_everywhere()]
        if _WRITTEN & {param.name for param in params}:
            options.append(force_option())
        if ctx.command_path.partition(" ")[2] in MAKERS:
            options.append(json_option())
        options = [option for option in options if names.isdisjoint(option.opts)]
        end = next((n for n, param in enumerate(params) if "--help" in param.opts), len(params))
        return [*params[:end], *options, *params[end:]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a former name of an option becomes its present one."""
        return super().parse_args(ctx, list(_renamed(args, former_options(ctx))))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that writes rows into a file, or is asked for JSON, writes rows."""
        makes = "_json" in ctx.params
        as_printed.json |= bool(ctx.params.pop("_json", False))
        with replacing(bool(ctx.params.pop("_replace", False))):
            return self._invoke(ctx, makes=makes)

    def _invoke(self, ctx: Any, *, makes: bool) -> Any:
        path = ctx.params.get("_rows")
        if as_printed.json and not makes and not {"as_json", "_rows"} & ctx.params.keys():
            raise typer.BadParameter(say("choose.no-json"), ctx=ctx, param_hint="--json")
        if as_printed.json and "as_json" in ctx.params:
            ctx.params["as_json"] = True
        if path is None:
            return super().invoke(ctx)
        if "as_json" in ctx.params:
            ctx.params["as_json"] = True
        with rows_into(path):
            return super().invoke(ctx)


def former_options(context: Any) -> dict[str, str]:
    """Return the former names of a command's options, each with its present one."""
    return FORMER_OPTIONS.get(context.command_path.partition(" ")[2], {})


def _renamed(args: Sequence[str], former: dict[str, str]) -> Iterator[str]:
    """Yield arguments with the present names of options, and say which are former ones."""
    literal = False
    for word in args:
        literal |= word == "--"
        name, sign, value = word.partition("=")
        if literal or name not in former:
            yield word
            continue
        err.print(say("former", former=name, now=former[name]))
        yield f"{former[name]}{sign}{value}"


class LazyCommand(TyperCommand):
    """Stands for a command until that is called; knows its name and what a page says of it."""

    def fetched(self) -> TyperCommand | TyperGroup:
        """Import the command and put its help into the language of the run."""
        assert self.callback is not None
        home = self.callback()
        app = home
        if not isinstance(home, App):
            app = App()
            app.command(self.name)(home)
        command: Any = typer.main.get_command(app)
        if language() != "en":
            _translate(command)
        if app is home:
            command.name, command.help = self.name, self.help
        return cast("TyperCommand | TyperGroup", command)


class Group(_InLanguage, TyperGroup):
    """A group of commands whose page, usage line and errors are in the language of the run."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options; a group inside the program takes those of the program, too."""
        params = super().get_params(ctx)
        names = {name for param in params for name in param.opts}
        return params + [option for option in options_everywhere() if names.isdisjoint(option.opts)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a former name of an option becomes its present one."""
        return super().parse_args(ctx, list(_renamed(args, former_options(ctx))))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the arguments name, imported; also by a former name."""
        path = f"{ctx.command_path.partition(' ')[2]} {args[0]}".strip()
        if present := FORMER_COMMANDS.get(path):
            err.print(say("former", former=args[0], now=present))
            args = [present, *args[1:]]
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.fetched()
        return name, command, rest

    def speak(self) -> None:
        """Put the help into the language of the run."""
        if language() != "en":
            _translate(self)

    def _page_asked(self, args: Sequence[str]) -> str:
        """Return the page of a command that is named with nothing but ``--help``; else nothing.

        Typer would load what checks the values of options first, and there are none.
        """
        if not args or args[-1] not in ("--help", "-h"):
            return ""
        command: Any = self
        context = typer.Context(command, info_name=PROGRAM, **command.context_settings)
        for name in args[:-1]:
            command = command.commands.get(name) if isinstance(command, TyperGroup) else None
            if isinstance(command, LazyCommand):
                command = command.fetched()
            if command is None:
                return ""
            settings = command.context_settings
            context = typer.Context(command, parent=context, info_name=name, **settings)
        return str(command.get_help(context))

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run the command that the arguments name; its usage errors are said here."""
        settings = {"prog_name": PROGRAM} | settings
        args = _helping(sys.argv[1:] if args is None else args, self)
        use_language(asked_language(args))
        self.speak()
        if COMPLETING in os.environ:
            from typer._completion_classes import completion_init

            completion_init()
        elif page := self._page_asked(args):
            typer.echo(page)
            sys.exit(0)
        try:
            code = super().main(args, *rest, **(settings | {"standalone_mode": False}))
        except typer.TyperException as error:
            _complain(error)
            sys.exit(error.exit_code)
        except typer.Abort:
            err.print(say("stopped"))
            sys.exit(1)
        if code == _INTERRUPTED:
            err.print(say("stopped"))
        sys.exit(code or 0)


def _helping(args: Sequence[str], root: Group) -> list[str]:
    """Return ``help COMMAND`` as ``COMMAND --help``; other arguments as they are."""
    start = next((n for n, word in enumerate(args) if not word.startswith("-")), len(args))
    if start and args[start - 1] == "--language":  # its value is no command
        start = next((n for n in range(start + 1, len(args)) if args[n][:1] != "-"), len(args))
    options, command = list(args[:start]), list(args[start:])
    if command[:1] != ["help"]:
        return list(args)
    if not command[1:]:
        return [*options, "--help"]
    return [*options, *command[1:], "--help"] if command[1] in root.commands else list(args)


def asked_language(args: Sequence[str]) -> str:
    """Return the language that arguments or environment ask for, before anything is parsed."""
    asked = [os.environ.get("PURA_LANGUAGE", "")]
    for option, following in zip_longest(args, args[1:], fillvalue=""):
        name, _, value = option.partition("=")
        if name == "--language":
            asked.append(value or following)
    return next((name for name in reversed(asked) if name in LANGUAGES), "en")


def _translate(command: TyperCommand | TyperGroup | Any) -> None:
    """Put the help of a command, and of those inside it, into the language of the run."""
    if command.help:
        command.help = _helped(command.help)
    command.options_metavar = typer_words("page.options-here")
    for param in command.params:
        if isinstance(param, TyperArgument | TyperOption):
            param.help = _helped(param.help or "")
            if param.metavar:
                param.metavar = _helped(param.metavar)
    if isinstance(command, TyperGroup):
        command.subcommand_metavar = typer_words("page.command-here")
        for inner in command.commands.values():
            _translate(inner)


def _helped(text: str) -> str:
    texts = catalogue("help")
    parts = paragraphs(text)
    # A paragraph that nobody has translated yet stays in English: it must not end the command.
    return "\n\n".join(texts[p].texts[language()] if p in texts else p for p in parts)


def _format_usage(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    used = usage_of(command, ctx)
    formatter.write_usage(ctx.command_path, used, prefix=f"{typer_words('page.usage')} ")


def _in_language(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.help = typer_words("page.help")
    return option


def _complain(error: typer.TyperException) -> None:
    """Say on standard error how a command is called, and what is wrong with this call."""
    message = error.format_message()
    if not message:
        return
    context = getattr(error, "ctx", None)
    usage = context.get_usage() if context is not None else ""
    if usage and message.startswith(usage):  # a group without a command: its page says all
        err.print(message)
        return
    if usage:
        err.print(usage)
    said = catalogue("typer").retold("said", message, language())
    err.print(said, style="bold red")
    if context is not None:
        err.print(typer_words("page.try", command=context.command_path))
