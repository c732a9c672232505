"""Packs: nothing of a run is lost with its machine, and nothing is believed that is not whole."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest

from assay.api.run import run
from assay.core.errors import StoreError
from assay.experiments import archive
from assay.experiments.archive import pack_records as pack
from assay.experiments.archive import read_archive
from assay.experiments.archive import unpack_records as unpack
from assay.experiments.scheduler import State
from assay.experiments.store import Store, key_of
from unit.experiments.toy import job, plan


def test_a_new_store_has_what_the_old_one_had_and_runs_nothing_again(tmp_path: Path) -> None:
    whole = plan(*(job(i) for i in range(5)))
    old, new, file = Store(tmp_path / "old"), Store(tmp_path / "new"), tmp_path / "deep" / "pack.xz"
    run(whole, store=old.folder)
    assert pack([whole], old, file) == (5, 5)
    assert unpack(file, new) == (5, 5)
    assert unpack(file, new) == (5, 0)
    assert [new.get(key) for key in whole.jobs] == [old.get(key) for key in whole.jobs]
    assert run(whole, store=new.folder).before == 5


def test_the_same_records_are_the_same_bytes(tmp_path: Path) -> None:
    """In whatever order they came."""
    jobs, store = [job(i) for i in range(9)], Store(tmp_path / "s")
    run(plan(*jobs), store=store.folder)
    pack([plan(*jobs)], store, tmp_path / "a")
    for one in reversed(jobs):
        pack([plan(one)], store, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_packing_what_a_new_machine_has_loses_nothing(tmp_path: Path) -> None:
    first, second, other = (plan(job(i)) for i in (1, 2, 3))
    file, old, new = tmp_path / "pack.xz", Store(tmp_path / "old"), Store(tmp_path / "new")
    run(first, store=old.folder)
    run(other, store=old.folder)
    pack([first, second, other], old, file)
    run(second, store=new.folder)
    assert pack([first, second], new, file) == (2, 2)
    assert {one.record.rows["number"] for one in read_archive(file)} == {1, 2, 3}, "also what no plan asks for any more"


def test_a_chain_goes_on_after_unpacking_though_its_artefacts_are_gone(tmp_path: Path) -> None:
    model = job(1, artifact=True)
    step = job(2, [model], artifact=True)
    last = job(3, [step])
    file, old, new = tmp_path / "pack.xz", Store(tmp_path / "old"), Store(tmp_path / "new")
    run(plan(model, step), store=old.folder)
    pack([plan(model, step, last)], old, file)
    unpack(file, new)
    ended = run(plan(model, step, last), store=new.folder)
    assert set(ended.states.values()) == {State.done}
    found = new.get(last.key)
    assert found is not None
    assert found.rows["read"] == ["made by 2"]


def packed(**fields: object) -> bytes:
    """A pack with one record, whose fields are these, with the right checksum."""
    return lzma.compress(packed_line(**fields))


def packed_line(**fields: object) -> bytes:
    content = {"key": "0" * 64, "spec": {}, "rows": [], "provenance": {}, **fields}
    return json.dumps({**content, "checksum": key_of(content)}).encode() + b"\n"


def test_a_pack_that_is_none_or_was_changed_is_refused(tmp_path: Path) -> None:
    whole, store, file = plan(job(1), job(2)), Store(tmp_path / "s"), tmp_path / "pack.xz"
    run(whole, store=store.folder)
    pack([whole], store, file)
    good = file.read_bytes()
    first, last = lzma.decompress(good).decode().splitlines(keepends=True)
    number = re.compile('"number": [12]')
    changed = {
        "Input format not supported": b"no pack",
        "ended before": good[:-20],
        "not what was written": lzma.compress((first + number.sub('"number": 3', last)).encode()),
        "has no 'rows'": lzma.compress(first.encode() + b'{"key": "k", "spec": {}}'),
        "not a record": lzma.compress(first.encode() + b"[]"),
        "'../elsewhere' is not a key": packed(key="../elsewhere"),
        "its 'spec' is 3": packed(spec=3),
        "its 'key' is None": packed(key=None),
        "holds the file '../x.json'": packed(files={"../x.json": ""}),
        "holds the file 'modeling_evil.py'": packed(files={"modeling_evil.py": ""}),
        "holds the file '.json'": packed(files={".json": ""}),
        "files are not texts by name": packed(files=["x.json"]),
        r"files are not texts by\sname": packed(files={"x.json": 1}),
        "Only base64 data": packed(files={"x.json": "?"}),
        "nested too deeply": lzma.compress(b"[" * 100_000),
        "utf-8": lzma.compress(b"\xff\n"),
    }
    for words, content in changed.items():
        file.write_bytes(content)
        with pytest.raises(StoreError, match=rf"Cannot read the archive .*{words}.*assay pack"):
            unpack(file, Store(tmp_path / "new"))
    with pytest.raises(StoreError, match="No such file"):
        unpack(tmp_path / "gone", Store(tmp_path / "new"))
    assert not list((tmp_path / "new").glob("??/*")), "all or nothing"


def test_a_pack_that_would_fill_the_memory_is_refused_before_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files that expand to much: many empty lines, or one long one."""
    file, line = tmp_path / "bomb.xz", packed_line()
    monkeypatch.setattr(archive, "SMALL", 2**20)
    monkeypatch.setattr(archive, "LARGEST_RECORD", 2**20)
    for words, content in {
        "expand to more than 200 times": line * 30_000,
        "larger than 1,048,576": b"0" * 2**21,
    }.items():
        file.write_bytes(lzma.compress(content, preset=0))
        assert file.stat().st_size < 20_000
        monkeypatch.setattr(archive, "RATIO", 200 if "expand" in words else 10**6)
        with pytest.raises(StoreError, match=words):
            unpack(file, Store(tmp_path / "new"))
