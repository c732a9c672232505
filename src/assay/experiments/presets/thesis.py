"""Oxford MSc thesis of 2022: which methods keep their quality when the size and the architecture of a model change?"""

from assay.experiments.preset import Preset, StudyPreset

METHODS = (
    "gradient(reduction=sum)",
    "gradient_x_input",
    "integrated_gradients(steps=50)",
    "lime(samples=1000)",
    "kernel_shap(samples=1000, estimator=least_squares)",
    "average_attention",
    "attention_rollout(residual=False)",
)
ENSEMBLES = (
    "ensemble(thesis_top3, samples=1000, steps=50)",
    "ensemble(thesis_all, samples=1000, steps=50, reduction=sum)",
)
REDUCTION = (
    "It does not say how a gradient becomes one number: the signed sum fits its text best, but is rounding noise where "
    "a LayerNorm reads the embeddings (BERT, GPT-2, ...)."
)
SCALE = "It writes the output of the model, m(x), which is a probability in its metrics; a logit is possible too."
SPECIAL = (
    "It does not say whether special tokens such as [CLS] are ranked: they are not. That the cue is often second to "
    "another token, as it finds for attention, suggests that they were: special_tokens=ranked."
)
STEPS = "It gives no number of steps of integrated gradients: 50."

Thesis = Preset(
    paper='"Assessing the Interpretability of Large Language Models", Oxford MSc thesis, 2022',
    studies={
        "evaluate": StudyPreset(
            settings={
                "methods": (*METHODS, *ENSEMBLES, "random"),
                "metrics": (
                    "sufficiency",
                    "comprehensiveness",
                    "ground_truth_overlap",
                    "mean_rank_percentage",
                ),
                "protocol": "thesis",
                "scale": "probability",
                "target": "predicted",
                "units": "token",
                "special_tokens": "protected",
            },
            call={"limit": 500},
            open={
                "methods": f"{REDUCTION} {STEPS} It gives no number of samples of LIME and KernelSHAP: 1000. Ensembles "
                'are normalised "to sum to 1", which is undefined for signed scores: absolute values sum to 1.',
                "metrics": "Overlap with rationales of several tokens is the share that is found; its formula would "
                "count only complete agreement. Both metrics of rationales need data that have them.",
                "protocol": 'It says "5 %, 10 %, etc.": 5, 10, 20 and 50 %, rounded up, at least one token.',
                "scale": SCALE,
                "special_tokens": SPECIAL,
            },
        ),
        "randomise": StudyPreset(
            settings={
                "methods": tuple(m for m in METHODS if not m.startswith(("lime", "kernel_shap"))),
                "modes": ("cascading", "independent"),
                "seeds": (0,),
                "scale": "probability",
                "units": "token",
                "special_tokens": "protected",
            },
            call={"limit": 50},
            open={
                "methods": f"{REDUCTION} {STEPS}",
                "seeds": "It does not say how often, or how, blocks are re-initialised: once, as for training.",
                "scale": SCALE,
                "special_tokens": SPECIAL,
            },
        ),
        "attack": StudyPreset(
            settings={
                "methods": (
                    "gradient(reduction=sum)",
                    "gradient_x_input",
                    "integrated_gradients(steps=8, rule=gauss_legendre)",
                ),
                "measured": (
                    "gradient(reduction=sum)",
                    "gradient_x_input",
                    "integrated_gradients(tolerance=0.05)",
                ),
                "objectives": ("prediction_kept", "probability_matched"),
                "epsilon": 2.0,
                "relative": False,
                "share": 0.15,
                "alpha": 1.0,
                "beta": 1.0,
                "step": "gradient",
                "steps": 500,
                "rate": 0.1,
                "halve": 200,
                "tolerance": 1e-5,
                "patience": 20,
                "scale": "probability",
                "units": "token",
                "special_tokens": "protected",
            },
            call={"limit": 16},
            open={
                "methods": f"{REDUCTION} It gives no number of steps of integrated gradients: 8 Gauss-Legendre points.",
                "measured": "Integrated gradients before and after the attack is computed to a tolerance, so that the "
                "attack does not count errors of the integral as changes.",
                "step": "It says gradient descent: a step along the gradient itself. Assay's default follows its sign, "
                "as the code of Ghorbani et al. does.",
                "share": "Inputs with fewer than 7 tokens would have k = 0: at least 1.",
                "tolerance": "It does not name the norm of a small step: the largest entry.",
                "scale": SCALE,
                "special_tokens": SPECIAL,
            },
            belongs={"measured": "methods"},
        ),
    },
)
