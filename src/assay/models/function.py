"""Any model behind a function: texts go in, numbers come out, and nothing inside can be seen."""

from __future__ import annotations

import hashlib
import json
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from assay.core.errors import ModelError, SpecError, UnsupportedError, nearest
from assay.models import hooks
from assay.models.answer_cache import AnswerCache
from assay.models.answers import DETECTED, AnswerReader, Kind
from assay.models.encode import TextEncoder
from assay.models.encoding import Batch
from assay.models.estimator import estimator_function, estimator_name, estimator_version, is_estimator
from assay.models.families import Family
from assay.models.model import Model
from assay.models.readout import StockHead
from assay.models.service import Service, ServiceSettings
from assay.models.word_tokenizer import WordTokenizer

FAMILY = Family("function", (), positions="none", opaque=True)

ALL = 1 << 20  # positions at once: the service makes batches of its own, and asks once for equal texts


@dataclass(frozen=True, kw_only=True)
class FunctionSettings(ServiceSettings):
    """What `load_model` takes for a function in addition to labels and task."""

    outputs: Kind | None = None
    """Whether it returns probabilities or logits. Default: detected from its first answer."""
    mask: str | None = None
    """What replaces a removed word, such as "[MASK]". Default: words are deleted."""
    name: str | None = None
    """Name of the model in reports. Default: that of the function."""
    version: str | None = None
    """Text that changes whenever the answers change, such as "2024-05"; finished work is reused only with one."""


class Closed:
    """In place of a transformers model: whatever wants to look inside is refused with a sentence."""

    def __init__(self, name: str) -> None:
        self.__name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise UnsupportedError(
            f"of {self.__name} only the answers can be seen, so gradients, attention, weights and training are out of "
            "reach; load a transformers model for that"
        )


@dataclass(eq=False)
class FunctionModel(Model):
    """A function from texts to class outputs. Its tokens are words, which are deleted or replaced by a mask."""

    service: Service = field(kw_only=True)
    reader: AnswerReader = field(kw_only=True)
    version: str | None = field(kw_only=True, default=None)

    def __repr__(self) -> str:
        return f"FunctionModel({self.name!r}, task={self.task!r}, labels={list(self.labels)}, outputs={self.reading!r})"

    @property
    def reading(self) -> str:
        return self.reader.words

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        return torch.float32

    @property
    def budget(self) -> int:
        return ALL

    @property
    def fingerprint(self) -> str:
        """Hash of name and version. Without a version it is new in every process: old answers may not be its own."""
        if self._fingerprint is None:
            self._fingerprint = _hashed(self.name, self.version or uuid.uuid4().hex)
            if self.version is None:
                warnings.warn(
                    f"{self.name} has no version, so finished work cannot be reused in another run; "
                    "give load_model a version= that changes whenever the answers change",
                    stacklevel=3,
                )
        return self._fingerprint

    @property
    def identity(self) -> dict[str, Any]:
        mask = self.tokenizer.mask
        declared = None if self.reader.origin == DETECTED else self.reader.kind
        common = {"labels": list(self.labels), "task": self.task, "prompt": None, "max_length": None}
        return {"model": self.fingerprint, **common, "mask": mask, "outputs": declared}

    def limited(self, positions: int) -> Model:
        raise UnsupportedError(f"max_length={positions}: {self.name} is a function, which reads whole texts; omit it")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        yield

    def outputs(self, batch: Batch) -> Tensor:
        lengths = batch.mask.sum(1).tolist()
        texts = [self.tokenizer.text(ids[:n]) for ids, n in zip(batch.ids.tolist(), lengths, strict=True)]
        return torch.from_numpy(self.reader.logits(self.service(texts))).float()


def is_function(model: Any) -> bool:
    """Whether an object is a function, an estimator or a torch module that maps texts to numbers."""
    return is_estimator(model) or (callable(model) and not isinstance(model, type))


def function_model(
    model: Any, labels: Sequence[str] | Mapping[str, str] | None, task: str | None, options: dict[str, Any]
) -> FunctionModel:
    """A FunctionModel of a function, a scikit-learn estimator or a torch module that takes a list of texts."""
    local = {"retries": 0} if is_estimator(model) or isinstance(model, nn.Module) else {}  # waiting does not mend these
    settings = _settings({**local, **options})
    predict, name, version, known = _parts(model)
    name, version = settings.name or name, settings.version or version
    names, task = _labels_and_task(name, labels, task, known)
    reader = _reader(model, names, task, settings.outputs)
    service = Service(name, predict, reader.rows, settings, _cache(settings, name, version))
    tokenizer = WordTokenizer(settings.mask)
    encoder = TextEncoder(tokenizer, sys.maxsize)
    hf: Any = Closed(name)
    return FunctionModel(
        name, hf, FAMILY, encoder, StockHead(), names, task, tokenizer, service=service, reader=reader, version=version
    )


def refuse_options(options: dict[str, Any], name: str) -> None:
    """Raise if options of a function were given for another model."""
    if options:
        _settings(options)
        raise SpecError(f"{', '.join(options)}: only for a model behind a function, which {name} is not; omit it")


def _settings(options: dict[str, Any]) -> FunctionSettings:
    allowed = [f.name for f in fields(FunctionSettings)]
    for option in options:
        if option not in allowed:
            raise SpecError(f"load_model has no option {option!r}; {nearest(option, allowed)}")
    if options.get("mask") == "":
        raise SpecError("mask='': give a text such as '[MASK]', or leave it out to delete removed words")
    return FunctionSettings(**options)


def _parts(model: Any) -> tuple[Callable[..., Any], str, str | None, tuple[str, ...] | None]:
    """Function, name, version and labels, as far as the object tells."""
    if is_estimator(model):
        function = estimator_function(model)
        return function, estimator_name(model), estimator_version(model), function.labels or ("value",)
    if isinstance(model, nn.Module):
        return partial(_run_module, model), type(model).__name__, None, None
    name = getattr(model, "__qualname__", None) or type(model).__name__
    return model, name, None, None


def _reader(model: Any, labels: tuple[str, ...], task: str, declared: Kind | None) -> AnswerReader:
    if declared is None and is_estimator(model) and task != "regression":
        verb = estimator_function(model).verb
        return AnswerReader(labels, task, "probability" if verb == "predict_proba" else "logit", verb)
    return AnswerReader(labels, task, declared)


def _run_module(module: nn.Module, texts: list[Any]) -> Any:
    with torch.no_grad(), hooks.frozen(module):
        return module(texts)


def _labels_and_task(
    name: str, labels: Sequence[str] | Mapping[str, str] | None, task: str | None, known: tuple[str, ...] | None
) -> tuple[tuple[str, ...], str]:
    given = known if labels is None else tuple(str(label) for label in labels)
    if isinstance(labels, str | Mapping | AbstractSet) or (given is None and task != "regression"):
        raise ModelError(
            f"{name} needs the names of its labels, in the order of the columns that it returns: "
            "labels=['negative', 'positive'] (on the command line --labels negative,positive), or task='regression'"
        )
    names = given or ("value",)
    if known is not None:
        _check_known(names, known, name)
    if len(set(names)) < len(names):
        raise ModelError(f"labels={list(names)} names a label twice; give each column its own name")
    task = task or ("regression" if known == ("value",) else "classification")
    if (task == "regression") != (len(names) == 1) and task != "multi_label":
        raise ModelError(f"task={task!r} does not go with the labels {', '.join(names)}; a classifier has at least two")
    return names, task


def _check_known(names: tuple[str, ...], known: tuple[str, ...], name: str) -> None:
    """New names of classes are in the order of the estimator; its own names in another order are a mistake."""
    if len(names) != len(known):
        raise ModelError(f"labels= has {len(names)} names, but {name} has {len(known)} classes: {', '.join(known)}")
    if names != known and sorted(names) == sorted(known):
        raise ModelError(
            f"labels={list(names)} has the classes of {name} in another order than its columns: "
            f"{', '.join(known)}; leave labels out"
        )


def _cache(settings: FunctionSettings, name: str, version: str | None) -> AnswerCache | None:
    if settings.cache is None:
        return None
    if version is None:
        raise ModelError(
            f"cache={str(settings.cache)!r} needs version=, a text that changes whenever the answers of {name} change: "
            "otherwise old answers could be taken for new ones"
        )
    return AnswerCache(settings.cache, _hashed(name, version))


def _hashed(*parts: str) -> str:
    return hashlib.sha256(json.dumps(["function", *parts]).encode()).hexdigest()
