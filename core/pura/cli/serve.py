"""``pura serve``: a detector that others may ask, its tokens, and the statements that it signed."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pura.base.errors import ServeError
from pura.cli.options import (
    CertificatePassphrase,
    DeviceOption,
    DtypeOption,
    EngineOption,
    JobsOption,
    JsonLines,
    JsonPrinted,
    KeyFile,
    KeyName,
    ModelOption,
    PolicyOption,
    ProfileOfSetup,
    QuestionStoreOption,
    SetupOption,
    environment,
    key_of_mark,
    load_profile,
    session,
    setup_parts,
    stored_keys,
    stored_profiles,
)
from pura.cli.rows import ROWS, row_of
from pura.cli.terminal import (
    STATUS_CODES,
    Language,
    RowsInto,
    notes,
    out,
    passphrase_for,
    print_checks,
    print_made,
    refuse_unknown,
    say,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.report.statement import StatementKey
    from pura.serve.grants import Grant
    from pura.serve.settings import Token, TokenFile
    from pura.usecases.environment import Environment


statements = App("Statements that a detector signed.")


@statements.command("verify")
def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The statement, or an answer that holds it.")
    ],
    text: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The text that it should be of.")
    ] = None,
    trust: Annotated[
        list[Path] | None,
        typer.Option(metavar="KEY", help="Public key or certificate that you trust (PEM, DER)."),
    ] = None,
    as_json: JsonPrinted = False,
    _rows: RowsInto = None,
    language: Language = "",
) -> None:
    """Check a statement that a detector signed, without a network.

    Exit codes: 0 signed with a key that --trust names, and nothing was found that is not as it
    should be; 1 something was; 2 usage; 4 signed, but the signer was not examined, since --trust
    names nobody.
    """
    from pura.usecases.reports import check_statement

    found = check_statement(path=file, trust=tuple(trust or ()), text=text)
    said = found.statement
    if as_json:
        row = {
            "file": file.name,
            "standing": found.status,
            "headline": found.headline(language),
            "statement": None if said is None else said.plain(),
            "checks": [one.plain(language) for one in found.checks],
        }
        write_row(row, "statement-check")
    else:
        print_checks(found, language, () if said is None else said.lines(language))
    raise typer.Exit(STATUS_CODES[found.status])


@statements.command("key")
def key() -> None:
    """Print the public key that the detector signs with, to be published; it is made if need be."""
    from pura.usecases.reports import detector_key

    out.print(detector_key(environment()).public_pem().strip())


GrantedProfiles = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        help="Publisher: profile whose values it may bind; may be given several times.",
        autocompletion=stored_profiles,
    ),
]
GrantedRanges = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="FROM..TO",
        help="Publisher: only these payloads of the profile, in hex or as bits, or values of its"
        " first field: customer=400..499.",
    ),
]
GrantedKey = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="NAME",
        help="Publisher: key that its texts are marked with, a stored name or a fingerprint."
        " [default: the key that the profile names, else any key of the detector]",
        autocompletion=stored_keys,
    ),
]
GrantedEpoch = Annotated[
    str,
    typer.Option(
        "--epoch",
        metavar="DAY|WEEK|MONTH",
        help="Publisher: epoch that its key is derived for. [default: any]",
    ),
]
_NEEDED: Final = ("fastapi", "uvicorn", "prometheus_client", "python_multipart", "jinja2")

app = App()
token = App("Tokens that the detector is asked with.")
app.add_typer(token, name="token")
app.add_typer(statements, name="statement")


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    setup_name: SetupOption = None,
    profile: ProfileOfSetup = None,
    key: KeyName = None,
    key_file: KeyFile = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    policy: PolicyOption = None,
    questions: Annotated[
        bool,
        typer.Option(
            "--questions",
            help="Read what token holders send after stored questions too, never the public's.",
        ),
    ] = False,
    question_store: QuestionStoreOption = None,
    jobs: JobsOption = 1,
    engine: EngineOption = "local",
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Where to listen.")
    ] = "127.0.0.1:8080",
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS: the certificate, PEM.")
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS: its key, PEM.")
    ] = None,
    without_tls: Annotated[
        bool, typer.Option("--without-tls", help="Listen on other than loopback without TLS.")
    ] = False,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="Believe forwarded headers of this address or network."
        ),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Name under which others ask it; else it is refused."),
    ] = None,
    anyone: Annotated[
        bool, typer.Option("--anyone", help="Whoever has no token may ask, as the public.")
    ] = False,
    per_day: Annotated[
        int,
        typer.Option(
            min=0, help="Checks of the public in a day, in all (500 tokens each); 0: no limit."
        ),
    ] = 2000,
    per_day_block: Annotated[
        int,
        typer.Option(min=0, help="Checks of the public in a day from one block of addresses."),
    ] = 200,
    release: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Tell trusted askers this field of the payload."),
    ] = None,
    statement_certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.p12",
            help="Sign statements with this certificate; else with the detector's own key.",
        ),
    ] = None,
    statement_passphrase_file: CertificatePassphrase = None,
    manifests: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where manifests (C2PA) are, by payload; JSON."),
    ] = None,
    soft_binding: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Keep and look up manifests (C2PA) under this name of a soft binding.",
        ),
    ] = "",
    public_lookups: Annotated[
        bool, typer.Option("--public-lookups", help="The public may look up manifests.")
    ] = False,
    name: Annotated[str, typer.Option(help="What the detector calls itself.")] = "",
    contact: Annotated[str, typer.Option(help="Whom to write to about it.")] = "",
    languages: Annotated[
        list[str] | None,
        typer.Option("--validated", metavar="LANGUAGE", help="Validated for this language."),
    ] = None,
) -> None:
    """A detector that others may ask, over HTTP, until this program is ended."""
    if context.invoked_subcommand is not None:
        return
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ServeError(
            "extra.missing", name=", ".join(missing), extra="pura-audit[serve]", code="usage"
        )
    if not (setup_name or profile):
        raise typer.BadParameter(say("setup.needed"), param_hint="--setup")
    from dataclasses import replace

    from pura.usecases.batch import ENGINES

    refuse_unknown("--engine", engine, ENGINES)
    from pura.serve.app import Listen, create_app, logged, server
    from pura.serve.manifests import Manifests
    from pura.serve.reader import Reader
    from pura.serve.service import Log
    from pura.serve.settings import Protection, Settings
    from pura.usecases.audits import Setup

    where = Listen.parsed(
        listen,
        certificate=certificate,
        key=certificate_key,
        plain=without_tls,
        proxies=tuple(proxy or ()),
        hosts=tuple(host or ()),
    )
    where.refuse()
    settings = Settings(
        name=name,
        contact=contact,
        hosts=where.names,
        languages=tuple(languages or ()),
        anyone=anyone,
        release=tuple(release or ()),
        soft_binding=soft_binding,
        public_lookups=public_lookups,
        protection=replace(Protection(), per_day_public=per_day, per_day_block=per_day_block),
    )
    limits = settings.limits
    with session(device, dtype) as at:
        signs = _statement_key(at, statement_certificate, statement_passphrase_file)
        known = None if manifests is None else Manifests.read(manifests)
        parts = setup_parts(
            at,
            context,
            setup=setup_name,
            profile=profile,
            key=key,
            key_file=key_file,
            model=model,
            foreign=True,
        )
        setup = Setup(
            profile=parts.profile,
            keys=parts.keys,
            model=parts.model,
            policy=policy,
            leave_out=parts.leave_out,
            questions=(questions or parts.questions) and (question_store or True),
        )
        log = Log()
        with (
            logged(log),
            Reader(
                at,
                setup,
                text_s=limits.text_s,
                long_characters=limits.long_characters,
                engine=engine,
                jobs=jobs,
            ) as reader,
        ):
            made = create_app(at, reader, settings, log=log, key=signs, manifests=known)
            notes.print(say("serve.listens", address=listen))
            server(made, where, limits).run()


@token.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Whom it is for.")],
    role: Annotated[str, typer.Option(help="public, trusted, internal or publisher.")] = "public",
    per_day: Annotated[
        int | None, typer.Option(min=1, help="Checks in a day that it is good for.")
    ] = None,
    expires: Annotated[
        str, typer.Option(metavar="DATE", help="Last day on which it is good, e.g. 2027-11-30.")
    ] = "",
    profile: GrantedProfiles = None,
    span: GrantedRanges = None,
    key: GrantedKey = None,
    epoch: GrantedEpoch = "",
) -> None:
    """Make a token and print it; it cannot be shown again.

    A publisher binds values of its own profiles only: name them.
    """
    from datetime import date

    from pura.record.answers import Role
    from pura.serve.settings import PER_DAY

    refuse_unknown("--role", role, (one.value for one in Role))
    if expires:
        try:
            expires = date.fromisoformat(expires).isoformat()
        except ValueError:
            raise typer.BadParameter(say("serve.date"), param_hint="--expires") from None
    as_role = Role(role)
    grants = _grants(profile, span, key, epoch)
    if as_role is Role.PUBLISHER and not grants:
        raise typer.BadParameter(say("serve.publisher"), param_hint="--profile")
    limit = PER_DAY[as_role] if per_day is None else per_day
    made = _tokens().new(name, as_role, per_day=limit, expires=expires, grants=grants)
    notes.print(say("serve.token", name=name))
    print_made("token", name, made, text=made)


@token.command("grant")
def grant(
    name: Annotated[str, typer.Argument(help="Name or identifier of a publisher's token.")],
    profile: GrantedProfiles = None,
    span: GrantedRanges = None,
    key: GrantedKey = None,
    epoch: GrantedEpoch = "",
) -> None:
    """Set which values a publisher may bind, in the place of what was set before.

    Without a profile it binds nothing, and what it bound is not found.
    """
    granted = _tokens().grant(name, _grants(profile, span, key, epoch))
    print_made("token", name, _granted_words(granted), count=len(granted.grants))


@token.command("list")
def list_(
    as_json: JsonLines = False,
    _rows: RowsInto = None,
) -> None:
    """List tokens; the tokens themselves are not kept."""
    from pura.record.answers import Role

    for one in _tokens().list():
        if as_json:
            granted = [asdict(each) for each in one.grants]
            write_row(row_of(one, ROWS["token"][1], grants=granted), "token")
            continue
        state = "revoked" if one.revoked else "expires" if one.expires else "good"
        facts = {"id": one.id, "name": one.name, "role": one.role}
        day = (one.revoked or one.expires)[:10]
        out.print(say(f"serve.token-{state}", **facts, count=one.per_day, day=day))
        if one.role == Role.PUBLISHER:
            out.print(_granted_words(one))


@token.command("revoke")
def revoke(name: Annotated[str, typer.Argument(help="Its name or identifier.")]) -> None:
    """Make a token good for nothing, also for a service that runs."""
    gone = _tokens().revoke(name)
    print_made("token", gone.name, say("serve.token-gone", name=gone.name))


def _grants(
    profiles: list[str] | None, spans: list[str] | None, key: str | None, epoch: str
) -> tuple[Grant, ...]:
    """Return the values that the options name: all payloads of profiles, or ranges of one."""
    from pura.serve.grants import Grant
    from pura.usecases.registers import series_of

    at, names, ranges = environment(), profiles or [], spans or []
    if ranges and len(names) != 1:
        raise typer.BadParameter(say("serve.range-profile"), param_hint="--range")
    grants = []
    for profile in [load_profile(at, name) for name in names]:
        of_key, of_epoch = "", ""
        if key or profile.key:
            series = series_of(at, key_of_mark(at, key, None, profile), profile, epoch)
            of_key, of_epoch = series.key, series.epoch
        elif epoch:
            raise typer.BadParameter(say("choose.idle", needed="--key"), param_hint="--epoch")
        grants += [
            Grant.of_profile(profile, span, key=of_key, epoch=of_epoch) for span in ranges or [""]
        ]
    return tuple(grants)


def _granted_words(granted: Token) -> str:
    """Say which values a publisher may bind."""
    if not granted.grants:
        return say("serve.grants-none", name=granted.name)
    ranges = []
    for grant in granted.grants:
        digits = -(-grant.bits // 4)
        key = "".join(f"{part}/" for part in (grant.key, grant.epoch) if part)
        ranges.append(f"{key}{grant.profile} 0x{grant.first:0{digits}x}..0x{grant.last:0{digits}x}")
    return say("serve.grants", name=granted.name, ranges=", ".join(ranges))


def _statement_key(
    at: Environment, certificate: Path | None, passphrase: Path | None
) -> StatementKey:
    """Return what signs statements."""
    from pura.usecases.reports import certificate_key, detector_key

    if certificate is None:
        return detector_key(at)
    secret = passphrase_for(certificate, passphrase, option="--statement-passphrase-file")
    return certificate_key(certificate, secret)


def _tokens() -> TokenFile:
    from pura.serve.settings import Places, TokenFile

    return TokenFile(Places.of(environment().paths).tokens)
