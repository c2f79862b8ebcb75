"""Traced runs of the benchmarks resume, in one process and in several."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from benchmarks.report import read_rows
from benchmarks.runs import Points, Progress, complete_traced, traces_path
from spdp_engine.types import Iteration


def measure(folder: Path, wanted: dict[str, object], progress: Progress) -> tuple[dict[str, object], Points]:
    """A run that leaves a file behind, in whichever process it is."""
    with (folder / f"ran-{wanted['engine']}-{wanted['seed']}").open("a") as file:
        file.write("x")
    progress(Iteration(1, 1.0, 1.0, 1.0, None))
    return {"end": 7}, [{"seed": wanted["seed"], "iteration": t} for t in range(2)]


def ran(folder: Path) -> dict[str, int]:
    return {path.name: len(path.read_text()) for path in sorted(folder.glob("ran-*"))}


@pytest.mark.parametrize("processes", [1, 2])
def test_traced_runs_resume(tmp_path: Path, processes: int) -> None:
    path = tmp_path / "runs.csv"

    def run(engine: str, seeds: int) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        wanted = [{"seed": seed, "iterations": 2, "engine": engine} for seed in range(1, seeds + 1)]
        return complete_traced("test", path, wanted, partial(measure, tmp_path), processes)

    run("old", 2)
    rows, points = run("old", 3)
    assert ran(tmp_path) == {"ran-old-1": 1, "ran-old-2": 1, "ran-old-3": 1}
    assert [row["seed"] for row in rows] == ["1", "2", "3"] and [row["end"] for row in rows] == ["7"] * 3
    assert [(point["seed"], point["iteration"]) for point in points] == [(s, t) for s in "123" for t in "01"]
    traces_path(path).unlink()  # a run without its trace is run again
    run("old", 1)
    assert ran(tmp_path)["ran-old-1"] == 2
    run("new", 1)
    assert {row["engine"] for row in read_rows(path)} == {"new"}
    assert len(read_rows(traces_path(path))) == 2
