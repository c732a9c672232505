"""How an explainer is fitted: the options of `assay fit aml`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from assay.core.errors import SpecError
from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, Range, check_ranges
from assay.core.types import Scale
from assay.explainers.learned.parts.forms import (
    Architecture,
    InverseLoss,
    Join,
    Layers,
    Masking,
    Objective,
    SparsityLoss,
)
from assay.training.recipe import Recipe

if TYPE_CHECKING:
    from assay.datasets.dataset import Dataset
    from assay.explainers.learned.aml import Aml
    from assay.faithfulness.criterion import Criterion
    from assay.fitting.run import FitRun
    from assay.models.model import Model


@dataclass(frozen=True)
class AmlFit:
    """Fit a model that explains a text in one pass: by logistic regression on masked texts, Shapley values, or AML.

    Labels are not needed: it learns from what the explained model says about masked texts.
    """

    files: ClassVar[tuple[str, ...]] = ("values.safetensors", "encoder", "search.log")

    metric: str = "comprehensiveness"
    """Faithfulness metric that chooses the checkpoint on held-out texts, or a difference of two, such as
    'comprehensiveness - sufficiency'."""
    protocol: str = "eraser"
    """How the metric removes units: eraser, thesis, aml or aml_code."""
    objective: Objective = "logistic"
    """What is learnt: logistic (parts of the log-odds, by logistic regression on masked texts), shapley (Shapley
    values, as FastSHAP), masking (the losses of AML), or both (shapley and masking)."""
    architecture: Architecture = "trunk"
    """trunk: a head on the explained model's own hidden states. encoder: an encoder of its own, as in the paper."""
    base: str | None = field(default=None, metadata={"folder": True})
    """Folder or hub id of the encoder. Default: the explained model's own weights."""
    layers: Layers = "all"
    """Hidden states that a trunk reads: a learnt mixture of all layers, or the last layer."""
    frozen_embeddings: bool = True
    """Keep the embeddings of the encoder as they are."""
    join: Join = "max"
    """How scores go from an encoder's tokens to those of a model with another tokenizer: max, mean or min."""
    removal: str | None = None
    """How units are removed while fitting. Default: as the metric does; for masking and both, the model's default."""
    scale: Scale = "probability"
    """The value whose parts are learnt (shapley, both): probability, log_probability, log_odds or logit."""
    masks: int = 16
    """Masks of each text (logistic, shapley, both); they run once."""
    preservation: float = 1.0
    """Weight of the loss that keeps the prediction (masking)."""
    sparsity: float = 1.0
    """Weight of the loss that keeps masks small (masking)."""
    inverse: float = 1.0
    """Weight of the loss that removes the prediction from the rest (masking)."""
    inverse_form: InverseLoss = "log"
    """Form of the inverse loss: log is -log(1 - p), probability is p, negative_entropy."""
    sparsity_form: SparsityLoss = "bce"
    """Form of the sparsity loss: bce is -log(1 - a), l1 is a."""
    masking: Masking = "blend"
    """Masks blend embeddings, or are rounded to 0 and 1 (hard); their gradient is that of blending."""
    learned_reference: bool = False
    """Masks blend with an embedding that is learnt too, instead of the removal's (masking)."""
    target: Literal["soft", "one_hot"] = "soft"
    """What the model should answer to the masked text: its output for the whole text (soft), or the explained class
    alone (one_hot)."""
    other_classes: float = 0.2
    """Share of the texts for which another class than the predicted one is explained while fitting."""
    epochs: int = 10
    """Number of passes over the texts."""
    batch_size: int = 32
    """Texts per step."""
    learning_rate: float | None = None
    """Peak learning rate. Default: 1e-3 for a trunk, 2e-4 for an encoder."""
    validate_every: float = 1.0
    """Epochs between validations; 0.25 is four times per epoch."""
    patience: int | None = None
    """Stop after this many validations without improvement."""
    start: str | None = field(default=None, metadata={"folder": True, "unsaid": None})
    """Folder or hub id of an explainer to start from, of the same architecture: a warm start."""
    weights_of: str | None = field(default=None, metadata={"folder": True, "card": True, "unsaid": None})
    """Folder or hub id of an explainer whose weights of the losses are used, such as one that a search tuned."""
    search: int | None = None
    """Tune the weights of the losses in this many short trials first (masking, both)."""
    seed: int = 0
    """Seed of the initial weights, the masks and the order of the texts."""

    def __post_init__(self) -> None:
        check_ranges(self, masks=Range(2, whole=True), epochs=COUNT, batch_size=COUNT, patience=COUNT, search=COUNT)
        check_ranges(self, learning_rate=POSITIVE, validate_every=POSITIVE, seed=Range(0, whole=True))
        check_ranges(self, preservation=NOT_NEGATIVE, sparsity=NOT_NEGATIVE, inverse=NOT_NEGATIVE)
        check_ranges(self, other_classes=Range(0, 1))
        _ = self.criterion
        if self.masks % 2:
            raise SpecError(f"masks={self.masks}: give an even number, because masks come in pairs")
        if self.masks_softly and not (self.preservation or self.inverse):
            raise SpecError("preservation and inverse are both 0, so a mask would learn nothing; give one a weight")
        for name, verb in (("search", "tunes"), ("weights_of", "names")):
            if getattr(self, name) is not None and not self.masks_softly:
                raise SpecError(
                    f"{name} {verb} the weights of the masking losses, which objective={self.objective} does not have; "
                    "give objective=masking or both"
                )
        if self.search is not None and self.weights_of is not None:
            raise SpecError("search tunes the weights that weights_of would supply; give one of the two")
        if self.start is not None and self.base is not None:
            raise SpecError("start has an encoder already; leave base out, or leave start out")
        if self.learned_reference and self.objective not in ("masking", "both"):
            raise SpecError("learned_reference is what masks blend with; give objective=masking or both too")
        if self.base is not None and self.architecture != "encoder":
            raise SpecError(f"base={self.base!r} is for architecture=encoder; give that too, or leave base out")

    @property
    def criterion(self) -> Criterion:
        from assay.faithfulness.criterion import criterion_of  # imports torch, which the command line's help must not

        return criterion_of(self.metric, self.protocol)

    @property
    def masks_softly(self) -> bool:
        """Whether soft masks are learnt, which blend embeddings."""
        return self.objective in ("masking", "both")

    @property
    def learnt_scale(self) -> Scale:
        return "log_odds" if self.objective == "logistic" else self.scale

    @property
    def soft(self) -> bool:
        return self.target == "soft"

    @property
    def rate(self) -> float:
        return self.learning_rate or (1e-3 if self.architecture == "trunk" else 2e-4)

    @property
    def recipe(self) -> Recipe:
        """The settings of the training loop."""
        return Recipe(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.rate,
            validate_every=self.validate_every,
            patience=self.patience,
            selection=self.criterion.name,
            better=self.criterion.better,
            seed=self.seed,
        )

    def check_model(self, model: Model) -> None:
        """Raise at once if no explainer can be fitted to a model."""
        from assay.fitting.aml import check_model

        check_model(model, self)

    def fit(self, model: Model, train: Dataset, validation: Dataset, run: FitRun) -> Aml:
        """Search the weights of the losses if asked to, then fit."""
        from assay.fitting.aml import fit_aml
        from assay.fitting.search import searched
        from assay.fitting.source import with_weights

        if self.search is None:
            return fit_aml(model, train, validation, with_weights(self), run)
        settings, search = searched(model, train, validation, self, run)
        return fit_aml(model, train, validation, settings, run, search.note)
