"""Train the sentiment classifier that ships inside the package (src/assay/models/builtin).

A MiniLM encoder is fine-tuned on the SST-2 training phrases (the teacher); a two-layer BERT with a pruned WordPiece
vocabulary (the student) learns from the teacher's logits and the gold labels and is stored in float16.

    python scripts/train_builtin.py

The folders are options (see --help). The teacher and its logits are kept in --cache and used again by the next run;
delete that folder to start from nothing. Dev and test sentences are never trained on: the student's checkpoint is
chosen on a slice of the training set, cut by sentence so that no long phrase of it is trained on.
"""

import argparse
import copy
import gzip
import json
import random
import re
import shutil
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy, mse_loss
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, BertTokenizer

REPOSITORY = Path(__file__).resolve().parents[1]
START = time.monotonic()
LABELS = ["negative", "positive"]
NO_GOLD = -100
DETACHED = [  # Penn Treebank tokens that ordinary text writes together with their neighbours
    (r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1"),
    (r" ([,.;:!?%])", r"\1"),
    (r"-lrb- ?", "("),
    (r" ?-rrb-", ")"),
    (r"`` ?| ''", '"'),
]
CARD = """# Built-in sentiment classifier

A small English sentiment classifier (negative / positive), shipped with the package so that everything can be tried
without a download. Written by `scripts/train_builtin.py`, which also wrote this card.

| | |
|---|---|
| architecture | BERT, {layers} layers x {hidden}, {heads} attention heads, BertForSequenceClassification |
| vocabulary | {vocabulary:,} of the {original:,} pieces of the uncased BERT WordPiece vocabulary |
| parameters | {parameters:,} |
| model.safetensors | {size:,} bytes, float16 (loads as float32) |
| accuracy, SST-2 dev ({n_dev:,} sentences) | {dev:.1%} (teacher {teacher_dev:.1%}) |
| accuracy, SST-2 test ({n_test:,} sentences) | {test:.1%} (teacher {teacher_test:.1%}) |

The accuracies are those of the stored float16 weights, loaded again from this folder.

## Data

The training phrases of SST-2 (Stanford Sentiment Treebank, Socher et al. 2013, GLUE split): {n_train:,} phrases, after
removing those equal to a dev or test sentence and {n_held:,} held out to choose the checkpoint. No other text was used.

## Recipe

- Teacher: all-MiniLM-L6-v2 with a classification head, {teacher_epochs} epochs, AdamW, learning rate {teacher_lr:g},
  batches of {teacher_batch}, linear warm-up and decay; half of the phrases in ordinary spelling ("don't" for "do n't").
- Student: started from a BERT-tiny encoder trained for toxicity (int8 weights, dequantised), vocabulary pruned to the
  special tokens, the single characters, the pieces of the training phrases and the first of the other pieces.
- Distillation: mean squared error on the teacher's logits plus {gold_weight:g} x cross entropy on the gold labels,
  {epochs} epochs, learning rate {lr:g}, batches of {batch}; the best epoch on the held-out slice was {best_epoch}.
- Each phrase is seen as it is, with a random share of its words replaced by [MASK] (so masked input is ordinary input
  for this model) and with some words exchanged for random pieces; the teacher labels all three. From the logits of a
  masked phrase, the teacher's logits of a wholly masked one are subtracted in proportion to the masked share, so that
  [MASK] speaks for neither label: ten of them get a probability of {blank:.2f} for positive.

## Limits

It knows movie-review English best and is small: irony, long texts (the training phrases have at most {longest} pieces)
and other languages are beyond it. The labels have no neutral class, so a text without an opinion still gets one.
"""


def parse_args():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, default=Path("../shared/data/sst2"), help="folder of {train,dev,test}.jsonl.gz")
    add("--models", type=Path, default=Path("~/.cache/assay-models/hf"), help="has minilm, bert-tiny-toxicity")
    add("--cache", type=Path, default=Path("~/.cache/assay-teacher"), help="for the teacher and its logits")
    add("--out", type=Path, default=REPOSITORY / "src/assay/models/builtin", help="folder of the finished model")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    add("--threads", type=int, default=2)
    add("--seed", type=int, default=0)
    add("--teacher-epochs", type=int, default=2)
    add("--teacher-lr", type=float, default=5e-5)
    add("--teacher-batch", type=int, default=32)
    add("--epochs", type=int, default=8)
    add("--lr", type=float, default=5e-4)
    add("--batch", type=int, default=64)
    add("--gold-weight", type=float, default=0.5)
    add("--vocabulary", type=int, default=22000, help="pieces kept; 22,000 make a file of 6.6 MB")
    add("--held-out", type=float, default=0.02, help="share of the training phrases that chooses the checkpoint")
    args = parser.parse_args()
    args.data, args.models, args.cache = (path.expanduser() for path in (args.data, args.models, args.cache))
    return args


def log(message):
    """Print with the seconds since the start of the run."""
    print(f"[{time.monotonic() - START:6.0f} s] {message}", flush=True)


# ----------------------------------------------------------------------------------------------------------------- data


def read_split(folder, name):
    """Texts and label indices of one SST-2 file."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"].strip() for row in rows], [LABELS.index(row["label"]) for row in rows]


def take(split, keep):
    """The rows of a (texts, labels) pair whose text satisfies `keep`."""
    rows = [(text, label) for text, label in zip(*split, strict=True) if keep(text)]
    return [text for text, _ in rows], [label for _, label in rows]


def hold_out(split, share, rng):
    """Cut (training, held-out) by sentence: whole sentences and every phrase of three or more words inside them."""
    texts = split[0]
    sentences = [text for text in texts if text.endswith(" .") and text.count(" ") >= 8]
    phrases = [text for text in set(texts) if text.count(" ") >= 2]
    held = set()
    for sentence in rng.sample(sentences, len(sentences)):
        if len(held) >= share * len(texts):
            break
        held.update(phrase for phrase in phrases if phrase in sentence or sentence in phrase)
    return take(split, lambda text: text not in held), take(split, lambda text: text in held)


def ordinary(text):
    """The text as it is usually written, without the Treebank's spaces."""
    for pattern, replacement in DETACHED:
        text = re.sub(pattern, replacement, text)
    return text


def load_data(args):
    """The splits of SST-2: training and held-out (both from train, free of dev and test sentences), dev and test."""
    dev, test = read_split(args.data, "dev"), read_split(args.data, "test")
    unseen = {*dev[0], *test[0]}
    train = take(read_split(args.data, "train"), lambda text: text not in unseen)
    train, held = hold_out(train, args.held_out, random.Random(args.seed))
    log(f"training phrases {len(train[0])}, held out {len(held[0])}, dev {len(dev[0])}, test {len(test[0])}")
    return {"train": train, "held": held, "dev": dev, "test": test}


# ---------------------------------------------------------------------------------------------------- training, scoring


def length_batches(ids, size, rng):
    """Index batches of about equal length, in random order."""
    order = np.argsort([len(row) + rng.random() for row in ids])
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    rng.shuffle(batches)
    return batches


def forward(model, rows):
    """Logits of a list of id lists (the id of the padding is 0)."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=model.device)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=model.device)
    return model(input_ids=ids, attention_mask=mask).logits


@torch.no_grad()
def predict(model, ids, size=128):
    """Logits of all rows, in their order, on the CPU."""
    model.eval()
    logits = torch.empty(len(ids), len(LABELS))
    for batch in length_batches(ids, size, random.Random(0)):
        logits[torch.from_numpy(batch)] = forward(model, [ids[i] for i in batch]).float().cpu()
    return logits


def accuracy(model, tokenizer, split):
    """Share of right labels over a (texts, labels) pair."""
    logits = predict(model, tokenizer(split[0], truncation=True)["input_ids"])
    return (logits.argmax(-1) == torch.tensor(split[1])).float().mean().item()


def optimiser(model, lr, steps):
    """AdamW without decay on embeddings, biases and norms; linear warm-up over 6 % of the steps, then linear decay."""
    decayed = [p for n, p in model.named_parameters() if p.ndim == 2 and "embeddings" not in n]
    free = [p for n, p in model.named_parameters() if p.ndim != 2 or "embeddings" in n]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": free, "weight_decay": 0.0}]
    adam = torch.optim.AdamW(groups, lr=lr, fused=True)
    warm = max(1, int(0.06 * steps))
    return adam, torch.optim.lr_scheduler.LambdaLR(adam, lambda i: min((i + 1) / warm, (steps - i) / (steps - warm)))


def fit(model, ids_of_epoch, loss_of, epochs, lr, size, seed):
    """Train; `loss_of(logits, batch)` gives a batch's loss. Yields the epoch's number after each epoch."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    adam, schedule = optimiser(model, lr, epochs * -(-len(ids_of_epoch(1)) // size))
    for epoch in range(1, epochs + 1):
        model.train()
        ids, total = ids_of_epoch(epoch), 0.0
        batches = length_batches(ids, size, rng)
        for step, batch in enumerate(batches, 1):
            loss = loss_of(forward(model, [ids[i] for i in batch]), torch.from_numpy(batch))
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            schedule.step()
            total += loss.item()
            if step % 500 == 0:
                log(f"  epoch {epoch} step {step}/{len(batches)} mean loss {total / step:.4f}")
        yield epoch


# -------------------------------------------------------------------------------------------------------------- teacher


def load_classifier(folder, **overrides):
    """The encoder in `folder` as a classifier with our labels, in float32."""
    names = dict(enumerate(LABELS))
    config = AutoConfig.from_pretrained(folder)
    config.update({"id2label": names, "label2id": {name: i for i, name in names.items()}, **overrides})
    config.dtype = "float32"
    return AutoModelForSequenceClassification.from_pretrained(folder, config=config, dtype=torch.float32)


def train_teacher(args, data):
    """Fine-tune the teacher into the cache, unless it is there."""
    folder = args.cache / "minilm-sst2"
    if (folder / "model.safetensors").exists() and (folder / "tokenizer.json").exists():
        log(f"teacher found in {folder}")
        return folder
    torch.manual_seed(args.seed)
    tokenizer = AutoTokenizer.from_pretrained(args.models / "minilm")
    model = load_classifier(args.models / "minilm").to(args.device)
    texts, labels = data["train"]
    plain, written = tokenizer(texts)["input_ids"], tokenizer([ordinary(text) for text in texts])["input_ids"]
    gold = torch.tensor(labels)

    def ids_of_epoch(epoch):
        return [(plain, written)[(i + epoch) % 2][i] for i in range(len(texts))]

    def loss_of(logits, batch):
        return cross_entropy(logits, gold[batch].to(logits.device))

    for epoch in fit(model, ids_of_epoch, loss_of, args.teacher_epochs, args.teacher_lr, args.teacher_batch, args.seed):
        log(f"teacher epoch {epoch}: held-out accuracy {accuracy(model, tokenizer, data['held']):.4f}")
    partial = folder.with_name(folder.name + ".partial")
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return folder


# ------------------------------------------------------------------------------------------------- student's vocabulary


def kept_pieces(tokenizer, texts, size):
    """The original ids to keep, ascending: special, single characters, used in `texts`, then the first of the rest."""
    used = {i for row in tokenizer(texts + [ordinary(text) for text in texts])["input_ids"] for i in row}
    single = {i for piece, i in tokenizer.get_vocab().items() if len(piece.removeprefix("##")) == 1}
    keep = used | single | set(tokenizer.all_special_ids)
    rest = [i for piece, i in tokenizer.get_vocab().items() if i not in keep and not piece.startswith("[unused")]
    log(f"vocabulary: {len(used)} pieces used in training, {len(keep)} needed, {size} kept")
    return sorted(keep | set(sorted(rest)[: max(0, size - len(keep))]))


def pruned_tokenizer(tokenizer, keep):
    """A BERT tokenizer over the kept pieces."""
    pieces = tokenizer.convert_ids_to_tokens(keep)
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=512)


def build_student(args, keep):
    """BERT-tiny with a new head and only the kept rows of the embeddings."""
    torch.manual_seed(args.seed)
    model = load_classifier(args.models / "bert-tiny-toxicity")
    torch.nn.init.normal_(model.classifier.weight, std=0.02)
    rows = model.get_input_embeddings().weight.data[keep].clone()
    model.resize_token_embeddings(len(keep))
    model.get_input_embeddings().weight.data.copy_(rows)
    return model.to(args.device)


# --------------------------------------------------------------------------------------------------------- distillation


def changed(encoding, replacement, rng):
    """The ids of an encoding with a random share of its words replaced, piece by piece, by `replacement(id)`."""
    words = {word for word in encoding.word_ids if word is not None}
    share = rng.uniform(0.1, 0.7)
    chosen = {word for word in words if rng.random() < share} or {rng.choice(sorted(words))}
    pairs = zip(encoding.ids, encoding.word_ids, strict=True)
    return [replacement() if word in chosen else i for i, word in pairs]


def distillation_rows(tokenizer, split, keep, rng):
    """(ids, gold) of three versions of each phrase: as it is, masked, and with words exchanged (those without gold)."""
    texts = [text if rng.random() < 0.5 else ordinary(text) for text in split[0]]
    encodings = tokenizer(texts).encodings
    words = [i for i in keep if (piece := tokenizer.convert_ids_to_tokens(i)).isalpha() and len(piece) > 2]
    rows = [encoding.ids for encoding in encodings]
    rows += [changed(encoding, lambda: tokenizer.mask_token_id, rng) for encoding in encodings]
    rows += [changed(encoding, lambda: rng.choice(words), rng) for encoding in encodings]
    return rows, split[1] + [NO_GOLD] * (2 * len(texts))


def without_bias(logits, rows, teacher, tokenizer):
    """Subtract the logits of a wholly masked text of the same length, times the masked share of each row.

    The teacher calls a text of [MASK] tokens clearly positive; to the student it should say nothing.
    """
    cls, mask, sep = tokenizer.cls_token_id, tokenizer.mask_token_id, tokenizer.sep_token_id
    blank = predict(teacher, [[cls] + [mask] * n + [sep] for n in range(max(map(len, rows)) - 1)])
    lengths = torch.tensor([len(row) - 2 for row in rows])
    masked = torch.tensor([row.count(mask) for row in rows])
    return logits - (masked / lengths).unsqueeze(-1) * blank[lengths]


def teacher_rows(args, teacher, tokenizer, split, keep):
    """The distillation rows, their gold labels and targets (the teacher's logits are cached)."""
    rows, gold = distillation_rows(tokenizer, split, keep, random.Random(args.seed))
    path = args.cache / f"logits-{len(keep)}-{len(rows)}-{args.seed}.npy"
    if not path.exists():
        log(f"teacher logits of {len(rows)} phrases")
        np.save(path, predict(teacher, rows).numpy())
    targets = without_bias(torch.from_numpy(np.load(path)), rows, teacher, tokenizer)
    return rows, torch.tensor(gold), targets


def train_student(args, student, tokenizer, data, rows, gold, targets):
    """Distil; returns the student at its best held-out epoch (the last of equals), and that epoch."""

    def loss_of(output, batch):
        target, labels = targets[batch].to(output.device), gold[batch].to(output.device)
        hard = cross_entropy(output, labels, ignore_index=NO_GOLD, reduction="sum") / len(batch)
        return mse_loss(output, target) + args.gold_weight * hard

    best = (0.0, 0, None)
    for epoch in fit(student, lambda _: rows, loss_of, args.epochs, args.lr, args.batch, args.seed):
        score = accuracy(student, tokenizer, data["held"])
        log(f"student epoch {epoch}: held-out accuracy {score:.4f}")
        if score >= best[0]:
            best = (score, epoch, copy.deepcopy(student.state_dict()))
    student.load_state_dict(best[2])
    return student, best[1]


# --------------------------------------------------------------------------------------------------------------- output


def write_model(student, tokenizer, folder):
    """Store weights in float16 (to be loaded as float32) and the tokenizer, and load both again."""
    shutil.rmtree(folder, ignore_errors=True)
    student.cpu().half().save_pretrained(folder)
    tokenizer.backend_tokenizer.no_truncation()  # the setting of the last call would be stored
    tokenizer.save_pretrained(folder)
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    config = json.loads((folder / "config.json").read_text())
    config.pop("_name_or_path", None)
    config["dtype"] = "float32"
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "model.safetensors").chmod(0o644)
    return AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def write_card(args, model, facts):
    """The model card, with every number taken from this run."""
    config = model.config
    numbers = {
        "layers": config.num_hidden_layers,
        "hidden": config.hidden_size,
        "heads": config.num_attention_heads,
        "vocabulary": config.vocab_size,
        "parameters": sum(p.numel() for p in model.parameters()),
        "size": (args.out / "model.safetensors").stat().st_size,
    }
    (args.out / "README.md").write_text(CARD.format(**{**vars(args), **numbers, **facts}))
    log(f"parameters {numbers['parameters']}, model.safetensors {numbers['size']} bytes, loaded as {model.dtype}")


def main():
    """Teacher, student, files."""
    args = parse_args()
    torch.set_num_threads(args.threads)
    args.cache.mkdir(parents=True, exist_ok=True)
    data = load_data(args)
    folder = train_teacher(args, data)
    teacher = AutoModelForSequenceClassification.from_pretrained(folder).to(args.device)
    original = AutoTokenizer.from_pretrained(folder)
    facts = {f"teacher_{name}": accuracy(teacher, original, data[name]) for name in ("dev", "test")}
    log(f"teacher accuracy: dev {facts['teacher_dev']:.4f}, test {facts['teacher_test']:.4f}")

    keep = kept_pieces(original, data["train"][0], args.vocabulary)
    tokenizer = pruned_tokenizer(original, keep)
    rows, gold, targets = teacher_rows(args, teacher, original, data["train"], keep)
    new_id = {old: new for new, old in enumerate(keep)}
    rows = [[new_id[i] for i in row] for row in rows]
    student, facts["best_epoch"] = train_student(args, build_student(args, keep), tokenizer, data, rows, gold, targets)

    model, tokenizer = write_model(student, tokenizer, args.out)
    facts |= {name: accuracy(model, tokenizer, data[name]) for name in ("dev", "test")}
    facts |= {f"n_{name}": len(split[0]) for name, split in data.items()}
    blank = predict(model, tokenizer([" ".join([tokenizer.mask_token] * 10)])["input_ids"])
    facts["blank"] = blank.softmax(-1)[0, 1].item()
    write_card(args, model, {**facts, "original": len(original), "longest": max(map(len, rows))})
    log("built-in, reloaded: dev {dev:.4f}, test {test:.4f}, ten masks {blank:.4f} positive".format(**facts))


if __name__ == "__main__":
    main()
