"""Small evaluations to make pages of, and a reader that complains where a browser would mend in silence."""

from __future__ import annotations

import warnings
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from assay import Example
from assay.api.evaluate import evaluate
from assay.core.types import Span
from assay.studies.evaluate.result import Result
from toys import bert

VOID = {"meta", "wbr", "br", "hr", "img", "input", "link"}
METHODS = ("occlusion", "lime(samples=30)", "gradient_x_input", "random")
METRICS = ("sufficiency", "sufficiency(aopc=True)", "comprehensiveness", "log_odds", "auprc")
TEXTS = (
    "a modest pleasure that accomplishes its goals with ease",
    "the plot is thin , the acting is good and the ending is bad",
    "it is a slow sad poem , not a film that i like to see again",
    "the soup was good and the film was bad , or was it not",
)


class Page(HTMLParser):
    """Tags, words, classes and addresses of a page; raises where tags are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.underlined: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    @property
    def text(self) -> str:
        return "".join(self.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._seen(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._seen(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if "u" in self.open:
            self.underlined.append(data)

    def _seen(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]


def texts(n: int = 4, *, rationales: bool = True) -> list[Example]:
    out = []
    for i in range(n):
        text = TEXTS[i % len(TEXTS)]
        words = text.split()
        start = text.index(words[1])
        marks = ((Span(0, start, start + len(words[1])),),) if rationales else ()
        out.append(Example(text + " ." * (i // len(TEXTS)), id=f"text {i}", label=i % 2, rationales=marks))
    return out


def evaluated(model: Any, data: Any, methods: Any = METHODS, metrics: Any = METRICS, **options: Any) -> Result:
    """An evaluation in a store of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*has no mask token")
        warnings.filterwarnings("ignore", message=".*exceed the model's length limit")
        warnings.filterwarnings("ignore", message=".*examples with rationales have no label")
        warnings.filterwarnings("ignore", message="No example has a rationale")
        return evaluate(model, data, list(methods), list(metrics), store=Path(mkdtemp()), progress=False, **options)


@cache
def usual() -> Result:
    """Four methods and five metrics on twelve texts with rationales."""
    return evaluated(bert(3), texts(12))  # a model that answers both classes
