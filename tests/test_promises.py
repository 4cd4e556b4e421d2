"""Every promise of the pages has a row with its tests, and every test named there exists."""

import ast
import csv
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def part(page: Path, title: str) -> str:
    """Return a part of a page, from its heading to the next of the same level."""
    text = page.read_text(encoding="utf-8")
    level = title.split(" ")[0]
    return re.split(
        rf"^{level} ", text.split(f"\n{title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE
    )[0]


def first_cells(text: str, above: str) -> list[str]:
    """Return the first column of the table under a row of headings."""
    rows = text.split(above, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [row.split("|")[1].strip() for row in rows]


def rows(title: str) -> dict[str, str]:
    """Return promise and tests of a group of the table of promises."""
    with (DOCS / "how-it-works" / "security-tests" / "promises.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        return {
            row["promise"]: row["tests"] for row in csv.DictReader(file) if row["page"] == title
        }


def sentences(page: str) -> list[str]:
    """Return what a page claims: no questions, headings, pictures, tables, commands, addresses."""
    plain = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    plain = re.sub(r"^(?:#|!\[| {4}|\|).*$", "", plain, flags=re.MULTILINE)
    plain = re.sub(r"\]\([^)]*\)|[\[*`]", "", plain)
    words = (" ".join(paragraph.split()) for paragraph in plain.split("\n\n"))
    said = [said for one in words for said in re.split(r"(?<=[.?;]) ", one)]
    return [one for one in said if one and not one.endswith("?")]


def promises() -> dict[str, list[str]]:
    """Return what the pages promise, by the part of the table that has to name it."""
    security = ROOT / "SECURITY.md"
    protected = part(security, "## What is protected, and from whom")
    inputs = part(security, "### Untrusted input").split("\n## ")[0]
    numbered = re.findall(r"^(\d)\. (\w+ \w+)", part(security, "## Promises"), re.MULTILINE)
    headings = {
        name: re.findall(r"^###? (.+)$", (DOCS / part / name).read_text("utf-8"), re.MULTILINE)
        for part, name in (
            ("how-to", "custody.md"),
            ("how-to", "caselog.md"),
            ("reference", "key-formats.md"),
            ("reference", "caselog-chain.md"),
        )
    }
    groups = {"Derived keys", *headings["custody.md"]}  # they only hold other parts, or stand there
    # What stands under Documentation are links.
    readme = re.sub(
        r"\n## Documentation\n.*?(?=\n## )",
        "",
        (ROOT / "README.md").read_text("utf-8"),
        flags=re.DOTALL,
    )
    return {
        "README": sentences(readme),
        "SECURITY": [
            *first_cells(protected, "| what | from | how |"),
            *re.findall(r"^\* \*\*(.+?)\*\*", inputs, re.MULTILINE),
            *(f"{number} {words}" for number, words in numbered),
        ],
        "What holds the child": first_cells(
            (DOCS / "how-it-works" / "reading-files.md").read_text(encoding="utf-8"),
            "| what holds the child |",
        ),
        "Checking reports": first_cells(
            (DOCS / "how-to" / "reports.md").read_text(encoding="utf-8"),
            "| Check | What is examined |",
        ),
        "Custody": [
            *headings["custody.md"],
            *(title for title in headings["key-formats.md"] if title not in groups),
        ],
        "The case log": [
            *(title for title in headings["caselog.md"] if not title.startswith("What is kept")),
            *headings["caselog-chain.md"],
        ],
    }


def test_every_promise_has_a_row():
    for title, wanted in promises().items():
        assert len(wanted) >= 7, title
        named = rows(title)
        missing = [one for one in wanted if not any(row.startswith(one) for row in named)]
        assert missing == [], title
        assert len(named) == len(wanted), f"{title} has rows of promises that nobody makes"


def test_every_row_names_tests_that_exist_or_says_that_there_is_none():
    for title in promises():
        for promise, tests in rows(title).items():
            named = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
            assert named or "*not held*" in tests or tests == "the rows below", promise
            for path, name in named:
                tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
                there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
                assert name in there, f"{promise}: {path}::{name}"
