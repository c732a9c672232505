"""The words of the results page that no number changes."""

from __future__ import annotations

INTRODUCTION = """# ROAR and Recursive ROAR, run again

Madsen, Meade, Adlakha and Reddy, "Evaluating the Faithfulness of Importance Measures in NLP by Recursively Masking
Allegedly Important Tokens and Retraining" (Findings of EMNLP 2022), at the scale of two CPU cores.

```
python papers/roar/data.py                                       # the paper's splits and preprocessing
papers/roar/run.sh                                               # all plans, two workers, goes on where it was
python papers/roar/page.py --store ~/.cache/assay-roar/store     # this page
```

`roar/records.jsonl.xz` holds every record behind it: `run.sh` and `page.py` unpack it into their store, so that the
last command alone writes this page again where the data and the models are that the plans name.

What differs from the paper:

- Word vectors are those of a pretrained encoder's table (granite-embedding-30m, 384 wide; below is how it does on
  the validation split) instead of fastText and GloVe (300). On SST the paper's unmasked macro-F1 is 82 +0.6 -1.0.
- Trainings stop when validation has not improved for three epochs (bAbI: fifteen, because trainings there may stand
  still for ten before they learn, and at most 40 instead of 100; six answers, the places, instead of all words; SNLI:
  at most 25).
- IG has six Gauss-Legendre points on SST and four on SNLI and IMDB: there they rank words as 500 right Riemann points
  do, more nearly than the paper's 50. On bAbI, whose paths are less smooth, six are too few; there IG has twelve
  adaptive points (Spearman with 500 right points 0.997, as of 20 right points; the paper's 50: 0.9995).
  `python papers/roar/riemann.py --store ~/.cache/assay-roar/store [--model babi1 --examples 120]` prints how nearly.
  Special tokens keep their embedding, where the published code scaled those of single texts too.
- SNLI has 10,000 training, 1,000 validation and 2,000 test pairs and steps of 20 %; IMDB 1,500 training and 1,000 test
  reviews, words of at least three reviews and steps of 20 %.
- A six-layer MiniLM stands for RoBERTa: 1,500 training, 300 validation and 500 test examples, steps of 20 %, three
  epochs of batches of 8 at a learning rate of 5e-5 with a warm-up and clipped gradients (with the paper's batches of 16
  a training on texts masked to 80 % learned nothing), on bAbI four at 1e-4, the epoch chosen by AUROC. IG has
  ten Gauss-Legendre points (`--model minilm_sst --examples 12`: Spearman 0.990; 20 right points 0.995, the
  paper's 50 0.999). Input x gradient is not run with it.
- Words are counted (the paper's one token at a time) in steps of two up to ten, on IMDB of five.
- MIMIC is not to be had, and bAbI-3 is not run. Table 3's reference numbers for IMDB and SNLI are probably swapped in
  the paper.
"""
RULES = """Intervals of claims are for other trainings and texts (see below Table 2); a difference of two areas of the
same trainings has its own, narrower one. A measure beats another if the interval of their difference lies above 0, but
a curve that leaks the label is never beaten, because its area is too low, and of fewer than three seeds one with a low
point of a single training neither beats nor is beaten: that training failed, or leaked. "undecided": all was run, and
it cannot be told; "incomplete": not all that the claim needs was run.
"""
VECTORS = """SST's word vectors on the validation split, as far as they were run (`assay run papers/roar/embeddings.yaml
--store ~/.cache/assay-roar/store --threads 1`, then `python papers/roar/vectors.py --store ~/.cache/assay-roar/store`):
"""
ALL_MASKED = """
All masked: the floor that every curve ends at, models trained on nothing but mask tokens. Of pairs only the first text
is masked: on SNLI this is what the hypothesis alone tells, on bAbI the question.
"""
TOLD = """A model that has nothing left to read still ranks words by the label that it is asked about. Masking, say,
every mention of the answer of a bAbI question tells the answer: it is the place that is missing. Curves that rise with
more masking, and low points of single trainings, which may also have failed:
"""
PREDICTED = """With the label that the model predicts, no later mask can tell more of the answer than the first, so that
curves do not rise; but the first is chosen by what the unmasked model answers, nearly always the gold label, and may
tell it still. Recursive ROAR of the predicted label, beside that of the gold one:
"""
MASF = """MaSF's level of 5 % holds for whole and masked texts together: fewer unknown inputs than that at one share do
not prove that the model knows them.
"""
NOTE = """Intervals in the first column are over seeds and test examples drawn together, and decide the verdict. A BCa
interval from five seeds covers only about 84 %. The paper's IG numbers belong to the weighted variant; IG here is the
formula, and the variant has its own table. "meets": whether our interval for other trainings and the paper's overlap.
Where masking everything costs nothing that is not chance, no area is sure. Areas at steps of 20 % (IMDB, SNLI,
transformer) are not those at 10 %, which the paper has.
"""
