"""assay.catalogue reads a file instead of importing every method. Here the file is compared with the entries.

Write it with: ASSAY_WRITE_DOCS=1 pytest tests/unit/api/test_catalogue.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import assay
from assay.api import catalogue as module
from assay.explainers import METHODS

FILE = Path(module.__file__).with_name(module.FILE)
HINT = "run: ASSAY_WRITE_DOCS=1 pytest tests/unit/api/test_catalogue.py"


def test_the_file_is_up_to_date():
    text = module.describe_all()
    if os.environ.get("ASSAY_WRITE_DOCS") == "1":
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text, HINT


def test_every_method_is_listed():
    entries = assay.catalogue("methods")
    assert [entry.name for entry in entries] == METHODS.names
    assert all(entry.summary and entry.details for entry in entries)


def test_an_unknown_kind_is_refused():
    with pytest.raises(assay.SpecError, match="did you mean 'methods'"):
        assay.catalogue("method")
