from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from stalebench import tables
from stalebench.errors import DatasetError
from stalebench.tables.dataset import found


def test_a_dataset_says_how_it_was_made(tmp_path: Path) -> None:
    tables.create(tmp_path / "toy", "toy", {"since": "2024-01-01", "limit": None})
    described = tables.describe(tmp_path / "toy")
    assert described.repo == "toy"
    assert described.parameters == {"since": "2024-01-01", "limit": None}
    written = json.loads((tmp_path / "toy" / "dataset.json").read_text())
    assert written["schema_version"] == tables.SCHEMA_VERSION


def test_it_is_taken_up_again_by_the_same_repository_only(tmp_path: Path) -> None:
    tables.create(tmp_path, "toy", {"limit": 1})
    tables.create(tmp_path, "toy", {"limit": 2})
    assert tables.describe(tmp_path).parameters == {"limit": 2}
    with pytest.raises(DatasetError, match="holds a dataset of toy, not of other"):
        tables.create(tmp_path, "other", {})


def test_a_folder_of_something_else_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(DatasetError, match="not a dataset's"):
        tables.create(tmp_path, "toy", {})
    with pytest.raises(DatasetError, match="is no folder"):
        tables.create(tmp_path / "thesis.tex", "toy", {})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_of_datasets_may_become_one_itself(tmp_path: Path) -> None:
    tables.create(tmp_path / "one", "one", {})
    (tmp_path / "work").mkdir()
    tables.create(tmp_path, "toy", {})
    assert [dataset.repo for dataset in found(tmp_path)] == ["toy"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is no dataset"),
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "holds no object"),
        ('{"schema_version": 99, "stalebench": "9.0"}', "schema version 99"),
        ("{}", "schema version None"),
    ],
)
def test_what_is_no_dataset_is_said_with_cause_and_way_out(
    tmp_path: Path, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "dataset.json").write_text(content)
    for read in (tables.describe, tables.connect):
        with pytest.raises(DatasetError, match=said) as caught:
            read(tmp_path)
        assert caught.value.cause
        assert caught.value.fix


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 99}'])
def test_the_way_out_of_a_folder_that_stays_refused_is_another_folder(tmp_path: Path, content: str) -> None:
    (tmp_path / "dataset.json").write_text(content)
    with pytest.raises(DatasetError) as caught:
        tables.create(tmp_path, "toy", {})
    assert "new folder" in caught.value.fix


def test_looking_whether_a_folder_will_do_touches_nothing(tmp_path: Path) -> None:
    tables.refuse_foreign(tmp_path / "new", "toy")
    tables.create(tmp_path / "toy", "toy", {})
    tables.refuse_foreign(tmp_path / "toy")
    with pytest.raises(DatasetError, match="not of other"):
        tables.refuse_foreign(tmp_path / "toy", "other")
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]


def test_a_path_that_is_not_there_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is no dataset"):
        tables.connect(tmp_path / "nowhere")


def test_patches_are_kept_once_by_content(tmp_path: Path) -> None:
    content = b"diff --git a/x b/x\n\xff\0"
    digest = tables.keep_patch(tmp_path, content)
    path = tables.patch_path(tmp_path, digest)
    assert digest == hashlib.sha256(content).hexdigest()
    assert path == tmp_path / "patches" / digest[:2] / f"{digest}.patch"
    assert path.read_bytes() == content
    written = path.stat().st_mtime_ns
    assert tables.keep_patch(tmp_path, content) == digest
    assert path.stat().st_mtime_ns == written


def test_a_patch_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    digest = tables.keep_patch(tmp_path, b"a patch")
    tables.patch_path(tmp_path, digest).write_bytes(b"a p")
    tables.keep_patch(tmp_path, b"a patch")
    assert tables.patch_path(tmp_path, digest).read_bytes() == b"a patch"


def test_patches_that_no_pair_needs_are_removed(tmp_path: Path) -> None:
    kept, gone = tables.keep_patch(tmp_path, b"kept"), tables.keep_patch(tmp_path, b"gone")
    tables.prune_patches(tmp_path, {kept})
    assert tables.patch_path(tmp_path, kept).is_file()
    assert not tables.patch_path(tmp_path, gone).parent.exists()


def test_pruning_where_no_patch_was_kept_does_nothing(tmp_path: Path) -> None:
    tables.prune_patches(tmp_path, set())
    assert list(tmp_path.iterdir()) == []
