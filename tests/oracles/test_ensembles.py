"""Ensembles against their definition, and their presets against the same methods as a list."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.errors import SpecError
from assay.explainers import METHODS
from toys import bert

TEXT = "a film is not a bad film , not a sad film"
TOP3 = ["lime(samples=32)", "kernel_shap(samples=32, estimator=least_squares)", "integrated_gradients(steps=4)"]
OTHERS = ["gradient(reduction=sum)", "gradient_x_input", "average_attention", "attention_rollout(residual=False)"]
PRESETS = {
    "ensemble(thesis_top3, samples=32, steps=4)": TOP3,
    "ensemble(thesis_all, samples=32, steps=4, reduction=sum)": TOP3 + OTHERS,
}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_the_mean_of_its_members_normalised_scores(preset):
    members = PRESETS[preset]
    attributions = assay.explain(bert(), TEXT, [preset, f"ensemble([{', '.join(members)}])", *members])
    scores = [attributions[member].scores for member in members]
    expected = np.mean([s / np.abs(s).sum() for s in scores], axis=0)
    for attribution in list(attributions.values())[:2]:
        np.testing.assert_allclose(attribution.scores, expected, rtol=1e-5, atol=1e-8)


def test_presets_keep_the_defaults_of_their_members():
    for preset in ("thesis_top3", "thesis_all"):
        parts = METHODS.make(f"ensemble({preset})").parts
        assert parts[:3] == ["lime", "kernel_shap(estimator=least_squares)", "integrated_gradients"]
        assert (
            METHODS.make(f"ensemble({preset}, samples=8)").parts[1] == "kernel_shap(samples=8, estimator=least_squares)"
        )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ensemble(thesis_top3, reduction=sum)", "reduction does not apply to the preset thesis_top3"),
        ("ensemble([lime], samples=8)", "samples does not apply to a list of methods; set it on the methods"),
        ("ensemble([])", "at least one method"),
        ("ensemble(thesis_top)", "did you mean 'thesis_top3'"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(SpecError, match=message):
        METHODS.make(spec)
