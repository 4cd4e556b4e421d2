"""A report is final only of what a second person confirmed; nobody takes two roles."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import InputError
from pura.caselog.cases import UNFILED, read_case
from pura.caselog.keeping import open_case, save_audit, sign_off
from pura.caselog.reports import confirmations, request_of_case
from pura.record.audit import Audit
from pura.report.build import build_report
from pura.report.request import ALWAYS, ROLES_APART, Confirmation, Parties, ReportRequest, digest_of

Make = Callable[..., Audit]
FINAL = ReportRequest(final=True, parties=Parties(authoriser="Carla"))
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "reports.md"


def refused(audit: Audit, request: ReportRequest, *confirmed: Confirmation) -> str:
    with pytest.raises(InputError) as caught:
        build_report([audit], request, confirmed=confirmed)
    assert caught.value.words("de")[1]
    return caught.value.code


def confirmation(audit: Audit, **more: Any) -> Confirmation:
    told = {"examiner": "Anna", "examined_by": "a", "reviewer": "Béla", "reviewed_by": "b"}
    return Confirmation(audit=audit.id, findings=digest_of(audit), **(told | more))


def test_final_takes_a_confirmation_of_exactly_this_finding(make_audit):
    audit = make_audit(1)
    confirmed = confirmation(audit)
    assert not build_report([audit], FINAL, confirmed=[confirmed]).content.draft
    assert build_report([audit], replace(FINAL, final=False)).content.draft
    assert refused(audit, FINAL) == "report-not-reviewed"
    assert refused(audit, ReportRequest(final=True), confirmed) == "report-authoriser"
    other = replace(audit, evidence=replace(audit.evidence, log10_e=audit.evidence.log10_e + 1))
    assert refused(other, FINAL, confirmed) == "report-not-reviewed"
    assert refused(replace(audit, id="0" * 32), FINAL, confirmed) == "report-not-reviewed"
    # Two findings, of which one was confirmed.
    with pytest.raises(InputError, match="no confirmation of exactly this finding"):
        build_report([audit, replace(audit, id="1" * 32)], FINAL, confirmed=[confirmed])


@pytest.mark.parametrize(("first", "second", "when"), ROLES_APART)
def test_nobody_takes_two_roles(make_audit, first, second, when):
    names = {"examiner": "Anna", "reviewer": "Béla", "authoriser": "Carla"}
    names[second] = f"  {names[first].upper()} "
    for third in (False, True):
        audit = make_audit(1)
        audit = replace(audit, policy=audit.policy | {"third_person": third})
        request = replace(FINAL, parties=Parties(authoriser=names["authoriser"]))
        told = confirmation(audit, examiner=names["examiner"], reviewer=names["reviewer"])
        if when == ALWAYS or third:
            assert refused(audit, request, told) == "report-two-roles"
        else:
            assert not build_report([audit], request, confirmed=[told]).content.draft


def test_every_name_of_a_person_is_that_persons(make_audit):
    audit = make_audit(1)
    told = confirmation(audit, examiner_names=("carla", "Anna"))
    assert refused(audit, FINAL, told) == "report-two-roles"
    third = replace(audit, policy=audit.policy | {"third_person": True})
    told = confirmation(third, reviewer_names=("CARLA",))
    assert refused(third, FINAL, told) == "report-two-roles"


def test_one_identifier_is_one_person_whatever_it_is_called(make_audit):
    audit = make_audit(1)
    told = confirmation(audit, reviewer="Somebody else", reviewed_by="a")
    assert refused(audit, FINAL, told) == "report-two-roles"


def test_printed_names_are_those_of_the_log(make_audit):
    audit = make_audit(1)
    for parties in (
        Parties(authoriser="Carla", reviewer="Dora"),
        Parties(authoriser="Carla", examiner="Dora"),
    ):
        request = replace(FINAL, parties=parties)
        assert refused(audit, request, confirmation(audit)) == "report-parties"


def test_the_page_has_the_table_of_roles():
    rows = re.findall(
        r"^\| (\w+) \| (\w+) \| (never|not where .*) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert [(a, b, when == "never") for a, b, when in rows] == [
        (a, b, when == ALWAYS) for a, b, when in ROLES_APART
    ]


@pytest.mark.parametrize(("language", "name"), [("en", "Unfiled"), ("de", "Nicht zugeordnet")])
def test_the_case_for_all_the_rest_is_named_in_the_language_of_the_report(
    log, anna, make_audit, language, name
):
    case = open_case(log, UNFILED, anna)
    save_audit(log, case.id, make_audit(1), anna)
    now = read_case(log, case.id)
    request = request_of_case(log, now, now.items, ReportRequest(language=language))
    assert request.case == name


def test_the_log_confirms_what_was_signed_off_last_by_a_second_person(
    log, anna, bela, make_audit, case
):
    audit = make_audit(1)
    save_audit(log, case.id, audit, anna)
    dora = log.person("Dora")

    def confirmed() -> list[Confirmation]:
        return confirmations(log, [audit.id, "f" * 32])

    assert confirmed() == []
    item = read_case(log, case.id).item(audit.id)
    sign_off(log, item, bela, agree=True, recomputed="all of it")
    (told,) = confirmed()
    names = (anna.name, bela.name, bela.id)
    assert (told.examiner, told.reviewer, told.reviewed_by) == names
    assert told.findings == digest_of(audit)
    now = read_case(log, case.id)
    request = request_of_case(log, now, [now.item(audit.id)], FINAL)
    content = build_report([audit], request, confirmed=[told]).content
    assert not content.draft
    sign_off(log, item, dora, agree=False, recomputed="all of it")
    assert confirmed() == []  # disputed since
