"""What every method that can be fitted promises: settings with help, a learned method of the same name, no torch."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields, is_dataclass

import pytest

import assay
from assay.cli._options import _field_docs
from assay.explainers import METHODS
from assay.explainers.learned.parts.method import LearnedMethod
from assay.fitting import FITS


@pytest.mark.parametrize("name", FITS.names)
def test_a_fit_has_documented_settings_and_fits_the_method_of_its_name(name):
    settings = FITS.get(name)
    assert is_dataclass(settings)
    assert inspect.getdoc(settings)
    docs = _field_docs(settings)
    assert [f.name for f in fields(settings) if not docs.get(f.name)] == []
    assert isinstance(settings().seed, int)
    assert isinstance(settings.files, tuple)
    assert issubclass(METHODS.get(name), LearnedMethod)


def test_reading_the_settings_imports_no_torch():
    code = (
        "from assay.fitting import FITS; [FITS.get(n) for n in FITS.names]; import sys; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_arguments_of_a_run_are_in_the_signature():
    for verb, limit in ((assay.train, None), (assay.fit, 2000)):
        shown = inspect.signature(verb).parameters
        assert {"split", "validation", "columns", "threads", "overwrite", "on_check"} <= set(shown)
        assert shown["limit"].default == limit


def test_unknown_methods_and_settings_are_named():
    with pytest.raises(assay.SpecError, match=r"'lime' cannot be fitted; .*allowed: aml"):
        assay.fit("builtin", ["a film"], "lime")
    with pytest.raises(assay.SpecError, match=r"fit aml has no setting 'mask'; did you mean 'masks'"):
        assay.fit("builtin", ["a film"], mask=3)
    with pytest.raises(assay.SpecError, match=r"masks='many' is not allowed; masks must be a whole number"):
        assay.fit("builtin", ["a film"], masks="many")
    with pytest.raises(assay.SpecError, match="limit=0"):
        assay.fit("builtin", ["a film"], limit=0)
