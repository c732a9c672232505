"""What teaching costs: a student's step against a bare one with the same losses, a step of the heads, and memory.

    python benchmarks/scaffold.py [--runs 5] [--steps 40] [--write scaffold.md]

A random BERT of 2 blocks x 128 (4 heads), 32 texts of 32 tokens; times do not depend on the weights. All sides take
turns within a run; ratios are of the best processor times, since on a shared machine only the best is free of the
neighbours. The bare step is written with transformers and torch alone: hooks on the query and key layers, the mean of
the queries times the keys, cross entropy, KL, backward, clip, SGD. The literal step of the heads builds every map of
positions by positions and differentiates twice through the student's update.
"""

from __future__ import annotations

import argparse
import gc
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from learned import model as fast_model
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForSequenceClassification

import assay
from assay.models import attention_hooks
from assay.models.attention_hooks import Products
from assay.models.encoding import Batch
from assay.models.head_logits import HeadLogits
from assay.models.head_weights import explanation, normalise
from assay.models.load import load_model
from assay.models.model import Model
from assay.training.bilevel import Bilevel, Exam, Lesson, Update
from assay.training.encoded import encode_dataset
from assay.training.loop import fit
from assay.training.recipe import Recipe
from assay.training.teaching import Student, TeachingLoss, divergence

TEXTS, WORDS, LONG, STEPS, BETA = 32, 30, 126, 4, 5.0
RATE, CLIP, DECAY = 0.05, 5.0, 0.01
RECIPE = Recipe(
    epochs=STEPS, batch_size=TEXTS, learning_rate=RATE, optimiser="sgd", weight_decay=DECAY, groups=(),
    schedule="constant", warmup=0, clip=CLIP, validate_every=1e6,
)  # fmt: skip


def small_model() -> Model:
    torch.manual_seed(0)
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512}
    hf = BertForSequenceClassification(BertConfig(vocab_size=1005, num_labels=2, **sizes))
    return load_model((hf.eval(), fast_model().tokenizer))


class LiteralStudent(Student):
    """The same explanation from whole maps of positions by positions."""

    def explained(self, batch: Batch) -> tuple[Tensor, Tensor]:
        reader = WholeMaps(batch.mask)
        with attention_hooks.reading(self.model.hf, self.model.family, reader):
            outputs = self(batch)
        return outputs, explanation(reader.heads, normalise(self.phi, self.normaliser), batch.mask)


class WholeMaps(HeadLogits):
    def products(self, layer: int, products: Products) -> None:
        maps = products.scaling * products.query @ products.key.transpose(2, 3)  # (B,H,T,T)
        used = self.real.to(maps.dtype)[:, None, :, None]
        self.layers.append((maps * used).sum(2) / used.sum(2))


def sides(model: Model, words: int = WORDS) -> dict[str, Callable[[], Any]]:
    rows = [{"text": " ".join(f"w{(7 * i + k) % 1000}" for k in range(words)), "label": i % 2} for i in range(TEXTS)]
    data = encode_dataset(model, assay.load_dataset(rows), progress=False)
    item = data.batch(range(TEXTS))
    length = item.batch.mask.shape[1]
    taught = torch.full((TEXTS, length), 1 / length)
    shares = {e.content: taught[0].numpy() for e in item.examples}
    student, literal = Student(model).requires_grad_(True), LiteralStudent(model).requires_grad_(True)
    phi = torch.full((8,), 1 / 8)
    heads = torch.randn(TEXTS, 8, length)
    lesson = Lesson(item.batch, item.gold, lambda p: explanation(heads, normalise(p, "sparsemax"), item.batch.mask))
    exam = Exam(item.batch, item.gold)

    def ours() -> None:
        fit(student, data.data, TeachingLoss(shares, BETA), None, RECIPE, progress=False)

    def meta() -> None:
        for _ in range(STEPS):
            Bilevel(student.train(), Update(RATE, CLIP, DECAY), BETA).unrolled(phi, [lesson], exam)

    def literal_meta() -> None:
        for _ in range(STEPS):
            Bilevel(literal.train(), Update(RATE, CLIP, DECAY), BETA).unrolled(phi, [lesson], exam)

    bare = bare_steps(model, item, taught)
    return {"student": ours, "bare": bare, "meta": meta, "literal": literal_meta}


def bare_steps(model: Model, item: Any, taught: Tensor) -> Callable[[], None]:
    """Steps without Assay's loop, losses or hooks; the collating of the batch is part of a step, as it is in ours."""
    hf = model.hf.train().requires_grad_(True)
    phi = torch.full((8,), 1 / 8, requires_grad=True)
    parameters = [*hf.parameters(), phi]
    optimiser = torch.optim.SGD(parameters, lr=RATE, weight_decay=DECAY, fused=True)
    found: dict[str, Tensor] = {}
    for name, module in hf.named_modules():
        if name.endswith(("self.query", "self.key")):
            module.register_forward_hook(lambda m, a, out, name=name: found.__setitem__(name, out))
    encodings = [model.encode(e) for e in item.examples]

    def heads(mask: Tensor) -> Tensor:
        out = []
        for i in range(2):
            names = (f"bert.encoder.layer.{i}.attention.self.{name}" for name in ("query", "key"))
            query, key = (found[name].unflatten(-1, (4, 32)) for name in names)
            mean = (query * mask[..., None, None]).sum(1) / mask.sum(1)[:, None, None]  # (B,H,d)
            out.append(torch.einsum("bhd,bthd->bht", mean, key) / 32**0.5)
        return torch.cat(out, 1)

    def steps() -> None:
        for _ in range(STEPS):
            batch = model.batch(encodings)
            optimiser.zero_grad(set_to_none=True)
            logits = hf(input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.types).logits
            own = (normalise(phi, "sparsemax")[None, :, None] * heads(batch.mask.float())).sum(1).softmax(-1)
            loss = cross_entropy(logits, item.gold) + BETA * divergence(taught, own)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, CLIP)
            optimiser.step()

    return steps


def best_times(runs: int, words: int) -> dict[str, float]:
    """Best processor seconds of a step; each side has a model of its own, without the hooks of the others."""
    prepared = {name: sides(small_model(), words)[name] for name in ("student", "bare", "meta", "literal")}
    times: dict[str, list[float]] = {name: [] for name in prepared}
    for run in range(runs + 1):
        for name, side in prepared.items():
            began = time.process_time()
            side()
            if run:  # the first warms up
                times[name].append((time.process_time() - began) / STEPS)
    return {name: min(found) for name, found in times.items()}


def ratios(best: dict[str, float], tokens: int) -> list[tuple[str, str, str]]:
    step, texts = best["student"], f"{tokens} tokens: "
    return [
        (f"{texts}student's step / bare step with the same losses", f"{step / best['bare']:.2f}", "at most 1.2"),
        (f"{texts}step of the heads / student's step", f"{best['meta'] / step:.2f}", ""),
        (f"{texts}literal, with whole maps / student's step", f"{best['literal'] / step:.2f}", ""),
    ]


def growth(steps: int) -> float:
    """MiB of resident memory that steps of student and heads add after a quarter of them."""
    made = sides(small_model())
    seen = []
    for step in range(max(4, steps // STEPS)):
        made["student"]()
        made["meta"]()
        gc.collect()
        if step >= steps // STEPS // 4:
            seen.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20)
    return seen[-1] - seen[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="over which memory is watched")
    parser.add_argument("--write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows = [row for words in (WORDS, LONG) for row in ratios(best_times(options.runs, words), words + 2)]
    rows.append((f"growth of memory over {options.steps} steps", f"{growth(options.steps):.1f} MiB", "flat"))
    lines = [
        f"`python benchmarks/scaffold.py`: a random BERT of 2 layers x 128, {TEXTS} texts; 1 thread, best times "
        f"of {options.runs} interleaved runs.",
        "",
        "| what | found | goal |",
        "|---|---|---|",
        *(f"| {name} | {value} | {goal} |" for name, value, goal in rows),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
