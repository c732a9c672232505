"""Where do learnt heads teach more than equal ones? Planted heads look at the word that decides, the others at noise.

    python -m reproductions.smat.planted

Adds what is missing to planted.json. Students are small BERTs without training, and one word of a text, of twenty,
decides its class. The logits of the teacher's heads are made up, so what is true is known. Every seed has texts of its
own to learn from, for the outer loss, to stop early, and for the test. Sizes and rates were chosen on seeds from 100.
There were 8 seeds at first; 8 more were added after these were seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification

import assay
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.evaluation import PERFORMANCE
from assay.fitting.methods.scaffold import ScaffoldFit
from assay.fitting.run import FitRun
from assay.fitting.scaffold import search_heads
from assay.models.head_weights import Normaliser, normalise
from assay.models.model import Model
from assay.studies.simulate.tasks import examined
from assay.training.classifier import fine_tune
from assay.training.encoded import encode_dataset
from assay.training.students import untrained
from assay.training.teaching import Student, TeachingLoss

from .evidence import NONE
from .published import OWN, SMAT

PLANTED = "planted.json"
EQUAL, SHUFFLED = "equal heads", f"shuffled {SMAT}"
CUES, LENGTH, LOUDNESS = 20, 14, 6.0  # words that decide; words of a text; a cue's logit above noise of deviation 1
SEEDS, OUTER, STOPPING, TEST = 16, 100, 100, 500
SETTINGS = ScaffoldFit(batch_size=16, learning_rate=0.1, weight_decay=0.0, epochs=40, meta_rate=0.005, patience=None)


@dataclass(frozen=True)
class Setting:
    """How many heads look at the word that decides, texts of a student, weight of the explanation, normaliser."""

    knowing: int = 1
    heads: int = 8
    texts: int = 128
    beta: float = 5.0
    normaliser: Normaliser = "sparsemax"


BASE = Setting()
VARIED = [
    BASE,
    replace(BASE, heads=24),
    replace(BASE, knowing=8),
    replace(BASE, texts=64),
    replace(BASE, beta=0.2),
    replace(BASE, normaliser="softmax"),
    replace(BASE, normaliser="entmax15"),
]


def small_model() -> Model:
    """The architecture of the students: one layer, wide enough to learn a word in a few dozen steps."""
    tokenizer = assay.load_model("builtin").tokenizer
    names = {0: "negative", 1: "positive"}
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
        id2label=names,
        label2id={label: i for i, label in names.items()},
    )
    return assay.load_model(BertForSequenceClassification(config), tokenizer)


def words(model: Model) -> tuple[list[str], list[str]]:
    """Words of one token of the built-in data: those that decide (for class 0, 1, 0, ...), and the others."""
    found = sorted({word for e in assay.load_dataset("builtin") for word in e.text.lower().split() if word.isalpha()})
    found = [word for word in found if len(model.tokenizer.tokenize(word)) == 1]
    cues = list(np.random.default_rng(0).permutation(found)[:CUES])
    return cues, [word for word in found if word not in cues]


def texts(n: int, cues: list[str], filler: list[str], rng: np.random.Generator) -> Dataset:
    """Words at random, one of which decides the class."""
    examples = []
    for _ in range(n):
        cue, chosen = int(rng.integers(CUES)), list(rng.choice(filler, LENGTH))
        chosen[rng.integers(LENGTH)] = cues[cue]
        examples.append(Example(text=" ".join(chosen), label=cue % 2))
    return Dataset(tuple(examples), labels=("negative", "positive"))


def planted_heads(
    model: Model, data: Dataset, cues: list[str], setting: Setting, rng: np.random.Generator
) -> dict[str, Tensor]:
    """(H,T) logits of the teacher's heads: noise, and for the first of them more on the word that decides."""
    out = {}
    for example in data:
        encoding = model.encode(example)
        logits = rng.normal(0, 1, (setting.heads, len(encoding))).astype(np.float32)
        cue = [t for t, s in enumerate(encoding.spans) if example.text[s.start : s.end] in cues]
        logits[: setting.knowing, cue] += LOUDNESS
        out[example.content] = torch.from_numpy(logits)
    return out


def students(setting: Setting, seed: int, model: Model) -> dict[str, float]:
    """The share of test texts that each student gets right, and the weight of the heads that know."""
    rng, (cues, filler) = np.random.default_rng(seed), words(model)
    learnt, outer, stopping, test = (texts(n, cues, filler, rng) for n in (setting.texts, OUTER, STOPPING, TEST))
    heads = planted_heads(model, learnt, cues, setting, rng)
    settings = replace(SETTINGS, beta=setting.beta, normaliser=setting.normaliser, seed=seed)

    student = untrained(model, seed)
    lessons, exams, held_out = (encode_dataset(student, data, progress=False) for data in (learnt, outer, stopping))
    search, _ = search_heads(student, heads, lessons, exams, held_out, settings, FitRun(progress=False))
    own, weights = examined(student, test)["score"], normalise(search.phi, settings.normaliser)

    def taught(logits: dict[str, Tensor], beta: float = setting.beta) -> float:
        fresh = untrained(model, seed)
        shares = {text: row.softmax(0).numpy() for text, row in logits.items()}
        fine_tune(
            fresh,
            learnt,
            stopping,
            settings.recipe("accuracy"),
            metrics={"accuracy": PERFORMANCE.make("accuracy")},
            loss=TeachingLoss(shares, beta),
            wrap=partial(Student, normaliser=settings.normaliser),
            progress=False,
        )
        return float(examined(fresh, test)["score"])

    equal = {text: logits.mean(0) for text, logits in heads.items()}
    frozen = {text: weights @ logits for text, logits in heads.items()}
    shuffled = {text: logits[torch.from_numpy(rng.permutation(len(logits)))] for text, logits in frozen.items()}
    return {
        NONE: taught(equal, beta=0.0),
        EQUAL: taught(equal),
        OWN: own,
        SMAT: taught(frozen),
        SHUFFLED: taught(shuffled),
        "weight": float(weights[: setting.knowing].sum()),
    }


def missing(done: list[dict[str, object]]) -> Iterator[tuple[Setting, int]]:
    known = {(Setting(**row["setting"]), row["seed"]) for row in done}  # type: ignore[arg-type]
    every = ((setting, seed) for seed in range(SEEDS) for setting in VARIED)
    return (one for one in every if one not in known)


def main() -> None:
    torch.set_num_threads(1)
    path = Path(__file__).parent / PLANTED
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    model = small_model()
    for setting, seed in missing(rows):
        rows.append({"setting": asdict(setting), "seed": seed, **students(setting, seed, model)})
        path.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")
        print(rows[-1])


if __name__ == "__main__":
    main()
