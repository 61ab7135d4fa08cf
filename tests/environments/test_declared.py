from __future__ import annotations

from pathlib import Path

from tests.environments.projects import declared


def test_dependencies_come_from_wherever_they_stand(tmp_path: Path) -> None:
    places = {
        "project": {"pyproject.toml": '[project]\nname = "a"\ndependencies = ["six>=1"]\n'},
        "cfg": {"setup.cfg": "[options]\ninstall_requires =\n    six>=1  # for old Pythons\n"},
        "py": {"setup.py": "setup(install_requires=['six>=1'])"},
        "dynamic": {
            "pyproject.toml": '[tool.setuptools.dynamic]\ndependencies = {file = ["need.in"]}\n',
            "need.in": "six>=1\n",
        },
        "file": {"requirements.txt": "six>=1\n"},
        "flit": {"pyproject.toml": '[tool.flit.metadata]\nmodule = "a"\nrequires = ["six>=1"]\n'},
    }
    for name, files in places.items():
        assert declared(tmp_path / name, files).dependencies == ["six>=1"], name


def test_poetry_tells_names_and_its_lock_the_versions(tmp_path: Path) -> None:
    found = declared(
        tmp_path,
        {
            "pyproject.toml": '[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\npython = "^3.9"\n'
            'six = "^1.15"\nlxml = {version = "*", optional = true}\n'
            '[tool.poetry.group.test.dependencies]\npytest = "^8"\n',
            "poetry.lock": '[[package]]\nname = "six"\nversion = "1.15.0"\n'
            '[[package]]\nname = "two"\nversion = "1"\n[[package]]\nname = "two"\nversion = "2"\n'
            '[[package]]\nname = "own"\nversion = "1"\nsource = {type = "git", url = "x"}\n',
        },
    )
    assert found.dependencies == ["six"]
    assert found.groups == {"test": ["pytest"]}
    assert found.locked == ("six==1.15.0",)
    assert found.requires_python == ">=3.9"


def test_a_uv_lock_does_not_pin_the_project_itself(tmp_path: Path) -> None:
    lock = (
        '[[package]]\nname = "a"\nversion = "0.1"\nsource = {editable = "."}\n'
        '[[package]]\nname = "six"\nversion = "1.15.0"\nsource = {registry = "https://example.org"}\n'
    )
    assert declared(tmp_path, {"uv.lock": lock}).locked == ("six==1.15.0",)


def test_groups_include_groups_and_circles_end(tmp_path: Path) -> None:
    text = (
        "[dependency-groups]\n"
        'test = ["pytest", {include-group = "dev"}]\ndev = ["six", {include-group = "test"}]\n'
    )
    found = declared(tmp_path, {"pyproject.toml": text}).groups
    assert found["test"] == ["pytest", "six"]


def test_own_extras_stand_for_what_they_hold(tmp_path: Path) -> None:
    text = (
        '[project]\nname = "My-Thing"\n[project.optional-dependencies]\n'
        'io = ["lxml"]\nviz = ["pillow"]\ncomplete = ["my_thing[io,viz]", "my-thing[complete]"]\n'
    )
    found = declared(tmp_path, {"pyproject.toml": text})
    assert found.requirements(["my_thing[complete]", "six"]) == ["lxml", "pillow", "six"]
    assert found.requirements(["-e .[io]", ".", "My-Thing"]) == ["lxml"]


def test_referred_files_are_followed_from_where_they_stand(tmp_path: Path) -> None:
    found = declared(
        tmp_path,
        {
            "ci/all.txt": "-r base.txt\n-r ../root.txt\n-r all.txt\n-r ../../outside.txt\n",
            "ci/base.txt": "six\n",
            "root.txt": "attrs\n",
        },
    )
    assert found.requirements(["-r all.txt"], "ci") == ["six", "attrs"]


def test_addresses_paths_and_options_are_no_requirements(tmp_path: Path) -> None:
    lines = ["a @ https://example.org/a.zip", "./local", "--pre", "git+https://example.org/b", "six", "# no"]
    assert declared(tmp_path, {"x": ""}).requirements(lines) == ["six"]


def test_broken_files_declare_nothing(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[project", "setup.cfg": "no section", "setup.py": "(", "uv.lock": "="}
    found = declared(tmp_path, files)
    assert (found.dependencies, found.extras, found.groups, found.locked) == ([], {}, {}, ())


def test_tables_of_another_shape_declare_nothing(tmp_path: Path) -> None:
    text = 'project = 3\ntool = "x"\n[dependency-groups]\ntest = 4\n'
    found = declared(tmp_path, {"pyproject.toml": text})
    assert (found.dependencies, found.groups, found.distribution) == ([], {"test": []}, None)
