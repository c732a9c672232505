"""The fixed texts of the results page."""

from __future__ import annotations

INTRODUCTION = """# ROAR and Recursive ROAR: results

Reproduction of Madsen, Meade, Adlakha and Reddy, "Evaluating the Faithfulness of Importance Measures in NLP by
Recursively Masking Allegedly Important Tokens and Retraining" (Findings of EMNLP 2022), scaled down to two CPU cores.
ROAR (remove and retrain) masks the words that an importance measure ranks highest, retrains the model on the masked
texts and measures how much worse it gets; Recursive ROAR ranks the remaining words again after every step.
[README.md](README.md) has the commands, the data and the models.

Differences from the paper:

- Word vectors come from the embedding table of a pretrained encoder (granite-embedding-30m, 384 dimensions; scores on
  the validation split below) instead of fastText and GloVe (300). The paper's unmasked macro-F1 on SST is 82 +0.6 -1.0.
- Training stops after three epochs without a better validation score (bAbI: fifteen, because some trainings only start
  to learn after ten, and at most 40 epochs instead of 100; six answers, the places, instead of all words; SNLI: at most
  25 epochs).
- IG uses six Gauss-Legendre points on SST and four on SNLI and IMDB. There they rank words more like 500 right Riemann
  points than the paper's 50 do. On bAbI, whose paths are less smooth, six are too few, and IG uses twelve adaptive
  points (Spearman with 500 right points 0.997, the same as 20 right points; the paper's 50: 0.9995). To measure this:
  `python -m reproductions.roar.integration_points --store ~/.cache/assay-roar/store [--model babi1 --examples 120]`.
  The embeddings of special tokens stay fixed, while the published code also scales those of single texts.
- SNLI has 10,000 training, 1,000 validation and 2,000 test pairs and steps of 20 %; IMDB has 1,500 training and 1,000
  test reviews, a vocabulary of words that occur in at least three reviews, and steps of 20 %.
- A six-layer MiniLM replaces RoBERTa: 1,500 training, 300 validation and 500 test examples, steps of 20 %, three
  epochs with batches of 8 and a learning rate of 5e-5, warm-up and gradient clipping (with the paper's batches of 16 a
  training on texts masked to 80 % learned nothing); on bAbI four epochs at 1e-4. The epoch is chosen by AUROC. IG uses
  ten Gauss-Legendre points (`--model minilm_sst --examples 12`: Spearman 0.990; 20 right points 0.995, the paper's 50
  0.999). Input x gradient is not run with it.
- The paper's masking of one token at a time is run in steps of two words up to ten, on IMDB in steps of five.
- MIMIC is not public, and bAbI-3 is not run. In the paper's Table 3 the reference numbers for IMDB and SNLI are
  probably swapped.
"""
RULES = """The intervals of claims are for new trainings and texts (see below Table 2); the difference of two areas of
the same trainings has its own, narrower interval. A measure is above another if the interval of their difference lies
above 0, with two exceptions. A measure whose curve leaks the label never counts as below another, because its area is
too low. A measure with fewer than three seeds and a low point of a single training counts neither as above nor as below
another, because that training either failed or leaked. "undecided": everything was run, but the intervals do not
decide; "incomplete": some of the runs that the claim needs are missing.
"""
VECTORS = """Word vectors on SST, macro-F1 on the validation split, as far as they were run
(`assay run reproductions/roar/embeddings.yaml --store ~/.cache/assay-roar/store --threads 1`, then
`python -m reproductions.roar.word_vectors --store ~/.cache/assay-roar/store`):
"""
ALL_MASKED = """
All masked: models trained on mask tokens only, where every curve ends. In pairs only the first text is masked, so this
is the hypothesis-only score on SNLI and the question-only score on bAbI.
"""
LEAKS = """A model without anything left to read still ranks words by the label that is explained. Masking every mention
of the answer in a bAbI story, for example, reveals the answer: it is the place that is missing. Curves that rise with
more masking, and low points of single trainings, which may also have failed:
"""
PREDICTED = """When the predicted label is explained, no later mask can reveal more of the answer than the first one, so
curves do not rise. The first mask still depends on the prediction of the unmasked model, nearly always the gold label,
and may reveal it. Recursive ROAR for the predicted label, beside that for the gold label:
"""
MASF = """MaSF's level of 5 % holds for unmasked and masked texts together; a share below 5 % at one point does not show
that the model knows these inputs.
"""
NOTE = """Intervals in the first column are over seeds and test examples together, and decide the verdict. A BCa
interval from five seeds covers only about 84 %. The paper's IG numbers belong to the weighted variant; IG here is the
formula, and the variant has its own table. "overlap": whether our interval for new trainings overlaps with the paper's.
Where masking all words does not lower the score significantly, the area is undefined. Areas with steps of 20 % (IMDB,
SNLI, transformer) are not comparable with the paper's areas with steps of 10 %.
"""
