"""How much slower is an epoch of the training loop than a bare PyTorch loop? The BiLSTM of ROAR on SST, one thread.

    python benchmarks/roar_training.py [--data ~/.cache/assay-roar/data/sst] [--vectors FOLDER] [--examples 1920]

The bare loops get ready tensors of the same batches, and know of no checkpoint, seed, mask or label name. "bare" is the
architecture as it is here, in plain modules; "packed" has torch's bidirectional LSTM over packed rows, as is usual.
Processor time, median of the rounds, which take turns so that a busy machine slows all alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from assay.datasets.load import load_dataset
from assay.models.bilstm import Encoder
from assay.training.batching import epoch_batches
from assay.training.bilstm import SINGLE_RECIPE
from assay.training.classifier import Trainable, initial_model, task_loss
from assay.training.encoded import EncodedDataset, encode_dataset
from assay.training.loop import fit
from assay.training.recipe import Recipe

SPECIAL = (1, 2)  # [CLS] and [EOS]
Ready = list[tuple[Tensor, Tensor, Tensor]]  # ids, lengths, gold


class Packed(nn.Module):
    """torch's own bidirectional LSTM."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)

    def forward(self, rows: Tensor, lengths: Tensor) -> tuple[Tensor, None]:
        out, _ = self.lstm(pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False))
        return pad_packed_sequence(out, batch_first=True, total_length=rows.shape[1])[0], None


class Bare(nn.Module):
    """Section 4.1 of the paper's appendix in a few lines."""

    def __init__(self, table: Tensor, hidden: int, encoder: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(table.clone(), freeze=False, padding_idx=0)
        self.encoder = encoder(table.shape[1], hidden)
        self.key, self.score = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 1, bias=False)
        self.decoder = nn.Linear(2 * hidden, 2)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        states, _ = self.encoder(self.words(ids), lengths)
        scores = self.score(self.key(states).tanh()).squeeze(-1)
        closed = (ids == 0) | (ids == SPECIAL[0]) | (ids == SPECIAL[1])
        alpha = scores.masked_fill(closed, -torch.inf).softmax(-1)
        return self.decoder((alpha.unsqueeze(1) @ states).squeeze(1))


def bare_epoch(model: Bare, ready: Ready) -> None:
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=True, weight_decay=1e-5, fused=True)
    for ids, lengths, gold in ready:
        optimiser.zero_grad()
        cross_entropy(model(ids, lengths), gold).backward()
        optimiser.step()


def our_epoch(module: Trainable, data: EncodedDataset, recipe: Recipe) -> None:
    fit(module, data.data, task_loss, None, recipe, key="benchmark", progress=False)


def seconds(run: Callable[[], None]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="~/.cache/assay-roar/data/sst")
    parser.add_argument("--vectors", default="~/.cache/assay-models/hf/granite-embedding-30m-english")
    parser.add_argument("--examples", type=int, default=1920)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    train = load_dataset(given.data, split="train")
    model = initial_model(f"bilstm_attention(cut=spaces, embeddings='{given.vectors}')", train, train[:10])
    data = encode_dataset(model, train[: given.examples], progress=False)
    recipe = Recipe.from_spec(SINGLE_RECIPE.replace("epochs=8", "epochs=1"))
    batches = epoch_batches(len(data.gold), recipe.batch_size, "benchmark 0", 0, data.data.lengths)
    items = [data.batch(batch) for batch in batches]
    ready = [(item.batch.ids, (item.batch.ids != 0).sum(1), item.gold) for item in items]
    table = model.hf.words.weight.detach()
    bare, packed = Bare(table, 128, Encoder), Bare(table, 128, Packed)
    module = Trainable(model).requires_grad_(True)
    loops = {
        "ours": lambda: our_epoch(module, data, recipe),
        "bare": lambda: bare_epoch(bare, ready),
        "packed": lambda: bare_epoch(packed, ready),
    }
    took: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(given.rounds + 1):
        for name, loop in loops.items():
            took[name].append(seconds(loop))
    found = {name: median(times[1:]) for name, times in took.items()}  # the first round warms up
    for name, value in found.items():
        print(f"{name}: {value:.2f} s for {len(batches)} batches")
    print(f"ours / bare {found['ours'] / found['bare']:.2f}, ours / packed {found['ours'] / found['packed']:.2f}")


if __name__ == "__main__":
    main()
