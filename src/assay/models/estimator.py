"""scikit-learn estimators and pipelines as functions: what they predict, their labels, and what identifies them."""

from __future__ import annotations

import copy
import inspect
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import ModelError
from assay.models.word_tokenizer import Text

ADDRESS = "_stop_words_id"  # of a vectorizer: the id() of its list of stop words
KNOWN = {"sklearn", "numpy", "scipy", "joblib"} | (set(sys.stdlib_module_names) - {"__main__"})


@dataclass(frozen=True, eq=False)
class EstimatorFunction:
    """A fitted estimator as a function from texts to rows."""

    estimator: Any
    verb: str  # predict_proba, decision_function or, for a regression, predict
    labels: tuple[str, ...] | None = None

    def __call__(self, texts: list[Text]) -> Any:
        rows = getattr(self.estimator, self.verb)(texts)
        if self.verb != "decision_function" or np.ndim(rows) > 1:
            return rows
        # one number for two classes: split it evenly, so that the logit of either class moves
        return np.stack([-np.asarray(rows) / 2, np.asarray(rows) / 2], 1)


def is_estimator(model: Any) -> bool:
    return not isinstance(model, type) and hasattr(model, "fit") and hasattr(model, "predict")


def estimator_function(estimator: Any) -> EstimatorFunction:
    """Probabilities if it has them, else decision values; the values of a regressor."""
    verb = next((name for name in ("predict_proba", "decision_function") if hasattr(estimator, name)), None)
    labels = getattr(estimator, "classes_", None)
    if labels is None and verb is None:
        return EstimatorFunction(estimator, "predict")
    if labels is None:
        raise ModelError(f"{estimator_name(estimator)} is not fitted; call its fit(texts, labels) first")
    if verb is None:
        raise ModelError(
            f"{estimator_name(estimator)} predicts labels without scores; "
            "use a classifier with predict_proba or decision_function"
        )
    return EstimatorFunction(estimator, verb, tuple(str(label) for label in labels))


def estimator_name(estimator: Any) -> str:
    """The class, or those of a pipeline's steps."""
    steps = getattr(estimator, "steps", None)
    return type(estimator).__name__ if not steps else " + ".join(type(step).__name__ for _, step in steps)


def estimator_version(estimator: Any) -> str | None:
    """A hash of everything that was fitted; None if code of other packages takes part, which a hash does not cover."""
    try:
        import joblib
        import sklearn

        content = _hasher().hash(estimator)
    except Exception:  # also what cannot be hashed, such as a lambda or an open connection
        return None
    return f"{content}, scikit-learn {sklearn.__version__}, joblib {joblib.__version__}"


def _hasher() -> Any:
    from joblib.hashing import NumpyHasher

    class Hasher(NumpyHasher):  # type: ignore[misc]
        def save(self, obj: Any) -> None:
            home = obj.__module__ if isinstance(obj, type) or inspect.isroutine(obj) else type(obj).__module__
            if (home or "builtins").partition(".")[0] not in KNOWN:
                raise _ForeignCodeError
            super().save(_plain(obj))

    return Hasher("sha1")


def _plain(obj: Any) -> Any:
    """The object without what saving or another process changes: an array's strides, addresses in memory."""
    if isinstance(obj, np.ndarray):
        return np.array(obj, order="C")
    if not hasattr(obj, ADDRESS):
        return obj
    plain = copy.copy(obj)
    delattr(plain, ADDRESS)
    return plain


class _ForeignCodeError(Exception):
    """Code that a hash does not cover takes part in the estimator."""
