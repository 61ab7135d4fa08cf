"""From TOML to specifications and back. A file is taken whole, or refused with its error's place."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any, Final

import stalebench
from stalebench.errors import SpecError
from stalebench.spec.fields import Fields
from stalebench.spec.model import LANDINGS, RUNNERS, Limits, Recipe, Spec

_NAME: Final = r"[A-Za-z0-9][\w.-]*"
_REPOSITORY: Final = r"[^\s/]+(?:/[^\s/]+)+"
_IMPORT_NAME: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"


def names() -> list[str]:
    """The repositories whose specifications come with stalebench, by name."""
    return sorted({file.stem for folder in _folders() if folder.is_dir() for file in folder.glob("*.toml")})


def known(repository: str) -> Spec | None:
    """The specification that comes with stalebench for `owner/name`, if there is one."""
    return next((spec for spec in map(load, names()) if spec.repository == repository), None)


def load(name_or_path: str | Path) -> Spec:
    """The specification of that name, of that repository (`owner/name`), or in that TOML file."""
    where = str(name_or_path)
    tried = [Path(where)] if where.endswith(".toml") else [folder / f"{where}.toml" for folder in _folders()]
    for file in tried:
        if file.is_file():
            return parse(_text(file), str(file) if where.endswith(".toml") else file.name)
    if "/" in where and (found := known(where)):
        return found
    raise SpecError(
        f"there is no specification {where}: tried {', '.join(map(str, tried))}",
        "a misspelt name, or a repository that stalebench does not know",
        f"known are {', '.join(names())}; any other is derived: pass --repo owner/name or --clone PATH",
    )


def parse(text: str, file: str = "specification") -> Spec:
    """The specification that a TOML text holds; `file` is how errors call it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"{file}: not TOML: {error}",
            "a missing quote or bracket",
            "correct the file at that place",
        ) from error
    return _spec(Fields(table, file))


def to_toml(spec: Spec) -> str:
    """The specification as TOML that loads back equal."""
    top = ("name", "repository", "clone_url", "branch", "landing", "runner", "import_name")
    files = ("source", "source_exclude", "test", "test_modules", "data")
    lines = [_line(key, getattr(spec, key)) for key in top]
    lines += ["", "[files]", *(_line(key, getattr(spec, key)) for key in files)]
    limits = [_line(one.name, getattr(spec.limits, one.name)) for one in fields(Limits)]
    lines += ["", "[limits]", *limits]
    for recipe in spec.recipes:
        lines += ["", "[[recipes]]", *_recipe_lines(recipe)]
    return "\n".join(line for line in lines if line is not None) + "\n"


def _folders() -> list[Path]:
    """Where specifications lie: in a wheel they are a package of data, in a checkout a folder beside it."""
    beside = Path(stalebench.__file__).parent.parent / "datasets"
    data = importlib.util.find_spec("stalebench.data")
    packaged = data.submodule_search_locations if data is not None else None
    return [Path(folder) / "specs" for folder in (*(packaged or ()), beside)]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f"{file}: cannot be read: {error}", "no permission, or not UTF-8", "mend it"
        ) from error


def _spec(top: Fields) -> Spec:
    files, repository = _Files(top.table("files")), top.text("repository", _REPOSITORY, "owner/name")
    spec = Spec(
        name=top.text("name", _NAME, "a short name of letters, digits, dots and dashes"),
        repository=repository,
        clone_url=top.text(
            "clone_url", r".*", "an address, or nothing", default=f"https://github.com/{repository}.git"
        ),
        branch=top.optional_text("branch"),
        landing=top.choices("landing", LANDINGS),
        runner=top.text("runner", "|".join(RUNNERS), f"one of {', '.join(RUNNERS)}"),
        import_name=top.text(
            "import_name", _IMPORT_NAME, "the name that Python imports, as in `import NAME`"
        ),
        source=files.source,
        source_exclude=files.source_exclude,
        test=files.test,
        test_modules=files.test_modules,
        data=files.data,
        recipes=tuple(map(_recipe, top.tables("recipes"))),
        limits=_limits(top.table("limits")),
    )
    top.finish()
    return spec


class _Files:
    def __init__(self, table: Fields) -> None:
        self.source = table.globs("source")
        self.source_exclude = table.globs("source_exclude", ())
        self.test = table.globs("test")
        self.test_modules = table.globs("test_modules")
        self.data = table.globs("data", ())
        for key in ("source", "test", "test_modules"):
            if not getattr(self, key):
                raise table.wrong(key, "at least one glob")
        table.finish()


def _recipe(table: Fields) -> Recipe:
    recipe = Recipe(
        since=table.day("since"),
        until=table.day("until"),
        python=table.text(
            "python", r"(3\.\d+)?", "a Python version in quotes, as in '3.11', or '' for the one that runs"
        ),
        packages=table.texts("packages", ()),
        install=table.texts("install", ()),
        metadata=table.flag("metadata"),
        env=table.pairs("env"),
    )
    if recipe.since and recipe.until and recipe.since >= recipe.until:
        raise table.wrong("until", f"a day after since, {recipe.since}")
    table.finish()
    return recipe


def _limits(table: Fields) -> Limits:
    default = Limits()
    limits = Limits(
        test_seconds=table.number("test_seconds", default.test_seconds),
        run_seconds=table.number("run_seconds", default.run_seconds),
        memory_mib=table.whole("memory_mib", default.memory_mib),
        output_mib=table.whole("output_mib", default.output_mib),
    )
    table.finish()
    return limits


def _recipe_lines(recipe: Recipe) -> list[str | None]:
    keys = ("since", "until", "python", "packages", "install", "metadata")
    lines = [_line(key, getattr(recipe, key)) for key in keys]
    return lines + ([_line("env", dict(recipe.env))] if recipe.env else [])


def _line(key: str, value: object) -> str | None:
    return None if value is None else f"{key} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, date)):
        return str(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(name)} = {_toml(one)}" for name, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # TOML escapes as JSON does, and one character more.
    return re.sub("\x7f", r"\\u007f", json.dumps(value, ensure_ascii=False))
