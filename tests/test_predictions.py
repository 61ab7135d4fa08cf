"""Prediction files in every form that SWE-bench and mini-swe-agent write, and what is wrong with some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.errors import UsageError
from stalebench.predictions import Predictions, predicted, task_id, written
from tests.grading.outcome_tables import assigned, instance

PAIR = instance(assigned("3605", ("t::a",)), assigned("3607", ("t::b",)))
OLDER, NEWER = "3607+3605:3605", "3607+3605:3607"


def record(name: str, patch: str | None = "diff", model: str = "m-1") -> dict[str, Any]:
    return {"instance_id": name, "model_name_or_path": model, "model_patch": patch}


def read(folder: Path, content: str | bytes) -> Predictions:
    path = folder / "preds.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return predicted(path, [PAIR])


ROWS = [record(OLDER, "one"), record(NEWER, "two")]
FORMS = {
    "JSON lines": "\n".join(map(json.dumps, ROWS)) + "\n",
    "JSON lines with a blank one and a mark": "\ufeff" + "\n\n".join(map(json.dumps, ROWS)),
    "JSON list": json.dumps(ROWS, indent=2),
    "JSON object by id": json.dumps({row["instance_id"]: row for row in ROWS}),
    "JSON object by id alone": json.dumps(
        {row["instance_id"]: {"model_patch": row["model_patch"], "model_name_or_path": "m-1"} for row in ROWS}
    ),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_each_form_gives_the_same_patches(tmp_path: Path, content: str) -> None:
    found = read(tmp_path, content)
    assert found.name == "m-1"
    assert found.patches == {(PAIR.id, 1): b"one", (PAIR.id, 2): b"two"}
    assert (found.unknown, found.ids) == ((), 2)


def test_a_task_is_named_by_its_pair_and_pull() -> None:
    assert [task_id(PAIR, number) for number in (1, 2)] == [OLDER, NEWER]


@pytest.mark.parametrize("patch", [None, ""])
def test_no_patch_is_an_empty_one_as_in_swe_bench(tmp_path: Path, patch: str | None) -> None:
    assert read(tmp_path, json.dumps(record(OLDER, patch))).patches == {(PAIR.id, 1): b""}


def test_a_task_that_is_not_there_has_no_patch_and_ids_of_others_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps([record(OLDER), record("django__django-1")]))
    assert set(found.patches) == {(PAIR.id, 1)}
    assert (found.unknown, found.ids) == (("django__django-1",), 2)


def test_the_file_names_the_agent_where_the_records_do_not(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps({OLDER: {"model_patch": "x"}})).name == "preds"


@given(st.binary(max_size=40))
def test_what_was_written_is_read_back_to_the_byte(patch: bytes) -> None:
    (line,) = written("m", [(OLDER, patch)])
    assert line.isascii()
    text = json.loads(line)["model_patch"]
    assert text.encode("utf-8", "surrogateescape") == patch


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    patches = {OLDER: b"\xff\r\n\x00 no newline", NEWER: b""}
    found = read(tmp_path, "".join(written("m", patches.items())))
    assert found.patches == {(PAIR.id, 1): patches[OLDER], (PAIR.id, 2): b""}


BROKEN = {
    "cut short": (json.dumps(record(OLDER)) + '\n{"instance_id": "', "line 2 of .* is no JSON"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
    "twice": ("\n".join([json.dumps(record(OLDER))] * 2), "more than one prediction for 3607"),
    "twice in an object": (f'{{"{OLDER}": {{}}, "{OLDER}": {{}}}}', "'3607.*' stands twice"),
    "two models": (json.dumps([record(OLDER), record(NEWER, model="m-2")]), "several models: m-1, m-2"),
    "of another dataset": (json.dumps([record("django__django-1")]), "no prediction for a pair"),
    "empty": ("", "no prediction for a pair"),
    "a number": ("3", "holds no predictions"),
    "a list of texts": ('["a"]', "entry 1 of .* is no object"),
    "without an id": ('[{"model_patch": ""}]', "has no instance_id"),
    "without a patch": (json.dumps([{"instance_id": OLDER}]), "has no model_patch"),
    "a patch that is no text": (json.dumps([record(OLDER) | {"model_patch": 3}]), "is no text"),
    "half a character": (json.dumps([record(OLDER, "\ud800")]), "half a character"),
    "another id inside": (json.dumps({OLDER: record(NEWER)}), "says it is"),
}


@pytest.mark.parametrize(("content", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_with_what_is_wrong(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        read(tmp_path, content)
    assert refused.value.cause
    assert refused.value.fix


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        predicted(tmp_path / "none", [PAIR])
