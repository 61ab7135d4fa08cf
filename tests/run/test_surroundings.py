"""Claims about what a supervised process finds around it."""

from __future__ import annotations

from pathlib import Path

from stalebench.run.surroundings import covers, environment, home_variables, visible_folders


def test_the_interpreter_comes_first_on_the_path() -> None:
    variables = environment(Path("/somewhere/bin/python"), [("EXTRA", "1"), ("LANG", "de_DE")], hash_seed=3)
    assert variables["PATH"].startswith("/somewhere/bin:")
    assert (variables["EXTRA"], variables["LANG"], variables["PYTHONHASHSEED"]) == ("1", "de_DE", "3")
    assert variables["PYTHONDONTWRITEBYTECODE"] == "1"


def test_bytecode_may_be_written_where_asked_for() -> None:
    assert "PYTHONDONTWRITEBYTECODE" not in environment(Path("/bin/python"), write_bytecode=True)


def test_every_private_folder_lies_in_the_scratch_folder() -> None:
    assert all(value.startswith("/scratch") for value in home_variables("/scratch").values())


def test_all_links_from_an_environment_to_its_interpreter_are_seen(tmp_path: Path) -> None:
    real = tmp_path / "pythons" / "3.11.7"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "python3.11").touch()
    (tmp_path / "pythons" / "3.11").symlink_to("3.11.7")
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python3").symlink_to(tmp_path / "pythons" / "3.11" / "bin" / "python3.11")
    (tmp_path / "venv" / "bin" / "python").symlink_to("python3")
    seen = visible_folders(tmp_path / "venv" / "bin" / "python", tmp_path / "venv", {}, [])
    assert seen == [str(tmp_path / name) for name in ("pythons/3.11", "pythons/3.11.7", "venv")]


def test_the_search_path_and_named_folders_are_seen_as_far_as_they_exist(tmp_path: Path) -> None:
    for name in ("work", "plugin", "fonts"):
        (tmp_path / name).mkdir()
    variables = {"PYTHONPATH": f"{tmp_path / 'plugin'}:{tmp_path / 'absent'}"}
    seen = visible_folders(Path("/usr/bin/env"), tmp_path / "work", variables, [tmp_path / "fonts"])
    assert {str(tmp_path / name) for name in ("work", "plugin", "fonts")} <= set(seen)
    assert str(tmp_path / "absent") not in seen


def test_a_folder_that_is_needed_whole_is_not_covered() -> None:
    covered = dict(covers(Path("/scratch"), ["/tmp"]))  # noqa: S108
    assert "/tmp" not in covered  # noqa: S108
    assert dict(covers(Path("/scratch"), ["/tmp/checkout"]))["/tmp"] == "/scratch"  # noqa: S108
