"""What all learned methods share: their folder and its digest, saving, loading and sharing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from assay.core.errors import AssayError, ModelError, SpecError
from assay.core.spec import Spec, file_name
from assay.explainers.learned.parts.model_card import model_card
from assay.explainers.learned.parts.saved import CARD, README, WEIGHTS, folder_digest, found_folder, read_card
from assay.models.model import Model

IN_MEMORY = "in_memory"  # name of an explainer that no folder holds
Places = Callable[[str], Sequence[Path]]  # the folders in which the explainer of a job may be, by its key
_places: ContextVar[Places | None] = ContextVar("places", default=None)


@contextmanager
def explainers_at(places: Places) -> Iterator[None]:
    """Where explainers that a plan fits are found: their specs hold keys, which mean the same on every machine."""
    token = _places.set(places)
    try:
        yield
    finally:
        _places.reset(token)


class Content(Protocol):
    """What the folder of an explainer holds."""

    @property
    def card(self) -> Mapping[str, Any]: ...

    @property
    def digest(self) -> str:
        """A hash of card and weights (`digest_of`)."""

    def check_model(self, model: Model, *, any_model: bool) -> None:
        """Raise unless it can explain this model."""

    def save(self, folder: Path) -> None:
        """Write the folder (`save_explainer`)."""


C = TypeVar("C", bound=Content)


@dataclass(frozen=True)
class LearnedMethod:
    """A method that `assay fit` fitted to a model. A subclass says how its content is read, and explains with it."""

    explainer: str = ""
    any_model: bool = False
    # Filled in, not given by users: the digest of its weights and card, and the key of the job of a plan that fits it.
    digest: str = field(default="", metadata={"given": False})
    job: str = field(default="", metadata={"given": False, "unsaid": ""})
    folder: str = field(default="", compare=False, repr=False, metadata={"spec": False})
    fitted: Any = field(default=None, compare=False, repr=False, metadata={"spec": False})

    def __post_init__(self) -> None:
        if self.fitted is None and self.explainer and not self.job:
            self._find()

    def _find(self) -> None:
        """Note where the explainer is and what it holds; its name is the last part of the path, on every machine."""
        folder, name = found_folder(self.folder or self.explainer), file_name(type(self).__name__)
        digest, fitted_by = folder_digest(folder), read_card(folder)["method"]
        if fitted_by != name:
            raise SpecError(f"{folder.name} was fitted by {fitted_by}, not {name}; write {fitted_by}('{folder.name}')")
        if self.digest not in ("", digest):
            raise SpecError(f"the explainer in {folder.name} has changed since (digest {digest}, not {self.digest})")
        for name, value in (("folder", str(folder)), ("explainer", folder.name), ("digest", digest)):
            object.__setattr__(self, name, value)

    # --- what it holds -----------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> Content:
        """Its content, read when it is needed."""
        raise NotImplementedError

    def content(self, read: Callable[[Path], C]) -> C:
        """What it holds, in memory or in its folder."""
        if self.fitted is not None:
            held: C = self.fitted
            return held
        return read(self._planned(CARD, WEIGHTS) if self.job else self._own_folder())

    def _own_folder(self) -> Path:
        if not self.folder:
            name = file_name(type(self).__name__)
            raise SpecError(
                f"{name} needs a fitted explainer; fit one with `assay fit {name}` (assay.fit) and name its folder: "
                f"{name}('explainer/')"
            )
        return Path(self.folder)

    def _planned(self, *files: str) -> Path:
        """The folder of the job that fits it, with these files; the card outlives the weights."""
        places = _places.get()
        for folder in () if places is None else places(self.job):
            if all((folder / name).is_file() for name in files):
                return folder
        raise ModelError(f"the explainer {self.explainer} is not there yet; `assay run` the plan that fits it")

    @property
    def card(self) -> dict[str, Any]:
        """What the explainer was fitted on, how, and how good it is."""
        if self.fitted is not None:
            return dict(self.loaded.card)
        return read_card(self._planned(CARD), weights=False) if self.job else read_card(self._own_folder())

    @property
    def known_card(self) -> dict[str, Any] | None:
        """The card, or None where there is no explainer yet."""
        try:
            return self.card if self.explainer else None
        except ModelError:
            if not self.job:
                raise
            return None

    @property
    def title(self) -> str:
        """Name for tables: the folder's last part and what differs from the defaults."""
        name = file_name(type(self).__name__)
        short = replace(self, digest="", folder="", fitted=None, explainer="", job="") if self.explainer else self
        more = [f"{key}={value}" for key, value in Spec.of(short, full=False).params]
        return f"{name}({', '.join([self.explainer, *more])})" if self.explainer else name

    def check_fitted(self, model: Model) -> None:
        """Raise unless the explainer can explain this model."""
        self.loaded.check_model(model, any_model=self.any_model)

    # --- saving and sharing ------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, fitted: Content) -> Self:
        """An explainer in memory as a method."""
        return cls(IN_MEMORY, digest=fitted.digest, fitted=fitted)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """Load an explainer from a folder or hub id."""
        method = cls(str(folder))
        _ = method.loaded
        return method

    def save_pretrained(self, folder: str | Path) -> Self:
        """Save the explainer to a folder, which `assay.load_explainer` reads; returns the method of that folder."""
        path = Path(folder).expanduser()
        self.loaded.save(path)
        return replace(self, explainer=str(path), folder="", digest="", job="", fitted=None)

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> str:
        """Upload the explainer to the Hugging Face hub; returns its address."""
        import huggingface_hub

        with tempfile.TemporaryDirectory() as folder:
            self.loaded.save(Path(folder))
            (Path(folder) / README).write_text(model_card(self.card, repo_id), encoding="utf-8")
            api = huggingface_hub.HfApi(token=token)
            try:
                address = api.create_repo(repo_id, private=private, exist_ok=True)
                api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message="Upload an explainer of Assay")
            except Exception as error:  # of the hub, the network or the name
                why = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise AssayError(
                    f"cannot upload the explainer to {repo_id!r}: {why}; log in with `hf auth login`, and write the "
                    "name as USER/NAME"
                ) from error
        return str(address)
