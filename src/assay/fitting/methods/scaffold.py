"""How heads that teach are found: the options of `assay fit scaffold`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, Range, check_ranges
from assay.training.recipe import Recipe

if TYPE_CHECKING:
    from assay.datasets.dataset import Dataset
    from assay.explainers.learned.scaffold import Scaffold
    from assay.fitting.run import FitRun
    from assay.models.model import Model

Meta = Literal["unrolled", "implicit"]


@dataclass(frozen=True)
class ScaffoldFit:
    """Find the attention heads whose explanations teach a student most (SMaT, bilevel optimisation).

    A student learns the model's answers, guided by the explanation; after each of its steps, the heads move so that the
    step would have lowered its loss on other texts. Labels are not used.
    """

    files: ClassVar[tuple[str, ...]] = ("heads.svg",)

    student: str | None = None
    """Folder or hub id of the student's pretrained weights, with the tokenizer of the explained model, or 'untrained'
    for the explained model's architecture with new weights. Default: what the explained model was trained from."""
    normaliser: Literal["sparsemax", "softmax", "entmax15", "none"] = "sparsemax"
    """How head weights are normalised, for the explanation and for the student's own."""
    beta: float = 5.0
    """Weight of the explanation in the student's loss."""
    outer: float = 0.3
    """Share of the texts that the student is examined on instead of learning from."""
    meta: Meta = "unrolled"
    """Gradient of the heads: unrolled (exact, through the student's next steps) or implicit (as if the student had
    converged)."""
    steps: int = 1
    """Steps of the student that are unrolled, or terms of the Neumann series (implicit)."""
    meta_rate: float = 0.005
    """Learning rate of the heads (Adam)."""
    meta_clip: float = 5.0
    """Clip the gradient of the heads to this norm."""
    epochs: int = 25
    """Number of passes over the student's texts."""
    batch_size: int = 32
    """Texts per step."""
    learning_rate: float = 0.05
    """Learning rate of the student (SGD)."""
    clip: float | None = 5.0
    """Clip the student's gradient to this norm."""
    weight_decay: float = 0.01
    """Weight decay of the student, its head weights included."""
    patience: int | None = 10
    """Stop after this many epochs without improvement."""
    seed: int = 0
    """Seed of the student's initial weights, the order of the texts and dropout."""

    def __post_init__(self) -> None:
        check_ranges(self, epochs=COUNT, batch_size=COUNT, patience=COUNT, steps=COUNT, seed=Range(0, whole=True))
        check_ranges(self, learning_rate=POSITIVE, meta_rate=POSITIVE, meta_clip=POSITIVE, clip=POSITIVE, beta=POSITIVE)
        check_ranges(self, weight_decay=NOT_NEGATIVE, outer=Range(0.05, 0.95))

    def recipe(self, selection: str) -> Recipe:
        """The settings of the training loop for the student."""
        return Recipe(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            optimiser="sgd",
            weight_decay=self.weight_decay,
            groups=(),
            schedule="constant",
            warmup=0,
            clip=self.clip,
            selection=selection,
            better="higher",
            patience=self.patience,
            seed=self.seed,
        )

    def check_model(self, model: Model) -> None:
        """Raise at once if no explainer can be fitted to a model."""
        from assay.fitting.scaffold import check_model

        check_model(model, self)

    def fit(self, model: Model, train: Dataset, validation: Dataset, run: FitRun) -> Scaffold:
        from assay.fitting.scaffold import fit_scaffold

        return fit_scaffold(model, train, validation, self, run)
