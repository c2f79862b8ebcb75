"""Every table of a run as a sheet of one workbook, for people who work in spreadsheets.

Text is written as text: a name that begins with = + - or @ is no formula, and an address no link.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from spdp_engine.results.result import Result, version
from spdp_engine.results.tables import COLUMNS, TABLES, Table

MOST_ROWS = 2**20 - 1
"""Rows of a sheet below its header."""

MOST_CELLS = 1_250_000
"""Cells of a sheet: a spreadsheet opens more than that only slowly, if at all."""

LONGEST_TEXT = 32_767
"""Characters of a cell."""

WIDEST = 60
"""Characters to which a column grows with what it holds."""

ROWS_MEASURED = 200
"""Rows that decide how wide columns are."""

PERCENT, WHOLE = "0.0%", "#,##0"
NUMBER_FORMATS = {
    **dict.fromkeys(("share", "share_low", "share_high", "other_share"), PERCENT),
    **dict.fromkeys(("difference", "difference_low", "difference_high"), PERCENT),
    **dict.fromkeys(("tokens", "count"), WHOLE),
    **dict.fromkeys(("topic", "rank", "found", "of", "document", "passage"), "0"),
    "probability": "0.00000",
    "value": "General",
}
OTHER_NUMBERS = "0.000"
"""The format of numbers whose column is not named above."""


def workbook_bytes(result: Result) -> bytes:
    """The workbook as the bytes of an .xlsx file. A sheet `about` comes first and says what the others and their columns hold."""
    buffer = io.BytesIO()
    sheets = [(table, table.make(result)) for table in TABLES]
    as_text = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    with xlsxwriter.Workbook(buffer, as_text) as book:
        about = book.add_worksheet("about")
        writer = _Writer(book)
        left_out = {}
        for table, content in sheets:
            if problem := _too_large(table, content):
                left_out[table.name] = problem
            else:
                writer.sheet(book.add_worksheet(table.name), content, frozen_columns=_frozen(content))
        writer.sheet(about, _about(result, sheets, left_out))
        about.activate()
    return buffer.getvalue()


def _too_large(table: Table, content: pd.DataFrame) -> str:
    """Why a table has no sheet; '' where it has one."""
    rows, columns = content.shape
    if rows <= MOST_ROWS and rows * columns <= MOST_CELLS:
        return ""
    return f"Left out: {rows:,} rows of {columns:,} columns are too many for a spreadsheet. {table.name}.csv has them."


def _frozen(content: pd.DataFrame) -> int:
    """Columns that stay in sight while the others are scrolled: those that say which topic a row is about."""
    return 2 if list(content.columns[:2]) == ["topic", "name"] else 0


def _about(result: Result, sheets: Sequence[tuple[Table, pd.DataFrame]], left_out: dict[str, str]) -> pd.DataFrame:
    """What each sheet and each of its columns holds."""
    level = f"Of collections like this one {result.findings.level:.0%} would give figures within the intervals."
    rows = [("", "", f"Made with Parallax {version()}. {level}")]
    for table, content in sheets:
        rows.append((table.name, "", left_out.get(table.name) or f"Each row is {table.about}."))
        rows += [(table.name, name, COLUMNS[name]) for name in content.columns if name in COLUMNS]
        if table.name == "documents":
            about = "The share of the document's words that is on the topic; a name that was given follows the number."
            rows.append((table.name, "topic_1 …", about))
    return pd.DataFrame(rows, columns=["sheet", "column", "about"])


class _Writer:
    """Writes tables to sheets of a book in its formats."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self._book = book
        self._head = book.add_format({"bold": True, "bottom": 1, "bg_color": "#F1EFE8", "font_color": "#1D2733"})
        self._numbers: dict[str, Format] = {}

    def sheet(self, sheet: Worksheet, content: pd.DataFrame, frozen_columns: int = 0) -> None:
        """A table with a header that stays in sight and by which rows can be filtered."""
        rows, columns = content.shape
        for column, name in enumerate(content.columns):
            sheet.set_column(column, column, _width(name, content.iloc[:ROWS_MEASURED, column]))
        sheet.freeze_panes(1, frozen_columns)
        if rows:
            sheet.autofilter(0, 0, rows, columns - 1)
        for column, name in enumerate(content.columns):
            sheet.write_string(0, column, _text(name), self._head)
        formats = [self._format(name) for name in content.columns]
        for column in range(columns):
            for row, value in enumerate(content.iloc[:, column].tolist(), 1):
                _write(sheet, row, column, value, formats[column])

    def _format(self, name: str) -> Format:
        """How numbers of a column are shown."""
        form = PERCENT if name.startswith("topic_") else NUMBER_FORMATS.get(name, OTHER_NUMBERS)
        if form not in self._numbers:
            self._numbers[form] = self._book.add_format({"num_format": form})
        return self._numbers[form]


def _write(sheet: Worksheet, row: int, column: int, value: Any, form: Format) -> None:
    """A value as what it is. A cell stays empty where there is none."""
    if value is None or value is pd.NA or value == "" or (isinstance(value, float) and not math.isfinite(value)):
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value, form)
    else:
        sheet.write_string(row, column, _text(value))


def _text(value: Any) -> str:
    """Text as a cell takes it."""
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def _width(name: str, values: pd.Series[Any]) -> float:
    """Characters that the first rows of a column need, its header with the arrow of the filter included."""
    longest = max((len(str(value)) for value in values if isinstance(value, str)), default=8)
    return float(min(WIDEST, max(len(name) + 3, longest + 1)))
