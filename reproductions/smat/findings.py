"""The findings in plain words, with numbers and verdicts from the evidence; what was not run is left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.evaluation.simulability.verdict import FEWEST, HURTS, NO_EFFECT, REGULARISES, TEACHES, UNDECIDED
from assay.statistics.claims import Judgement
from assay.statistics.quantities import Quantity
from assay.statistics.sentences import listed

from .claims import AUC, CLAIMS, CLOSE, active_gap
from .evidence import NONE, Evidence, Gain, Room
from .published import ALL, GRADIENTS, LAST, OWN, SMAT, columns, points, published
from .teaching import taught

NAMES = {"sst": "SST", "cifar": "CIFAR-10", "mlqe": "Quality estimation"}
PAPER = {"sst": (1, "imdb"), "cifar": (3, "cifar"), "mlqe": (5, "mlqe")}  # table and data set of the paper
WORDS = {
    TEACHES: "teach{es}: better than none, and better than the same shares shuffled over the tokens",
    REGULARISES: "help{s}, but not clearly more than their shuffled shares: any regularisation may do that",
    HURTS: "hurt{s}",
    NO_EFFECT: "cannot be told from none with these students",
    UNDECIDED: "cannot be judged with fewer than " + f"{FEWEST} students",
}


def findings(e: Evidence) -> str:
    """About ten lines."""
    judged = {claim.number: claim.judge(e) for claim in CLAIMS}
    rooms = [(data, min(e.sizes(data))) for data in NAMES if e.sizes(data)]
    lines = [_counts(judged)]
    for data, size in rooms:
        room = e.rooms[data, "students"][size]
        lines.append(f"{_setting(e, data, size, room)} {_power(data, room)}")
        lines.append(f"{NAMES[data]}: {_verdicts(room)} {_any(room)}")
        lines.append(_own(data, room))
    lines += [_normalisers(e), _heads(e), _plausibility(e), _active(e), _by_pieces(e), *e.retrained, _cost(e)]
    return "\n".join(f"- {line.strip()}" for line in lines if line) + "\n"


def _counts(judged: dict[int, Judgement]) -> str:
    def words(numbers: Sequence[int]) -> str:
        verdicts = [str(judged[n].verdict) for n in numbers]
        kinds = sorted(set(verdicts), key=lambda v: (-verdicts.count(v), v))
        return listed([f"{verdicts.count(v)} {v}" for v in kinds])

    paper, ours = [n for n in judged if n <= 6], [n for n in judged if n > 6]
    return f"**Of the paper's {len(paper)} claims: {words(paper)}.** Of two more of ours: {words(ours)}."


def _setting(e: Evidence, data: str, size: int, room: Room) -> str:
    quality = e.teachers.get(data, {})
    name, value = next(((n, quality[n]) for n in ("accuracy", "pearson") if n in quality), ("", 0.0))
    unit = f"Pearson's r {value:.2f}" if name == "pearson" else f"accuracy {100 * value:.0f} %"
    teacher = f"; their teacher has {unit} on its validation examples" if name else ""
    seeds = len(room.outputs[NONE])
    return (
        f"**{NAMES[data]}**: {seeds} students per method learn from {size:,} examples each and are tested on "
        f"{len(room.answers):,}{teacher}. Without explanations they reach {_mean(room, NONE)}"
        f"{_with(room, 'uniform', ', with equal shares for all tokens ')}{_floor(room)}."
    )


def _floor(room: Room) -> str:
    """What can be reached without learning anything, and whether students without explanations did better."""
    if room.most_frequent is None:
        return ""
    words = f"; always giving the most frequent answer reaches {100 * room.most_frequent:.1f}"
    if room.above_most_frequent(NONE).interval(0.95).low > 0:
        return words
    return f"{words}, which they do not clearly exceed: they hardly learnt, and say little about explanations"


def _mean(room: Room, method: str) -> str:
    return f"{100 * room.judged[method].mean.value:.1f}"


def _with(room: Room, method: str, words: str) -> str:
    return f"{words}{_mean(room, method)}" if method in room.outputs else ""


def _verdicts(room: Room) -> str:
    """The verdict on every judged method, strongest first."""
    found = taught(room)
    parts = []
    for verdict, words in WORDS.items():
        methods = [m for m, t in found.items() if t.verdict == verdict]
        shown = [f"`{m}` ({points(found[m].over_none)} over none{_shuffled(found[m])})" for m in methods]
        if shown:
            parts.append(f"{listed(shown)} {words.format(s='s' * (len(shown) == 1), es='es' * (len(shown) == 1))}")
    corrected = sum(t.over_shuffled is not None for t in found.values())
    note = f" (intervals corrected for {corrected} methods; all others in these findings are 95 % intervals)"
    note = note if corrected > 1 else ""
    return f"{'; '.join(parts)}{note}." if parts else ""


def _shuffled(found: object) -> str:
    bounds = getattr(found, "over_shuffled", None)
    return "" if bounds is None else f", {points(bounds)} over shuffled"


def _power(data: str, room: Room) -> str:
    """What these students could have shown, beside the paper's gains of SMaT."""
    found = taught(room)
    if not found or len(room.outputs[NONE]) < FEWEST:
        return ""
    table, name = PAPER[data]
    cells = [[published()[table, name, m, column].value for m in (SMAT, NONE)] for column in columns(table, name)]
    scale = 1 if cells[0][0] > 1 else 100  # correlations are published as such
    gains = [scale * (smat - none) for smat, none in cells]
    reach = [100 * t.detectable for t in found.values()]
    span = f"{min(reach):.1f}" if len(reach) == 1 else f"{min(reach):.1f} to {max(reach):.1f}"
    words = f"Gains over none of {span} points, by method, would have been found about four times in five."
    if OWN not in found:
        return words
    own = 100 * found[OWN].detectable  # the paper's SMaT students learnt while the heads were found
    which = "" if own <= min(gains) else "any of these" if own > max(gains) else "the smallest of these"
    missed = f", so {which} could be missed" if which else ""
    return (
        f"{words} The paper's SMaT students gain {min(gains):.1f} to {max(gains):.1f} points; of such students, a gain "
        f"of {own:.1f} would have been found here{missed}."
    )


def _own(data: str, room: Room) -> str:
    """The paper's student, which learnt while the heads were found, beside the fresh one and the best static method."""
    static = [m for m in (ALL, LAST, *GRADIENTS) if m in room.outputs]
    if OWN not in room.outputs or not static:
        return ""
    best = max(static, key=lambda m: room.judged[m].mean.value)
    chosen = "the best of the static methods by these very scores" if len(static) > 1 else "the only static method run"
    pairs = [(NONE, "none"), (best, f"`{best}` ({chosen})"), (SMAT, "the fresh student")]
    shown = [f"{_difference(room.gain(OWN, other))} over {words}" for other, words in pairs if other in room.outputs]
    return f"{NAMES[data]}: the paper's SMaT student, which learnt while the heads were found, is {listed(shown)}."


def _any(room: Room) -> str:
    """What explanations without information do."""
    controls = [m for m in room.outputs if m == "uniform" or m.startswith("shuffled ")]
    shown = [f"`{m}` {_difference(room.gain(m, NONE))}" for m in controls]
    return f"Explanations without information, over none: {listed(shown)}." if shown else ""


def _difference(gain: Gain | None) -> str:
    return "" if gain is None else points(gain.interval(0.95))


def _normalisers(e: Evidence) -> str:
    size = min(e.sizes("sst"), default=0)
    studies = {"softmax": "softmax", "entmax15": "entmax15", "none": "no_normaliser"}
    gaps = {name: e.between("sst", size, OWN, "students", study) for name, study in studies.items()}
    shown = [f"{_difference(gap)} over {name}" for name, gap in gaps.items() if gap is not None]
    return f"Normaliser of the heads, SST: with sparsemax, SMaT's own student is {listed(shown)}." if shown else ""


def _heads(e: Evidence) -> str:
    """How many heads are left, and where they are."""
    shown = []
    for data, name in NAMES.items():
        grids = e.heads.get((data, "students"))
        if grids is not None:
            layers = (grids.sum(2) / grids.sum((1, 2))[:, None]).mean(0)
            share, most = 100 * (grids > 0).mean(), int(layers.argmax())
            shown.append(
                f"{name} {share:.0f} % of {grids[0].size}, the largest part of their weight "
                f"({100 * layers[most]:.0f} %) in layer {most + 1} of {len(layers)}"
            )
    return f"Heads that keep a weight, means of the fits: {'; '.join(shown)} (Figure 5)." if shown else ""


def _plausibility(e: Evidence) -> str:
    found = e.plausible.get(("movies", AUC), {})
    order = [
        m for m in (SMAT, ALL, LAST, *GRADIENTS, "random", "best layer (oracle)", "best head (oracle)") if found.get(m)
    ]
    if SMAT not in order:
        return ""
    shown = listed([f"`{m}` {np.mean(list(found[m].values())):.2f}" for m in order])
    return (
        f"Plausibility, {len(found[SMAT])} movie reviews, one fit, AUC: {shown}; the paper has .73 for SMaT, .68 for "
        f"all layers, .75 for the best head.{_near_chance(e)}"
    )


def _near_chance(e: Evidence) -> str:
    """The claim to be as good as the best head has a margin that random scores may nearly keep, too."""
    gap = e.more_plausible("movies", AUC, "random", "best head (oracle)")
    if gap is None:
        return ""
    below = -float(gap.values.mean())
    return (
        f" Random scores are {below:.3f} below the best head, so to be as good as that within {CLOSE:g} (claim 4) says "
        "little."
        if below < 2 * CLOSE
        else ""
    )


def _active(e: Evidence) -> str:
    gap = active_gap(e)
    if gap is None:
        return ""
    bounds = Quantity(gap.values).interval(0.95)
    return (
        "Movies: the mean AUC of the heads with a weight minus that of the others is "
        f"{bounds.value:+.3f} [{bounds.low:+.3f}, {bounds.high:+.3f}], for the heads of one fit; the paper says that "
        "heads with a weight are more plausible."
    )


def _by_pieces(e: Evidence) -> str:
    """Random scores should have an AUC of .5; sums over the pieces of a word give them more."""
    parts = []
    for title, part in (("source", "text"), ("translation", "text_pair")):
        found = e.plausible.get(("ro-en", f"auc(words=sum, part={part})"), {}).get("random")
        bounds = Quantity(np.array(list(found.values()))).interval(0.95) if found and len(found) > 1 else None
        parts += [f"{bounds.value:.2f} on the {title}"] if bounds is not None and bounds.low > 0.5 else []
    if not parts:
        return ""
    return (
        f"Quality estimation: random scores have an AUC of {listed(parts)}. The score of a word is the sum over its "
        "pieces, as in the paper, so words of many pieces lead, and those are tagged as bad more often than others. "
        "Table 6 is to be compared with `random`, not with .5."
    )


def _cost(e: Evidence) -> str:
    hours = sum(e.seconds.values()) / 3600
    return (
        f"Cost: the jobs took {hours:.1f} hours by the clock, added up, on a machine with other work." if hours else ""
    )
