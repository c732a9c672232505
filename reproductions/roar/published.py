"""The numbers of Madsen et al. 2022 that are set beside ours, in per cent: mean, up, down (95 %, five seeds)."""

from __future__ import annotations

MEASURES = ("attention", "gradient", "input x gradient", "integrated gradients")
Number = tuple[float, float, float]


def _row(*numbers: Number) -> dict[str, Number]:
    """By measure; a transformer has no attention."""
    return dict(zip(MEASURES[-len(numbers) :], numbers, strict=True))


def _minutes(random: int, *numbers: int) -> dict[str, int]:
    return {"random": random, **dict(zip(MEASURES[-len(numbers) :], numbers, strict=True))}


# Table 2: the area between curves. The IG column was computed by the weighted variant (weighted_integrated_gradients).
AREAS: dict[tuple[str, str], dict[str, Number]] = {
    ("IMDB", "LSTM"): _row((29.8, 5.0, 3.4), (3.1, 2.4, 3.3), (28.4, 1.0, 0.9), (32.5, 0.9, 1.0)),
    ("SNLI", "LSTM"): _row((36.5, 3.0, 3.5), (18.7, 5.1, 3.5), (-10.7, 6.1, 5.7), (-13.9, 5.0, 5.0)),
    ("SST", "LSTM"): _row((15.7, 2.4, 2.4), (7.6, 2.3, 2.0), (28.0, 5.6, 4.4), (37.8, 4.6, 5.3)),
    ("bAbI-1", "LSTM"): _row((66.5, 9.2, 9.2), (66.1, 5.9, 6.5), (71.2, 4.0, 4.2), (59.1, 6.8, 7.4)),
    ("bAbI-2", "LSTM"): _row((75.4, 4.9, 8.1), (66.3, 4.2, 5.1), (66.7, 8.0, 12.4), (34.6, 13.4, 14.8)),
    ("SNLI", "transformer"): _row((50.7, 1.1, 0.8), (41.0, 0.4, 0.5), (56.7, 1.0, 1.1)),
    ("SST", "transformer"): _row((26.1, 1.6, 2.2), (18.6, 4.1, 4.6), (32.9, 1.8, 1.5)),
    ("bAbI-1", "transformer"): _row((64.2, 2.6, 2.6), (52.1, 1.8, 3.7), (48.2, 4.1, 5.7)),
}
# Table 1: performance without masks (the paper has RoBERTa where we have MiniLM); Table 3: the LSTM of Jain & Wallace
UNMASKED: dict[tuple[str, str], Number] = {
    ("IMDB", "LSTM"): (90, 0.4, 0.7), ("SNLI", "LSTM"): (78, 0.2, 0.3), ("SST", "LSTM"): (82, 0.6, 1.0),
    ("bAbI-1", "LSTM"): (100, 0, 0.1), ("bAbI-2", "LSTM"): (68, 9.1, 19.1),
    ("SNLI", "transformer"): (91, 0.1, 0.1), ("SST", "transformer"): (94, 0.3, 0.3),
    ("bAbI-1", "transformer"): (100, 0, 0),
}  # fmt: skip
REFERENCE = {"IMDB": 78, "SNLI": 88, "SST": 81, "bAbI-1": 100, "bAbI-2": 48}  # IMDB and SNLI are probably swapped
# Table 7: minutes of one step (train, explain and mask) on a V100 (LSTM) and an A100 (RoBERTa)
MINUTES: dict[tuple[str, str], dict[str, int]] = {
    ("IMDB", "LSTM"): _minutes(5, 5, 5, 5, 20),
    ("SNLI", "LSTM"): _minutes(49, 46, 48, 48, 69),
    ("SST", "LSTM"): _minutes(2, 2, 2, 2, 3),
    ("bAbI-1", "LSTM"): _minutes(8, 9, 8, 8, 10),
    ("bAbI-2", "LSTM"): _minutes(12, 12, 12, 12, 15),
    ("SNLI", "transformer"): _minutes(63, 88, 70, 341),
    ("SST", "transformer"): _minutes(2, 2, 2, 6),
    ("bAbI-1", "transformer"): _minutes(4, 4, 4, 11),
}
# Table 3: examples of training, validation and test; Table 1: mean length in words with [CLS] and [EOS]
SIZES = {
    "IMDB": ("17212/4304/4362", 181),
    "SNLI": ("549367/9842/9824", 16),
    "SST": ("6579/848/1776", 20),
    "bAbI-1": ("8500/1500/1000", 38),
    "bAbI-2": ("8500/1500/1000", 96),
}
