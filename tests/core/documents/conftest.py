"""Honest documents are read in the sandbox, unless coverage is measured: no child is traced."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pikepdf
import pytest

from pura.base.process import ChildResult
from pura.documents import child, manifests


@pytest.fixture(autouse=True)
def traced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``--cov`` the readers of honest files work in this process."""
    honest = request.path.stem in ("test_documents", "test_documents_formats")
    if honest and request.config.getoption("--cov", default=None):
        monkeypatch.setattr(manifests, "start_child", lambda _module: None)
        monkeypatch.setattr(manifests, "converse", _read_here)


def _read_here(_child: None, request: bytes, **_limits: Any) -> ChildResult:
    head, _, data = request.partition(b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library's old modules, which the child loads too
        answer = child._document(json.loads(head))(data)
    return ChildResult(status=0, answer=json.dumps(answer).encode(), late=False)


def child_that(does: str) -> Callable[[str], subprocess.Popen[bytes]]:
    """Return what starts this code in the place of a child of ours."""
    pipe, command = subprocess.PIPE, [sys.executable, "-c", does]
    return lambda _module: subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
    )


def page_of(content: str) -> bytes:
    """Write a PDF of one page by hand, whose content is told; its font is called F1."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(612, 792))
    font = pikepdf.Dictionary(
        Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica
    )
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.Contents = document.make_stream(content.encode())
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
