"""ROAR and Recursive ROAR (Madsen et al. 2022): retrain without the words that each of four measures ranks first."""

from assay.experiments.preset import Preset, StudyPreset

Roar = Preset(
    paper="Madsen, Meade, Adlakha and Reddy, EMNLP Findings 2022",
    studies={
        "roar": StudyPreset(
            settings={
                "methods": ("attention", "gradient", "input_x_gradient", "integrated_gradients"),
                "by": "share",
                "step": 10,
                "signed": False,
                "target": "gold",
            },
            call={"forms": ("recursive", "roar"), "seeds": 5},
            open={
                "methods": "Integrated gradients is the paper's formula. Its published numbers come from code that "
                "weights the gradient at step i of 50 by i/50: published_integrated_gradients. The attention is that "
                "of a BiLSTM; other models leave it out, as the paper does.",
                "signed": "It does not say whether scores are ranked with their signs: its code takes absolute values.",
                "score": "The paper scores SST, IMDB and MIMIC by macro-F1, SNLI by micro-F1 and bAbI by accuracy: "
                "choose for your data.",
                "clip": "Its code clips areas to [-1, 1], its formula does not.",
            },
        )
    },
)
