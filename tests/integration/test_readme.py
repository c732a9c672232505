"""The Python snippets of the README run as they stand, one after another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(snippets) == 3
    namespace: dict[str, object] = {}
    for snippet in snippets:
        exec(snippet, namespace)
    output = capsys.readouterr().out
    assert "Overall: " in output, "the verdict was printed"
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_links_lead_somewhere() -> None:
    """Relative links of the README and the docs."""
    root = README.parent
    pages = [README, *root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "reproductions").rglob("*.md")]
    missing = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                missing.append(f"{page.relative_to(root)}: {target}")
    assert missing == []
