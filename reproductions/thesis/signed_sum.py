"""Measure |Σ_d g_d| / ||g||_2, a gradient's signed sum over the embedding, averaged over tokens and examples.

python -m reproductions.thesis.signed_sum [FOLDER ...]    (model folders; default: the pretrained models of the plans)
If the embeddings go into a LayerNorm first, a shift of all dimensions changes nothing, so Σ_d g_d is exactly 0 and the
ranking by it is rounding noise. RMSNorm (T5, Llama) does depend on the shift.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import assay
from assay.training.pretrained import pretrained_model

BASES = ("minilm", "granite-embedding-30m-english", "stories15M", "flan-t5-small-traceforge")
TEXTS = ("a gripping and quietly funny film negative", "the plot goes nowhere positive", "too long positive")


def signed_sum_ratio(folder: Path) -> float:
    """sqrt(D) if all dimensions agree, about 0.8 if they are independent, 0 if they cancel."""
    model = pretrained_model(folder, ("negative", "positive"), "classification")  # pretrained encoder, random head
    ratios = []
    for text in TEXTS:
        signed, size = (
            assay.explain(model, text, f"gradient(reduction={how})", target=assay.Target(0, scale="logit")).scores
            for how in ("sum", "l2")
        )
        ratios.append(np.abs(signed) / np.abs(size))
    return float(np.concatenate(ratios).mean())


def main() -> None:
    default = [Path("reproductions/models") / name for name in BASES]
    for folder in [Path(name) for name in sys.argv[1:]] or default:
        if not folder.is_dir():
            raise SystemExit(f"{folder} is not a folder. reproductions/README.md lists the models; link.sh links them.")
        print(f"{folder.name:34s} {signed_sum_ratio(folder):.1e}")


if __name__ == "__main__":
    main()
