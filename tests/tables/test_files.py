"""What writers leave on disk: whole files, the same bytes for the same records, nothing after a failure."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from stalebench import tables
from stalebench.errors import DatasetError, StalebenchError
from stalebench.outcomes import Outcome
from stalebench.records import Cell
from tests.tables import samples

ROOT = Path(__file__).parents[2]


def cells(count: int, seed: int = 0) -> list[Cell]:
    made = [
        Cell(f"{number % 7}+0", "M", "gold", 0, f"t.py::t[{number}]", "t.py::t", Outcome.PASSED, "", "4" * 40)
        for number in range(count)
    ]
    random.Random(seed).shuffle(made)
    return made


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).parts[0] != "work"
    }


def in_another_process(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}",
            *map(str, arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def out(tmp_path: Path) -> Path:
    tables.create(tmp_path / "toy", "toy", {})
    return tmp_path / "toy"


def test_the_same_records_give_the_same_bytes_in_any_order(out: Path) -> None:
    tables.write(out, "test_results", cells(60_000, seed=1))
    first = files(out)
    tables.write(out, "test_results", iter(cells(60_000, seed=2)))
    assert files(out) == first


def test_another_process_and_folder_give_the_same_bytes(out: Path, tmp_path: Path) -> None:
    other = tmp_path / "an other's [folder]"
    code = (
        "from pathlib import Path; from tests.tables import samples; samples.write_dataset(Path(sys.argv[1]))"
    )
    assert in_another_process(code, other).communicate() == ("", "")
    assert files(samples.write_dataset(out)) == files(other)


def test_a_dataset_tells_nothing_of_its_time_or_place(out: Path) -> None:
    content = b"".join(files(samples.write_dataset(out)).values())
    assert str(out).encode() not in content
    assert time.strftime("%Y-%m-%d").encode() not in content


def test_an_empty_table_still_has_its_schema(out: Path) -> None:
    assert tables.write(out, "pairs", []) == 0
    assert list(tables.read(out, "pairs")) == []
    with tables.connect(out) as connection:
        assert connection.execute("SELECT count(*), count(tasks) FROM pairs").fetchone() == (0, 0)


def test_a_failing_stage_leaves_the_table_as_it_was(out: Path) -> None:
    tables.write(out, "test_results", cells(3))
    before = files(out)

    def broken() -> Iterator[Cell]:
        yield from cells(5_000)
        raise OSError("the stage failed")

    with pytest.raises(OSError, match="the stage failed"):
        tables.write(out, "test_results", broken())
    assert files(out) == before


def test_a_killed_writer_leaves_nothing_that_a_reader_or_the_next_writer_sees(out: Path) -> None:
    tables.write(out, "test_results", cells(3))
    before = files(out)
    code = """
from pathlib import Path; from stalebench import tables; from tests.tables.test_files import cells
def slow():
    yield from cells(5_000)
    print("under way", flush=True)
    import time; time.sleep(60)
tables.write(Path(sys.argv[1]), "test_results", slow())
"""
    writer = in_another_process(code, out)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "under way\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert len(list(tables.read(out, "test_results"))) == 3
    tables.write(out, "test_results", cells(3))
    assert files(out) == before


def test_a_full_disk_is_said_and_loses_nothing(out: Path) -> None:
    tables.write(out, "test_results", cells(3))
    before = files(out)
    code = """
import resource, signal
from pathlib import Path; from stalebench import tables; from stalebench.errors import StalebenchError
from tests.tables.test_files import cells
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try: tables.write(Path(sys.argv[1]), "test_results", cells(20_000))
except StalebenchError as error: print(error)
"""
    for limit in (100_000, 1_000):
        said, complaint = in_another_process(code, out, limit).communicate()
        assert "cannot write" in said, complaint
        assert "the disk is full" in said
        assert "make room" in said
        assert files(out) == before


def test_only_the_parquet_file_does_not_fit_and_that_is_said_too(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out / "pairs").mkdir()
    (out / "pairs" / ".part-0.parquet.tmp").symlink_to("/dev/full")
    with pytest.raises(StalebenchError, match="cannot write"):
        tables.write(out, "pairs", samples.PAIRS)
    assert list((out / "pairs").iterdir()) == []


def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StalebenchError, match="cannot write"):
        tables.write(tmp_path / "file" / "toy", "pulls", [])


def test_readers_never_see_half_a_table(out: Path) -> None:
    tables.write(out, "test_results", cells(2_000))
    code = """
from pathlib import Path; from stalebench import tables; from tests.tables.test_files import cells
made = cells(4_000)
for size in [4_000, 2_000] * 5: tables.write(Path(sys.argv[1]), "test_results", made[:size])
"""
    writer = in_another_process(code, out)
    seen = set()
    while writer.poll() is None:
        with tables.connect(out) as connection:
            seen |= {connection.execute("SELECT count(*) FROM test_results").fetchall()[0] for _ in range(3)}
    assert writer.communicate() == ("", "")
    assert seen <= {(2_000,), (4_000,)}


def test_memory_stays_flat(out: Path) -> None:
    code = """
import resource
from pathlib import Path; from stalebench import tables
from stalebench.records import Cell
from stalebench.outcomes import Outcome
made = (Cell(f"{n % 7}+0", "M", "gold", 0, f"t.py::t[{n}]" + "x" * 400, "t", Outcome.PASSED, "", "4" * 40)
        for n in range(int(sys.argv[2])))
tables.write(Path(sys.argv[1]), "test_results", made)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    few, many = (int(in_another_process(code, out, count).communicate()[0]) for count in (1_000, 100_000))
    assert many - few < 250_000  # in KiB; the records alone, as objects, would take as much again and more


@pytest.mark.parametrize("cut", [0, 3, 300, -20])
def test_a_truncated_file_is_named(out: Path, cut: int) -> None:
    tables.write(out, "pulls", samples.PULLS)
    part = tables.parts(out, "pulls")[0]
    part.write_bytes(part.read_bytes()[:cut])
    with pytest.raises(DatasetError, match=r"pulls/part-0\.parquet cannot be read"):
        tables.read(out, "pulls")
    with pytest.raises(DatasetError, match="run the same command again"):
        tables.connect(out)


def test_a_table_with_other_columns_is_named(out: Path) -> None:
    (out / "pulls").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS id) TO '{out}/pulls/part-0.parquet'")
    with pytest.raises(DatasetError, match="other columns than table pulls"):
        tables.read(out, "pulls")


def test_a_missing_table_names_the_command_that_writes_it(out: Path) -> None:
    with pytest.raises(DatasetError, match="has no table compositions") as caught:
        tables.read(out, "compositions")
    assert "stalebench compose" in caught.value.fix
