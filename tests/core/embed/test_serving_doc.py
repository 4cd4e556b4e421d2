"""The page for serving teams shows code that runs."""

import re
from pathlib import Path

import pytest

from pura.model.load import LanguageModel
from pura.scheme import Profile, SecretKey

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "serving.md"


def test_the_code_on_the_page_runs(
    tiny: LanguageModel,
    key: SecretKey,
    profile: Profile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("profile.json").write_text(profile.to_json())
    Path("key.hex").write_text(key.to_hex())
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 5
    names = {
        "network": tiny.network,
        "tokenizer": tiny.tokenizer,
        "model": tiny,
    }
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert (names["drawn"].tokens >= 0).all()
    assert len(list(Path("issued").iterdir())) == 1
    assert isinstance(names["answer"], str)
    assert names["answer"]
