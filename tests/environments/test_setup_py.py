from stalebench.environments.setup_py import arguments


def test_arguments_are_read_without_running_the_file() -> None:
    found = arguments(
        'raise SystemExit\nfrom setuptools import setup\nsetup(name="a", install_requires=["b>1"])'
    )
    assert found == {"name": "a", "install_requires": ["b>1"]}


def test_constants_sums_and_formats_are_followed() -> None:
    source = """
import setuptools
LEAST = "0.19"
BASE = ["x"]
EXTRAS = {"test": ["pytest"] + BASE}
if __name__ == "__main__":
    NEEDED = BASE + ["mpmath>=%s" % LEAST, f"y=={LEAST}"]
    setuptools.setup(name="a", install_requires=NEEDED, extras_require=EXTRAS, python_requires=">=3.8")
"""
    assert arguments(source) == {
        "name": "a",
        "install_requires": ["x", "mpmath>=0.19", "y==0.19"],
        "extras_require": {"test": ["pytest", "x"]},
        "python_requires": ">=3.8",
    }


def test_what_only_running_would_tell_is_left_out() -> None:
    source = 'setup(name=read_name(), version="%s %s" % "a", install_requires=["a", find(), *more])'
    assert arguments(source) == {"install_requires": ["a"]}


def test_a_file_that_does_not_parse_declares_nothing() -> None:
    assert arguments("print 'python 2'") == {}
    assert arguments("\0") == {}
