"""How a delimited file is laid out: what separates its cells, and whether its first row names the columns."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spdp_engine.corpus.names import clean_names

_SEPARATORS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"[+-]?\d[\d.,: /T-]*Z?|[+-]?[.,]\d+")
_LONGEST_NAME = 100
# Names that only a header holds, whatever stands below them.
_HEADER_NAMES = """
    id text texts body content abstract title headline date group label category source author url party speaker
    document doc_id name type year
"""
_ONLY_IN_A_HEADER = frozenset(_HEADER_NAMES.split())


@dataclass(frozen=True)
class Layout:
    """Cells are separated by `separator` ('' when there is one column); `names` are cleaned but may not be unique."""

    separator: str
    names: tuple[str, ...]
    has_header: bool


def find_layout(sample: str, complete: bool, tabs_first: bool) -> Layout | None:
    """The layout of a file that begins with `sample`; None when it holds no row.

    `complete` says that this is the whole file; otherwise the last row may be cut and is not looked at. `tabs_first`
    takes tabs where there are any, as a .tsv file promises.
    """
    best: tuple[float, int, str, list[list[str]], int] | None = None
    for separator in _SEPARATORS:
        rows = _rows(sample, separator, complete)
        if not rows or len(rows[0]) < 2:
            continue
        header, body = len(rows[0]), rows[1:]
        widths = Counter(map(len, body))
        share = widths[header] / len(body) if body else 1.0
        # R writes row names under a header that is one cell shorter; others end each row with a separator.
        longer = widths[header + 1] / len(body) if body else 0.0
        width = header + 1 if longer > 0.9 else header
        score = max(share, longer if longer > 0.9 else 0.0)
        if separator == "\t" and tabs_first:
            score += 1
        if best is None or (score, width) > best[:2]:
            best = score, width, separator, rows, header
    if best is None:
        rows = _rows(sample, "\x1f", complete)
        if not rows:
            return None
        return _named("", rows, 1)
    _, width, separator, rows, _ = best
    return _named(separator, rows, width)


def _named(separator: str, rows: list[list[str]], width: int) -> Layout:
    if not _has_header(rows):
        return Layout(separator, tuple(clean_names([""] * width)), False)
    names = list(rows[0])
    if width > len(names):
        ends_blank = all(not row[-1].strip() for row in rows[1:] if len(row) == width)
        names = [*names, ""] if ends_blank else ["", *names]
    return Layout(separator, tuple(clean_names(names)), True)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: false only where it looks like the rows below it.

    It does when a cell is as long as a text, when a cell comes again below it as labels do, or when it has a number
    where numbers stand below.
    """
    first = [cell.strip() for cell in rows[0]]
    body = [row for row in rows[1:] if list(row) != list(rows[0])]
    if any(cell.casefold() in _ONLY_IN_A_HEADER for cell in first):
        return True
    if any(len(cell) > _LONGEST_NAME for cell in first):
        return False
    for place, cell in enumerate(first):
        below = [row[place].strip() for row in body if place < len(row)]
        if not cell or not below:
            continue
        if cell in below:
            return False
        if _NUMBER.fullmatch(cell) and sum(map(bool, map(_NUMBER.fullmatch, below))) > len(below) / 2:
            return False
    return True


def _rows(sample: str, separator: str, complete: bool) -> list[list[str]]:
    """The rows that are not blank."""
    rows: list[list[str]] = []
    # A cell of more than 128 KB is an error; what came before it is enough to go by. newline="" hands on all kinds of
    # line ends, so that those inside quotation marks stay.
    with contextlib.suppress(csv.Error):
        rows.extend(csv.reader(io.StringIO(sample, newline=""), delimiter=separator))
    if not complete and len(rows) > 1:
        rows.pop()
    return [row for row in rows if any(cell.strip() for cell in row)]
