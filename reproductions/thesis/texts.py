"""The fixed texts of the result pages."""

from __future__ import annotations

INTRODUCTION = """# Interpretability over model size and architecture: results

The MSc thesis "Assessing the Interpretability of Large Language Models" (Oxford, 2022) asked whether the quality of
explanations changes with the size and the architecture of a model. This page repeats its experiments at a small scale
and judges its twenty-five claims. [statements.md](statements.md) has every statement behind a verdict, the criteria and
their history; [README.md](README.md) has the commands.
"""
STAND_INS = """**What stands in for the thesis's models.** Four T5 encoders trained from scratch (`t5_1` to `t5_4`) for
its efficient T5s; a flan-T5-small for T5-base, MiniLM for BERT-base, granite-30M for RoBERTa-base, and a Llama of 15M
parameters for GPT-2. All are much smaller, and those of MultiNLI and e-SNLI are weak (see Models). Also different:
200 examples (of MultiNLI and e-SNLI 100) instead of 500, randomisation on 25 instead of 50 pairs, attacks of 60 steps
instead of 500, sizes on SST only. As in the thesis each model is trained once, so the intervals do not tell how another
training would differ. The run moved between machines, where the same seed gives slightly different weights: the studies
of one model (say, faithfulness and attacks) may come from two such trainings. A verdict that
differs from the thesis may be due to any of this; plans with the thesis's own checkpoints are in [full/](full), not run
here.
"""
TABLE_NOTE = """*Verdict*: explanations of the probability, as in the thesis. In brackets: how many of the tested
statements hold. A statement holds or is contradicted only if its interval, corrected for all statements of the claim,
says so with a margin; otherwise it is undecided. *Reproduced*: all hold; *largely reproduced*: three quarters;
*contradicted*: more than a quarter are contradicted; *not testable here*: less than a third could be tested. *Logit*:
gradients of the logit. *Other readings*: attention with special tokens ranked like words; attacks that follow the raw
gradient instead of its sign; the other version of a criterion that was changed. † trainings are missing.
"""
MODEL_NOTE = """E[1/n]: the mean rank % of a method that always ranks the cue first, for this tokenizer (on e-SNLI the
mean share of units that the annotators marked). Parameters are those of the trained model, for T5 its encoder."""
OUTPUT_NOTE = """Mean probability of the class predicted by the intact model, with the last 1, 2, ... blocks
re-initialised, beside Spearman's ρ of two methods; augmented SST. Claims 13 and 15 are judged where this output is
destroyed, at most 0.1 above chance (bold): while it persists, an explanation may persist too."""
SUCCESS_NOTE = """Share of inputs whose top words an attack changed (their order changed and their sum fell), and in
brackets the share that also met its constraint: the class is kept, or the probability within 0.05. Claims 17 to 20 and
25 judge only attacks that changed at least a third of the inputs: a failed attack does not show that a method is
robust. Epsilon is 2 as in the thesis; its column gives it in sizes of the embeddings. [Heat maps before and
after attacks](attacked.html)."""
FIGURE_NOTE = """In the thesis's order. Lines: band = 95 % interval over examples (percentile bootstrap, as in the
thesis). Bars: error bar = examples. Random is the mean of
many random rankings. Plain gradients on BERT and RoBERTa are rounding noise (see Findings)."""
RULES = """# Statements behind the verdicts

[results.md](results.md) has the findings. Here: each claim's criterion, its verdict in every reading, and all its
statements with their numbers.

**One statement** is about one number: a mean over examples (and trainings), or a difference paired by example. Its
criterion names the allowed values and a margin. Its BCa interval (widened for few examples as Student's t is) decides:
the statement *holds* if the value is allowed and the interval rules out everything beyond the margin; it is
*contradicted* if the interval rules out every allowed value; otherwise it is *undecided*. "Above by m": the value is at
least m and the interval above 0. "At most m" and "alike (± m)": the whole interval is. Several trainings must agree.
The intervals of a claim hold together with 95 % confidence (Bonferroni over its statements); there is no correction
over the twenty-five claims.

**Margins.** Overlap and mean rank %: 0.05 (0.02 where the thesis says "slightly"); comprehensiveness and sufficiency,
whose range on SST is half of that: 0.02; bounds such as "at least 0.9": 0.05; correlations and rank changes: 0.1.

**Not judged.** Plain gradients on BERT and RoBERTa: LayerNorm ignores a shift of all dimensions, so a gradient behind
it sums to 0, and its signed sum, which the thesis implies, is rounding noise (`python -m
reproductions.thesis.signed_sum` measures it; if the thesis summed, this was so for its BERT, RoBERTa and GPT-2 too).
Randomised models whose output is not destroyed. Attacks that changed the top words of less than a third of the inputs.

**Names.** Grad, GxI, IG, SHAP, AvgAtt, Rollout: gradient (summed), gradient_x_input, integrated_gradients,
kernel_shap, average_attention, attention_rollout; Ens3, Ens7: the ensembles of IG, LIME, SHAP and of all seven methods;
t5_1 to t5_4: the sizes; t5, roberta, llama (for GPT-2), bert: the architectures. Unconstrained attacks keep the class,
constrained ones match the probability. ✓ holds, ✗ contradicted, ? undecided, – not testable here, … not run.
"""
HISTORY_NOTE = """The first criteria were written while the first models were being trained; most changes came when
results were known. The criteria of claims 7, 9, 11 and 24 had become stricter with most results known; the first ones
count again. The margins, the three outcomes and what is not judged were set on 18 November with the means of the
earlier run known, and before a record of the present run had been looked at; the share of statements that must be
testable was lowered later (last line). All versions below are judged by the present rules and records, so the second
table shows what the change of a criterion does to the verdict and nothing else."""
