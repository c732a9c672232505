"""The findings in plain words, with numbers and verdicts from the evidence; those without evidence are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from assay.explainers.learned.parts.worth import doubt
from assay.statistics.bootstrap import Interval

from . import claims as c
from .aim import DEFAULT, PUBLISHED, Aim, aims
from .beside import LAST, NAMES, means, number, short
from .claims import ABLATED, CELLS, CHEAP, CLAIMS, IMDB, LANGUAGE, MOVIES, SST
from .evidence import CONTROL, Cell, Evidence, short_metric
from .published import ENCODERS, places

LEAD = "comprehensiveness"
MODELS = {"minilm": "", "roberta": " (granite RoBERTa)", "distilbert": " (DistilBERT)", "smollm": " (SmolLM2)"}


def findings(e: Evidence) -> str:
    """A list of about ten sentences."""
    written = [sentence for write in WRITERS for sentence in write(e)]
    return "".join(f"- {sentence}\n" for sentence in written) or "Nothing has been run yet.\n"


def place(cell: Cell) -> str:
    return f"{NAMES.get(cell[0], cell[0])}{MODELS[cell[1]]}"


def span(bounds: Interval, *, signed: bool = False) -> str:
    value = f"{bounds.value:+.3f}" if signed else number(bounds.value)
    return f"{value} [{bounds.low:.3f}, {bounds.high:.3f}]"


def _verdicts(e: Evidence) -> Iterator[str]:
    if not e.values:
        return
    judged = {claim: claim.judge(e).verdict for claim in CLAIMS}
    paper = {claim: verdict for claim, verdict in judged.items() if not claim.source.startswith("our")}
    counts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(paper.values()).most_common())
    ours = ", ".join(f"{claim.number} {verdict}" for claim, verdict in judged.items() if claim not in paper)
    yield f"**Of the paper's {len(paper)} claims: {counts}.** Of ours: {ours}."


def _aim(e: Evidence) -> Iterator[str]:
    found = list(aims(e))
    for explainers, words in (
        ((DEFAULT, c.FULL), "Assay's default explainer"),
        ((PUBLISHED,), "`paml`, the paper's pAML in 200 steps,"),
    ):
        own = [a for a in found if a.explainer in explainers and a.metric == LEAD]
        if not own:
            continue
        judged = "; ".join(
            f"**{a.reached}** on {place(a.cell)}{_full(a)}, {number(a.own.value)} against "
            f"{number(a.other.value)} of {a.rival} ({span(a.gain, signed=True)})"
            for a in own
        )
        yield (
            f"**The aim**, {words} in the best group by comprehensiveness among methods of up to {CHEAP} times its "
            f"passes: {judged}.{_blunt(own)}"
        )


def _full(found: Aim) -> str:
    return f" with 2,000 texts (`{c.FULL}`)" if found.explainer == c.FULL else ""


def _blunt(found: Sequence[Aim]) -> str:
    """What "met" does not mean."""
    open_ = [a for a in found if a.reached == "met" and a.gain.low < -c.MARGIN]
    if not open_:
        return ""
    least = max(a.detectable or 0 for a in open_)
    return (
        f" *Met* means only that no method is shown to be better: with so few texts, differences below about "
        f"{number(least)} stay unseen."
    )


def _refined(e: Evidence) -> Iterator[str]:
    parts = []
    for cell in CELLS:
        best = e.best(cell, LEAD, e.baselines(cell, LEAD))
        gain = None if best is None else e.gain(cell, LEAD, LAST, best)
        parts += [] if gain is None else [f"{place(cell)} {span(gain.interval(0.95), signed=True)} ({best})"]
    if parts:
        yield f"**fAML by its last step** against the best of all methods without a fit: {'; '.join(parts)}."


def _fitted(e: Evidence) -> Iterator[str]:
    counts = places("pAML", ENCODERS)
    third = sum(n for place, n in counts.items() if place <= 3)
    parts = [f"{place(cell)} {found}" for cell in CELLS if (found := _rank(e, cell))]
    if parts:
        yield (
            f"**pAML's place** by comprehensiveness among the paper's methods that were run, fAML by its last step: "
            f'{"; ".join(parts)}. The paper says that pAML is "generally securing third place"; in its own Table 1, '
            f"where fAML is chosen in hindsight and Solvex takes part, it is first to third in {third} of "
            f"{counts.total()} columns."
        )


def _rank(e: Evidence, cell: Cell) -> str:
    columns = e.columns(cell, LEAD, ("paml", LAST, *c.RUNNERS_UP, *c.OTHERS))
    if "paml" not in columns or len(columns) == 1:
        return ""
    own = columns["paml"].mean()
    return f"{1 + sum(column.mean() > own for column in columns.values())} of {len(columns)}"


def _hindsight(e: Evidence) -> Iterator[str]:
    oracle, noise, parts = c.oracle(LEAD), c.noise(LEAD), []
    for cell in CELLS:
        columns = e.columns(cell, LEAD, ("paml", oracle, noise))
        gain = e.gain(cell, LEAD, oracle, noise)
        if len(columns) == 3 and gain is not None:
            base, tuned, noisy = (float(columns[m].mean()) for m in ("paml", oracle, noise))
            parts.append(
                f"{place(cell)} from {number(base)} to {number(tuned)} by steps and to {number(noisy)} by noise "
                f"(difference {span(gain.interval(0.95), signed=True)})"
            )
    if parts:
        yield (
            "**Choosing by the reported metric**: the best of ten noisy maps is the control of fAML in hindsight. "
            f"Comprehensiveness goes {'; '.join(parts)}."
        )


def _without_g(e: Evidence) -> Iterator[str]:
    parts = [
        f"{place(cell)} {span(gain.interval(0.95), signed=True)}"
        for cell in CELLS
        if (gain := e.gain(cell, LEAD, LAST, "mask_optimisation")) is not None
    ]
    if parts:
        yield (
            "**fAML against masks without any fitted model** (`mask_optimisation`), both by the last step: "
            f"{'; '.join(parts)}. The masks without a model have loss weights of 1, fAML those of the search, so the "
            "model is not all that differs."
        )


def _doubtful(e: Evidence) -> Iterator[str]:
    """Fits that learnt nothing which a random order does not know."""
    parts = [
        f"`{name}` on {place(cell)} ({short_metric(card['metric'])} {number(found['best'])}, random "
        f"{number(found['random'])})"
        for cell, fits in e.fits.items()
        for name, card in fits.items()
        if (found := card["validation"]) and doubt(card)
    ]
    if parts:
        yield f"**Fits in doubt**, not clearly better than a random order on their own dev texts: {'; '.join(parts)}."


def _unfinished(e: Evidence) -> Iterator[str]:
    """Fits of the paper's kind that were best at their last check."""
    parts = []
    for cell, fits in e.fits.items():
        for name, card in fits.items():
            values = [check["value"] for check in card["curve"]]
            best = (max if card["better"] == "higher" else min)(values, default=None)
            parts += [f"`{name}` on {place(cell)}"] if name.startswith("paml") and best in values[-1:] else []
    if parts:
        yield f"**Fits best at their last check**, which more steps may improve: {'; '.join(parts)}."


def _search(e: Evidence) -> Iterator[str]:
    first, second = e.weights(SST, "searched"), e.weights(SST, "searched_sufficiency")
    if first is None or second is None:
        return
    one, two = (
        f"L_p {w['preservation']:.2f}, L_a {w['sparsity']:.2f}, L_inv {w['inverse']:.2f}" for w in (first, second)
    )
    found = (
        f"both searches, by comprehensiveness and by sufficiency, ended on the same weights ({one}). They share a seed "
        "and so begin with the same trials, and one of these won both. `paml` and `paml_sufficiency` therefore differ "
        "only by the metric that chose their checkpoint, and by chance (the order of batches)"
        if first == second
        else f"{one} by comprehensiveness; {two} by sufficiency"
    )
    yield (
        f"**Weights of the losses**: {found}. The paper says that L_inv gets more weight for comprehensiveness than "
        "for sufficiency, and L_p less. One search for each metric cannot test this. (Until the first weights were "
        "seen, claim 5 judged them as exact numbers.)"
    )


def _ablation(e: Evidence) -> Iterator[str]:
    shown = means(e, (ABLATED,), ("full", "without_preservation", "without_inverse", "l1"))
    if shown != "not run":
        yield f"**Losses** (comprehensiveness, a trunk): {shown}. {_verdict(5)(e)} {_verdict(6)(e)}"


def _verdict(number_of_claim: int) -> Callable[[Evidence], str]:
    claim = CLAIMS[number_of_claim - 1]
    return lambda e: f"Claim {claim.number} ({claim.title}): {claim.judge(e).verdict}."


def _language(e: Evidence) -> Iterator[str]:
    methods = ("paml", LAST, DEFAULT, c.FULL, c.LANGUAGE_RUNNER_UP, "occlusion", "self_ranking", "random")
    columns = e.columns(LANGUAGE, LEAD, methods)
    if columns:
        texts = len(next(iter(columns.values())))
        fit = e.fits.get(LANGUAGE, {}).get("paml")
        steps = (
            f" pAML was fitted in {fit['curve'][-1]['step']} steps with loss weights of 1; the paper's has about 500 "
            "steps and searched weights."
            if fit
            else ""
        )
        yield f"**Language model** ({texts} texts, comprehensiveness): {means(e, (LANGUAGE,), methods)}.{steps}"


def _time(e: Evidence) -> Iterator[str]:
    if (ratio := e.slowdown(IMDB, SST, LAST)) is not None:
        longer = e.units[IMDB] / e.units[SST] if e.units.get(SST) else None
        length = "" if longer is None else f", for texts {longer:.0f} times as long"
        yield (
            f"**Time**: fAML takes {ratio.value:.1f} times as long for an IMDB review as for a sentence of SST"
            f"{length}; the paper's seconds give 1.07, for texts 16 times as long (226 words against 14), on a GPU "
            "that one text does not fill. On a CPU core, time grows with the tokens."
        )


def _rationales(e: Evidence) -> Iterator[str]:
    columns = e.columns(MOVIES, "top_k_f1", ("paml", LAST, DEFAULT, "decompx", "random"))
    if columns:
        texts = len(next(iter(columns.values())))
        shown = ", ".join(f"{short(m)} {number(float(column.mean()))}" for m, column in columns.items())
        yield f"**Human rationales** (macro F1, {texts} reviews): {shown}. {_verdict(15)(e)}"


def _domain(e: Evidence) -> Iterator[str]:
    own, far = (e.gain(cell, LEAD, DEFAULT, "decompx") for cell in (SST, IMDB))
    if far is None:
        return
    at_home = "" if own is None else f"; on SST it is {span(own.interval(0.95), signed=True)}"
    worse = own is not None and far.interval(0.95).high < own.interval(0.95).low
    advice = "Fit on texts of the kind that you explain." if worse else "So few reviews decide little."
    yield (
        "**Texts of another kind**: the default explainer, fitted on SST, has "
        f"{span(far.interval(0.95), signed=True)} against decompx on {len(far.values)} IMDB reviews{at_home}. The "
        f"explained model is also trained on SST. {advice}"
    )


def _warm(e: Evidence) -> Iterator[str]:
    columns = e.columns(SST, LEAD, (DEFAULT, "warm", "cold"))
    if len(columns) == 3:
        source, warm, cold = (number(float(columns[m].mean())) for m in (DEFAULT, "warm", "cold"))
        yield (
            f"**A warm start** (SST, test texts): {warm} after masking losses from the default explainer, which has "
            f"{source}; {cold} from random weights. The cold fit has 50 steps; the warm one has them on top of the "
            "steps of its source."
        )


def _retrained(e: Evidence) -> Iterator[str]:
    yield from (f"**Trained again**: {sentence}" for sentence in e.retrained)


def _limits(e: Evidence) -> Iterator[str]:
    if e.values:
        counts = [f"{len(columns[CONTROL])} of {place(x)}" for x in CELLS if (columns := e.columns(x, LEAD, [CONTROL]))]
        yield (
            f"**Limits**: few test texts ({', '.join(counts)}), one training of each model and one fit of each "
            "explainer; intervals are over texts and say nothing about other seeds. MiniLM has a fifth of the "
            "parameters of BERT base, and SmolLM2 a fiftieth of those of Llama 2."
        )


def _cost(e: Evidence) -> Iterator[str]:
    if e.took:
        yield f"**Cost**: the jobs took {e.took / 3600:.1f} hours by the clock, added up, on cores with other work."


WRITERS = (
    _verdicts,
    _aim,
    _refined,
    _without_g,
    _hindsight,
    _fitted,
    _doubtful,
    _unfinished,
    _warm,
    _search,
    _ablation,
    _language,
    _rationales,
    _time,
    _domain,
    _retrained,
    _limits,
    _cost,
)
