"""What learned explainers cost: explaining against bare forward passes, and a step of a fit against its bare passes.

    python benchmarks/learned.py --write learned.md       # about two minutes on one core
    python benchmarks/learned.py --data FOLDER            # the same quality instead of the same work

A random BERT classifier of 6 blocks x 384, texts of 32 tokens; times do not depend on the weights. All sides take turns
within a run; ratios are of the best processor times, since on a shared machine only the best is free of the neighbours.
With --data (a folder with the splits train, dev and test), methods are compared at the same quality: an explainer is
fitted to the built-in model or to --model, and of each other method the cheapest setting counts that is as good.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

import assay
from assay.explainers.learned.mask_optimisation import MaskOptimisation
from assay.explainers.learned.parts.attribution_model import Reading
from assay.explainers.learned.parts.soft_mask import masked_batch
from assay.explainers.white_box import batch_with_units
from assay.fitting.aml import Objectives, fit_texts, new_attributor
from assay.fitting.methods.aml import AmlFit
from assay.masking.units import divide
from assay.models.load import load_model
from assay.models.model import Model

WORDS, TEXTS = 30, 16
MARGIN = 0.01  # a smaller difference of comprehensiveness does not matter, as in `assay evaluate`
JUDGED, FITTED, HELD_OUT = 40, 600, 60  # texts at the same quality
SLOW = ("integrated_gradients", "kernel_shap", "greedy")  # run twice
LADDERS = {  # from cheap to expensive
    "integrated_gradients": [f"integrated_gradients(steps={n})" for n in (2, 5, 10, 30)],
    "kernel_shap": [f"kernel_shap(samples={n})" for n in (32, 64, 128, 256, 512)],
    "decompx": ["decompx"],
    "greedy": ["greedy"],
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
RATIOS = [  # title, side, the side it is compared with, how often that one counts, goal
    ("pAML, trunk / one forward pass and one of its head", "trunk", "bare trunk", 1, "at most 1.15"),
    ("pAML, trunk / one forward pass", "trunk", "forward", 1, ""),
    ("pAML, encoder / two forward passes", "encoder", "forward", 2, "at most 1.15"),
    ("step of a fit by masking, trunk / its bare passes", "fit", "bare fit", 1, "at most 1.25"),
    ("fAML, mask logits / its bare passes", "faml", "bare faml", 1, "at most 1.25"),
    ("fAML, head of a trunk / its bare passes", "faml head", "bare faml", 1, "at most 1.25"),
    ("fAML, all of an encoder / its bare passes", "faml all", "bare faml all", 1, "at most 1.25"),
    ("mask_optimisation / its bare passes", "mask_optimisation", "bare faml", 1, "at most 1.25"),
    ("integrated_gradients / pAML, trunk", "integrated_gradients", "trunk", 1, ""),
    ("kernel_shap(512) / pAML, trunk", "kernel_shap", "trunk", 1, ""),
    ("greedy / pAML, trunk", "greedy", "trunk", 1, ""),
]
STEPS = 10  # of fAML
FEW = 4  # texts whose encoders are tuned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=sorted({a for _, a, _, _, _ in RATIOS}), help="sides to compare")
    parser.add_argument("--write")
    parser.add_argument("--data")
    parser.add_argument("--model", default="builtin", help="with --data: folder of a classifier of such texts")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = same_quality(options.model, options.data) if options.data else against_passes(options.runs, options.only)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


def against_passes(runs: int, only: list[str] | None) -> list[str]:
    """Ratios to bare passes, and of other methods to pAML."""
    chosen = [ratio for ratio in RATIOS if not only or ratio[1] in only]
    named = {side for _, a, b, _, _ in chosen for side in (a, b)}
    wanted = {name: side for name, side in sides(model()).items() if name in named}
    best = {name: min(times) for name, times in timed(wanted, runs).items()}
    rows = [(title, best[a] / (times * best[b]), goal) for title, a, b, times, goal in chosen]
    return [
        f"`python benchmarks/learned.py`: a random BERT of 6 layers x 384, {TEXTS} texts of {WORDS + 2} tokens; 1 "
        f"thread, best processor times of {runs} interleaved runs.",
        "",
        "| what | ratio | goal |",
        "|---|---|---|",
        *(f"| {name} | {ratio:.2f} | {goal} |" for name, ratio, goal in rows),
    ]


def model() -> Model:
    words = [f"w{i}" for i in range(1000)]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate([*SPECIAL, *words])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **dict(zip(names, SPECIAL, strict=True)))
    torch.manual_seed(0)
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    config = BertConfig(vocab_size=1005, num_labels=2, **sizes)
    return load_model((BertForSequenceClassification(config).eval(), fast))


def sides(explained: Model) -> dict[str, Callable[[], object]]:
    texts = [" ".join(f"w{(7 * i + k) % 1000}" for k in range(WORDS)) for i in range(TEXTS)]
    data = assay.load_dataset(texts * 2)
    batch = batch_with_units(explained, [divide(explained.encode(assay.Example(text))) for text in texts])
    trunk, encoder = (
        assay.fit(explained, data, f"aml(architecture={a}, epochs=1, masks=2)", progress=False, validation_limit=2)
        for a in ("trunk", "encoder")
    )
    head = trunk.loaded.attributor_for(explained)
    targets = explained.targets([assay.Target()] * TEXTS, "log_odds")
    fitting = fit_texts(explained, data).take(range(TEXTS))
    settings = AmlFit(objective="masking")
    attributor, objective = new_attributor(explained, settings), Objectives(settings, None, "mask_token", 1.0)
    inputs = masked_batch(explained, batch, targets.resolve(fitting.outputs), "mask_token")

    @torch.no_grad()
    def forward() -> object:
        return explained.logits(batch)

    @torch.no_grad()
    def bare_trunk() -> object:
        """One pass of the explained model that keeps its states, and one of the head, nothing else."""
        logits, states = explained.states(batch)
        return head(explained, batch, Reading(logits, states), logits.softmax(-1))

    def bare(passes_before: int) -> object:
        """One pass without gradients for each of those before, then both masked versions forward and backward."""
        for _ in range(passes_before):
            forward()
        logits = torch.zeros(batch.ids.shape, requires_grad=True)
        kept = logits.sigmoid()
        twice = inputs.batch.repeat(2)
        weights, reference = torch.cat([kept, 1 - kept]), torch.cat([inputs.reference] * 2)
        return explained.blend(twice, weights, reference).sum().backward()

    def bare_faml() -> None:
        forward()
        for _ in range(STEPS):
            bare(0)

    few, few_targets = batch.take(range(FEW)), targets.take(range(FEW))
    own_encoders = [copy.deepcopy(explained.hf).requires_grad_() for _ in range(FEW)]
    few_inputs = masked_batch(explained, few, few_targets.resolve(fitting.outputs[:FEW]), "mask_token")

    def bare_faml_all() -> None:
        """For every text and step its encoder forward and backward, and both masked versions of all texts."""
        with torch.no_grad():
            explained.logits(few)
            explained.logits(few)  # the attribution model of the same size
        twice, reference = few_inputs.batch.repeat(2), torch.cat([few_inputs.reference] * 2)
        for _ in range(STEPS):
            for i, hf in enumerate(own_encoders):
                hf(input_ids=few.ids[[i]]).logits.sum().backward()
            kept = torch.full(few.ids.shape, 0.5, requires_grad=True)
            explained.blend(twice, torch.cat([kept, 1 - kept]), reference).sum().backward()

    return {
        "forward": forward,
        "bare trunk": bare_trunk,
        "trunk": lambda: trunk.attribute(explained, batch, targets),
        "encoder": lambda: encoder.attribute(explained, batch, targets),
        "fit": lambda: objective(attributor, fitting).backward(),
        "bare fit": lambda: bare(1),
        "faml": lambda: replace(trunk, steps=STEPS).attribute(explained, batch, targets),
        "faml head": lambda: replace(trunk, steps=STEPS, tune="head").attribute(explained, batch, targets),
        "mask_optimisation": lambda: MaskOptimisation(steps=STEPS).attribute(explained, batch, targets),
        "bare faml": bare_faml,
        "faml all": lambda: replace(encoder, steps=STEPS, tune="all").attribute(explained, few, few_targets),
        "bare faml all": bare_faml_all,
        "integrated_gradients": lambda: assay.explain(explained, texts, "integrated_gradients", progress=False),
        "kernel_shap": lambda: assay.explain(explained, texts[:2], "kernel_shap(samples=512)", progress=False),
        "greedy": lambda: assay.explain(explained, texts[:2], "greedy", progress=False),
    }


def timed(runners: dict[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Processor seconds per side; the sides take turns, after one run that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for run in range(runs + 1):
        for name, side in runners.items():
            if name in SLOW and run > 1:
                continue
            start = time.process_time()
            side()
            if run or name in SLOW:
                share = TEXTS / 2 if name in ("kernel_shap", "greedy") else 1.0  # these explain only two texts
                times[name].append((time.process_time() - start) * share)
    return times


# --- at the same quality ----------------------------------------------------------------------------------------------


def same_quality(name: str, folder: str) -> list[str]:
    """The cheapest setting of each method whose comprehensiveness is that of pAML, and its processor time."""
    explained = load_model(name)
    explainer = assay.fit(explained, folder, "aml", limit=FITTED, validation_limit=HELD_OUT, progress=False)
    texts = assay.load_dataset(folder, split="test").take(JUDGED, 0)
    specs = [spec for ladder in LADDERS.values() for spec in ladder]
    with tempfile.TemporaryDirectory() as store:
        methods = [explainer, *specs, "random"]
        result = assay.evaluate(explained, texts, methods, ["comprehensiveness"], store=store, progress=False)
    values = {name: float(v.mean()) for name, v in result.evaluation.values["comprehensiveness"].items()}
    goal, own = values[explainer.title], seconds(explained, texts, explainer)
    rows = [(explainer.title, values[explainer.title], 1.0, "")]
    for ladder in LADDERS.values():
        reached = next((spec for spec in ladder if values[spec] >= goal - MARGIN), None)
        spec, note = (reached, "") if reached else (ladder[-1], "not as good")
        rows.append((spec, values[spec], seconds(explained, texts, spec) / own, note))
    rows.append(("random", values["random"], 0.0, "control"))
    return [
        f"`python benchmarks/learned.py --data {Path(folder).name}`: the model {explained.title}, {JUDGED} test texts; "
        f"an explainer fitted with the defaults on {FITTED} training texts. Of each method, the cheapest of its "
        f"settings that is at most {MARGIN} worse than pAML; where none is, the largest.",
        "",
        "| method | comprehensiveness | time / pAML | |",
        "|---|---|---|---|",
        *(f"| `{name}` | {value:.3f} | {ratio:.1f} | {note} |" for name, value, ratio, note in rows),
    ]


def seconds(explained: Model, texts: object, method: object) -> float:
    """The best processor time of two explanations of all texts."""
    times = []
    for _ in range(2):
        start = time.process_time()
        assay.explain(explained, texts, method, progress=False)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
