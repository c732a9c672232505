"""Draw the figures of the results page that need records alone; heads.py draws those that need models."""

from __future__ import annotations

from pathlib import Path

from assay.explainers.learned.parts.head_map import head_map_svg
from assay.reports.aggregate import Point
from assay.reports.figures import Panel, bars, over

from .evidence import Evidence
from .tables import ORDER

TITLES = {"sst": "SST", "cifar": "CIFAR-10", "mlqe": "quality estimation"}
DRAWN = {  # by heads.py
    "figure3.png": "Figure 3: what the methods say about one sentence",
    "figure4.png": "Figure 4: what the methods say about images; grey: shares, red and blue: for and against the class",
    "figure7.png": "Figure 7: what every head of the image model looks at, layers down and heads across",
    "figure8.png": "Figure 8: the same for a sentence (paper: a second image)",
}


def draw(e: Evidence, folder: Path) -> dict[str, str]:
    """Draw every figure that has results. Returns file name -> title."""
    folder.mkdir(parents=True, exist_ok=True)
    out = {}
    panels = [panel for data in TITLES if (panel := _panel(e, data)) is not None]
    if panels:
        sizes = sorted({size for panel in panels for size in panel.places})
        if all(len(panel.places) == 1 for panel in panels):  # no line can be drawn
            bars(panels, {size: f"{size:,} examples" for size in sizes}, folder / "students.png", order=ORDER)
        else:
            over(panels, folder / "students.png", "texts for each student", order=ORDER)
        out["students.png"] = "Simulability: means over seeds with 95 % intervals over seeds and texts, a dot per seed"
    for (data, study), grids in e.heads.items():
        if study == "students":
            name = f"figure5-{data}.svg"
            (folder / name).write_text(head_map_svg(grids.mean(0)), encoding="utf-8")
            active = (grids > 0).mean()
            out[name] = (
                f"Figure 5, {TITLES[data]}: weights of the heads, mean over {len(grids)} fits; on average a fit gives "
                f"{100 * active:.0f} % of the heads a weight"
            )
    return out | {name: title for name, title in DRAWN.items() if (folder / name).is_file()}


def _panel(e: Evidence, data: str) -> Panel | None:
    points = {}
    for size in e.sizes(data):
        for method, judged in e.rooms[data, "students"][size].judged.items():
            if method in ORDER:
                mean = judged.mean
                points[size, method] = Point(mean.value, mean.low, mean.high, judged.students, 0)
    return Panel(TITLES[data], "Pearson's r" if data == "mlqe" else "agreement", points) if points else None
