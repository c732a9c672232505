"""Ways in which a user's data could be misread without an error: each is read right, noted or refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from assay import AssayError, DataWarning, Example
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset

TEXTS = (
    "a fine film with a warm heart", "a dull and lifeless film", "the acting is superb", "a waste of two hours",
    "funny, sharp and moving", "I fell asleep halfway through", "one of the best films", "the plot makes no sense",
    "a joy from start to end", "loud, long and empty", "it is a small miracle", "nothing here is worth seeing",
)  # fmt: skip
LABELS = ("positive", "negative") * 6
ROWS = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
CSV = "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in zip(TEXTS, LABELS, strict=True))


def rows(**columns: Any) -> list[dict[str, Any]]:
    """The twelve rows with further columns, each a value for all or a function of (number, text, label)."""
    return [
        {**row, **{k: v(i, row["text"], row["label"]) if callable(v) else v for k, v in columns.items()}}
        for i, row in enumerate(ROWS)
    ]


def renamed(**names: str) -> list[dict[str, Any]]:
    return [{new: row[old] for old, new in names.items()} for row in ROWS]


def load(path: Path, content: Any, **options: Any) -> Dataset:
    """A data set from rows (written as JSON Lines), text or bytes."""
    if isinstance(content, list):
        content = "".join(json.dumps(row) + "\n" for row in content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return load_dataset(path, **options)


def numbered(pattern: str) -> str:
    """A CSV file whose labels follow a pattern."""
    return "text,label\n" + "".join(f'"{text}",{pattern.format(i % 2 + 1)}\n' for i, text in enumerate(TEXTS))


RIGHT = [  # name, file, content, labels that are read
    ("byte order mark", "a.csv", CSV.encode("utf-8-sig"), ("negative", "positive")),
    ("UTF-16", "a.csv", CSV.encode("utf-16"), ("negative", "positive")),
    ("UTF-32", "a.csv", CSV.encode("utf-32"), ("negative", "positive")),
    ("semicolons", "a.csv", CSV.replace('",', '";').replace("text,", "text;"), ("negative", "positive")),
    ("tabs in a csv file", "a.csv", CSV.replace('",', '"\t').replace("text,", "text\t"), ("negative", "positive")),
    ("commas in a tsv file", "a.tsv", CSV, ("negative", "positive")),
    (
        "blanks after the commas",
        "a.csv",
        CSV.replace(",p", ", p").replace(",n", ", n").replace(",l", ", l"),
        ("negative", "positive"),
    ),
    (
        "blanks before quotation marks",
        "a.csv",
        CSV.replace("text,", "page, text,").replace('\n"', '\n7, "').replace(",l", ", l").replace('",', '", '),
        ("negative", "positive"),
    ),
    (
        "an empty line at the end",
        "a.jsonl",
        "".join(json.dumps(r) + "\n" for r in ROWS) + "\n",
        ("negative", "positive"),
    ),
    ("one column", "a.csv", "text\n" + "\n".join(f'"{text}"' for text in TEXTS), None),
    ("labels with a leading zero", "a.csv", numbered("0{}"), ("01", "02")),
    ("labels in capitals", "a.jsonl", rows(label=lambda i, t, label: label.upper()), ("NEGATIVE", "POSITIVE")),
    ("names in any case", "a.csv", CSV.replace("text,label", "Comment Text,SENTIMENT"), ("negative", "positive")),
]


@pytest.mark.parametrize(("name", "content", "labels"), [row[1:] for row in RIGHT], ids=[row[0] for row in RIGHT])
def test_read_right(tmp_path: Path, name: str, content: Any, labels: Any) -> None:
    data = load(tmp_path / name, content)
    assert [example.text for example in data] == list(TEXTS)
    assert data.labels == labels
    assert data.notes == ()


NOTED = [  # name, content, what the note says
    (
        "an unused text",
        rows(title=lambda i, *_: f"the film of day {i}"),
        "The column 'title' holds text that is not used (text: 'text'); to read it as the second text: "
        "--columns text=text,text_pair=title.",
    ),
    (
        "two unused texts",
        rows(Title=lambda i, *_: f"the film of day {i}", summary=lambda i, t, _: f"all in all {t}"),
        "The columns 'summary', 'Title' hold texts that are not used",
    ),
    (
        "an unused text beside a pair",
        [{"premise": t, "hypothesis": "a film", "why": f"because it says {t}"} for t in TEXTS],
        "to read it as the text: --columns text=why",
    ),
    (
        "a pair in either order",
        [{"document": t, "query": f"is it good? {i}", "classification": "True"} for i, t in enumerate(TEXTS)],
        "The order of the texts, 'document' before 'query', is a guess; for the other order: "
        "--columns text=query,text_pair=document.",
    ),
    (
        "HTML",
        rows(text=lambda i, t, _: t.replace(" ", "<br /> ", 1) if i < 3 else t),
        "3 of 12 texts contain HTML such as '<br />', which the model reads as words.",
    ),
    (
        "pieces of words",
        rows(text=lambda i, t, _: f"{t} un ##believ ##able"),
        "12 of 12 texts contain marks of a tokenizer such as '##believ'; give the texts as people read them.",
    ),
    ("unknown words", rows(text=lambda i, t, _: f"the <unk> {t}"), "marks of a tokenizer such as '<unk>'"),
    ("entities", rows(text=lambda i, t, _: f"{t} &amp; more"), "12 of 12 texts contain HTML such as '&amp;'"),
    (
        "a wrong encoding before",
        rows(text=lambda i, t, _: f"{t} caf\u00c3\u00a9"),
        "12 of 12 texts contain damaged characters such as 'Ã©'; check the encoding of the file.",
    ),
    ("texts twice", ROWS + ROWS[:4], "4 of 16 inputs repeat an earlier one; they count as examples of their own."),
    (
        "texts with two labels",
        [*ROWS, {"text": TEXTS[0], "label": "negative"}],
        "1 of 12 different inputs occur with more than one label.",
    ),
    (
        "the same text twice in a pair",
        [{"sentence1": t, "sentence2": t} for t in TEXTS],
        "In 12 of 12 pairs both texts are the same.",
    ),
    (
        "empty cells written as words",
        [*ROWS, {"text": "nan"}, {"text": "None"}],
        "2 of 14 texts are words such as 'nan', perhaps empty cells.",
    ),
    (
        "lists of tokens as texts",
        rows(text=lambda i, t, _: json.dumps(t.split())),
        "The texts are lists of tokens; to read them as such: --columns tokens=text.",
    ),
    ("lists as Python prints them", rows(text=lambda i, t, _: str(t.split())), "The texts are lists of tokens"),
    (
        "labels in two cases",
        rows(label=lambda i, t, label: label.upper() if i < 2 else label),
        "The labels 'NEGATIVE' and 'negative' differ only in case and are classes of their own.",
    ),
    ("no label", [*ROWS, {"text": "a film without a label"}], "1 of 13 examples have no label."),
    (
        "an empty label written as a word",
        [*ROWS, {"text": "a film", "label": "NaN"}],
        "The label 'NaN' is read as a class; if it is an empty cell, leave the cell empty.",
    ),
    (
        "labels that are ids",
        rows(label=lambda i, *_: f"r-{i}"),
        "The column 'label' has 12 different labels for 12 examples; if they are ids or texts, choose another",
    ),
    (
        "scores as classes",
        [{"text": f"a film {i}", "label": i % 60} for i in range(150)],
        "The 60 different whole numbers in 'label' are read as classes; if they are scores: --columns score=label.",
    ),
    (
        "labels such as 1.0",
        rows(label=lambda i, *_: f"{i % 2}.0"),
        "Labels such as '0.0' are read as classes; if they are scores: --columns score=label.",
    ),
    (
        "labels that count from 1",
        rows(label=lambda i, *_: i % 2 + 1),
        "The labels 1 to 2 are read as indices of classes, which count from 0; if 1 is the first class, subtract 1.",
    ),
    (
        "numbers and words as labels",
        rows(label=lambda i, t, label: label if i else 1),
        "The labels are numbers (1) and words ('negative') mixed",
    ),
    (
        "stars",
        [{"Review": t, "Stars": i % 5 + 1} for i, t in enumerate(TEXTS)],
        "The whole numbers in 'Stars' are read as scores; if they are classes: --columns label=Stars.",
    ),
    (
        "a name that a shell would cut",
        [{"Review": t, "Star rating": i % 5 + 1} for i, t in enumerate(TEXTS)],
        "The whole numbers in 'Star rating' are read as scores; if they are classes: --columns 'label=Star rating'.",
    ),
    (
        "topics in a column of lists, as in Reuters",
        [{"body": t, "topics": ["earn" if i % 3 else "acq"], "places": ["usa"]} for i, t in enumerate(TEXTS)],
        "No labels are read; if the column 'topics' holds them: --columns label=topics.",
    ),
    (
        "labels under an unknown name",
        [{"text": t, "toxic": i % 2, "split": ["a", "b", "c"][i % 3]} for i, t in enumerate(TEXTS)],
        "No labels are read; if one of the columns 'toxic', 'split' holds them: --columns label=toxic.",
    ),
    (
        "evidences in documents elsewhere, as ERASER stores them",
        [{"query": t, "evidences": [[{"docid": "d", "start_token": 0, "end_token": 2}]]} for t in TEXTS],
        "The rationales in 'evidences' are not used: they mark documents that are not among the columns",
    ),
    (
        "entities",
        rows(spans=[{"start": 0, "end": 1, "label": "PERSON"}]),
        "The objects in 'spans' are not read as rationales; those have a start and an end, and no label.",
    ),
    ("ids twice", rows(id="x"), "11 of 12 ids repeat an earlier one and are numbered: 'x', 'x#2'."),
    (
        "offsets in bytes",
        rows(text=lambda i, t, _: f"é—é— {t}", rationale=lambda i, t, _: [[11 + t.index(" "), 15 + t.index(" ")]]),
        "rationale spans begin or end inside a word",
    ),
    ("offsets in tokens", rows(rationale=[[1, 3]]), "rationale spans begin or end inside a word"),
    (
        "marks on blanks",
        rows(rationale=lambda i, t, _: [[t.index(" "), t.index(" ") + 1]]),
        "12 of 12 rationale spans mark only blanks; offsets count characters (not bytes) from 0",
    ),
    (
        "objects as texts",
        rows(text=lambda i, t, _: json.dumps({"body": t})),
        "12 of 12 texts are objects such as",
    ),
    (
        "names of files as texts",
        rows(text=lambda i, t, label: f"reviews/{label}/{i}.txt"),
        "12 of 12 texts are names of files or addresses such as 'reviews/positive/0.txt': these are read",
    ),
    (
        "addresses as texts",
        rows(text=lambda i, *_: f"https://a.example/{i}"),
        "12 of 12 texts are names of files or add",
    ),
    ("bytes as Python prints them", rows(text=lambda i, t, _: str(t.encode())), "such as \"b'a fine film with a warm"),
    ("quotation marks", rows(text=lambda i, t, _: f'"{t}"'), "12 of 12 texts stand in quotation marks"),
    ("numbers as texts", rows(text=lambda i, *_: f"{7 * i}.5"), "12 of 12 texts are numbers such as '0.5'"),
    (
        "escapes",
        rows(text=lambda i, t, _: f"Good.\\n\\n{t}"),
        "contain escape sequences such as '\\n', which the model",
    ),
    ("cut with dots", rows(text=lambda i, t, _: f"{t[:12]}..."), "texts end with dots, such as 'a fine film ...'"),
    (
        "cut at one length",
        rows(text=lambda i, t, _: (f"{t}, " * 9)[:80]),
        "12 of 12 texts have the greatest length, 80 characters: perhaps they were cut.",
    ),
    ("empty texts", rows(text=lambda i, t, _: ("", " ", "\u200b")[i] if i < 3 else t), "3 of 12 texts are empty."),
    (
        "a label of fastText",
        [{"text": f"__label__{label} {t}"} for t, label in zip(TEXTS, LABELS, strict=True)],
        "12 of 12 texts begin with a label as fastText writes it, such as '__label__positive a fine",
    ),
    ("rows as texts", [{"text": f"{t}\t1"} for t in TEXTS], "name the file .tsv and its columns"),
    (
        "the label at the end of a prompt",
        rows(text=lambda i, t, label: f"Review: {t} Sentiment: {label}."),
        "12 of 12 texts begin or end with their own label, such as 'positive': a model can read it there.",
    ),
    (
        "labels with a full stop",
        rows(label=lambda i, t, label: f"{label}." if i < 3 else label),
        "The labels 'negative' and 'negative.' differ only in case, blanks or punctuation",
    ),
    (
        "numbers and words as labels, written as text",
        rows(label=lambda i, t, label: label if i % 3 else str(i % 2)),
        "The labels are numbers ('0') and words ('negative') mixed",
    ),
    (
        "two data sets joined",
        rows(label=lambda i, t, label: label if i < 6 else label[:3]),
        "The first 6 labels are 'positive', 'negative', all later ones 'pos', 'neg'; if two data sets were joined",
    ),
    ("one label", rows(label="positive"), "All 12 labels are 'positive'; always predicting it is always right."),
    (
        "several labels in one text",
        rows(label=lambda i, *_: "joy, love" if i % 3 else "joy"),
        "The label 'joy, love' is read as one class; if it is several labels, keep one, or leave the row out.",
    ),
    (
        "decimal commas",
        rows(label=lambda i, *_: f"{i % 3},5"),
        "Labels such as '0,5' are read as classes; if they are scores, write them with a point.",
    ),
    (
        "two columns of labels",
        rows(gold_label=lambda i, *_: LABELS[i // 2]),
        "The labels are read from 'label'; those in 'gold_label' differ; to read these: --columns label=gold_label.",
    ),
    (
        "names that do not fit the labels",
        rows(label=lambda i, *_: i % 2, label_text=lambda i, *_: ("neg", "pos", "neutral")[i % 3]),
        "The column 'label_text' does not name the labels and is not used: 0 is 'neg' and 'neutral'.",
    ),
    (
        "train and test in one file",
        rows(split=lambda i, *_: ("train", "test")[i % 2]),
        "The column 'split' names 'test', 'train', and the rows of all are read; keep those that you mean.",
    ),
    (
        "offsets in a script from right to left",
        rows(text=lambda i, *_: f"סרט נהדר מאוד {i}", rationale=[[5, 8]]),
        "12 of 12 rationale spans begin or end inside a word ('הדר')",
    ),
    (
        "offsets of composed letters",
        rows(text=lambda i, t, _: f"cafe\u0301 e\u0301te\u0301 {t}", rationale=[[5, 8]]),
        "12 of 12 rationale spans begin or end inside a word",
    ),
    (
        "Windows line ends that offsets do not count",
        rows(text=lambda i, t, _: f"one line\r\nanother\r\nthe third {t}", rationale=[[21, 26]]),
        "12 of 12 rationale spans begin or end inside a word",
    ),
    (
        "offsets whose end is included",
        rows(rationale=lambda i, t, _: [[t.rindex(" ") + 1, len(t) - 1]]),
        "rationale spans begin or end inside a word ('hear'); offsets count characters (not bytes) from 0, and the end "
        "offset is not included",
    ),
]


@pytest.mark.parametrize(("content", "note"), [row[1:] for row in NOTED], ids=[row[0] for row in NOTED])
def test_noted(tmp_path: Path, content: Any, note: str) -> None:
    data = load(tmp_path / "a.jsonl", content)
    assert any(note in found for found in data.notes), data.notes
    with pytest.warns(DataWarning) as caught:
        load_dataset(tmp_path / "a.jsonl")
    assert [str(warning.message) for warning in caught] == list(data.notes)


def test_blanks_in_the_header_belong_to_no_name(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("Review, Stars\n" + "".join(f'"{t}", {i % 5 + 1}\n' for i, t in enumerate(TEXTS)))
    with pytest.warns(DataWarning, match="if they are classes: --columns label=Stars"):
        load_dataset(file)
    classes = load_dataset(file, columns={"text": "Review", "label": "Stars"})
    assert [example.label for example in classes][:3] == [1, 2, 3]


@pytest.mark.parametrize(
    "content",
    [
        rows(label=lambda i, *_: ("a", "b", "c", "d")[i // 3]),  # sorted by label
        rows(label=lambda i, *_: i % 2, label_text=lambda i, *_: ("neg", "pos")[i % 2]),
        rows(gold=lambda i, t, label: label, sentiment=lambda i, t, label: label == "positive", split="test"),
        rows(text=lambda i, t, label: f"{t}..." if i < 5 else t),
        rows(text=lambda i, t, label: rf"{t} $\nu$ and C:\temp, not C:/temp"),
        rows(rationale=lambda i, t, _: [[2, t.find(" ", 2)], [0, t.find(" ", 2)]] if t[1] == " " else []),
        rows(text=lambda i, *_: f"这部电影很好看 {i}", rationale=[[2, 4]]),
        rows(**{"Unnamed: 0": lambda i, *_: i}, label=lambda i, t, label: f" {label} "),
    ],
    ids=["sorted", "names", "two equal columns", "few dots", "LaTeX", "spans by end", "Chinese", "index column"],
)
def test_nothing_is_said_of_what_is_right(tmp_path: Path, content: Any) -> None:
    assert load(tmp_path / "a.jsonl", content).notes == ()


def test_names_of_labels_in_a_table_of_texts(tmp_path: Path) -> None:
    content = "text,label,label_text\n" + "".join(f'"{t}",{i % 2},{LABELS[i]}\n' for i, t in enumerate(TEXTS))
    assert load(tmp_path / "a.csv", content).labels == ("positive", "negative")


def nested(n: int = 100_000) -> str:
    return "[" * n + "]" * n


REFUSED = [  # name, file, content, what the error says
    (
        "Latin-1",
        "a.csv",
        CSV.replace("film", "café").encode("latin-1"),
        "is not UTF-8 .*byte 0xe9.*iconv -f latin1 -t utf-8 a.csv",
    ),
    (
        "UTF-16 without a mark",
        "a.csv",
        CSV.encode("utf-16-le"),
        "is not UTF-8 .*null bytes, as UTF-16 without a byte order mark",
    ),
    (
        "ids of sentences as evidence, as in FEVER",
        "a.jsonl",
        [{"claim": t, "evidence": [[[92206, 104971, "Nikolaj", 7]]], "label": "SUPPORTS"} for t in TEXTS],
        r"text \(the column 'evidence'\) must be a string, not list; if the text is in 'claim': --columns text=claim",
    ),
    (
        "unknown names",
        "a.csv",
        CSV.replace("text,label", "Txt,Y"),
        "no text or image among the columns 'Txt', 'Y'; choose one, such as --columns text=Txt",
    ),
    (
        "no header",
        "a.csv",
        CSV.removeprefix("text,label\n"),
        "the first row must name the columns: add one such as text,label",
    ),
    ("columns twice", "a.csv", CSV.replace("text,label", "text,text"), "a.csv: the header names 'text' more than once"),
    (
        "a short row",
        "a.csv",
        "text,label\na fine film\n",
        "row 1: 1 cell, but the header has 2; a cell is missing or cut",
    ),
    ("a line break in a tsv cell", "a.tsv", 'text\tlabel\n"a fine\nfilm"\t1\n', "row 1: 1 cell, but the header has 2"),
    ("a cut last line", "a.jsonl", json.dumps(ROWS[0]) + '\n{"text": "cut o', "row 2: not JSON"),
    (
        "an empty line in the middle",
        "a.jsonl",
        f"{json.dumps(ROWS[0])}\n\n{json.dumps(ROWS[1])}\n",
        "row 2: the line is empty",
    ),
    (
        "no text",
        "a.jsonl",
        [*ROWS, {"text": None, "label": "positive"}],
        "row 13: there is no text: the column 'text' is empty",
    ),
    ("a number as text", "a.jsonl", [*ROWS, {"text": 7}], "row 13: text must be a string, not int"),
    (
        "NaN as a label",
        "a.jsonl",
        [*ROWS, {"text": "a film", "label": float("nan")}],
        "row 13: the label is nan; give a name",
    ),
    (
        "half a character",
        "a.jsonl",
        '{"text": "half \\ud800"}',
        r"row 1: the text contains \\ud800, half of a character",
    ),
    (
        "offsets past the end",
        "a.jsonl",
        rows(rationale=[[1, 300]]),
        r"row 1: the rationale refers to characters \[1, 300\), but the text has 29",
    ),
    (
        "offsets that are words",
        "a.jsonl",
        rows(rationale=[["fine", "film"]]),
        r"cannot read the place \['fine', 'film'\] of a rationale",
    ),
    (
        "a key twice",
        "a.jsonl",
        '{"text": "a film", "label": 1}\n{"text": "a film", "label": 0, "label": 1}',
        "row 2: the key 'label' occurs more than once in an object",
    ),
    ("a key twice in one value", "a.json", '[{"text": "a", "text": "b"}]', "a.json: the key 'text' occurs more than"),
    ("several labels", "a.jsonl", rows(label=["a", "b"]), r"row 1: there are 2 labels \('a', 'b'\); keep one"),
    ("deep nesting", "a.jsonl", nested(), "row 1: not JSON: nested too deeply"),
    ("deep nesting in one value", "a.json", nested(), "a.json: not JSON: nested too deeply"),
    ("deep nesting in a cell", "a.csv", f'text,label,rationale\na film,1,"{nested()}"\n', "a rationale must be a list"),
    (
        "a number of 5,000 digits",
        "a.jsonl",
        f'{{"text": "a", "label": {"9" * 5000}}}',
        "row 1: not JSON: a number has thousands of digits",
    ),
    (
        "a text instead of a table",
        "a.json",
        '"a film"',
        "a.json: the JSON file holds a single str; give a list of objects",
    ),
    (
        "two files joined",
        "a.csv",
        CSV + CSV,
        "row 13: the row repeats the header, as in files that were joined; remove it",
    ),
    (
        "tokens of another text",
        "a.jsonl",
        rows(tokens=lambda i, *_: TEXTS[(i + 1) % 12].split(), rationale=[0, 1]),
        "row 1: the tokens in 'tokens' are not those of the text: .* are not in it",
    ),
    ("rows without columns", "a.json", "[{}, {}]", "the rows are empty; give each a text"),
]


@pytest.mark.parametrize(("name", "content", "message"), [r[1:] for r in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        load(tmp_path / name, content)


def test_notes_stay_with_a_slice_and_out_of_the_fingerprint(tmp_path: Path) -> None:
    data = load(tmp_path / "a.jsonl", rows(title=lambda i, *_: f"the film of day {i}"))
    assert data.notes
    assert data[:3].notes == data.take(3).notes == data.notes
    assert data.fingerprint == load(tmp_path / "b.jsonl", ROWS).fingerprint
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_dataset(data) is data  # said when it was read


def test_columns_that_the_user_names_are_no_guess(tmp_path: Path) -> None:
    content = [{"document": t, "query": f"is it good? {i}"} for i, t in enumerate(TEXTS)]
    data = load(tmp_path / "a.jsonl", content, columns="text=document,text_pair=query")
    assert data.notes == ()
    assert (data[0].text, data[0].text_pair) == (TEXTS[0], "is it good? 0")
    swapped = load(
        tmp_path / "b.jsonl",
        [{"premise": t, "hypothesis": "so"} for t in TEXTS],
        columns="text=hypothesis,text_pair=premise",
    )
    assert "models usually expect the other order: --columns text=premise,text_pair=hypothesis." in swapped.notes[0]


@pytest.mark.parametrize(
    ("names", "first", "second"),
    [
        ("document query", "document", "query"),
        ("Query Document", "Document", "Query"),
        ("passage query_and_answer", "passage", "query_and_answer"),
        ("claim evidence", "evidence", "claim"),
        ("Question Context", "Context", "Question"),
        ("question passage", "passage", "question"),
        ("PREMISE Hypothesis", "PREMISE", "Hypothesis"),
        ("Sentence1 Sentence2", "Sentence1", "Sentence2"),
        ("Tweet id", "Tweet", None),
        ("comment_text toxic", "comment_text", None),
        ("headline body", "body", None),
        ("title text", "text", None),
        ("utterance", "utterance", None),
        ("reviewText overall", "reviewText", None),
    ],
)
def test_common_names_of_texts(names: str, first: str, second: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data = load_dataset([{name: f"the {name} of number {i}" for name in names.split()} for i in range(3)])
    assert data[0].text == f"the {first} of number 0"
    assert data[0].text_pair == (None if second is None else f"the {second} of number 0")


def test_spans_of_single_characters(tmp_path: Path) -> None:
    """Toxic spans: the indices of all marked characters; of texts that are not toxic, none."""
    content = 'spans,text\n"[2, 3, 4, 5, 7]",a fine film\n[],a dull film\n'
    data = load(tmp_path / "tsd_trial.csv", content)
    marked = [[data[0].text[s.start : s.end] for s in spans] for spans in data[0].rationales]
    assert marked == [["fine", "f"]]
    assert data[1].rationales == ()


def test_prose_and_records_are_no_rationales() -> None:
    with pytest.warns(DataWarning, match="'rationale' holds text that is not used"):
        data = load_dataset([{"text": t, "rationale": f"because of {t}"} for t in TEXTS])
    assert not any(example.rationales for example in data)
    records = [{"start": 0, "label": "PERSON"}]
    with pytest.warns(DataWarning, match="'spans' are not read as rationales"):
        assert not load_dataset([{"text": "a film", "spans": records}])[0].rationales


def test_a_list_with_one_label(tmp_path: Path) -> None:
    data = load(tmp_path / "a.jsonl", rows(label=lambda i, t, label: [label] if i else []))
    assert [example.label for example in data] == [None, *LABELS[1:]]


def test_examples_in_memory_are_checked_too() -> None:
    with pytest.warns(DataWarning, match="2 of 2 texts contain HTML"):
        load_dataset([Example("<p>fine</p>"), Example("a<br>b")])
