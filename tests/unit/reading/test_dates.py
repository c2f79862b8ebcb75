"""Dates as they are written: what is read, how exactly, and what is said of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from spdp_engine.topics.dates import Precision, read_dates

DAY, MONTH, QUARTER, YEAR, NONE = Precision.DAY, Precision.MONTH, Precision.QUARTER, Precision.YEAR, Precision.NONE

WRITTEN = [
    ("2031-01-16", "2031-01-16", DAY),
    (" 2031-1-6 ", "2031-01-06", DAY),
    ("2031/01/16", "2031-01-16", DAY),
    ("2031.01.16", "2031-01-16", DAY),
    ("2031–01–16", "2031-01-16", DAY),
    ("20310116", "2031-01-16", DAY),
    ("20310116T233000Z", "2031-01-16", DAY),
    ("2031-01-16T23:30:00+02:00", "2031-01-16", DAY),
    ("2031-01-16T23:30:00Z", "2031-01-16", DAY),
    ("2031-01-16 23:30:00.123456", "2031-01-16", DAY),
    ("16.1.2031", "2031-01-16", DAY),
    ("16. 1. 2031", "2031-01-16", DAY),
    ("1/16/2031", "2031-01-16", DAY),
    ("1/16/2031 11:30 PM", "2031-01-16", DAY),
    ("16/1/31", "2031-01-16", DAY),
    ("16/1/68", "2068-01-16", DAY),
    ("16/1/69", "1969-01-16", DAY),
    ("16-Jan-2031", "2031-01-16", DAY),
    ("16JAN2031", "2031-01-16", DAY),
    ("16 January 2031", "2031-01-16", DAY),
    ("16th of January, 2031", "2031-01-16", DAY),
    ("January 16, 2031", "2031-01-16", DAY),
    ("Jan. 16th, 2031", "2031-01-16", DAY),
    ("Thursday, January 16, 2031 at 5pm", "2031-01-16", DAY),
    ("Thu, 16 Jan 2031 23:30:00 GMT", "2031-01-16", DAY),
    ("Thu Jan 16 23:30:00 2031", "2031-01-16", DAY),
    ("Thu Jan 16 23:30:00 +0000 2031", "2031-01-16", DAY),
    ("2031 January 16", "2031-01-16", DAY),
    ("16. Januar 2031", "2031-01-16", DAY),
    ("Donnerstag, 16. März 2031", "2031-03-16", DAY),
    ("1er février 2031", "2031-02-01", DAY),
    ("mar. 3 mai 2031", "2031-05-03", DAY),
    ("16 de mayo de 2031", "2031-05-16", DAY),
    ("16 de agosto de 2031", "2031-08-16", DAY),
    ("16 października 2031", "2031-10-16", DAY),
    ("16 мая 2031 г.", "2031-05-16", DAY),
    ("2031年1月16日", "2031-01-16", DAY),
    ("1924790400", "2030-12-29", DAY),
    ("1924790400.0", "2030-12-29", DAY),
    ("1924790400123", "2030-12-29", DAY),
    ("1492-10-12", "1492-10-12", DAY),
    ("2031-01", "2031-01-01", MONTH),
    ("01/2031", "2031-01-01", MONTH),
    ("January 2031", "2031-01-01", MONTH),
    ("2031 Jan", "2031-01-01", MONTH),
    ("Sept. 2031", "2031-09-01", MONTH),
    ("2031年1月", "2031-01-01", MONTH),
    ("2031 Q2", "2031-04-01", QUARTER),
    ("Q4 2031", "2031-10-01", QUARTER),
    ("2031", "2031-01-01", YEAR),
    ("2031.0", "2031-01-01", YEAR),
    ("1789", "1789-01-01", YEAR),
    ("31 February 2031", None, NONE),
    ("2031-13-01", None, NONE),
    ("2031-00-00", None, NONE),
    ("29/02/2031", None, NONE),
    ("13/13/2031", None, NONE),
    ("10", None, NONE),
    ("310116", None, NONE),
    ("monday", None, NONE),
    ("May the 4th", None, NONE),
    ("n.d.", None, NONE),
    ("soon", None, NONE),
    ("2010-2014", None, NONE),
    ("<b>2031</b>", None, NONE),
    ("9" * 400, None, NONE),
]


@pytest.mark.parametrize("written, day, precision", WRITTEN)
def test_one_date(written: str, day: str | None, precision: Precision) -> None:
    dates = read_dates([written])
    assert np.isnat(dates.days[0]) if day is None else dates.days[0] == np.datetime64(day)
    assert dates.precision[0] == precision
    assert (dates.unread, dates.missing) == (day is None, 0)
    assert dates.examples == ((written.strip(),) if day is None else ())


def days_of(*written: str, day_first: bool | None = None) -> list[str]:
    return read_dates(written, day_first).days.astype(str).tolist()


def test_one_date_that_leaves_no_choice_settles_the_column() -> None:
    assert days_of("03/04/2031", "13/04/2031") == ["2031-04-03", "2031-04-13"]
    assert days_of("03/04/2031", "04/13/2031") == ["2031-03-04", "2031-04-13"]
    for column in (["03/04/2031", "13/04/2031"], ["03/04/2031", "04/13/2031"]):
        assert read_dates(column).either_way == 0


def test_without_proof_the_choice_is_told() -> None:
    dates = read_dates(["03/04/2031", "03/04/2031", "05/05/2031", "2031-01-01"])
    assert dates.days.astype(str).tolist() == ["2031-03-04", "2031-03-04", "2031-05-05", "2031-01-01"]
    assert (dates.either_way, dates.day_first) == (2, False), "the fifth of the fifth is one either way"
    assert days_of("03.04.2031", "05.06.2031") == ["2031-04-03", "2031-06-05"], "full stops: the day first"
    assert days_of("03/04/2031", day_first=True) == ["2031-04-03"]
    assert days_of("03.04.2031", day_first=False) == ["2031-03-04"]


def test_proofs_of_both_kinds_are_each_believed_and_the_rest_go_with_most() -> None:
    column = ["13/04/2031", "14/04/2031", "04/15/2031", "03/04/2031"]
    assert days_of(*column) == ["2031-04-13", "2031-04-14", "2031-04-15", "2031-04-03"]
    assert read_dates(column).either_way == 1
    assert days_of(*column, day_first=False)[:3] == ["2031-04-13", "2031-04-14", "2031-04-15"]


def test_what_is_missing_and_what_cannot_be_read_are_counted_apart() -> None:
    dates = read_dates(["", "  ", "2031", "n.d.", "n.d.", "soon", "later", "never"])
    assert (dates.missing, dates.unread) == (2, 5)
    assert dates.examples == ("n.d.", "soon", "later")
    assert dates.known.tolist() == [False, False, True, False, False, False, False, False]


def test_no_documents_and_no_dates() -> None:
    assert len(read_dates([]).days) == 0
    assert read_dates(["", ""]).missing == 2
