"""The schema as data, and as the page `docs/dataset.md`. Declares nothing itself."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from stalebench import reasons as closed_list
from stalebench.errors import DatasetError
from stalebench.reasons import Reason
from stalebench.tables.derived import DERIVED
from stalebench.tables.schema import SCHEMA_VERSION, TABLES, Column

_INTRODUCTION: Final = f"""\
# A dataset

<!-- Made by `stalebench schema --markdown`: the columns are declared in stalebench/tables/schema.py. -->

A dataset is a folder. Schema version {SCHEMA_VERSION}.

| path | what it is |
|---|---|
| `dataset.json` | what it is and how it was made: schema version, repository, parameters |
| `spec.toml` | the repository's specification that was used |
| `<table>/<part>.parquet` | the tables, one folder each, written whole and sorted |
| `patches/<aa>/<sha256>.patch` | patches in git's format by content: of valid pairs, of graded runs |
| `texts/<aa>/<sha256>.txt` | of a graded run: prompts and messages, by content |
| `attempts/`, `trajectories/` | of a graded run: what agents did, as it was stored; not part of the tables |
| `work/` | stored runs and checkouts, which make a second run cheap; not part of the dataset |

The same clone, parameters and environments give the same files, byte for byte: nothing in them depends
on time, machine, or number of workers.

`stalebench.connect(path)` gives a DuckDB connection with a view for each table, and the views at the end of
this page. The path may also be a folder of datasets or a list of either; each view then is the union of
theirs. Each view ends with a column `dataset`, the folder that a row comes from.
`stalebench query PATH SQL` asks from the shell.

Commits and trees are full hexadecimal ids, times ISO 8601 in UTC. Functions are named
`path::Qualified.name`, tests as pytest names them, `path::Class::name[parameters]`. A byte of a path that is
not UTF-8 is written as `\\udcNN`. Null means that something does not apply or cannot be known; an empty list
means that there is none. Names and addresses of people are nowhere.
"""


def described(name: str | None = None) -> list[dict[str, Any]]:
    """Each table and view with its columns, or the one of that name. Raises DatasetError."""
    views = [_described(view.name, view.doc, view.columns) for view in DERIVED.values()]
    every = [_described(table.name, table.doc, table.columns) for table in TABLES.values()] + views
    chosen = [each for each in every if name in (None, each["name"])]
    if not chosen:
        names = ", ".join(each["name"] for each in every)
        raise DatasetError(f"no table is called {name!r}", "a slip of the pen", f"use one of: {names}")
    return chosen


def _described(name: str, doc: str, columns: Sequence[Column]) -> dict[str, Any]:
    rows = [
        {"name": column.name, "type": column.type.replace('"', ""), "doc": column.doc} for column in columns
    ]
    return {"name": name, "doc": doc, "columns": rows}


def reasons() -> list[tuple[str, str, str]]:
    """Each reason of the closed list: the stage that gives it, its name in the tables, and what it means."""
    source = inspect.getsource(closed_list)
    stages = {
        number: line.strip(" #")
        for number, line in enumerate(source.splitlines(), 1)
        if line.startswith("    # ")
    }
    listed = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == Reason.__name__
    )
    return [
        (
            stages[max(number for number in stages if number < name.lineno)],
            _text(name.value),
            _text(doc.value),
        )
        for name, doc in itertools.pairwise(listed.body)
        if isinstance(name, ast.Assign) and isinstance(doc, ast.Expr)
    ]


def _text(node: ast.expr) -> str:
    return str(ast.literal_eval(node))


def page() -> str:
    """The page, as Markdown."""
    return "\n".join(
        [_INTRODUCTION, "## Tables\n", *_sections(TABLES), *_reasons(), "## Views\n", *_sections(DERIVED)]
    )


def _sections(names: Sequence[str] | Any) -> Iterator[str]:
    for name in names:
        table = described(name)[0]
        yield f"### {name}\n\n{table['doc']}"
        if name in TABLES:
            yield f"Sorted by {', '.join(f'`{column}`' for column in TABLES[name].key)}."
        yield "\n| column | type | meaning |\n|---|---|---|"
        for column in table["columns"]:
            yield f"| `{column['name']}` | `{column['type']}` | {column['doc'].replace('|', chr(92) + '|')} |"
        yield ""


def _reasons() -> Iterator[str]:
    yield "## Reasons\n\nWhatever does not get past a stage has one reason, the first that applies.\n"
    yield "| stage | reason | meaning |\n|---|---|---|"
    for stage, reason, doc in reasons():
        yield f"| {stage} | `{reason}` | {doc} |"
    yield ""
