"""References to the data sets and models of a plan: small values that a worker can open."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.errors import SpecError
from assay.core.spec import parse
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset
from assay.experiments.artifacts import Artifacts
from assay.experiments.file_cache import read_once
from assay.experiments.requirement import Requirement
from assay.models.load import BUILTIN, load_model
from assay.models.model import Model
from assay.training.scratch import is_scratch

Pairs = tuple[tuple[str, str | None], ...]
VECTORS = "embeddings"  # parameter of a size: a file of word vectors or a pretrained encoder
PATHS = ("/", "~", "./", "../")  # beginnings of a name that cannot be a hub id
FILES = ("*.json", "*.txt", "*.model")  # of a pretrained folder that training starts from, besides its weights
WEIGHTS = ("*.safetensors", "*.bin")  # the first kind that it holds is what transformers loads


@dataclass(frozen=True)
class DataReference:
    """A data set by name. `split` and `limit` choose the examples to explain; trainings choose their own."""

    name: str
    source: str
    split: str | None = None
    columns: Pairs | None = None
    limit: int | None = None
    seed: int = 0
    label_map: Pairs | None = None

    def load(self) -> Dataset:
        return _loaded(self)

    @property
    def column_roles(self) -> dict[str, str | None] | None:
        """Columns by role, as `load_dataset` takes them."""
        return None if self.columns is None else dict(self.columns)

    def load_with(self, **options: Any) -> Dataset:
        """The source under its column roles and label names."""
        return load_dataset(self.source, columns=self.column_roles, label_map=self.label_names, **options)

    @property
    def label_names(self) -> dict[str, str | None] | None:
        """Other names of labels, as `load_dataset` takes them."""
        return None if self.label_map is None else dict(self.label_map)


@dataclass(frozen=True, eq=False)
class InMemoryData:
    """A data set in memory."""

    dataset: Dataset

    @property
    def name(self) -> str:
        return self.dataset.name

    def load(self) -> Dataset:
        return self.dataset


@dataclass(frozen=True)
class ExternalModel:
    """A model that the plan loads; keys contain the fingerprint of its weights."""

    name: str
    source: str
    prompt: str | None = None
    labels: tuple[tuple[str, str], ...] | None = None
    device: str | None = None
    dtype: str | None = None
    needs: tuple[str, ...] = ()
    tags: tuple[tuple[str, Any], ...] = ()
    requires: Requirement | None = None

    @property
    def grid(self) -> str:
        return self.name

    @property
    def group(self) -> str:
        return f"{self.source} {self.prompt} {self.dtype}"

    def open(self, artifacts: Artifacts) -> Model:
        words = None if self.labels is None else dict(self.labels)
        return load_model(self.source, prompt=self.prompt, labels=words, device=self.device, dtype=self.dtype)


@dataclass(frozen=True)
class TrainedModel:
    """A model that the plan trains; keys contain the key of its training."""

    name: str
    key: str
    trained_on: DataReference
    tags: tuple[tuple[str, Any], ...] = ()  # its place in the plan: grid, base, trained_on, seed
    requires: Requirement | None = None
    training: Any = None  # its TrainingTask, for studies that retrain it on other data

    @property
    def grid(self) -> str:
        """Its entry in the plan, which several trainings may share."""
        return str(dict(self.tags).get("grid", self.name))

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.key,)

    @property
    def group(self) -> str:
        return self.key

    def open(self, artifacts: Artifacts) -> Model:
        model = load_model(artifacts.path(self.key))
        model.name = self.name
        return model


@dataclass(frozen=True, eq=False)
class InMemoryModel:
    """A model that the caller of a verb has in memory."""

    model: Model
    needs: tuple[str, ...] = ()
    tags: tuple[tuple[str, Any], ...] = ()
    requires: Requirement | None = None

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def grid(self) -> str:
        return self.name

    @property
    def group(self) -> str:
        return str(id(self.model))

    def open(self, artifacts: Artifacts) -> Model:
        return self.model


AnyData = DataReference | InMemoryData
AnyModel = ExternalModel | TrainedModel | InMemoryModel


def base_identity(base: str) -> str:
    """What identifies a base model in keys: a size as written, the hash of a folder's files, or a hub id.

    Word vectors that a size names are identified by content too, not by path.
    """
    if not is_scratch(base):
        return content_of(str(BUILTIN) if base == "builtin" else base)
    spec = parse(base)
    params = dict(spec.params)
    if not params.get(VECTORS):
        return base
    return str(replace(spec, params=tuple({**params, VECTORS: content_of(str(params[VECTORS]))}.items())))


def content_of(name: str) -> str:
    """The hash of a file or of a pretrained folder, or a hub id as it is.

    A path that does not exist must not pass for a hub id: its keys would match no record.
    """
    path = Path(name).expanduser()
    if path.exists():
        return _hash(str(path.absolute()))
    if name.startswith(PATHS):
        raise SpecError(f"there is no file or folder {name}. Give an existing path or a hub id.")
    return name


def without_folders(name: str) -> str:
    """A path, or a spec that contains one, with only the last part of the path; for titles."""
    return re.sub(r"'[^']*/([^/']+)'", r"\1", name) if "(" in name else Path(name).name


def numbered(data: Dataset, part: tuple[int, int] | None) -> list[tuple[int, Example]]:
    """The examples of a slice with their positions in the whole, which error messages name."""
    start, stop = part or (0, len(data))
    return list(enumerate(data[start:stop], start=start))


@read_once(maxsize=8)
def _loaded(data: DataReference) -> Dataset:
    return data.load_with(split=data.split, limit=data.limit, seed=data.seed)


@read_once(maxsize=64)
def _hash(name: str) -> str:
    digest, folder = hashlib.sha256(), Path(name)
    for path in [folder] if folder.is_file() else _files(folder):
        with path.open("rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    weights = next((found for pattern in WEIGHTS if (found := list(folder.glob(pattern)))), [])
    return sorted({*weights, *(path for pattern in FILES for path in folder.glob(pattern))})
