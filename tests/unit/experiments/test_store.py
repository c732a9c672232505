"""The store: complete or absent, never half; errors name the file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.core.errors import AssayError
from assay.experiments.store import Record, Store, key_of


def record(key: str, rows: object = None) -> Record:
    return Record(key, {"kind": "test"}, rows, {"created": 1.0})


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "folder")
    key = key_of({"a": 1})
    assert store.get(key) is None
    store.put(record(key, {"values": [0.1, None, 1e-9]}))
    found = store.get(key)
    assert found is not None
    assert found.rows == {"values": [0.1, None, 1e-9]}
    assert [p.name for p in store.path(key).parent.iterdir()] == [f"{key}.json"], "nothing is left beside it"


def test_a_record_may_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    store, key = Store(tmp_path), key_of({})
    before = os.umask(0o027)
    try:
        store.put(record(key))
    finally:
        os.umask(before)
    assert store.path(key).stat().st_mode & 0o777 == 0o640


def test_a_place_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AssayError, match=r"is a file. A store is a folder"):
        Store(tmp_path / "file").put(record(key_of({})))


def test_a_key_depends_on_content_and_not_on_order() -> None:
    assert key_of({"a": 1, "b": [2, 3]}) == key_of({"b": [2, 3], "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert key_of({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


def test_a_corrupt_record_is_named(tmp_path: Path) -> None:
    store, key = Store(tmp_path), key_of({})
    store.put(record(key))
    store.path(key).write_text('{"key": "half a rec')
    with pytest.raises(AssayError, match=rf"cannot read the record .*{key}\.json.*delete that file"):
        store.get(key)


def test_a_full_disk_is_named_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs")
    try:
        store = Store(disk)
        store.put(record(key_of({"n": 1}), "small"))
        with pytest.raises(AssayError, match=r"cannot write the record .*No space left"):
            store.put(record(key_of({"n": 2}), "x" * 100_000))
        kept = store.get(key_of({"n": 1}))
        assert kept is not None
        assert kept.rows == "small"
        assert store.get(key_of({"n": 2})) is None
    finally:
        subprocess.run(["umount", str(disk)], check=True)
