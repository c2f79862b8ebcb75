"""Runs that can be resumed: what a CSV file holds already is not measured again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.report import Row, read_rows, write_rows
from spdp_engine.types import Iteration

Measure = Callable[[Row, Callable[[Iteration], None]], Row]
"""Runs one row's settings, calling its second argument after each iteration; returns what the run adds to the row."""


def complete(name: str, path: Path, wanted: Sequence[Row], measure: Measure) -> list[dict[str, str]]:
    """The wanted rows of a CSV file; those that are missing are measured now, each written as soon as it is there.

    Args:
        name: what the progress bar is called.
        path: the file; it need not exist.
        wanted: settings, 'iterations' among them. A row of the file with the same values is the result for them.
        measure: measures one.

    Returns:
        One row to each of `wanted`, as text.
    """
    rows, found = read_rows(path), []
    lengths = [int(str(settings["iterations"])) for settings in wanted]
    with tqdm(total=sum(lengths), desc=name, unit="iteration") as bar:

        def advance(_: Iteration) -> None:
            bar.update()

        for settings, length in zip(wanted, lengths, strict=True):
            row = next((row for row in rows if _agree(row, settings)), None)
            if row is None:
                result = measure(settings, advance)
                row = {column: str(value) for column, value in {**settings, **result}.items()}
                rows.append(row)
                write_rows(path, rows)
            else:
                bar.update(length)
            found.append(row)
    return found


def _agree(row: Mapping[str, str], settings: Row) -> bool:
    return all(row.get(column) == str(value) for column, value in settings.items())
