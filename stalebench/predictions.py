"""Reads and writes patches that were made elsewhere, in the forms that SWE-bench and its agents use.

JSON lines, a JSON list, or a JSON object by instance id (mini-swe-agent's `preds.json`), each record with
`instance_id`, `model_name_or_path` and `model_patch`. An id is `PAIR:PULL`, one for each task. Patches are
bytes here; in JSON, a byte that is not UTF-8 is a lone surrogate, as `surrogateescape` makes it. Judges no
patch.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stalebench.errors import UsageError
from stalebench.grading.records import Instance

Key = tuple[str, int]
"""An instance, and the number of a task in it."""

_FORMS: Final = "give JSON lines, a JSON list, or a JSON object by instance id, as SWE-bench takes them"


@dataclass(frozen=True, slots=True)
class Predictions:
    """Who made the patches, and the patch of each task of which there is one.

    `unknown` are ids of the file that are none of the dataset's; `ids` is how many the file holds in all.
    """

    name: str
    patches: Mapping[Key, bytes | None]
    unknown: tuple[str, ...]
    ids: int


def task_id(instance: Instance, task: int) -> str:
    """`PAIR:PULL`, by which a prediction names a task; tasks count from 1."""
    return f"{instance.id}:{instance.tasks[task - 1].pull}"


def predicted(path: Path, instances: Sequence[Instance]) -> Predictions:
    """The predictions of a file. Raises UsageError where it is broken, or names no task of the dataset."""
    found = list(_records(path))
    known = {task_id(one, task): (one.id, task) for one in instances for task in _numbers(one)}
    _refuse_twice(path, [name for name, _ in found])
    patches = {known[name]: _patch(path, name, record) for name, record in found if name in known}
    if not patches:
        raise UsageError(
            f"{path} holds no prediction for a pair of this dataset",
            f"its ids are others, as {found[0][0]!r}" if found else "it is empty",
            f"name each task PAIR:PULL, as {next(iter(known))!r}" if known else "mine a dataset first",
        )
    unknown = tuple(sorted(name for name, _ in found if name not in known))
    return Predictions(_model(path, [record for _, record in found]), patches, unknown, len(found))


def written(name: str, patches: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """JSON lines of these patches, by id: what `predicted` reads, and SWE-bench's harness."""
    for instance_id, patch in patches:
        text = patch.decode("utf-8", "surrogateescape")
        record = {"instance_id": instance_id, "model_name_or_path": name, "model_patch": text}
        yield json.dumps(record) + "\n"


def _numbers(instance: Instance) -> range:
    return range(1, len(instance.tasks) + 1)


# Records of a file


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for where, given, record in _entries(path, _text(path)):
        if not isinstance(record, dict):
            raise _broken(f"{where} of {path} is no object", "it is of another form")
        name = record.get("instance_id", given)
        if not isinstance(name, str):
            raise _broken(f"{where} of {path} has no instance_id", "it is of another form")
        if given is not None and name != given:
            raise _broken(f"{where} of {path} says it is {name!r}", "records were mixed up")
        yield name, record


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", "a slip in the path", "name an existing file"
        ) from error
    except UnicodeDecodeError as error:
        raise _broken(
            f"{path} is not UTF-8 at byte {error.start}", "it was written in another encoding"
        ) from error


def _entries(path: Path, text: str) -> Iterator[tuple[str, str | None, Any]]:
    """Where each record stands, the id under which it does, and the record."""
    try:
        whole = json.loads(text, object_pairs_hook=_object)
    except ValueError:
        yield from _lines(path, text)
        return
    if isinstance(whole, list):
        yield from ((f"entry {number}", None, record) for number, record in enumerate(whole, 1))
    elif isinstance(whole, dict) and "instance_id" in whole:
        yield "line 1", None, whole
    elif isinstance(whole, dict):
        yield from ((f"entry {name!r}", name, record) for name, record in whole.items())
    else:
        raise _broken(f"{path} holds no predictions", "it is another kind of file")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key stands twice: of two records of one id, JSON would keep the last."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _broken(f"{key!r} stands twice in one object", "several runs were put into one file")
        found[key] = value
    return found


def _lines(path: Path, text: str) -> Iterator[tuple[str, str | None, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", None, json.loads(line)
        except ValueError as error:
            raise _broken(
                f"line {number} of {path} is no JSON: {error}", "it was cut short, or edited"
            ) from error


def _patch(path: Path, name: str, record: Mapping[str, Any]) -> bytes:
    """The patch; SWE-bench counts null as an empty one."""
    if "model_patch" not in record:
        raise _broken(f"the prediction for {name} in {path} has no model_patch", "it is of another form")
    patch = record["model_patch"]
    if patch is None:
        return b""
    if not isinstance(patch, str):
        raise _broken(f"the model_patch for {name} in {path} is no text", "it is of another form")
    try:
        return patch.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise _broken(
            f"the model_patch for {name} in {path} holds half a character", "its text was cut"
        ) from error


def _refuse_twice(path: Path, names: Sequence[str]) -> None:
    twice = sorted(name for name, number in Counter(names).items() if number > 1)
    if twice:
        raise UsageError(
            f"{path} holds more than one prediction for {', '.join(twice[:3])}",
            "several runs were put into one file",
            "keep one for each task; grade each run by itself",
        )


def _model(path: Path, records: Sequence[Mapping[str, Any]]) -> str:
    models = sorted(
        {str(record["model_name_or_path"]) for record in records if record.get("model_name_or_path")}
    )
    if len(models) > 1:
        raise UsageError(
            f"{path} holds predictions of several models: {', '.join(models[:3])}",
            "several runs were put into one file",
            "grade the file of each model by itself",
        )
    return models[0] if models else path.stem


def _broken(what: str, cause: str) -> UsageError:
    return UsageError(what, cause, _FORMS)
