"""The standing words of the page."""

from __future__ import annotations

INTRODUCTION = """# The thesis, run again

"Assessing the Interpretability of Large Language Models" (Oxford MSc thesis, 2022) asked whether explanations keep
their quality when the size and the architecture of a model change. This page repeats its experiments at the scale of
two CPU cores and judges its twenty-five claims by criteria that are written in `papers/thesis/claims/`. They were fixed
while the first models were being trained. Read again against the thesis later, with the results of one training of
the four sizes known, six were completed: 4 (order also by sufficiency, both gradient methods; a sufficiency just
under 0 no longer counts against "about 0.1"), 6 (order), 14 (rollout in shallow models), 16 (sufficiency), 22 and 23
(also for gradients of the logit). Disagreement is a result: it may come from the scale, and it stands here with the
numbers that decided it.

```
papers/thesis/run.sh                                            # all plans, two workers, goes on where it was
python papers/thesis/page.py --store ~/.cache/assay-thesis      # this page
```

(or plan by plan: `assay run papers/thesis/augmented_sst.yaml --store ~/.cache/assay-thesis --threads 1`, `mnli.yaml`,
`esnli.yaml`.)

What differs from the thesis: small models (table below; the sizes start from random weights, a Llama stands for
GPT-2), three trainings per model on SST instead of one (one where architectures are attacked), 200 examples instead of
500, attacks of 150 steps instead of 500 (50 on the logit) and with 8 nodes of IG, and sizes on SST only.
All means with intervals: [means.csv](thesis/means.csv).
"""
MODEL_NOTE = """E[1/n]: the mean rank % of a method that always ranks the cue first, for this tokenizer (on e-SNLI
the mean share of units that the annotators marked); a random method has it as its overlap. Parameters are those of
the model that was trained, of T5 the encoder."""
ATTACK_NOTE = """The plans attack IG with 150 steps through 8 Gauss-Legendre nodes; the thesis had 500 steps, and 50
nodes are taken for its unsaid number. Both on the sentences of the plan and the smallest T5 (seed 0); seconds are CPU
seconds per sentence and objective. [Every sentence](thesis/full_attack.csv).

`python papers/thesis/full_attack.py --store ~/.cache/assay-thesis`"""
FIGURE_NOTE = """Lines: dark band = 95 % interval over examples (percentile bootstrap, as in the thesis), light band
with thin edges = lowest to highest training. Bars: error bar = examples, dots = trainings. Dotted lines are named in
the legend and have no bands; means.csv has their intervals.

Plain gradients are summed over the embedding with their sign, as the text of the thesis implies. Where a LayerNorm is
the first to read the embeddings (BERT, RoBERTa and GPT-2, not T5 and Llama) that sum is 0 by construction: LayerNorm
ignores a shift common to all dimensions, so the gradient has no component along it, and the ranking is one of rounding
errors. `python papers/thesis/signed_sum.py` measures |sum| / norm: 1.6e-7 on the BERT and 2.2e-7 on the RoBERTa used
here, 0.61 on the Llama and 0.57 on the T5. A ranking of rounding errors may well fall below random, as claim 9 reports
for BERT. So what the claims say of plain gradients on these architectures says nothing about gradients; `gradient` in
Assay takes the norm unless told otherwise."""
FINDINGS = """## In plain words

A claim is called reproduced only if every one of its statements holds; the brackets above say how many do.

- **What holds.** IG, LIME and SHAP find the planted cue at every size (claim 1) and stay the most faithful whatever the
  size (5); architectures differ more than sizes do (21); attention beats plain gradients except on the causal model
  (24); on e-SNLI the best methods share about two words in five with the annotators (7).
- **Attention does better than in the thesis.** Where the model reads both ways, average attention puts the cue first
  almost always (3, 10), and on BERT and RoBERTa it agrees with the annotators of e-SNLI at least as well as any other
  method (12). On the causal model it ranks the cue last, as the thesis says: the cue stands at the end, and causal
  attention favours what comes early, whatever was learnt.
- **The causal model is no exception in faithfulness.** The thesis saw no method apart from random on GPT-2; on the
  Llama here IG, LIME and SHAP are far from it (11).
- **One broken block is not enough.** In the thesis gradient methods lost all correlation after one or two blocks; here
  it takes most of the blocks, above all for IG (13).
- **The models are too sure of themselves.** All of them are nearly perfect on augmented SST, so the probability is
  saturated and its gradient next to nothing. An attack on plain gradients of the probability then ends after a few tiny
  moves with nothing changed (17 to 19); on the logit they can be attacked.
"""
