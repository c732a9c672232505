"""Other names for the labels of a data set."""

from __future__ import annotations

import pytest

from assay import Example, SpecError, load_dataset
from assay.training.splits import training_data

ROWS = [{"text": "good", "label": "pos"}, {"text": "bad", "label": "neg"}, {"text": "hm", "label": "unclear"}]


def labels(data) -> list[object]:
    return [example.label for example in data]


def test_labels_get_other_names_one_name_or_none() -> None:
    data = load_dataset(ROWS, label_map={"pos": "positive", "neg": "negative", "unclear": None})
    assert labels(data) == ["positive", "negative", None]
    assert data.labels == ("negative", "positive")
    merged = load_dataset(ROWS, label_map={"unclear": "neg"})
    assert labels(merged) == ["pos", "neg", "neg"]
    assert merged.fingerprint != load_dataset(ROWS).fingerprint


def test_numbers_are_mapped_by_what_stands_in_the_file() -> None:
    data = [Example("a", label=0), Example("b", label=1)]
    for label_map in ({0: "negative", 1: "positive"}, {"0": "negative", "1": "positive"}):
        assert labels(load_dataset(data, label_map=label_map)) == ["negative", "positive"]


def test_a_label_that_the_data_lack_is_an_error() -> None:
    with pytest.raises(SpecError, match="has no label 'psitive' to map; did you mean"):
        load_dataset([{"text": "a", "label": "positive"}], label_map={"psitive": "good"})
    with pytest.raises(SpecError, match="has scores, not labels"):
        load_dataset([{"text": "a", "score": 0.5}], label_map={"pos": "positive"})


def test_a_training_maps_labels_that_only_one_split_has(tmp_path) -> None:
    (tmp_path / "train.csv").write_text("text,label\na,pos\nb,neg\nc,mixed\n")
    (tmp_path / "dev.csv").write_text("text,label\na,pos\nb,neg\n")
    train, dev = training_data(tmp_path, label_map={"pos": "positive", "mixed": None})
    assert labels(train) == ["positive", "neg", None]
    assert labels(dev) == ["positive", "neg"]
