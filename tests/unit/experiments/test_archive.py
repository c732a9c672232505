"""Packs: nothing of a run is lost with its machine, and nothing is believed that is not whole."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from assay.api.run import run
from assay.core.errors import StoreError
from assay.experiments.archive import pack_records as pack
from assay.experiments.archive import read_archive
from assay.experiments.archive import unpack_records as unpack
from assay.experiments.scheduler import State
from assay.experiments.store import Store
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
        "'../elsewhere' is not a key": lzma.compress(
            (first + re.sub(r'"key": "\w+"', '"key": "../elsewhere"', last)).encode()
        ),
    }
    for words, content in changed.items():
        file.write_bytes(content)
        with pytest.raises(StoreError, match=rf"Cannot read the archive .*{words}.*assay pack"):
            unpack(file, Store(tmp_path / "new"))
    with pytest.raises(StoreError, match="No such file"):
        unpack(tmp_path / "gone", Store(tmp_path / "new"))
    assert not list((tmp_path / "new").glob("??/*")), "all or nothing"
