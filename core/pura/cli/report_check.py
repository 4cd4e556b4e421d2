"""``pura report sign`` and ``pura report verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pura.base.errors import SigningError
from pura.base.files import refuse_taken
from pura.cli.caselog_common import Auditor
from pura.cli.common import DeviceOption, DtypeOption, environment
from pura.cli.passphrases import passphrase_for
from pura.cli.terminal import Language, RowsInto, out, say, write_row

if TYPE_CHECKING:
    from pura.report.check import ReportCheck

_EXIT: Final = {"amiss": 1, "unsigned": 3, "signed": 4, "trusted": 0}
_STYLES: Final = {"good": "green", "notice": "yellow", "bad": "bold red", "open": "dim"}


def sign(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The PDF of a report.")],
    to: Annotated[Path, typer.Argument(metavar="OUT", help="Signed PDF to write.")],
    certificate: Annotated[
        Path, typer.Option(metavar="FILE.p12", help="Certificate and key, PKCS#12.")
    ],
    passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its passphrase; else asked.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why it is signed.")] = "",
    place: Annotated[str, typer.Option(help="Where it is signed.")] = "",
    seal: Annotated[bool, typer.Option("--seal", help="Also a visible seal.")] = False,
    tsa: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Time-stamp authority; this uses the network."),
    ] = None,
    language: Language = "",
    note: Annotated[
        bool, typer.Option("--log", help="Note it in the case log, and sign its head too.")
    ] = False,
    auditor: Auditor = None,
) -> None:
    """Sign the PDF of a report with the organisation's certificate (PAdES)."""
    from pura.keys import Secret
    from pura.report.sign import SignOptions
    from pura.usecases.reports import sign_report

    refuse_taken(to, SigningError)  # before the question, not after it
    asked = say("ask.of", name=certificate.name)
    secret = Secret(passphrase_for(file, certificate, file=passphrase_file, prompt=asked))
    options = SignOptions(reason=reason, location=place, seal=seal, tsa_url=tsa, language=language)
    signed = sign_report(
        environment(),
        path=file,
        to=to,
        certificate=certificate,
        passphrase=secret,
        options=options,
        note=note,
        auditor=auditor,
    )
    facts = signed.certificate
    out.print(
        say(
            "signed",
            subject=facts.subject,
            key=facts.key,
            until=f"{facts.not_after:%Y-%m-%d}",
        ),
    )


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The PDF of a report.")],
    trust: Annotated[
        list[Path] | None,
        typer.Option(metavar="CERT", help="Certificate you trust (PEM or DER)."),
    ] = None,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Also audit the embedded text again.")
    ] = False,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
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
        write_row(_plain(file, found, language), "report-check")
    else:
        _print(found, language)
    raise typer.Exit(_EXIT[found.standing])


def _plain(file: Path, found: ReportCheck, language: str) -> dict[str, Any]:
    return {
        "file": file.name,
        "sha256": found.facts.sha256,
        "signed": found.signed,
        "standing": found.standing,
        "headline": found.headline(language),
        "checks": [check.plain(language) for check in found.checks],
    }


def _print(found: ReportCheck, language: str) -> None:
    out.print(found.headline(language), style="bold" if found.sound else "bold red")
    for check in found.checks:
        out.print(f"{check.title(language)}: ", style="bold", end="")
        out.print(check.result(language), style=_STYLES[check.state])
        out.print(f"  {check.text(language)}")
