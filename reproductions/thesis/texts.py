"""The fixed texts of the results page."""

from __future__ import annotations

INTRODUCTION = """# Interpretability over model size and architecture: results

The MSc thesis "Assessing the Interpretability of Large Language Models" (Oxford, 2022) asked whether the quality of
explanations changes with the size and the architecture of a model. This page repeats its experiments on two CPU cores
and judges its twenty-five claims by the criteria in [claims/](claims). [README.md](README.md) has the commands, the
data and the models. A verdict that differs from the thesis may be due to the smaller scale; every verdict is shown with
its numbers.

The criteria were written while the first models were being trained. They were later revised against the thesis with
some results already known: first 4 (order also by sufficiency, both gradient methods; a sufficiency just below 0 no
longer counts against "about 0.1"), 6 (order), 14 (rollout in shallow models), 16 (sufficiency), 22 and 23 (also for
gradients of the logit, as were 13, 15, 17 to 20 and 25), with one training of the four sizes known; then, with most
results known, 9, 11 and 24 became stricter ("slightly", "ahead"), and 17, 18 and 23 not testable where no attack
changed a ranking or no method failed; last 7 ("slightly", and the reverse on MultiNLI) and 25, in the same way.

Differences from the thesis: small models (table below; the sizes are trained from scratch, and a Llama replaces GPT-2),
three trainings per model on SST instead of one (one for attacks on architectures or logits), 200 examples instead of
500, attacks of 150 steps instead of 500 (50 on the logit) with 8 integration points of IG, and sizes on SST only.
Models are trained for two or three epochs on 1,600 to 6,000 texts, with a learning rate per kind of model; those of
MultiNLI and e-SNLI are weak (see Models). IG uses 24 adaptive points, LIME and SHAP 256 samples. All means with
intervals: [means.csv](means.csv).
"""
MODEL_NOTE = """E[1/n]: the mean rank % of a method that always ranks the cue first, for this tokenizer (on e-SNLI the
mean share of units that the annotators marked). It is also the expected overlap of a random method; the random method
here is a single draw, the same for every training, and a low one (0.08 instead of 0.126 on the sizes), so "above
random" is slightly too easy there. Parameters are those of the trained model, for T5 its encoder."""
SUCCESS_NOTE = """An attack succeeds if, within its constraint, it changes the order of the top words and lowers their
sum. The constraint is the class (prediction_kept) or the probability within 0.05 (probability_matched). Epsilon is 2,
as in the thesis. Relative to the embeddings this differs widely: a fifth of their size on the pretrained T5, twice on
the small T5s, 8 times on RoBERTa, 34 times on BERT and 81 times on the Llama. IG before and after the attack is
measured with enough points to satisfy completeness within 0.05 (0.2 on the logit), whatever points were attacked. Where
the two changes of the top-k sum differ, the attack has exploited integration errors rather than changed IG. [Heat maps
before and after attacks](attacked.html), one sentence per model."""
ATTACK_NOTE = """The plans attack IG with 150 steps and 8 Gauss-Legendre points; the thesis used 500 steps, and 50
points are assumed because it does not give their number. Both attack the sentences of the plan on the smallest T5 (seed
0), and both are measured with enough points to converge; seconds are CPU seconds per sentence and objective. [Every
sentence](full_attack.csv). The longer attack changes IG more, because of its steps, its points or both; on this model
the plans therefore give a lower bound.

`python -m reproductions.thesis.full_attack --store ~/.cache/assay-thesis`"""
FIGURE_NOTE = """Lines: dark band = 95 % interval over examples (percentile bootstrap, as in the thesis), light band
with thin edges = lowest to highest training. Bars: error bar = examples, dots = trainings. Dotted lines are named in
the legend and have no bands; their intervals are in means.csv.

Plain gradients are summed over the embedding with their sign, as the thesis implies. If the embeddings go into a
LayerNorm first (BERT, RoBERTa and GPT-2, but not T5 and Llama), this sum is 0 by construction: LayerNorm ignores a
shift of all dimensions, so the gradient has no component along it, and only rounding errors are ranked. `python -m
reproductions.thesis.signed_sum` measures |sum| / norm: 1.6e-7 on the BERT and 2.2e-7 on the RoBERTa used here, 0.61 on
the Llama and 0.57 on the T5. Rounding errors are large where the gradient is large, with either sign, so such a ranking
puts important words first about half the time and last otherwise: its overlap is far above random, its mean rank that
of random. Results for plain gradients on BERT and RoBERTa reflect this and not gradients; by default, `gradient` in
Assay takes the norm."""
READING = """Each claim is a list of statements. A bound such as "≥ 0.4" or "≈ 0.5" (± 0.1) holds (✓) unless the whole
95 % interval over examples is on the wrong side of it; "above" needs the whole interval of the paired difference and
the mean of every training on the right side; "not > x" holds unless the whole interval is above x; "alike" needs the
whole interval within the margin. Intervals of claims are BCa, those of figures and means.csv percentiles, as in the
thesis; blocks count from 0 in means.csv and from 1 in figures. Grad, GxI, IG, SHAP, AvgAtt, Rollout: gradient (summed),
gradient_x_input, integrated_gradients, kernel_shap, average_attention, attention_rollout; Ens3, Ens7: thesis_top3,
thesis_all, the ensembles of three and of all seven methods; t5_1 to t5_4: the sizes. Unconstrained attacks keep the
class (prediction_kept), constrained ones match the probability (probability_matched). Grad† is a plain gradient that
sums to rounding errors (BERT, RoBERTa; see Figures), so its results are not about gradients. Gradients are those of the
probability, as in the thesis, or of the logit.
"""
FINDINGS = """## Findings

A claim is reproduced only if all its statements hold; the brackets above show how many do.

- **Reproduced.** IG, LIME and SHAP find the planted cue at every size (claim 1) and, by comprehensiveness on SST,
  remain the most faithful at every size (5). Architectures differ more than sizes (21), mainly because attention does.
  On e-SNLI the best methods share slightly more than two words in five with the annotators (7, 12), as in the thesis;
  but LIME is far ahead of IG there, and ahead on MultiNLI too (7).
- **Attention does better than in the thesis.** On bidirectional models average attention almost always puts the cue
  first (3, 10), and on BERT and RoBERTa it agrees with the annotators of e-SNLI at least as well as any other method
  (12); on T5 it is no better than random. On the causal model it ranks the cue nearly last, as in the thesis: the cue
  is at the end, and causal attention favours early positions, mostly independently of what was learned. Rollout ranks
  the cue worse than random on BERT and RoBERTa, as in the thesis (10).
- **The causal model is not an exception in faithfulness.** In the thesis no method differed from random on GPT-2 on
  SST, and few on the NLI data; on the Llama here IG, LIME and SHAP are far better than random on all three data sets
  (11).
- **Explanations persist as long as the model works.** In the thesis gradient methods lost all correlation after one or
  two re-initialised blocks (13). On BERT they do under cascading randomisation; elsewhere IG in particular keeps much
  of it. The table "Output of a randomised model" shows why: many of these blocks were not needed. While the output
  persists, an explanation may persist too; where the output falls to chance, IG mostly loses its correlation as well.
  The NLI data show the same: the correlations on BERT fall within two blocks, the others later (15).
- **Attacks on plain gradients of the probability changed nothing on SST (17 to 19).** The models are nearly perfect,
  the probability is saturated, and the ascent stops after some twenty tiny steps; on BERT and RoBERTa a summed gradient
  is 0 anyway. The models of the thesis were as confident, but it reports large changes. Where a model is less confident
  attacks work: on the BERT of e-SNLI they replace nearly all top words of gradient x input and of IG (20), with an
  epsilon of 35 times the embeddings. Constrained attacks change the probability as much as unconstrained ones and
  mostly end outside their constraint, while the thesis saw much smaller changes.
- **Attacks on gradients of the logit resemble those of the thesis (17, 19).** Over sizes gradients change most and IG
  least, though with a smaller difference than in the thesis. Over architectures rank changes of about 0.4 and more are
  the rule (except on the pretrained T5, whose large embeddings hardly move), and constrained attacks change the
  probability of RoBERTa and BERT, as in the thesis (here also of the Llama): a change of scores in logits outweighs the
  penalty on probabilities, so the constraint no longer binds. The thesis does not state which of the two it
  differentiated; this suggests the logit.
- **Attacks with eight integration points partly exploit integration errors.** Measured with enough points, the top
  words of IG lose much less than with the attacked points, on the pretrained T5 almost nothing. On the probability IG
  clearly changes only on the Llama, where epsilon is 81 times the embeddings. On the smallest T5 the longer attack of
  the thesis changes IG more, but still changes the top words of only 2 of 16 sentences (see "The full attack on IG").
  Reports of attacks on IG should state how the scores were integrated.
"""
OUTPUT_NOTE = """Mean probability of the class predicted by the intact model, with the last 1, 2, ... blocks
re-initialised, and Spearman's correlation of two methods; augmented SST, all trainings. A correlation that persists
where the probability persists is not a failure: these blocks did not matter."""
