"""``pura lab compare`` with the real model: what was written once is not written again."""


def test_schemes_are_compared_and_a_second_run_only_reads(pura, tmp_path, rows):
    folder = tmp_path / "bench"
    asked = ("lab", "compare", "--folder", folder, "--bits", "12", "--tokens", "20")
    asked += ("--tokens", "40")
    asked += ("--method", "mpac-3", "--condition", "none", "--condition", "delete")
    first = pura(*asked)
    assert first.returncode == 0, first.stderr
    assert "| delete | 12 | 20 | mpac-3 |" in first.stdout
    texts = {p.name: p.stat().st_mtime_ns for p in folder.glob("*.npz")}
    assert pura(*asked, "--output", tmp_path / "row.jsonl").stdout == ""
    [row] = rows((tmp_path / "row.jsonl").read_text())
    assert row["schema"] == "pura-comparison/1"
    cells = row["cells"]
    assert [(c["condition"], c["tokens"], c["texts"]) for c in cells] == [
        (condition, tokens, 8) for condition in ("none", "delete") for tokens in (20, 40)
    ]
    assert cells[1]["accuracy"] > cells[0]["accuracy"] > 0.5
    assert [c["edited"] for c in cells] == [0, 0, 0.1, 0.1]
    assert {p.name: p.stat().st_mtime_ns for p in folder.glob("*.npz")} == texts
    assert (folder / "lines.parquet").exists()
    wrong = pura("lab", "compare", "--folder", folder, "--method", "nobody")
    assert wrong.returncode != 0
    assert "nobody" in wrong.stderr
