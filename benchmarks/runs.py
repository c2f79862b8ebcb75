"""Runs that can be resumed: what a CSV file holds already is not measured again."""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from benchmarks.report import Row, read_rows, write_rows
from spdp_engine.types import Iteration

Progress = Callable[[Iteration], None]
"""Called by a run after each of its iterations."""

Measure = Callable[[Row, Progress], Row]
"""Runs one row's settings; returns what the run adds to the row."""

Points = Sequence[Row]
"""What happened on the way of a run: rows with the same columns, in order."""

TracedMeasure = Callable[[Row, Progress], tuple[Row, Points]]
"""Runs one row's settings; returns what the run adds to the row, and its trace."""

Result = TypeVar("Result")
TextRow = dict[str, str]

WAITING_SECONDS = 0.2
"""Between two looks at what other processes have told."""


def complete(name: str, path: Path, wanted: Sequence[Row], measure: Measure) -> list[TextRow]:
    """The wanted rows of a CSV file; those that are missing are measured now, each written as soon as it is there.

    Args:
        name: what the progress bar is called.
        path: the file; it need not exist.
        wanted: settings, 'iterations' among them. A row of the file with the same values is the result for them.
        measure: measures one.

    Returns:
        One row to each of `wanted`, as text.
    """
    rows = read_rows(path)
    found = [_row_of(rows, settings) for settings in wanted]
    for position, result in _measured(name, wanted, found, measure, processes=1):
        row = found[position] = _as_text({**wanted[position], **result})
        rows.append(row)
        write_rows(path, rows)
    return [row for row in found if row is not None]


def complete_traced(
    name: str, path: Path, wanted: Sequence[Row], measure: TracedMeasure, processes: int = 1
) -> tuple[list[TextRow], list[TextRow]]:
    """As `complete`, for runs that leave a trace, which goes to a second file beside the first (`traces_path`).

    A row of either file has a column 'run', which says what belongs together. Runs of another engine (column 'engine') are
    dropped from both files when something new is written: they are superseded, and traces are long.

    Args:
        name: what the progress bar is called.
        path: the file of runs; it need not exist.
        wanted: settings of each run, 'iterations' and 'engine' among them.
        measure: runs one; must be picklable where `processes` is above 1.
        processes: how many run at once, each in a process of its own; 1: one after another in this one.

    Returns:
        One row to each of `wanted`, and the points of all of them, run by run; both as text.
    """
    names = [_run_name(settings) for settings in wanted]
    engines = {str(settings["engine"]) for settings in wanted}
    rows = [row for row in read_rows(path) if row["engine"] in engines]
    traces: dict[str, list[TextRow]] = {row["run"]: [] for row in rows}
    for point in read_rows(traces_path(path)):
        if point["run"] in traces:
            traces[point["run"]].append(point)
    rows = [row for row in rows if traces[row["run"]]]
    found = [_row_of(rows, settings) for settings in wanted]
    for position, (result, points) in _measured(name, wanted, found, measure, processes):
        run = names[position]
        traces[run] = [_as_text({"run": run, **point}) for point in points]
        row = found[position] = _as_text({**wanted[position], **result, "run": run})
        rows.append(row)
        write_rows(traces_path(path), [point for row in rows for point in traces[row["run"]]])
        write_rows(path, rows)
    return [row for row in found if row is not None], [point for run in names for point in traces[run]]


def traces_path(path: Path) -> Path:
    """Where the traces of the runs in `path` are."""
    return path.with_name(f"{path.stem}-traces{path.suffix}")


def _measured(
    name: str,
    wanted: Sequence[Row],
    found: Sequence[TextRow | None],
    measure: Callable[[Row, Progress], Result],
    processes: int,
) -> Iterator[tuple[int, Result]]:
    """Measures what is not found; yields its position and result, as each is done."""
    lengths = [int(str(settings["iterations"])) for settings in wanted]
    missing = [position for position, row in enumerate(found) if row is None]
    with tqdm(total=sum(lengths), desc=name, unit="iteration") as bar:
        bar.update(sum(length for length, row in zip(lengths, found, strict=True) if row is not None))
        at_once = min(processes, len(missing))
        if at_once <= 1:
            for position in missing:
                yield position, measure(wanted[position], lambda _: bar.update())
        else:
            yield from _in_processes(wanted, missing, measure, at_once, bar)
        bar.update(bar.total - bar.n)  # a run may end before its last iteration


def _in_processes(
    wanted: Sequence[Row], missing: Sequence[int], measure: Callable[[Row, Progress], Result], processes: int, bar: tqdm
) -> Iterator[tuple[int, Result]]:
    context = multiprocessing.get_context("spawn")  # a forked process could not use the parent's OpenCL platform
    told: SimpleQueue[None] = context.SimpleQueue()
    with ProcessPoolExecutor(processes, context, _begin, (told,)) as pool:
        waiting = {pool.submit(_measure_here, measure, wanted[position]): position for position in missing}
        try:
            while waiting:
                done, _ = wait(waiting, WAITING_SECONDS, FIRST_COMPLETED)
                while not told.empty():
                    told.get()
                    bar.update()
                for future in done:
                    yield waiting.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(told: SimpleQueue[None]) -> None:
    """Begins a process that measures: where it tells of its iterations."""
    global _told
    _told = told


_told: SimpleQueue[None]


def _measure_here(measure: Callable[[Row, Progress], Result], settings: Row) -> Result:
    """Measures in a process that `_begin` began."""
    return measure(settings, lambda _: _told.put(None))


def _run_name(settings: Row) -> str:
    """Eight hexadecimal digits that change with any of the settings."""
    words = [f"{column}={value}" for column, value in sorted(settings.items())]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:8]


def _row_of(rows: Sequence[TextRow], settings: Row) -> TextRow | None:
    return next((row for row in rows if _agree(row, settings)), None)


def _agree(row: Mapping[str, str], settings: Row) -> bool:
    return all(row.get(column) == str(value) for column, value in settings.items())


def _as_text(row: Row) -> TextRow:
    return {column: str(value) for column, value in row.items()}
