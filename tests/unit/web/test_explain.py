"""The explain page over HTTP: the numbers are those of `assay.explain`, and every bad input gets a sentence."""

from __future__ import annotations

import io
import json
import re
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sqlalchemy import event

import assay
from assay.core.types import Example, Span
from assay.datasets.load import load_dataset
from assay.web.explain.changes import change, partners, words
from assay.web.explain.part import explain_part
from families import model_of
from toys import bert
from unit.web.clients import Client, application, seen

TEXT = "a modest pleasure that accomplishes its goals"


@pytest.fixture(scope="module")
def builtin() -> Any:
    return assay.load_model("builtin")


@pytest.fixture(scope="module")
def app(builtin: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    part = explain_part([builtin, model_of("vit")], load_dataset("builtin"))
    return application(tmp_path_factory.mktemp("web"), part)


@pytest.fixture
def client(app: Any) -> Client:
    return Client(app)


def ask(client: Client, **fields: Any) -> Any:
    """Submit the form and follow it to its end."""
    fields = {"model": "builtin", "text": TEXT, "methods": ["occlusion"], "units": "word"} | fields
    response = client.submit("/explain", **fields)
    for _ in range(600):
        if 'id="task"' not in response.text:
            return response
        time.sleep(0.05)
        response = client.get(str(response.url))
    raise AssertionError("the task does not end")


def content(client: Client, response: Any) -> dict[str, Any]:
    return client.get(f"{str(response.url).partition('#')[0]}/json").json()


def test_the_page_shows_what_the_library_computes(client: Client, builtin: Any) -> None:
    response = ask(client, methods=["occlusion", "lime(samples=50)"])
    expected = assay.explain(builtin, TEXT, ["occlusion", "lime(samples=50)"], units="word")
    found = content(client, response)
    for name, attribution in expected.items():
        shown = found["attributions"][name]
        np.testing.assert_allclose(shown["scores"], attribution.scores, rtol=1e-6)
        assert shown["label"] == attribution.label == found["prediction"]
        for unit, score in zip(attribution.units, attribution.scores, strict=True):
            assert f'title="{score:+.3g}" data-place="0:{unit.start}-{unit.end}">{unit.text}<' in response.text
    assert found["probabilities"] == pytest.approx(builtin.predict(TEXT).probabilities)
    text = seen(response)
    assert f"{100 * found['probabilities'][found['prediction']]:.1f} %" in text
    assert "Do the methods agree?" in text
    assert "forward passes" in text


def test_class_contrast_units_and_removal_are_those_that_were_chosen(client: Client, builtin: Any) -> None:
    labels = list(builtin.labels)
    response = ask(client, target="0", against="1", units="token", removal="unk")
    expected = assay.explain(
        builtin, TEXT, "occlusion", target=assay.Target(labels[0], labels[1]), units="token", removal="unk"
    )
    np.testing.assert_allclose(content(client, response)["attributions"]["occlusion"]["scores"], expected.scores, 1e-6)
    assert f"{labels[0]} against {labels[1]}" in seen(response)


def test_a_removed_word_is_shown_before_and_after(client: Client, builtin: Any) -> None:
    first = ask(client)
    base = str(first.url).rpartition("/")[2].partition("#")[0]
    place = re.search(r'value="(0:\d+-\d+)" title="remove">pleasure<', first.text)
    assert place
    after = ask(client, base=base, remove=place[1])
    found, before = content(client, after), content(client, first)
    assert found["request"]["text"] == "a modest that accomplishes its goals"
    assert found["request"]["target"] == list(builtin.labels).index(before["attributions"]["occlusion"]["label"])
    text = seen(after)
    difference = 100 * (found["probabilities"]["positive"] - before["probabilities"]["positive"])
    assert f"{difference:+.1f}".replace("-", "−") in text
    assert "<del>pleasure</del>" in after.text
    for heading in ("before", "after", "change"):
        assert f"<h3>{heading}</h3>" in after.text
    # another word: still compared with the first text
    place = re.search(r'value="(0:\d+-\d+)" title="remove">modest<', after.text)
    base = str(after.url).rpartition("/")[2].partition("#")[0]
    again = content(client, ask(client, base=base, remove=place[1]))
    assert again["request"]["text"] == "a that accomplishes its goals"
    assert again["request"]["base"] == found["request"]["base"]


def test_an_edit_is_compared_with_the_original_for_the_same_class(client: Client) -> None:
    first = ask(client)
    base = str(first.url).rpartition("/")[2].partition("#")[0]
    edited = ask(client, text="dull and far too long", base=base)
    found, before = content(client, edited), content(client, first)
    assert found["prediction"] != before["prediction"]
    assert found["attributions"]["occlusion"]["target"] == before["attributions"]["occlusion"]["target"]
    assert "before: positive" in seen(edited)


def test_a_permanent_link_shows_the_same_and_an_equal_request_runs_nothing(
    app: Any, client: Client, builtin: Any
) -> None:
    first = ask(client)
    passes = builtin.passes.forwards
    second = ask(Client(app))
    assert str(second.url).partition("#")[0] == str(first.url).partition("#")[0]
    assert builtin.passes.forwards == passes

    def without_csrf(html: str) -> str:
        return re.sub(r'name="csrf" value="\w+"', "", html)

    assert without_csrf(Client(app).get(str(first.url)).text) == without_csrf(first.text)


def test_pairs(client: Client, builtin: Any) -> None:
    response = ask(client, text_pair="it was a slow film")
    expected = assay.explain(builtin, (TEXT, "it was a slow film"), "occlusion", units="word")
    np.testing.assert_allclose(content(client, response)["attributions"]["occlusion"]["scores"], expected.scores, 1e-6)


def png(width: int = 40, height: int = 32) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)).save(out, "PNG")
    return out.getvalue()


def test_images(app: Any, client: Client) -> None:
    vit = next(name for name in app.state.site.parts[0].state.models if name != "builtin")
    fields = {"model": vit, "methods": ["gradient"], "units": "patch"}
    response = ask(client, **fields, files={"image": ("photo.png", png(), "image/png")})
    expected = assay.explain(model_of("vit"), np.asarray(Image.open(io.BytesIO(png()))), "gradient", units="patch")
    found = content(client, response)
    np.testing.assert_allclose(found["attributions"]["gradient"]["scores"], expected.scores, rtol=1e-5)
    assert response.text.count("<rect data-place=") == len(expected.units)
    kept = re.search(r'name="kept_image" value="([\w-]+)"', response.text)
    again = ask(client, **(fields | {"methods": ["random"]}), kept_image=kept[1])
    assert "random" in content(client, again)["attributions"]
    for kind, start in (("png", b"\x89PNG"), ("html", b"<!doctype")):
        assert client.get(f"{str(response.url).partition('#')[0]}/{kind}").content.startswith(start)


def test_a_patch_is_taken_out(app: Any, client: Client) -> None:
    vit = next(name for name in app.state.site.parts[0].state.models if name != "builtin")
    image = np.asarray(Image.open(io.BytesIO(png())))
    first = ask(client, model=vit, methods=["gradient"], units="patch", files={"image": ("a.png", png(), "image/png")})
    base = str(first.url).rpartition("/")[2].partition("#")[0]
    after = ask(client, base=base, remove="0:1-2", model=vit)
    found = content(client, after)
    edited = Example(image=image, removed=(Span(0, 1, 2),))
    expected = assay.explain(model_of("vit"), edited, "gradient", units="patch", target=found["request"]["target"])
    np.testing.assert_allclose(found["attributions"]["gradient"]["scores"], expected.scores, rtol=1e-5)
    predicted = model_of("vit").predict([edited])[0]
    assert found["probabilities"] == pytest.approx(predicted.probabilities)
    assert found["picture"] != content(client, first)["picture"]
    assert all(heading in seen(after) for heading in ("before", "after", "change"))
    assert 'value="0:1-2"' not in after.text
    assert 'value="0:2-3"' in after.text
    again = content(client, ask(client, base=str(after.url).rpartition("/")[2].partition("#")[0], remove="0:0-1"))
    assert (again["request"]["removed"], again["request"]["base"]) == ([0, 1], base)
    for wrong in ("0:9999-10000", "0:0-2", "1:0-1", "x"):
        assert "patch" in seen(ask(client, base=base, remove=wrong, model=vit))


def test_downloads(client: Client) -> None:
    address = str(ask(client).url).partition("#")[0]
    for kind, start in (("html", b"<!doctype html>"), ("json", b"{"), ("png", b"\x89PNG")):
        response = client.get(f"{address}/{kind}")
        assert response.status_code == 200, response.text
        assert response.content.startswith(start)
        assert response.headers["content-disposition"].startswith("attachment")
    assert client.get(f"{address}/exe").status_code == 404


BAD = {
    "no text": ({"text": "  "}, "there is no text"),
    "long text": ({"text": "x" * 20_001}, "20,001 characters"),
    "null": ({"text": "a\x00b"}, "null character"),
    "no method": ({"methods": []}, "no method is chosen"),
    "unknown method": ({"methods": ["lmie"]}, "did you mean 'lime'"),
    "unreadable method": ({"more_methods": "lime(("}, "cannot read"),
    "huge method": ({"methods": ["lime(samples=1000000)"]}, "at most 50,000"),
    "huge method in a text": ({"methods": ["ensemble(methods=['lime(samples=999999)'])"]}, "at most 50,000"),
    "huge method, written otherwise": ({"methods": ["ensemble(methods=['lime(samples=0xfffff)'])"]}, "at most 50,000"),
    "folder": ({"methods": ["aml('/etc')"]}, "--explainer"),
    "folder of heads": ({"methods": ["scaffold('/etc')"]}, "--explainer"),
    "hidden folder": ({"methods": ["ensemble(methods=['aml(\"/etc\")'])"]}, "--explainer"),
    "many methods": ({"methods": [f"lime(seed={i})" for i in range(9)]}, "at most 8"),
    "class": ({"target": "7"}, "unknown class"),
    "itself": ({"target": "1", "against": "1"}, "against itself"),
    "units": ({"units": "patch"}, "unknown units"),
    "removal": ({"removal": "mean_colour"}, "unknown removal"),
    "model": ({"model": "gpt"}, "no model 'gpt'"),
    "base": ({"base": "x" * 22, "remove": "0:0-1"}, "not on the server"),
    "surrogate": ({"text": "\ud800"}, None),
}


@pytest.mark.parametrize("case", [name for name, (_, sentence) in BAD.items() if sentence])
def test_bad_input_gets_a_sentence_and_keeps_what_was_typed(case: str, client: Client) -> None:
    fields, sentence = BAD[case]
    response = ask(client, **fields)
    assert response.status_code == 400
    assert sentence in seen(response)
    if "text" not in fields and case != "model":
        assert TEXT in response.text


@pytest.mark.parametrize("field", ["model", "methods", "more_methods", "target", "units", "removal", "base"])
def test_names_of_a_megabyte_are_not_compared_with_known_ones(field: str, client: Client) -> None:
    response = ask(client, **{field: "x" * 500_000})
    assert response.status_code == 422
    assert "at most 2000" in seen(response)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b"this is a text", "not one of PNG, JPEG"),
        (png()[:80], "cannot read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not one of"),
        (b"\x89PNG" + b"x" * (10 * 1024**2), "10 MB"),
    ],
)
def test_files_that_are_no_images(file: bytes, sentence: str, app: Any, client: Client) -> None:
    vit = next(name for name in app.state.site.parts[0].state.models if name != "builtin")
    fields = {"model": vit, "methods": ["gradient"], "units": ""}
    response = ask(client, **fields, files={"image": ("photo.png", file, "image/png")})
    assert response.status_code == 400
    assert sentence in seen(response)
    assert "there is no image" in seen(ask(client, **fields))


def test_an_image_of_too_many_pixels_is_not_decoded(app: Any, client: Client) -> None:
    out = io.BytesIO()
    Image.new("1", (8000, 8000)).save(out, "PNG")  # 64 million pixels in a few kilobytes
    vit = next(name for name in app.state.site.parts[0].state.models if name != "builtin")
    response = ask(client, model=vit, methods=["gradient"], units="", files={"image": ("a.png", out.getvalue())})
    assert "8,000 x 8,000 pixels" in seen(response)


def test_a_method_that_cannot_explain_says_why_and_the_others_do(tmp_path: Path) -> None:
    client = Client(application(tmp_path, explain_part([model_of("bilstm_attention")])))
    name = next(iter(client.app.state.site.parts[0].state.models))
    response = ask(client, model=name, methods=["occlusion", "decompx"], text="a good film")
    found = content(client, response)
    assert list(found["attributions"]) == ["occlusion"]
    assert found["refusals"]["decompx"] in seen(response).replace("&#39;", "'")


def test_a_text_past_the_limit_says_so(tmp_path: Path, builtin: Any) -> None:
    short = builtin.limited(6)
    client = Client(application(tmp_path, explain_part([short])))
    response = ask(client)
    assert "Caution:" in seen(response)
    assert 'class="unit unseen" title="past the length limit"' in response.text


def test_examples_of_the_data_fill_the_form(client: Client) -> None:
    example = load_dataset("builtin")[3]
    response = client.get("/explain", params={"model": "builtin", "example": 3})
    assert example.text in seen(response)
    assert client.get("/explain", params={"example": 10**6}).status_code == 400


def test_grey_examples_of_arrays_fill_the_form(tmp_path: Path) -> None:
    """As those of npz files are: (H,W,1), which is no image for Pillow."""
    model = model_of("vit")
    grey = np.random.default_rng(0).integers(0, 256, (32, 32, 1), np.uint8)
    client = Client(application(tmp_path, explain_part([model], data=load_dataset([grey, grey]))))
    response = client.get("/explain", params={"example": 1})
    assert response.status_code == 200
    assert re.search(r'name="kept_image" value="[\w-]+"', response.text)


def test_long_work_can_be_cancelled_and_reports_progress(builtin: Any, tmp_path: Path) -> None:
    app = application(tmp_path, explain_part([builtin]))
    client = Client(app)
    response = client.submit("/explain", model="builtin", text=f"{TEXT} " * 4, methods=["lime(samples=50000)"])
    assert "/tasks/" in str(response.url)
    events = []

    def listen() -> None:
        with client.stream("GET", f"{response.url}/events") as stream:
            events.extend(line for line in stream.iter_lines() if line)

    listener = threading.Thread(target=listen)
    listener.start()
    time.sleep(1.0)
    client.submit(f"{str(response.url).removeprefix('http://testserver')}/cancel")
    listener.join(timeout=30)
    ended = client.get(str(response.url))
    assert "cancelled" in seen(ended)
    assert TEXT in ended.text
    progress = [json.loads(line.removeprefix("data: ")) for line in events if line.startswith('data: {"')]
    assert progress[0]["total"] == 1
    assert events[-2:] == ["event: ended", "data: {}"]
    assert content(client, ask(client))["prediction"] == "positive"  # the model works on


def test_eight_clients_at_once_do_not_disturb_each_other(builtin: Any, tmp_path: Path) -> None:
    app = application(tmp_path, explain_part([builtin]))
    texts = [f"{TEXT} number {i}" for i in range(8)]
    methods = ["occlusion", "integrated_gradients", "attention_rollout"]

    def visit(text: str) -> dict[str, Any]:
        client = Client(app)
        return content(client, ask(client, text=text, methods=methods))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(visit, texts))
    expected = assay.explain(builtin, texts, methods, units="word")
    for i, explained in enumerate(found):
        assert explained["request"]["text"] == texts[i]
        for method in methods:
            scores = explained["attributions"][method]["scores"]
            np.testing.assert_allclose(scores, expected[method][i].scores, rtol=1e-4, atol=1e-6)


def test_a_link_outlives_its_model(builtin: Any, tmp_path: Path) -> None:
    first = ask(Client(application(tmp_path, explain_part([builtin]))))
    other = Client(application(tmp_path, explain_part([model_of("mpnet")])))
    response = other.get(str(first.url))
    assert "shown as it was computed" in seen(response)
    assert 'name="remove"' not in response.text


def test_words_and_partners_follow_an_edit() -> None:
    found, rest = words("the good film .", "the very good film .", 0)
    assert [(w.text, w.kind) for w in found] == [
        ("the", "kept"), ("very", "removed"), ("good", "kept"), ("film", "kept"), (".", "kept")
    ]  # fmt: skip
    assert rest == ""
    replaced, _ = words("A dull plot.", "such a film", 0)  # "filmA" would be no word
    assert "".join(w.gap + w.text for w in replaced) == "such a film A dull plot."
    before = assay.Attribution(
        tuple(assay.Unit(t, i * 5, i * 5 + 4) for i, t in enumerate(["good", "good", "film"])),
        np.array([1.0, 2.0, 3.0], np.float32), assay.Target(0), "a", assay.core.spec.parse("lime"),
    )  # fmt: skip
    after = replace(before, units=before.units[1:], scores=np.array([5.0, 1.0], np.float32))
    texts = [unit and unit.text for unit in partners(before.units, after.units)]
    assert texts == ["good", "film"]
    np.testing.assert_allclose(change(before, after).scores, [3.0, -2.0])


def test_pages_need_the_token_or_an_account(builtin: Any, tmp_path: Path) -> None:
    part = explain_part([builtin])
    for access in ("token", "accounts"):
        client = Client(application(tmp_path, part, access=access))
        for address in ("/explain", f"/explain/{'a' * 22}", f"/explain/{'a' * 22}/json", f"/explain/tasks/{'a' * 22}"):
            response = client.get(address, follow_redirects=False)
            assert response.status_code in (303, 403), address
            assert "Explain a prediction" not in response.text
        assert client.submit("/explain", text="x").status_code == 403


def test_a_full_disk_is_said_and_keeps_what_was_typed(builtin: Any, tmp_path: Path) -> None:
    app = application(tmp_path, explain_part([builtin]))
    client, csrf = Client(app), Client(app).csrf()
    ask(client)
    with app.state.site.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    event.listen(app.state.site.database.engine, "begin", lambda c: c.exec_driver_sql(f"PRAGMA max_page_count={pages}"))
    assert csrf
    response = ask(client, text=f"{TEXT} " * 40, methods=["occlusion", "random", "gradient"])
    assert "The disk of the server is full" in seen(response)
    assert TEXT in response.text


@pytest.mark.parametrize("fit", ["aml(masks=4)", "scaffold(student='untrained')"])
def test_a_fitted_explainer_in_a_folder_is_offered_with_its_model(fit: str, tmp_path: Path) -> None:
    model = bert()
    texts = [
        f"{a} {b} {c}"
        for a in ("good", "sad", "slow", "bad")
        for b in ("film", "plot", "poem")
        for c in ("a", "i", "is", "no", "it", "an", "the", "good", "bad")
    ]
    with warnings.catch_warnings(action="ignore"):  # a fit of two steps is not good
        method = assay.fit(model, texts, fit, tmp_path / "quick", epochs=1, progress=False)
    name = f"{fit.partition('(')[0]}(quick)"
    app = application(tmp_path, explain_part([model, bert(1)], explainers=[str(tmp_path / "quick")]))
    own, other = app.state.site.parts[0].state.models.values()
    assert list(own.explainers) == [name]
    assert list(other.explainers) == []
    client = Client(app)
    assert f'value="{name}" checked' in client.get("/explain", params={"model": own.id}).text
    found = content(client, ask(client, model=own.id, text="a good film", methods=[name]))
    expected = assay.explain(model, "a good film", method, units="word")
    np.testing.assert_allclose(found["attributions"][name]["scores"], expected.scores, rtol=1e-5)
    with pytest.raises(assay.ModelError):
        explain_part([bert(1)], explainers=[str(tmp_path / "quick")])
