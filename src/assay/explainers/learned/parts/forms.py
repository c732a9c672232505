"""The names of the forms that losses, masks and attribution models may have."""

from __future__ import annotations

from typing import Literal

InverseLoss = Literal["log", "probability", "negative_entropy"]
SparsityLoss = Literal["bce", "l1"]
Masking = Literal["blend", "hard"]
Join = Literal["max", "mean", "min"]
Layers = Literal["all", "last"]
Objective = Literal["logistic", "shapley", "masking", "both"]
Architecture = Literal["trunk", "encoder"]
