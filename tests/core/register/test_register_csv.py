"""The register as a table: what spreadsheets write, bad rows by number, formulas disarmed."""

import datetime as dt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pura.base.errors import Cancelled, PayloadError, RegisterError
from pura.register.store import Issue, Register, export_csv, import_csv
from pura.scheme import Field, Payload, Profile, parse_payload

NOON = dt.datetime(2026, 3, 14, 12, tzinfo=dt.UTC)
PROFILE = Profile(payload_bits=36, vocab_size=100, code="tbcc")
FIELDS = PROFILE.with_(
    payload_bits=12,
    fields=(
        Field(name="Model", bits=4, kind="enumeration", values=("alpha", "beta")),
        Field(name="user", bits=8, kind="integer"),
    ),
)


def payload(value, bits=36):
    return Payload.from_int(value, bits)


def issue(value, who="somebody", bits=36, **more):
    return Issue(payload=payload(value, bits), who=who, **more)


@pytest.fixture
def register(tmp_path):
    with Register(tmp_path / "data" / "r.sqlite3", create=True, clock=lambda: NOON) as opened:
        yield opened


def table(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


def content(register):
    return [
        (e.issue.payload.text, e.issue.who, e.issue.when, e.issue.model) for e in register.entries()
    ]


# ------------------------------------------------------------------------------- import


def test_import_with_payload_column(register, tmp_path):
    text = "payload,who,when,model\n0x5,Ann,2026-01-01,m1\n" + "0" * 35 + "1,Bob,,\n"
    assert import_csv(register, table(tmp_path, text), PROFILE) == 2
    assert register.find(payload(5)).issue.who == "Ann"
    assert register.find(payload(1)).issue.who == "Bob"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_import_as_spreadsheets_write_it(register, tmp_path, encoding, delimiter, end):
    rows = ["WHO|Payload|When|Model", '"Müller;,""x"""|0xA|2026|', "|||", "Ö|0xb||m"]
    text = end.join(rows).replace("|", delimiter) + end
    assert import_csv(register, table(tmp_path, text, encoding), PROFILE) == 2
    assert register.find(payload(10)).issue.who == 'Müller;,"x"'


def test_import_with_field_columns(register, tmp_path):
    text = "sep=;\nuser;Model;who\n7;beta;Ann\n255;alpha;Bob\n"
    assert import_csv(register, table(tmp_path, text), FIELDS) == 2
    found = register.find(payload(0x107, 12)).issue
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
        import_csv(register, table(tmp_path, text), PROFILE)
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
    register.check()


def test_only_the_first_bad_rows_are_written_out(register, tmp_path):
    text = "payload,who\n" + "x,Ann\n" * 500
    with pytest.raises(RegisterError, match="And 490 more") as caught:
        import_csv(register, table(tmp_path, text), PROFILE)
    assert len(caught.value.message) < 2000


def test_field_values_that_do_not_fit_are_named(register, tmp_path):
    text = "user,Model,who\n256,alpha,Ann\n1,gamma,Bob\n"
    with pytest.raises(RegisterError, match=r"Row 2: .*“user”.*Row 3: .*“Model”"):
        import_csv(register, table(tmp_path, text), FIELDS)


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
        import_csv(register, table(tmp_path, text), PROFILE)
    assert len(register) == 0


def test_field_columns_are_complete_or_absent(register, tmp_path):
    with pytest.raises(RegisterError, match="“user”"):
        import_csv(register, table(tmp_path, "Model,who\nalpha,Ann\n"), FIELDS)
    with pytest.raises(RegisterError, match="both the payload and its field “user”"):
        import_csv(register, table(tmp_path, "payload,user,who\n0x1,1,Ann\n"), FIELDS)


def test_other_encodings_and_missing_files_are_refused(register, tmp_path):
    with pytest.raises(RegisterError, match="UTF-8"):
        import_csv(register, table(tmp_path, "payload,who\n0x1,Müller\n", "cp1252"), PROFILE)
    with pytest.raises(RegisterError, match="cannot be read"):
        import_csv(register, tmp_path / "none.csv", PROFILE)
    assert len(register) == 0


def test_a_cancelled_import_leaves_nothing(register, tmp_path):
    rows = "".join(f"{hex(i)},Ann\n" for i in range(3000))

    def stop():
        raise Cancelled

    with pytest.raises(Cancelled):
        import_csv(register, table(tmp_path, "payload,who\n" + rows), PROFILE, checkpoint=stop)
    assert len(register) == 0
    assert import_csv(register, table(tmp_path, "payload,who\n" + rows), PROFILE) == 3000
    register.check()


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


# ------------------------------------------------------------------------------- export


def test_export_disarms_formulas_and_reads_back_the_same(register, tmp_path):
    evil = ["=cmd()", "+1", "-1", "@x", "'=quoted", "''=twice", "'plain", 'a,b;"c"', "Ä"]
    register.add_many([(i, issue(i, who=who)) for i, who in enumerate(evil)])
    path = tmp_path / "out.csv"
    assert export_csv(register, path) == len(evil)
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    for line in raw.decode("utf-8-sig").splitlines()[1:]:
        assert not any(cell[:1] in "=+-@" for cell in line.split(",") if cell)
    assert path.stat().st_mode & 0o077 == 0
    with Register(tmp_path / "copy", create=True) as copy:
        import_csv(copy, path, PROFILE)
        assert content(copy) == content(register)
        assert copy.version() == register.version()


def test_export_of_one_length_only(register, tmp_path):
    register.add(issue(1))
    register.add(issue(1, bits=8))
    assert export_csv(register, tmp_path / "out.csv", 8) == 1
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
        assert import_csv(second, folder / "out.csv", PROFILE) == len(rows)
        assert content(second) == content(first)
        assert second.version() == first.version()
