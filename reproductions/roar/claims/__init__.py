"""The claims of Madsen et al. 2022. Each is judged by the criterion that was written before the first result."""

from __future__ import annotations

from ..evidence import LSTM, TRANSFORMER
from . import areas, shapes, sparsity
from .base import MARGIN, Claim

CLAIMS: dict[str, Claim] = {
    "1": Claim(
        "Faithfulness depends on the model",
        "section 6",
        "SNLI IG -13.9 / 56.7; bAbI-1 gradient 66.1 / 64.2, IG 59.1 / 48.2; SST gradient 7.6 / 26.1, IG 37.8 / 32.9 "
        "(LSTM / RoBERTa)",
        areas.models_here,
        areas.model_dependent,
        note="steps of 20 %; MiniLM, trained on fewer texts, in place of RoBERTa",
    ),
    "2": Claim(
        "Faithfulness depends on the task",
        "section 6",
        "LSTM attention: SST 15.7, bAbI-1 66.5, SNLI 36.5, IMDB 29.8",
        areas.tasks_here,
        areas.task_dependent,
        note="steps of 20 %",
    ),
    "3": Claim(
        "Attention is among the best measures with the LSTM, except on SST",
        "section 6",
        "attention and the best other: bAbI-1 66.5, 71.2; SNLI 36.5, 18.7; IMDB 29.8, 32.5; SST 15.7, 37.8",
        lambda e: areas.numbers(e, ("bAbI-1", LSTM), ("IMDB", LSTM), ("SST", LSTM)),
        areas.attention_among_the_best,
        note="SNLI cannot be tested: with 10,000 pairs the LSTM is hardly better than without the premise",
    ),
    "4": Claim(
        "IG is not generally better than gradient or input x gradient",
        "section 6",
        "LSTM SNLI: gradient 18.7, IG -13.9; bAbI-2: gradient 66.3, IG 34.6",
        lambda e: areas.numbers(e, ("bAbI-1", LSTM), ("bAbI-1", TRANSFORMER)),
        areas.ig_not_generally_better,
    ),
    "4b": Claim(
        "IG is the worst measure on bAbI with RoBERTa",
        "section 6",
        "bAbI-1: gradient 64.2, IxG 52.1, IG 48.2",
        lambda e: areas.numbers(e, ("bAbI-1", TRANSFORMER)),
        areas.ig_worst_on_babi,
        note="MiniLM, without input x gradient",
    ),
    "5": Claim(
        "The largest drop tends to come within the first 10 to 20 %",
        "section 6, figure 4",
        "no number; figure 4",
        shapes.drops_here,
        shapes.early_drop,
        {"four ways of counting drops": shapes.early_drop_four_ways},
    ),
    "6": Claim(
        "Class leakage: curves may rise with more masking",
        "section 6, appendices A and G",
        "no number; bAbI with the LSTM, bAbI-3 with RoBERTa",
        shapes.leaks_here,
        shapes.leakage,
        {"three or more seeds": shapes.leakage_of_three},
    ),
    "7": Claim(
        "Recursion makes measures more faithful on SST and IMDB",
        "appendix G, figure 8",
        "no number; figure 8",
        areas.recursion_here,
        areas.recursion_matters,
        note="ROAR with one seed",
    ),
    "8": Claim(
        "Attention is the sparsest measure",
        "section 5.1",
        "no number; figure 6",
        sparsity.sparsity_here,
        sparsity.attention_sparsest,
        note="mass of the top 10 % of words, in %",
    ),
    "8b": Claim(
        "Attention is the sparsest on bAbI, and IG among the others nearly everywhere",
        "appendix E, figure 6",
        "no number; figure 6",
        lambda _: "as in claim 8",
        sparsity.ig_sparsest_of_the_others,
        {"IG by the formula instead of the weighted variant": sparsity.plain_ig_sparsest},
    ),
    "9": Claim(
        "Masking one token at a time leads to the same conclusions",
        "appendix F, figure 7",
        "no number; figure 7",
        areas.words_here,
        areas.same_conclusions,
        {"SST alone, as the first criterion had it": areas.same_conclusions_on_sst},
        note="steps of two words (IMDB: five), one seed",
    ),
    "10": Claim(
        "Synthetic problem: Recursive ROAR recovers the truth",
        "section 4, figure 3",
        "the two curves coincide",
        shapes.synthetic_here,
        shapes.synthetic,
    ),
    "11": Claim(
        "Which measure is best where",
        "section 6",
        "LSTM: SNLI attention 36.5, SST IG 37.8 and IxG 28.0; RoBERTa: SNLI IG 56.7, bAbI-1 gradient 64.2",
        lambda e: areas.numbers(e, ("SST", LSTM), ("SNLI", TRANSFORMER), ("bAbI-1", TRANSFORMER)),
        areas.best_measures,
        {"the best must be above all others": areas.best_are_above},
    ),
    "12": Claim(
        "One token at a time, LSTM: IG is the worst on IMDB and among the best on bAbI",
        "appendix F.2, figure 7",
        "no number; figure 7",
        lambda e: areas.numbers(e, ("IMDB", LSTM, "words"), ("bAbI-1", LSTM, "words")),
        areas.ig_by_words,
        {"IG must also be above some measure on bAbI-1": areas.ig_by_words_above_some},
        note="one seed; IG by the formula, where the paper has the weighted variant",
    ),
    "13": Claim(
        "The top ten tokens hold too little mass to mask by count",
        "appendix E, figure 5",
        "no number; 99 % would be enough",
        sparsity.top_ten_here,
        sparsity.top_ten,
        {
            "90 % instead of half": sparsity.top_ten_below_nine_tenths,
            "the paper's example, 99 %": sparsity.top_ten_below_99,
        },
        note="in %, one seed; the line at half of the mass is ours",
    ),
    "SST": Claim(
        "The order on SST: IG, input x gradient, attention, gradient",
        "Table 2",
        "IG 37.8, IxG 28.0, attention 15.7, gradient 7.6",
        lambda e: areas.numbers(e, ("SST", LSTM)),
        areas.order_on_sst,
    ),
}

__all__ = ["CLAIMS", "MARGIN", "Claim"]
