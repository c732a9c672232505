"""The fixed texts of the result pages."""

from __future__ import annotations

INTRODUCTION = """# ROAR and Recursive ROAR: results

Madsen, Meade, Adlakha and Reddy, "Evaluating the Faithfulness of Importance Measures in NLP by Recursively Masking
Allegedly Important Tokens and Retraining" (Findings of EMNLP 2022), scaled down to two CPU cores. ROAR (remove and
retrain) masks the words that an importance measure ranks highest, retrains the model on the masked texts and measures
how much worse it gets. Recursive ROAR ranks the remaining words again after every step. The *area* between the curves
of random and of a measure is 0 for a measure no better than random, and near 100 % for one that finds all at once.
"""
CLAIMS_NOTE = """\
Areas in %, the paper's beside ours; LSTM unless MiniLM is named, which replaces RoBERTa. A claim is *reproduced* if
all its statements hold, *largely reproduced* if three quarters do, *contradicted* if the evidence rules out more than
a quarter, and *undecided* otherwise. **Fragile**: a statement comes out otherwise if areas of curves that leak the
label count as lower bounds, or also as noise between trainings (in this order in the last column). Every statement
with its interval, the rules and how criteria changed: [statements.md](statements.md).
"""
AREAS_NOTE = """\
Intervals are for new trainings and texts (95 %). "agrees": it meets the paper's interval and is at most 20 points
wide; "differs": it does not meet it; neither: too wide to say. The paper's IG is the weighted variant, ours the
formula, unless it is named. ° steps of 20 % instead of 10 %, which lower areas on bAbI-1 by about 12 points and
change those on SST by about 1; weighted IG on bAbI-1 was run to 40 % only and continued by a straight line.
"undefined": masking all words does not lower the score significantly.
"""
DIFFERENCES = """\
- Word vectors come from the embedding table of a pretrained encoder (granite-embedding-30m, 384 dimensions) instead
  of fastText and GloVe (300).
- Training stops after three epochs without a better validation score (bAbI: fifteen, because some trainings only
  start to learn after ten, and at most 40 epochs instead of 100; six answers, the places, instead of all words; SNLI:
  at most 25 epochs).
- IG uses six Gauss-Legendre points on SST and four on SNLI and IMDB. There they rank words more like 500 right
  Riemann points than the paper's 50 do. On bAbI, whose paths are less smooth, IG uses twelve adaptive points and its
  weighted variant twelve Gauss-Legendre points. To measure this: `python -m reproductions.roar.integration_points
  --store ~/.cache/assay-roar/store [--model babi1 --examples 120]`. The embeddings of special tokens stay fixed,
  while the published code also scales those of single texts.
- SNLI has 10,000 training, 1,000 validation and 2,000 test pairs and steps of 20 %; IMDB has 1,500 training and 1,000
  test reviews, a vocabulary of words that occur in at least three reviews, and steps of 20 %.
- A six-layer MiniLM replaces RoBERTa: 1,500 training, 300 validation and 500 test examples, steps of 20 %, three
  epochs with batches of 8 and a learning rate of 5e-5, warm-up and gradient clipping (with the paper's batches of 16
  a training on texts masked to 80 % learned nothing); on bAbI four epochs at 1e-4. The epoch is chosen by AUROC. IG
  uses ten Gauss-Legendre points. Input x gradient is not run with it.
- One token at a time is run in steps of two words up to ten, on IMDB in steps of five.
- MIMIC needs credentials, and bAbI-2, bAbI-3 and RoBERTa are not run: [full](full/README.md) has plans for them.
"""
RULES = """\
A statement is about one number with an interval. It **holds** if the number is as stated and the interval rules out
the opposite; it is **contradicted** if the interval rules out everything it allows; otherwise it is **undecided**.
"Not contradicted" never counts as "holds". The rules are those of `assay.statistics.claims`.

- The practical margin is 2 points, of areas, accuracy and shares of the mass. "above": by 2 points or more, and the
  interval rules out below. "not below": the interval rules out below by more than 2 points. Differences of areas of
  the same trainings are paired.
- The statements of a claim hold together with 95 % confidence (Bonferroni). "Some" and "every" in a statement are the
  largest and the smallest of several numbers, whose bounds also share that confidence.
- Intervals of areas are for new trainings and texts. Few seeds say little about the variance between trainings, so it
  is pooled over all measures with three or more seeds and no leak, or a measure's own if that is larger. Intervals of
  sparsity are over trainings, as in the paper, and pooled in the same way.
- The verdict column of results.md takes areas as measured, as the first criteria did. A curve that leaks the label
  makes an area too low, and the paper says so too; "a bound" therefore leaves such an area open above (a low point of
  a single training, a leak or a failed training, open on both sides with fewer than three seeds); "a bound, and
  noise" also counts the spread of leaking areas over seeds as variance between trainings.
"""
VECTORS = """Word vectors on SST, macro-F1 on the validation split, as far as they were run (`assay run
reproductions/roar/embeddings.yaml --store ~/.cache/assay-roar/store --threads 1`, then `python -m
reproductions.roar.word_vectors --store ~/.cache/assay-roar/store`):
"""
ALL_MASKED = """
All masked: models trained on mask tokens only, where every curve ends. In pairs only the first text is masked, so
this is the hypothesis-only score on SNLI and the question-only score on bAbI. In the paper's Table 3 the reference
numbers for IMDB and SNLI are probably swapped.
"""
LEAKS = """\
A model without anything left to read still ranks words by the label that is explained. Masking every mention of the
answer in a bAbI story, for example, reveals the answer: it is the place that is missing. Curves that rise with more
masking, and low points of single trainings, which may also have failed:
"""
PREDICTED = """\
When the predicted label is explained, no later mask can reveal more of the answer than the first one, so curves do
not rise. The first mask still depends on the prediction of the unmasked model, nearly always the gold label, and may
reveal it. Recursive ROAR for the predicted label, beside that for the gold label:
"""
MASF = """\
MaSF's level of 5 % holds for unmasked and masked texts together; a share below 5 % at one point does not show that
the model knows these inputs.
"""
NOTE = """\
Intervals in the first column are over seeds and test examples together, and decide the verdict. A BCa interval from
five seeds covers only about 84 %. "agrees": our interval for new trainings meets the paper's, and is at most 20
points wide. Areas with steps of 20 % (IMDB, SNLI, transformer, weighted IG on bAbI-1) are not quite comparable with
the paper's, whose steps are 10 %; weighted IG on bAbI-1 was masked to 40 % only.
"""
CAPTIONS = {
    "synthetic": "Recursive ROAR falls where the truth does; ROAR, which ranks only once, falls much later.",
    "recursive_lstm": "Below random is faithful. On bAbI-1 the curves of input x gradient and IG rise again: a leak.",
    "recursive_transformer": "One seed each. On SNLI the model loses so little that areas are not known.",
    "sparsity_top": "The paper wants to know whether ten words hold nearly all of the mass.",
    "sparsity_share": "Attention is by far the sparsest on bAbI-1, but not on SST and SNLI.",
    "words": "One seed each; steps of two words, on IMDB of five.",
    "roar_lstm": "ROAR dotted. With recursion the curves fall further.",
    "roar_transformer": "ROAR dotted; one seed.",
    "measurable": "One model trained with masks, without retraining (Madsen et al. 2024).",
}
