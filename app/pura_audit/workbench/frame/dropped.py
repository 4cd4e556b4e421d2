"""Files that are no texts: a bundle, a case, a key, a profile … open what they are for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from pura.base.errors import PuraError
from pura.base.files import read_bounded
from pura.caselog.package import SUFFIX as CASE
from pura.keys.sealed import SUFFIX as KEY
from pura.usecases.keys import SUFFIX as BUNDLE
from pura.verdict.policy import SCHEMA as POLICY
from pura.verdict.power_file import TABLE_SCHEMA as POWER
from pura_audit.platform.i18n import filled, translate
from pura_audit.widgets.form_dialog import Host
from pura_audit.workbench.dialogs import bundle
from pura_audit.workbench.frame import case_commands, program_commands, report_commands

MAX_BYTES: Final = 4 << 20


def texts_of(host: Host, paths: Sequence[Path]) -> list[Path]:
    """Open what the first file is for that is no text; return the files that are texts."""
    texts = []
    opened = False
    for path in paths:
        act = _act_of(path, alone=len(paths) == 1)
        if act is None:
            texts.append(path)
        elif not opened:
            opened = True
            act(host, path)
        else:
            words = translate("Dropped", "“{file:text}” is no text: open it by itself.")
            host.say(filled(words, file=path.name))
    return texts


def _act_of(path: Path, *, alone: bool) -> Callable[[Host, Path], object] | None:
    match path.suffix.lower():
        case end if end == BUNDLE:
            return bundle.show_bundle
        case end if end == CASE:
            return lambda host, file: case_commands.show_cases(host).import_file(file)
        case end if end == KEY:
            return lambda host, file: program_commands.show_keys(host, source=file)
        case ".jws":
            return report_commands.check_statement
        case ".json" if alone:  # of many, none is looked into: they are texts
            return _json_act(path)
    return None


def _json_act(path: Path) -> Callable[[Host, Path], object] | None:
    """Tell by its first fields what a JSON file is; a record and all others are read as texts."""
    try:
        data: Any = json.loads(read_bounded(path, MAX_BYTES))
    except (PuraError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    if data.get("schema") in (POLICY, POWER):
        return _say_whose
    answer = data.get("answer", data)
    if isinstance(answer, dict) and isinstance(answer.get("statement"), str):
        return report_commands.check_statement
    if {"scheme", "payload_bits"} <= data.keys():
        return lambda host, file: program_commands.show_profiles(host).take_in(file)
    return None


def _say_whose(host: Host, path: Path) -> None:
    words = translate(
        "Dropped",
        "“{file:text}” is a rule of the organisation, not a text: whoever administers this "
        "computer puts it in place (guide, For administrators).",
    )
    host.say(filled(words, file=path.name))
