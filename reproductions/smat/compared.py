"""The numbers behind each claim: the paper's beside ours, for the table of claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .claims import AUC, active_gap, lateness
from .evidence import NONE, NORMALISERS, Evidence
from .published import ALL, GRADIENTS, LAST, OWN, SMAT, columns, published

TABLES = {"sst": (1, "imdb"), "cifar": (3, "cifar"), "mlqe": (5, "mlqe")}  # of the paper
TITLES = {"sst": "SST", "cifar": "CIFAR-10", "mlqe": "QE", "imdb": "IMDB"}
PAPERS = {"sst": "IMDB", "cifar": "CIFAR-100", "mlqe": "QE"}
SHORT = {OWN: "SMaT, own student", SMAT: "SMaT, fresh student", ALL: "all layers", LAST: "last layer"}
Cells = tuple[str, str]  # the paper's, ours


def students(e: Evidence, data: Sequence[str], methods: Sequence[str]) -> Cells:
    """Medians by number of texts."""
    return (
        "; ".join(f"{PAPERS[d]}: {_listed(methods, lambda m, d=d: _published(d, m))}" for d in data),
        "; ".join(f"{TITLES[d]}: {_listed(methods, lambda m, d=d: _median(e, d, m))}" for d in data),
    )


def _listed(methods: Sequence[str], value: Callable[[str], str]) -> str:
    known = [(m, value(m)) for m in methods]
    return ", ".join(f"{SHORT.get(m, m)} {v}" for m, v in known if v) or "not run"


def _published(data: str, method: str) -> str:
    table, name = TABLES[data]
    method = SMAT if method == OWN else "" if method == SMAT else method
    found = [published().get((table, name, method, column)) for column in columns(table, name)]
    return " / ".join(f"{f.value if f.value > 1 else 100 * f.value:.1f}" for f in found if f is not None)


def _median(e: Evidence, data: str, method: str) -> str:
    rooms = e.rooms.get((data, "students"), {})
    found = [rooms[size].judged.get(method) for size in sorted(rooms)]
    return " / ".join(f"{100 * f.median:.1f}" for f in found if f is not None)


def first(e: Evidence) -> Cells:
    return students(e, ("sst", "cifar"), (OWN, NONE, ALL, LAST, *GRADIENTS))


def attention(e: Evidence) -> Cells:
    return students(e, ("sst", "cifar", "mlqe"), (ALL, LAST, NONE))


def gradients(e: Evidence) -> Cells:
    return students(e, ("sst", "mlqe"), (*GRADIENTS, NONE))


def fresh(e: Evidence) -> Cells:
    return "no such student", students(e, ("sst", "cifar", "mlqe"), (SMAT, NONE))[1]


def shuffled(e: Evidence) -> Cells:
    methods = [name for m in (ALL, SMAT) for name in (m, f"shuffled {m}")]
    return "no such control", students(e, ("sst", "cifar", "mlqe"), methods)[1]


def plausible(e: Evidence) -> Cells:
    paper = _listed(
        (SMAT, ALL, LAST, *GRADIENTS, "best head"),
        lambda m: f"{p.value:.2f}" if (p := published().get((2, "movies", m, ""))) else "",
    )
    found = e.plausible.get(("movies", AUC), {})
    names = (SMAT, ALL, LAST, *GRADIENTS, "best head (oracle)")
    ours = _listed(names, lambda m: f"{np.mean(list(found[m].values())):.2f}" if found.get(m) else "")
    return (
        f"AUC, movies: {paper.replace('SMaT, fresh student', 'SMaT')}",
        f"AUC, movies: {ours.replace('SMaT, fresh student', 'SMaT')}",
    )


def sparse(e: Evidence) -> Cells:
    paper = [
        f"{how} {100 * p.value:.1f}"
        for how in ("sparsemax", "softmax", "entmax15", "none")
        if (p := published().get((7, "mlqe", SMAT, how)))
    ]
    size = min(e.sizes("sst"), default=0)
    rooms = {"sparsemax": e.room("sst", "students", size)} | {
        study: e.room("sst", study, size) for study in NORMALISERS
    }
    ours = [f"{how} {100 * room.judged[OWN].median:.1f}" for how, room in rooms.items() if room and OWN in room.outputs]
    grids = e.heads.get(("sst", "students"))
    active = "" if grids is None else f"; {100 * (grids > 0).mean():.0f} % of the heads active"
    gap = active_gap(e)
    auc = "" if gap is None else f"; active heads {gap.values.mean():+.3f} in AUC"
    return f"QE, SMaT: {', '.join(paper)}", f"SST, SMaT, own student: {', '.join(ours) or 'not run'}{active}{auc}"


def location(e: Evidence) -> Cells:
    found = {d: lateness(e.heads.get((d, "students"))) for d in ("sst", "cifar", "mlqe")}
    shown = [f"{TITLES[d]} {q.values.mean():+.2f}" for d, q in found.items() if q is not None]
    return (
        "CIFAR-100 late, QE early (no number; Figure 5)",
        f"mean place of the weights, -0.5 first to 0.5 last layer: {', '.join(shown) or 'not run'}",
    )


COMPARED: dict[int, Callable[[Evidence], Cells]] = {
    1: first, 2: attention, 3: gradients, 4: plausible, 5: sparse, 6: location, 7: shuffled, 8: fresh,
}  # fmt: skip
