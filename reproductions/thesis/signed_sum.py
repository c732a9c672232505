"""How much is left of a gradient's signed sum over the embedding: |Σ_d g_d| / ||g||_2, mean over tokens and examples.

python papers/thesis/signed_sum.py FOLDER...    (folders of models; default: the four bases of the plan)
Where a LayerNorm reads the embeddings first, a shift common to all dimensions changes nothing, so Σ_d g_d = 0 exactly
and its ranking is rounding noise. RMSNorm (T5, Llama) sees the shift.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import assay
from assay.training.pretrained import fresh_model

BASES = ("minilm", "granite-embedding-30m-english", "stories15M", "flan-t5-small-traceforge")
TEXTS = ("a gripping and quietly funny film negative", "the plot goes nowhere positive", "too long positive")


def left_over(folder: Path) -> float:
    """sqrt(D) if all dimensions agree, about 0.8 if they are independent, 0 if they cancel."""
    model = fresh_model(folder, ("negative", "positive"), "classification")  # its pretrained encoder, a random head
    ratios = []
    for text in TEXTS:
        signed, size = (
            assay.explain(model, text, f"gradient(reduction={how})", target=assay.Target(0, scale="logit")).scores
            for how in ("sum", "l2")
        )
        ratios.append(np.abs(signed) / np.abs(size))
    return float(np.concatenate(ratios).mean())


def main() -> None:
    default = [Path.home() / ".cache" / "assay-models" / "hf" / name for name in BASES]
    for folder in [Path(name) for name in sys.argv[1:]] or default:
        print(f"{folder.name:34s} {left_over(folder):.1e}")


if __name__ == "__main__":
    main()
