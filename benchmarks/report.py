"""Results on disk: every run as rows of a CSV file, and a page of Markdown to read."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.machine import Machine

RESULTS = Path(__file__).with_name("results")

Row = Mapping[str, object]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; none where there is no file yet."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Writes a CSV file with the columns of the last row; cells of rows that lack one stay empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[-1]), restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_page(path: Path, title: str, machine: Machine, parts: Iterable[str]) -> str:
    """Writes a page of Markdown: title, `parts` as paragraphs, machine. Returns its text."""
    text = "\n\n".join([f"# {title}", *parts, "\n".join(machine.lines())]) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return text


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """A Markdown table, padded so that it reads as it is: columns in `left` to the left, all others to the right."""
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = ["| " + " | ".join(_padded(row, widths, left)) + " |" for row in cells]
    ends = ["-" if column in left else ":" for column in range(len(header))]
    rule = "|" + "|".join("-" * (width + 1) + end for width, end in zip(widths, ends, strict=True)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _padded(row: Sequence[str], widths: Sequence[int], left: Collection[int]) -> list[str]:
    return [
        cell.ljust(width) if column in left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def counted(number: int, thing: str) -> str:
    """'1 seed', '5 seeds'."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
