"""The standing words of the page."""

from __future__ import annotations

INTRODUCTION = """# The thesis, run again

"Assessing the Interpretability of Large Language Models" (Oxford MSc thesis, 2022) asked whether explanations keep
their quality when the size and the architecture of a model change. This page repeats its experiments at the scale of
two CPU cores and judges its twenty-five claims by criteria that are written in `papers/thesis/claims/`. They were fixed
while the first models were being trained. Read again against the thesis later, with the results of one training of
the four sizes known, six were completed: 4 (order also by sufficiency, both gradient methods; a sufficiency just
under 0 no longer counts against "about 0.1"), 6 (order), 14 (rollout in shallow models), 16 (sufficiency), 22 and 23
(also for gradients of the logit, as were 13, 15, 17 to 20 and 25). A third reading, with most results known, made 9, 11
and 24 stricter ("slightly", "ahead"), and 17, 18 and 23 not testable where nothing was changed or nobody failed; a
fourth did so with 7 ("slightly", and the reverse on MultiNLI) and 25.
Disagreement is a result: it may come from the scale, and it stands here with the numbers that decided it.

```
papers/thesis/run.sh                                            # all plans, two workers, goes on where it was
python papers/thesis/page.py --store ~/.cache/assay-thesis      # this page
```

(or plan by plan: `assay run papers/thesis/augmented_sst.yaml --store ~/.cache/assay-thesis --threads 1`, `mnli.yaml`,
`esnli.yaml`.)

What differs from the thesis: small models (table below; the sizes start from random weights, a Llama stands for
GPT-2), three trainings per model on SST instead of one (one where architectures or logits are attacked), 200 examples
instead of 500, attacks of 150 steps instead of 500 (50 on the logit) through 8 nodes of IG, and sizes on SST only.
Models are trained for two or three epochs on 1,600 to 6,000 texts, with a learning rate for each kind of model; those
of MultiNLI and e-SNLI are weak (see Models). IG has 24 adaptive nodes, LIME and SHAP 256 samples.
All means with intervals: [means.csv](thesis/means.csv).
"""
MODEL_NOTE = """E[1/n]: the mean rank % of a method that always ranks the cue first, for this tokenizer (on e-SNLI
the mean share of units that the annotators marked); a random method has it as its overlap on average, the one here is a
single draw, the same for every training (a low one: 0.08 instead of 0.126 on the sizes, so that "above random" is a
little too easy there). Parameters are those of the model that was trained, of T5 the encoder."""
SUCCESS_NOTE = """An attack succeeds if, within its constraint, it changes the order of the top and lowers its sum. The
constraint is the class (prediction_kept) or the probability within 0.05 (probability_matched). All have epsilon = 2, as
in the thesis; embeddings are of very different size, so that this is a fifth of them on the pretrained T5, twice their
size on the small T5s, 8 times on RoBERTa, 34 on BERT and 81 on the Llama. What IG says before and
after is measured by as many nodes as it takes to sum to within 0.05 (0.2 on the logit) of what it must, whatever nodes
were attacked: where "as the attack saw it" and "as measured" differ, the attack has found errors of the nodes
rather than changed IG. [Heat maps before and after](thesis/attacked.html), a sentence of each model."""
ATTACK_NOTE = """The plans attack IG with 150 steps through 8 Gauss-Legendre nodes; the thesis had 500 steps, and 50
nodes are taken for its unsaid number. Both on the sentences of the plan and the smallest T5 (seed 0), both measured by
as many nodes as it takes; seconds are CPU seconds per sentence and objective. [Every
sentence](thesis/full_attack.csv). The longer
attack moves IG more, by its steps, its nodes or both; so on this model what the plans say is a lower bound.

`python papers/thesis/full_attack.py --store ~/.cache/assay-thesis`"""
FIGURE_NOTE = """Lines: dark band = 95 % interval over examples (percentile bootstrap, as in the thesis), light band
with thin edges = lowest to highest training. Bars: error bar = examples, dots = trainings. Dotted lines are named in
the legend and have no bands; means.csv has their intervals.

Plain gradients are summed over the embedding with their sign, as the text of the thesis implies. Where a LayerNorm is
the first to read the embeddings (BERT, RoBERTa and GPT-2, not T5 and Llama) that sum is 0 by construction: LayerNorm
ignores a shift common to all dimensions, so the gradient has no component along it, and the ranking is one of rounding
errors. `python papers/thesis/signed_sum.py` measures |sum| / norm: 1.6e-7 on the BERT and 2.2e-7 on the RoBERTa used
here, 0.61 on the Llama and 0.57 on the T5. Rounding errors are large where the gradient is, with any sign: such a
ranking puts what matters first about half the time and last otherwise: its overlap is then far above random and its
mean rank that of random. What the claims say of plain gradients on BERT and RoBERTa is about
that, not about gradients; `gradient` in Assay takes the norm unless told otherwise."""
READING = """Each claim is a list of statements. A bound such as "≥ 0.4" or "≈ 0.5" (± 0.1) counts as met (✓) unless
the 95 % interval over examples lies wholly on the wrong side of it; "above" needs the whole interval of the paired
difference, and the mean of every training, on the right side; "not > x" holds unless the whole interval is above x;
"alike" needs the whole interval within the margin. Intervals of claims are BCa, those of figures and means.csv
percentiles as in the thesis; blocks count from 0 in means.csv and from 1 in figures. Grad, GxI, IG, SHAP, AvgAtt,
Rollout: gradient (summed), gradient_x_input, integrated_gradients, kernel_shap, average_attention, attention_rollout;
Ens3, Ens7: thesis_top3, thesis_all; t5_1 to t5_4: the sizes. Unconstrained attacks keep the class (prediction_kept),
constrained ones match the probability (probability_matched). Grad† is a plain gradient that sums to rounding errors
(BERT, RoBERTa; see Figures), so that what is said of it is not about gradients. The columns say what gradients are
taken of: the probability, as in the thesis, or the logit.
"""
FINDINGS = """## In plain words

A claim is called reproduced only if every one of its statements holds; the brackets above say how many do.

- **What holds.** IG, LIME and SHAP find the planted cue at every size (claim 1) and, by comprehensiveness on SST, stay
  the most faithful whatever the size (5); architectures differ more than sizes (21), though nearly only because
  attention does. On e-SNLI the best methods share a little over two words in five with the annotators (7, 12), as in
  the thesis; but LIME is far ahead of IG there, and ahead on MultiNLI too (7).
- **Attention does better than in the thesis.** Where the model reads both ways, average attention puts the cue first
  almost always (3, 10), and on BERT and RoBERTa it agrees with the annotators of e-SNLI at least as well as any other
  method (12); on T5 no better than random. On the causal model it ranks the cue nearly last, as the thesis says: the
  cue stands at the end, and causal attention favours what comes early, mostly whatever was learnt. Rollout ranks the
  cue worse than random on BERT and RoBERTa, as in the thesis (10).
- **The causal model is no exception in faithfulness.** On SST the thesis saw no method apart from random on GPT-2, and
  little more on the NLI sets; on the Llama here IG, LIME and SHAP are far better than random on all three (11).
- **Explanations stay while the model works.** In the thesis gradient methods lost all correlation after one or two
  blocks (13). On BERT they do where blocks are drawn anew one after the other; elsewhere IG above all keeps much of it.
  The table "What is left of a broken model" says why: many of these blocks were not needed. As long as the output
  stays, an explanation may stay with it; where the output falls to chance, IG mostly loses its correlation too. On
  the NLI sets as on SST: BERT's fall within two blocks, the others' later (15).
- **Attacks on plain gradients of the probability did nothing on SST (17 to 19).** The models are nearly perfect, the
  probability is saturated, and the ascent stops after some twenty tiny moves; on BERT and RoBERTa a summed gradient is
  0 anyway. The thesis's models were as sure, and it reports large changes. Where a model is less sure the attacks work:
  on the BERT of e-SNLI they replace nearly the whole top of gradient x input and of IG (20), with epsilon 35 times the
  embeddings; constrained attacks move the probability as far as unconstrained ones and mostly end outside their
  constraint, where the thesis saw much smaller changes.
- **Attacks on gradients of the logit look like those of the thesis (17, 19).** Over sizes gradients give way most and
  IG least, though by less than in the thesis; over architectures rank changes of about 0.4 and more are the rule (not
  on the pretrained T5, whose large embeddings hardly move), and constrained attacks lose the probability of RoBERTa and
  BERT, as in the thesis (here of the Llama, too): a change of scores in logits outweighs a penalty on probabilities, so
  that the constraint binds no longer. The thesis does not say what it differentiated; this speaks for the logit.
- **An attack through eight nodes partly fools the nodes.** Measured with enough of them, the top of IG loses much less
  than the attack saw, on the pretrained T5 almost nothing. On the probability IG clearly gives way only on the Llama,
  where epsilon is 81 times the embeddings. On the smallest T5 the longer attack of the thesis moves IG more, but still
  changes the top of only 2 of 16 sentences (see "The attack on IG in full"). Whoever attacks or defends IG should say
  how the reported scores were integrated.
"""
OUTPUT_NOTE = """Mean probability of the class that the whole model predicts, with the last 1, 2, ... blocks drawn
anew, and Spearman's correlation of two methods then; augmented SST, all trainings. A correlation that stays where the
probability stays is no failure: these blocks did not matter."""
