"""A run as one HTML file that a colleague opens: without a network, without scripts, on a phone, on paper.

data = report_bytes(result, "Two papers on housing", note="What I make of it.", topics=[3, 7])
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from spdp_engine.errors import InputError
from spdp_engine.report.content import Report
from spdp_engine.report.writing import MOST_TOPICS, make_report
from spdp_engine.results import Result

__all__ = ["MOST_TOPICS", "Report", "make_report", "report_bytes", "write_report"]

TEMPLATES = Path(__file__).with_name("templates")


def report_bytes(
    result: Result,
    title: str,
    note: str = "",
    topics: Sequence[int] | None = None,
    date: datetime.date | None = None,
) -> bytes:
    """The report as the bytes of an HTML file in UTF-8. The arguments are those of `writing.make_report`.

    Raises:
        SettingsError: no topic is left to tell of.
    """
    report = make_report(result, title, note, topics, date)
    return _template().render(report=report).encode("utf-8")


def write_report(result: Result, path: Path, title: str) -> None:
    """Writes the report of all topics to a file.

    Raises:
        SettingsError: no topic is left to tell of.
        InputError: the file cannot be written.
    """
    data = report_bytes(result, title)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(
            f"The report could not be written to “{path}”: {error.strerror}. Choose another file."
        ) from error


@cache
def _template() -> Template:
    """Whatever a template writes is escaped, but for what the report itself marks as HTML."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    return environment.get_template("report.html")
