"""The methods against Captum and the original LIME package on real classifiers, where the definitions coincide."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from captum._utils.models.linear_model import SkLearnRidge
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    KernelShap,
    LayerGradientXActivation,
    LayerIntegratedGradients,
    LimeBase,
    Saliency,
)
from lime.lime_text import LimeTextExplainer
from torch import nn
from transformers import AutoModelForSequenceClassification

import assay
from assay.explainers.perturbation.lime import proximity, sample_keeps, weighted_ridge

from .peers import SENTENCES, TOXICITY, Peer, load, relative_error

pytestmark = pytest.mark.filterwarnings("ignore:Input Tensor 0 did not already require gradients")  # captum's own


@pytest.fixture(scope="module", params=["bert-tiny-toxicity", "builtin", "random"])
def model(request):
    return load(request.param)


def both(model, method, **options):
    """Our scores of all sentences (explained together, so padded), and the peer of each."""
    found = assay.explain(model, SENTENCES, method, **options)
    return [(a.scores, Peer(model, text)) for a, text in zip(found, SENTENCES, strict=True)]


# --- deterministic: 1e-4 ------------------------------------------------------------------------------------------


def test_gradient(model):
    for scores, peer in both(model, "gradient"):
        theirs = Saliency(peer.logits_of).attribute(peer.embedded(peer.ids), target=peer.label, abs=False)[0]
        assert relative_error(scores, theirs.norm(dim=-1)[peer.inner]) < 1e-4


def test_the_signed_sum_of_a_gradient_is_rounding_noise_behind_a_layer_norm(model):
    """LayerNorm(x + c) = LayerNorm(x), so sum_d dv/dx_d = 0 exactly: for us and for Captum, whatever the text says."""
    for (scores, peer), (norms, _) in zip(both(model, "gradient(reduction=sum)"), both(model, "gradient"), strict=True):
        theirs = Saliency(peer.logits_of).attribute(peer.embedded(peer.ids), target=peer.label, abs=False)[0]
        assert np.abs(scores).max() < 1e-4 * norms.max()
        assert theirs.sum(-1).abs().max() < 1e-4 * norms.max()


def test_gradient_x_input(model):
    for scores, peer in both(model, "gradient_x_input"):
        theirs = LayerGradientXActivation(peer.logits, peer.words).attribute(peer.ids, target=peer.label)
        assert relative_error(scores, theirs[0].sum(-1)[peer.inner]) < 1e-4


@pytest.mark.parametrize(("rule", "name"), [("gauss_legendre", "gausslegendre"), ("middle", "riemann_middle")])
def test_integrated_gradients(model, rule, name):
    for scores, peer in both(model, f"integrated_gradients(steps=20, rule={rule})"):
        theirs = LayerIntegratedGradients(peer.logits, peer.words).attribute(
            peer.ids, baselines=peer.masked_ids, target=peer.label, n_steps=20, method=name
        )
        assert relative_error(scores, theirs[0].sum(-1)[peer.inner]) < 1e-4


@pytest.mark.parametrize("target", [0, 1])
def test_integrated_gradients_of_each_class(model, target):
    for scores, peer in both(model, "integrated_gradients(steps=10, rule=gauss_legendre)", target=target):
        theirs = LayerIntegratedGradients(peer.logits, peer.words).attribute(
            peer.ids, baselines=peer.masked_ids, target=target, n_steps=10, method="gausslegendre"
        )
        assert relative_error(scores, theirs[0].sum(-1)[peer.inner]) < 1e-4


def test_occlusion(model):
    for scores, peer in both(model, "occlusion"):
        theirs = FeatureAblation(peer.probabilities).attribute(peer.ids, baselines=peer.masked_ids, target=peer.label)
        assert relative_error(scores, theirs[0, peer.inner]) < 1e-4


class FromEmbeddings(nn.Module):
    """Captum's DeepLift wants a module whose input is what it attributes to."""

    def __init__(self, hf: nn.Module) -> None:
        super().__init__()
        self.hf = hf

    def forward(self, embeddings):
        return self.hf(inputs_embeds=embeddings).logits


@pytest.mark.filterwarnings("ignore:Setting forward, backward hooks")
@pytest.mark.parametrize("name", ["bert-tiny-toxicity", "random"])
def test_deep_lift(name):
    """With ReLU, which Captum knows (it has no rule for transformers' GELU), on weights as they are."""
    model = load(name)
    if name == "random":
        from toys import bert

        model = bert(seed=3, hidden_act="relu")
    else:
        hf = AutoModelForSequenceClassification.from_pretrained(TOXICITY, hidden_act="relu")
        model = assay.load_model((hf, model.tokenizer))
    plain = both(model, "gradient_x_input")
    for (scores, peer), (other, _) in zip(both(model, "deep_lift"), plain, strict=True):
        theirs = DeepLift(FromEmbeddings(model.hf)).attribute(
            peer.embedded(peer.ids), baselines=peer.embedded(peer.masked_ids), target=peer.label
        )
        assert relative_error(scores, theirs[0].sum(-1)[peer.inner]) < 1e-4
        assert relative_error(other, theirs[0].sum(-1)[peer.inner]) > 1e-2  # so the test could fail


# --- sampled: within the spread of independent runs ---------------------------------------------------------------


def standard_errors(ours, runs):
    """How many standard errors of the mean of `runs` (R,U) away the furthest of our scores (U,) is."""
    runs = np.asarray(runs, float)
    error = runs.std(0, ddof=1) / len(runs) ** 0.5
    floor = 1e-5 * np.abs(runs).max()  # float32 of two different batches
    return float((np.abs(ours - runs.mean(0)) / (error + floor)).max())


def test_gradient_shap(model):
    """Ours draws one point in each of 512 strata, so its own noise is far below the error of Captum's 20 x 50 draws.

    Largest of ~10 t-values with 19 degrees of freedom: above 5 with probability 1e-3 (Bonferroni); seeds are fixed.
    """
    text = SENTENCES[1]
    ours = assay.explain(model, text, "gradient_shap(samples=512)").scores
    peer = Peer(model, text)
    x, r = peer.embedded(peer.ids), peer.embedded(peer.masked_ids)
    runs = []
    for seed in range(20):
        np.random.seed(seed)  # captum draws from the global generator
        torch.manual_seed(seed)
        theirs = GradientShap(peer.logits_of).attribute(x, baselines=r, target=peer.label, n_samples=50, stdevs=0.0)
        runs.append(theirs[0].sum(-1)[peer.inner].detach().numpy())
    assert standard_errors(ours, runs) < 5
    assert standard_errors(np.roll(ours, 1), runs) > 20  # a wrong answer would be seen


def test_kernel_shap(model):
    """Ours is exact for so short a text; Captum's regression on 600 random masks is (nearly) unbiased around it."""
    text = "the film is not bad and i like it"
    ours = assay.explain(model, text, "kernel_shap(samples=4096)").scores
    peer = Peer(model, text)
    n = len(ours)
    assert 2**n <= 4096
    groups = torch.cat([torch.tensor([0]), torch.arange(n) + 1, torch.tensor([0])])[None]  # specials are one group
    runs = []
    for seed in range(8):
        torch.manual_seed(seed)
        theirs = KernelShap(peer.probabilities).attribute(
            peer.ids,
            baselines=peer.masked_ids,  # keeps the specials, so their group is a dummy
            target=peer.label,
            feature_mask=groups,
            n_samples=600,
            perturbations_per_eval=100,
            return_input_shape=False,
        )
        runs.append(theirs[0, 1:].numpy())
    assert standard_errors(ours, runs) < 6  # t with 7 degrees of freedom, the largest of 9
    assert standard_errors(np.roll(ours, 1), runs) > 10


def test_lime_is_captums_regression_on_our_masks(model):
    """The same masks, kernel and ridge through Captum's LimeBase: the same coefficients."""
    text = SENTENCES[0]
    peer = Peer(model, text)
    method = "lime(samples=300, ridge=0.5, kernel_width=30)"
    found = assay.explain(model, text, method)
    n = len(found)
    rng = assay.core.rng.generator(0, found.method, assay.Example(text).content)
    keeps = sample_keeps(n, 300, rng)
    rows = iter(torch.from_numpy(keeps))

    base = LimeBase(
        peer.probabilities,
        SkLearnRidge(alpha=0.5),
        similarity_func=lambda original, other, keep, **_: torch.from_numpy(proximity(keep.bool().numpy(), 30.0)),
        perturb_func=lambda original, **_: next(rows)[None].float(),
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda keep, original, **_: peer.kept(keep.bool().numpy()),
        to_interp_rep_transform=None,
    )
    theirs = base.attribute(peer.ids, target=peer.label, n_samples=300)
    assert relative_error(found.scores, theirs) < 1e-4


def test_lime_agrees_with_the_authors_package(model):
    """LimeTextExplainer with [MASK] in a removed word's place: its regression on its masks is ours, to the digit.

    Then both with masks of their own: the means of 12 runs each differ by no more than 5 standard errors (Welch).
    """
    text = "the film is not bad and i like it"
    peer = Peer(model, text)
    seen: list[np.ndarray] = []
    answered: list[np.ndarray] = []

    def classify(texts):
        keep = np.array([[word != "[MASK]" for word in t.split()] for t in texts])
        different, where = np.unique(keep, axis=0, return_inverse=True)
        with torch.no_grad():
            answers = peer.probabilities(_by_word(peer, different)).double().numpy()
        seen.append(keep)
        answered.append(answers[where])
        return answered[-1]

    theirs = []
    for seed in range(12):
        explainer = LimeTextExplainer(
            split_expression=r"\s+", bow=False, mask_string="[MASK]", feature_selection="none", random_state=seed
        )
        out = explainer.explain_instance(text, classify, labels=[peer.label], num_features=20, num_samples=1000)
        theirs.append([score for _, score in sorted(out.as_map()[peer.label])])
        values = answered[-1][:, peer.label]
        again = weighted_ridge(seen[-1].astype(float), values, proximity(seen[-1], 25.0), 1.0)
        assert relative_error(again, theirs[-1]) < 1e-8
    ours = [assay.explain(model, text, f"lime(samples=1000, seed={s})", units="word").scores for s in range(12)]
    assert welch(ours, theirs) < 5
    assert welch(np.roll(ours, 1, axis=1), theirs) > 20


def welch(a, b):
    """The largest difference of two means of runs (R,U), in standard errors."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    error = np.sqrt(a.var(0, ddof=1) / len(a) + b.var(0, ddof=1) / len(b))
    return float((np.abs(a.mean(0) - b.mean(0)) / error).max())


def _by_word(peer, keep):
    """Ids for keep-masks of words: every piece of a removed word is masked, as we do."""
    owner = [w for w in peer.model.tokenizer(peer.text).word_ids() if w is not None]
    return peer.kept(keep[:, owner])
