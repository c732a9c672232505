"""Names are file names: every catalogue lists exactly its files, each with the class of its name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import assay
from assay import SpecError
from assay.core.catalog import Catalog
from assay.core.spec import class_name
from assay.explainers import METHODS
from assay.masking.removal import REMOVALS
from assay.models.families import FAMILIES, Family
from assay.models.heads import HEADS

SOURCE = Path(assay.__file__).parent
CATALOGS = {"explainers": METHODS, "masking/removal": REMOVALS, "models/families": FAMILIES, "models/heads": HEADS}
FIFTEEN = {
    "gradient", "gradient_x_input", "integrated_gradients", "smooth_grad", "gradient_shap", "deep_lift", "occlusion",
    "lime", "kernel_shap", "average_attention", "attention_rollout", "attention_x_gradient", "value_zeroing", "random",
    "ensemble",
}  # fmt: skip


@pytest.mark.parametrize("folder", CATALOGS)
def test_names_are_the_files(folder):
    catalog = CATALOGS[folder]
    found = (SOURCE / folder).glob("*/*.py" if catalog.deep else "*.py")
    assert catalog.names == sorted(p.stem for p in found if not p.stem.startswith("_"))


@pytest.mark.parametrize("folder", CATALOGS)
def test_each_file_has_its_class(folder):
    for name in CATALOGS[folder].names:
        entry = CATALOGS[folder].get(name)
        if isinstance(entry, type):
            assert entry.__name__ == class_name(name)
        if folder == "models/families":
            assert isinstance(entry, Family)
            assert entry.name == name
        if folder == "masking/removal":
            assert CATALOGS[folder].make(name).name == name


def test_the_first_fifteen_methods_are_there():
    assert set(METHODS.names) >= FIFTEEN
    for name in METHODS.names:
        method = METHODS.make(name)
        assert is_dataclass(method)
        assert type(method).__doc__
        assert method.facts.scale in ("logit", "probability", "log_probability", "log_odds")
        for declared in ("signed", "complete", "class_dependent"):
            assert isinstance(getattr(method.facts, declared), bool)
        assert isinstance(method.facts.revision, int)
        assert isinstance(method.facts.passes, str)
        assert isinstance(method.facts.memory, str)
        assert METHODS.group(name) == type(method).__module__.split(".")[-2]
        first = fields(method)[0] if fields(method) else None
        if first is not None:  # frozen: a method's hyper-parameters are part of its name
            with pytest.raises(AttributeError):
                setattr(method, first.name, None)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(SpecError, match=r"unknown method 'integrated_gradient'; did you mean 'integrated_gradients'\?"):
        METHODS.get("integrated_gradient")
    with pytest.raises(SpecError, match="unknown removal 'masktoken'; did you mean 'mask_token'"):
        REMOVALS.make("masktoken")
    with pytest.raises(SpecError, match=r"unknown method 'qqqq'; allowed: .*attention_rollout, "):
        METHODS.make("qqqq(samples=3)")


def test_private_files_are_not_entries():
    for name in ("_points", "_matrices", "__init__"):
        with pytest.raises(SpecError):
            METHODS.get(name)


def test_a_constant_takes_no_parameters():
    assert REMOVALS.make("pad") is REMOVALS.get("pad")
    with pytest.raises(SpecError, match=r"pad\(token=x\): pad takes no parameters; write 'pad'"):
        REMOVALS.make("pad(token=x)")


def test_a_new_file_is_a_new_name(tmp_path, monkeypatch):
    """Nothing central is edited, and nothing is imported before it is used."""
    package = tmp_path / "made_up"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "new_idea.py").write_text(
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass NewIdea:\n    strength: float = 1.0\n"
    )
    (package / "broken.py").write_text("raise RuntimeError('imported too early')\n")
    monkeypatch.syspath_prepend(tmp_path)
    catalog = Catalog("made_up", "idea")
    assert catalog.names == ["broken", "new_idea"]
    assert catalog.make("new_idea(strength=2)").strength == 2.0
    with pytest.raises(RuntimeError, match="too early"):
        catalog.get("broken")
