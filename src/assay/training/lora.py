"""LoRA (Hu et al. 2022): W x + alpha / rank B A x with W fixed; A, B and the classification head are trained.

Everything that the pretrained weights do not hold is trained whole and saved with the adapters: heads, and poolers,
which many checkpoints lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn
from transformers.pytorch_utils import Conv1D

from assay.core.errors import SpecError, UnsupportedError
from assay.core.optional import optional
from assay.core.spec import Spec
from assay.models import hooks
from assay.models.load import save_model
from assay.models.model import Model
from assay.training.pretrained import fixed_seed
from assay.training.recipe import Recipe
from assay.training.scratch import is_scratch

QUERY_AND_VALUE = {
    "query",
    "value",
    "query_proj",
    "value_proj",
    "q_proj",
    "v_proj",
    "q_lin",
    "v_lin",
    "q",
    "v",
    "c_attn",
}


def check_base(base: str | Path | Spec, recipe: Recipe) -> None:
    """Raise at once if LoRA is asked for where there is nothing to adapt."""
    if recipe.lora and is_scratch(base):
        raise SpecError(f"lora adapts pretrained weights, but {base} is trained from scratch; give a folder or hub id")


@dataclass(frozen=True, eq=False)
class Adapter:
    """The adapters of a model, which its transformers model holds."""

    wrapper: Any  # peft.PeftModel
    merged: bool  # at the end

    def finish(self, model: Model) -> Callable[[Model, Path], None]:
        """Merge the adapters into the weights, if they shall be; returns how the model is saved."""
        if not self.merged:
            return self.save
        self.wrapper.merge_and_unload()
        model.weights_changed()
        return save_model

    def save(self, model: Model, folder: Path) -> None:
        """Save the adapters, with the configuration that holds the labels; the base stays where it is."""
        self.wrapper.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # PEFT's form for a model card, not filled in
        config: Any = model.hf.config
        config.architectures = [type(model.hf).__name__]
        config.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)


def add_lora(model: Model, base: str, recipe: Recipe) -> Adapter | None:
    """Put adapters into a model, whose own weights are fixed from here on; None if the recipe has no LoRA."""
    if not recipe.lora:
        return None
    hooks.need_blocks(model.hf, model.family)
    whole = model.head is not None or model.family.images
    if whole and not recipe.lora_merged:
        raise UnsupportedError(f"adapters of {model.family.name} cannot be saved alone; leave lora_merged=False out")
    peft = optional("peft", "peft")
    config = peft.LoraConfig(
        task_type=None if whole else "SEQ_CLS",
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,
        lora_dropout=recipe.lora_dropout,
        target_modules=sorted(_targets(model, recipe)),
        modules_to_save=_new_modules(model),
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.hf.modules()),
    )
    with fixed_seed(recipe.seed):
        wrapper = peft.get_peft_model(model.hf, config)
    wrapper.peft_config["default"].base_model_name_or_path = _location(base)
    return Adapter(wrapper, recipe.lora_merged)


def _targets(model: Model, recipe: Recipe) -> set[str]:
    """Last parts of the names of the layers to adapt."""
    linear = [name for name, module in _block_modules(model) if isinstance(module, nn.Linear | Conv1D)]
    last = {name.rpartition(".")[2] for name in linear}
    wanted = set(recipe.lora_targets) or last & QUERY_AND_VALUE
    unknown = sorted(name for name in wanted if not any(n == name or n.endswith(f".{name}") for n in linear))
    if unknown or not wanted:
        missing = (
            f"lora_targets={', '.join(unknown)}: no such layer" if unknown else "no query or value projection found"
        )
        raise SpecError(f"{missing}; a block of {model.family.name} has the linear layers {', '.join(sorted(last))}")
    return wanted


def _block_modules(model: Model) -> list[tuple[str, nn.Module]]:
    return list(hooks.blocks(model.hf)[0].named_modules())


def _new_modules(model: Model) -> list[str]:
    """The head of the transformers model, and its pooler."""
    hf = model.hf
    if hf.base_model is hf:
        return []  # an encoder under a head of Assay's, which is trained and saved by itself
    names = [name for name, child in hf.named_children() if child is not hf.base_model and _has_weights(child)]
    pooler = getattr(hf.base_model, "pooler", None)
    return names + (["pooler"] if pooler is not None and _has_weights(pooler) and "pooler" not in names else [])


def _has_weights(module: nn.Module) -> bool:
    return next(module.parameters(), None) is not None


def _location(base: str) -> str:
    """The absolute path of a folder, so that the adapters find it from everywhere; a hub id as it is."""
    path = Path(base).expanduser()
    return str(path.resolve()) if path.is_dir() else base
