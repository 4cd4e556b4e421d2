"""The register as a table in CSV: in, and out again."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.programs import for_owner_alone
from tests.core.register.issues import (
    CONTOSO,
    FIELDS,
    HOUSE,
    PROFILE,
    UNDER,
    issue,
    mark,
    payload,
    series_of,
)
from tests.core.stops import stop

from pura.base.errors import Cancelled, PayloadError, RegisterError
from pura.register.rows import Drawn, Problems
from pura.register.store import Register
from pura.register.table import export_csv, import_csv
from pura.register.under import IssuedUnder
from pura.register.verification import verify
from pura.scheme import parse_payload

UNDER_FIELDS = IssuedUnder(profile=FIELDS, key=HOUSE)
PROFILES = {one.fingerprint: one for one in (PROFILE, FIELDS)}


@pytest.fixture
def register(tmp_path):
    with Register(tmp_path / "register.sqlite3", create=True) as opened:
        yield opened


def table(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


def issues(register):
    return [entry.issue for entry in register.entries()]


def test_import_with_payload_column(register, tmp_path):
    text = "payload,who,when,model\n0x5,Ann,2026-01-01,m1\n" + "0" * 35 + "1,Bob,,\n"
    assert import_csv(register, table(tmp_path, text), UNDER) == 2
    assert register.find(mark(5)).issue.who == "Ann"
    assert register.find(mark(1)).issue.who == "Bob"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_import_as_spreadsheets_write_it(register, tmp_path, encoding, delimiter, end):
    rows = ["WHO|Payload|When|Model", '"Müller;,""x"""|0xA|2026|', "|||", "Ö|0xb||m"]
    text = end.join(rows).replace("|", delimiter) + end
    assert import_csv(register, table(tmp_path, text, encoding), UNDER) == 2
    assert register.find(mark(10)).issue.who == 'Müller;,"x"'


def test_import_with_field_columns(register, tmp_path):
    text = "sep=;\nuser;Model;who\n7;beta;Ann\n255;alpha;Bob\n"
    assert import_csv(register, table(tmp_path, text), UNDER_FIELDS) == 2
    found = register.find(mark(0x107, 12, series_of(FIELDS))).issue
    # The field "Model" fills the column of the same name too.
    assert (found.who, found.model) == ("Ann", "")


def test_bad_rows_are_named_and_nothing_is_imported(register, tmp_path):
    register.add(issue(9))
    text = (
        "payload,who\n"
        "0x1,Ann\n"  # 2
        "0x1,Bob\n"  # 3: same as row 2
        "0x1000000000,Cy\n"  # 4: 37 bits
        "0101,Di\n"  # 5: four bits
        "17,Ed\n"  # 6: not bits
        "0x2\n"  # 7: a cell is missing
        "0x3,\n"  # 8: nobody
        "0x9,Flo\n"  # 9: in the register
        ",\n"
        "-0x4,Gus\n"  # 11
    )
    with pytest.raises(RegisterError) as caught:
        import_csv(register, table(tmp_path, text), UNDER)
    message = caught.value.message
    for row in (3, 4, 5, 6, 7, 8, 9, 11):
        assert f"Row {row}: " in message
    for row in (2, 10):
        assert f"Row {row}: " not in message
    assert "because of 8 rows" in message
    assert "same payload as in row 2" in message
    assert "as entry 1" in message
    assert "does not fit into 36 bits" in message
    assert len(register) == 1
    assert verify(register).sound


def test_only_the_first_bad_rows_are_written_out(register, tmp_path):
    text = "payload,who\n" + "x,Ann\n" * 500
    with pytest.raises(RegisterError, match="And 490 more") as caught:
        import_csv(register, table(tmp_path, text), UNDER)
    assert len(caught.value.message) < 2000


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "“who”"),
        ("payload\n0x1\n", "“who”"),
        ("who\nAnn\n", "“payload”"),
        ("payload,who,colour\n0x1,Ann,red\n", "“colour”"),
        ("payload,who,WHO\n0x1,Ann,Bob\n", "twice"),
        ('payload,who\n0x1,"Ann\n', "CSV"),
        ("payload,who\n0x1," + "x" * 70_000 + "\n", "CSV"),
        ("payload,who\n0x1,A\0nn\n", "CSV"),
    ],
)
def test_what_is_not_such_a_table_is_refused(register, tmp_path, text, what):
    with pytest.raises(RegisterError, match=what):
        import_csv(register, table(tmp_path, text), UNDER)
    assert len(register) == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("user,Model,who\n256,alpha,Ann\n1,gamma,Bob\n", r"Row 2: .*“user”.*Row 3: .*“Model”"),
        ("Model,who\nalpha,Ann\n", "“user”"),
        ("payload,user,who\n0x1,1,Ann\n", "both the payload and its field “user”"),
    ],
)
def test_columns_of_fields_are_complete_and_fit(register, tmp_path, text, what):
    with pytest.raises(RegisterError, match=what):
        import_csv(register, table(tmp_path, text), UNDER_FIELDS)


def test_other_encodings_and_missing_files_are_refused(register, tmp_path):
    with pytest.raises(RegisterError, match="UTF-8"):
        import_csv(register, table(tmp_path, "payload,who\n0x1,Müller\n", "cp1252"), UNDER)
    with pytest.raises(RegisterError, match="cannot be read"):
        import_csv(register, tmp_path / "none.csv", UNDER)
    assert len(register) == 0


def test_a_cancelled_import_leaves_nothing(register, tmp_path):
    rows = "".join(f"{hex(i)},Ann\n" for i in range(3000))

    with pytest.raises(Cancelled):
        import_csv(register, table(tmp_path, "payload,who\n" + rows), UNDER, checkpoint=stop)
    assert len(register) == 0
    assert import_csv(register, table(tmp_path, "payload,who\n" + rows), UNDER) == 3000
    assert verify(register).sound


@pytest.mark.parametrize(
    ("text", "bits", "value"),
    [("0x0", 1, 0), ("0xF", 4, 15), ("0x00000F", 4, 15), ("0011", 4, 3), ("0X1f", 5, 31)],
)
def test_payloads_as_people_write_them(text, bits, value):
    assert parse_payload(text, bits) == payload(value, bits)


@pytest.mark.parametrize(
    "text", ["", "0x", "0x1_0", "0x20", "01", "012", "-1", "1e3", "٣٣٣٣٣", "0x" + "f" * 10_000]
)
def test_payloads_that_are_none(text):
    with pytest.raises(PayloadError):
        parse_payload(text, 5)


def test_export_disarms_formulas_and_reads_back_the_same(register, tmp_path):
    evil = ["=cmd()", "+1", "-1", "@x", "'=quoted", "''=twice", "'plain", 'a,b;"c"', "Ä"]
    register.add_many([(i, issue(i, who=who)) for i, who in enumerate(evil)])
    path = tmp_path / "out.csv"
    assert export_csv(register, path) == len(evil)
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    for line in raw.decode("utf-8-sig").splitlines()[1:]:
        assert not any(cell[:1] in "=+-@" for cell in line.split(",") if cell)
    assert for_owner_alone(path)
    with Register(tmp_path / "copy", create=True) as copy:
        import_csv(copy, path, None, profiles=PROFILES)
        assert issues(copy) == issues(register)


def test_a_table_that_cannot_be_written_is_told(register, tmp_path):
    with pytest.raises(RegisterError, match="cannot be written"):
        export_csv(register, tmp_path / "none" / "out.csv")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.integers(0, 2**36 - 1),
        st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20),
        max_size=20,
    )
)
def test_any_register_survives_export_and_import(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("round")
    with (
        Register(folder / "a", create=True) as first,
        Register(folder / "b", create=True) as second,
    ):
        first.add_many([(i, issue(v, who=who)) for i, (v, who) in enumerate(rows.items())])
        export_csv(first, folder / "out.csv")
        assert import_csv(second, folder / "out.csv", None, profiles=PROFILES) == len(rows)
        assert issues(second) == issues(first)


def test_a_row_says_its_key_epoch_profile_note_and_how_it_was_drawn(register, tmp_path):
    rows = [
        issue(5, who="Ann", note="request 7", drawn=Drawn.RANDOM),
        issue(5, who="Bob", series=series_of(PROFILE, CONTOSO)),
        issue(5, who="Cy", series=series_of(PROFILE, epoch="2026-11"), drawn=Drawn.COUNTER),
        issue(0x107, who="Di", bits=12, series=series_of(FIELDS)),
        issue(7, who="Ed", series=None),
    ]
    register.add_many(enumerate(rows))
    export_csv(register, tmp_path / "out.csv")
    with Register(tmp_path / "copy", create=True) as copy:
        # The rows say it themselves, so the profiles need not be here.
        assert import_csv(copy, tmp_path / "out.csv", None) == 5
        assert issues(copy) == issues(register) == rows


def test_rows_without_a_key_take_the_named_one_or_stay_of_unknown_key(register, tmp_path):
    path = table(tmp_path, "payload,who,when\n0x5,Ann,2026-11-05\n")
    with pytest.raises(RegisterError) as refused:
        import_csv(register, path, None)
    assert refused.value.key == "register.no-column"
    assert import_csv(register, path, IssuedUnder(profile=PROFILE)) == 1
    assert register.unassigned() == 1
    epochs = PROFILE.with_(key_epochs="month")
    assert import_csv(register, path, IssuedUnder(profile=epochs, key=HOUSE)) == 1
    assert register.find(mark(5, series=series_of(PROFILE, epoch="2026-11"))) is not None
    assert register.find(mark(5)) is None


def test_a_date_must_say_the_epoch_where_keys_are_those_of_one(register, tmp_path):
    path = table(tmp_path, "payload,who,when\n0x5,Ann,last spring\n0x6,Bob,2026-11-05\n")
    epochs = IssuedUnder(profile=PROFILE.with_(key_epochs="month"), key=HOUSE)
    with pytest.raises(RegisterError) as refused:
        import_csv(register, path, epochs)
    (what,) = refused.value.values["every"]
    assert what.values["what"].key == "register.epoch-unknown"


@pytest.mark.parametrize(
    "row", ["0x5,Ann,zz,,", "0x5,Ann,,,dice", f"0x5,Ann,{HOUSE},spring,", f"0x5,Ann,{HOUSE},,9"]
)
def test_what_a_row_says_of_its_key_has_a_meaning(register, tmp_path, row):
    path = table(tmp_path, f"payload,who,key,epoch,drawn\n{row}\n")
    with pytest.raises(RegisterError) as refused:
        import_csv(register, path, UNDER)
    (what,) = refused.value.values["every"]
    assert what.values["what"].key == "register.identity"


def test_the_same_table_can_be_imported_again(register, tmp_path):
    path = table(tmp_path, "payload,who\n0x1,Ann\n0x2,Bob\n0x2,Bob\n")
    first, again, other = Problems(), Problems(), Problems()
    assert import_csv(register, path, UNDER, problems=first) == 2
    assert (first.repeats, first.total) == (1, 0)
    assert import_csv(register, path, UNDER, problems=again) == 0
    assert (again.repeats, again.total) == (3, 0)
    assert len(register) == 2
    # Another recipient of the same payload stays a conflict, and nothing is added.
    path = table(tmp_path, "payload,who\n0x1,Ann\n0x2,Cy\n0x3,Di\n")
    with pytest.raises(RegisterError, match="as entry 2"):
        import_csv(register, path, UNDER, problems=other)
    assert (other.repeats, other.total, len(register)) == (1, 1, 2)


def test_rows_that_the_register_has_or_had_are_passed_over(register, tmp_path):
    rows = [issue(5, who="Ann"), issue(6, who="Bob"), issue(9, who="Cy", series=None)]
    register.add_many(enumerate(rows))
    export_csv(register, tmp_path / "out.csv")
    assert import_csv(register, tmp_path / "out.csv", None) == 0
    register.revoke(register.find(mark(5)).number)
    assert import_csv(register, tmp_path / "out.csv", None) == 0
    register.assign(UNDER)
    assert import_csv(register, tmp_path / "out.csv", None) == 0
