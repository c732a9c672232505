"""Prepare all data of Madsen et al. 2022 for the full-scale plans. NOT RUN HERE on whole data.

    python -m reproductions.roar.full.data --source DATA [--mimic MIMIC] [--output reproductions/roar/full/data]

README.md says what DATA and MIMIC must hold. Counts are printed beside the paper's; they must be equal.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from ..data import Splits, babi, imdb, snli, sst, write
from .mimic import anemia, diabetes

SIZES = {
    "sst": (6579, 848, 1776), "imdb": (17212, 4304, 4362), "snli": (549367, 9842, 9824), "babi1": (8500, 1500, 1000),
    "babi2": (8500, 1500, 1000), "babi3": (8500, 1500, 1000), "anemia": (4262, 729, 1242),
    "diabetes": (8066, 1573, 1729),
}  # fmt: skip
IMDB_TEST = 5  # the paper uses a fifth of the test reviews
PUBLIC = {"sst": sst, "snli": snli, **{f"babi{task}": partial(babi, task=task) for task in (1, 2, 3)}}


def fifth_of_imdb(source: Path) -> Splits:
    splits = imdb(source)
    return {**splits, "test": splits["test"][::IMDB_TEST]}


def compare(name: str, splits: Splits) -> str:
    counts = tuple(len(splits[split]) for split in ("train", "dev", "test"))
    return f"{name}: {counts}, as in the paper" if counts == SIZES[name] else f"{name}: {counts}, PAPER {SIZES[name]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="folder of sst5, babi, snli and imdb")
    parser.add_argument("--mimic", type=Path, help="folder of MIMIC-III's CSV files and Jain and Wallace's splits")
    parser.add_argument("--output", type=Path, default=Path("reproductions/roar/full/data"))
    options = parser.parse_args()
    tasks = {**PUBLIC, "imdb": fifth_of_imdb} if options.source else {}
    notes = {"anemia": anemia, "diabetes": diabetes} if options.mimic else {}
    if not tasks and not notes:
        raise SystemExit("give --source, the folder of the public data, or --mimic, the folder of MIMIC-III, or both.")
    for folder, group in ((options.source, tasks), (options.mimic, notes)):
        for name, task in group.items():
            splits = task(folder)
            write(options.output / name, splits)
            print(compare(name, splits))


if __name__ == "__main__":
    main()
