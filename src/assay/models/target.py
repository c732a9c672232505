"""From class outputs to the value being explained: one class, or a difference of two, on a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from assay.core.errors import InputError, TargetError, nearest
from assay.core.types import SCALES, Scale, Target


def scaled(logits: Tensor, scale: Scale, *, independent: bool = False) -> Tensor:
    """Class outputs (B,C) on a scale. `independent`: multi-label, a sigmoid per class instead of a softmax."""
    if scale in ("logit", "raw"):
        return logits
    log_p = logsigmoid(logits) if independent else logits.log_softmax(-1)
    if scale == "log_probability":
        return log_p
    if scale == "probability":
        return log_p.exp()
    if independent:
        return logits  # log p / (1 - p) of a sigmoid
    # log odds of class c = z_c - logsumexp of the others; exact even where p rounds to 1
    others = logits.unsqueeze(-2).expand(*logits.shape, logits.shape[-1])
    own = torch.eye(logits.shape[-1], dtype=torch.bool, device=logits.device)
    return logits - others.masked_fill(own, -torch.inf).logsumexp(-1)


@dataclass(frozen=True)
class Targets:
    """What is explained for each input of a batch.

    A label of None means the predicted class. It is known once `resolve` is given the logits of the whole inputs, so a
    method that runs the whole inputs anyway needs no extra forward pass.
    """

    requested: tuple[Target, ...]
    scale: Scale  # for targets without a scale of their own
    independent: bool = False  # multi-label: a sigmoid per class
    full: Tensor | None = None  # (B,C) logits of the whole inputs, once resolved; without a graph

    def __len__(self) -> int:
        return len(self.requested)

    def resolve(self, logits: Tensor) -> Targets:
        """Targets whose predicted classes are those of `logits` (B,C) of the whole inputs; resolved ones stay."""
        if self.full is not None:
            return self
        known = replace(self, full=logits.detach())
        for i, (target, label) in enumerate(zip(self.requested, known.labels.tolist(), strict=True)):
            if target.against == label:
                raise InputError(
                    "against names the predicted class, which is explained by default; name the class to explain too", i
                )
        return known

    @property
    def labels(self) -> Tensor:  # (B,)
        """Class indices."""
        predicted = None if self.full is None else self.full.argmax(-1)
        labels = [t.label for t in self.requested]
        if predicted is None and None in labels:
            raise RuntimeError("resolve() the targets with the logits of the whole inputs first")
        index = [int(predicted[i]) if label is None else int(label) for i, label in enumerate(labels)]  # type: ignore[index]
        return torch.tensor(index, device=None if predicted is None else predicted.device)

    @property
    def resolved(self) -> list[Target]:
        """The targets with label index and scale filled in."""
        scales = [t.scale or self.scale for t in self.requested]
        labels = self.labels.tolist()
        return [Target(y, t.against, s) for y, t, s in zip(labels, self.requested, scales, strict=True)]

    def values(self, logits: Tensor) -> Tensor:
        """(k*B,C) logits -> (k*B,) values; the rows repeat the batch k times."""
        times = len(logits) // len(self)
        targets = self.resolved
        if len({t.scale for t in targets}) == 1:
            out = scaled(logits, targets[0].scale or self.scale, independent=self.independent)
            value = out.gather(-1, self.labels.to(out.device).repeat(times).unsqueeze(-1)).squeeze(-1)
            if all(t.against is None for t in targets):
                return value
            other = [t.label if t.against is None else t.against for t in targets]
            against = torch.tensor([0 if o is None else int(o) for o in other], device=out.device).repeat(times)
            minus = torch.tensor([t.against is not None for t in targets], device=out.device).repeat(times)
            return value - torch.where(minus, out.gather(-1, against.unsqueeze(-1)).squeeze(-1), 0.0)
        values = [
            Targets((t,), self.scale, self.independent).values(row[None])
            for t, row in zip(targets * times, logits, strict=True)
        ]
        return torch.cat(values)

    def take(self, index: Sequence[int]) -> Targets:
        full = None if self.full is None else self.full[list(index)]
        return Targets(tuple(self.requested[i] for i in index), self.scale, self.independent, full)


def values_of(outputs: NDArray[Any], target: Target, scale: Scale, *, independent: bool) -> NDArray[np.float64]:
    """Class outputs (M,C) of one input as values (M,) of a target with a known label, in float64."""
    targets = Targets((Target(target.label, target.against, scale),), scale, independent)
    values: NDArray[np.float64] = targets.values(torch.from_numpy(outputs).double()).numpy()
    return values


def parse_target(target: object, labels: Sequence[str], task: str) -> Target:
    """The Target of one input as a caller gave it: None, a label name or index, or a Target."""
    given = target if isinstance(target, Target) else Target(target)  # type: ignore[arg-type]
    if given is not target and isinstance(target, Integral):
        check_number(int(target), labels)
    scale = given.scale
    if task == "regression":
        if given.label not in (None, 0) or given.against is not None or scale not in (None, "raw"):
            raise TargetError(f"{given}: a regression model has a single raw output; omit the target")
        return Target(0, None, "raw")
    if scale == "raw":
        raise TargetError(f"the scale 'raw' is for regression; for a classifier use {', '.join(SCALES[:-1])}")
    label = None if given.label is None else label_index(given.label, labels)
    against = None if given.against is None else label_index(given.against, labels)
    if against is not None and against == label:
        raise TargetError(f"{labels[against]!r} against itself is always 0; name another class to compare with")
    return Target(label, against, scale)


def label_index(label: object, labels: Sequence[str]) -> int:
    """The index of a label given by name or index."""
    if isinstance(label, str) and label in labels:
        return labels.index(label)
    if isinstance(label, str) and label.isdecimal():
        check_number(int(label), labels)
        return label_index(int(label), labels)
    if isinstance(label, Integral) and not isinstance(label, bool) and 0 <= int(label) < len(labels):
        return int(label)  # also numpy integers
    names = [f"{name} ({i})" for i, name in enumerate(labels)]
    hint = nearest(label, labels) if isinstance(label, str) else f"allowed: {', '.join(names)}"
    raise TargetError(f"unknown label {label!r}; {hint}")


def check_number(number: int, labels: Sequence[str]) -> None:
    """Refuse a number where labels are called by numbers that are not their indices: 2 of 1, 2, 3 could be either."""
    called = [(name, i) for i, name in enumerate(labels) if name.isdecimal()]
    if any(int(name) != i for name, i in called):
        raise TargetError(
            f"the label {number} could be a name or an index, because the labels are called {', '.join(labels)}; "
            f"give the name as a text, such as {called[0][0]!r}"
        )
