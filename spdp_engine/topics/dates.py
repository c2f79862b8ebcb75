"""Dates as people and programs write them, read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.topics.folding import fold

EXAMPLES = 3
"""So many dates that could not be read are quoted."""

CENTURY_TURNS = 69
"""Of years with two digits those from here on are 19.., the others 20.., as in POSIX."""


class Precision(IntEnum):
    """How exactly a date is known."""

    NONE = 0
    YEAR = 1
    QUARTER = 2
    MONTH = 3
    DAY = 4


@dataclass(frozen=True, eq=False)
class Dates:
    """The dates of D documents.

    Attributes:
        days: datetime64[D] [D], the first day of what is written; NaT where nothing is, or where it could not be read.
        precision: int8 [D], of `Precision`.
        missing: documents without a date.
        unread: documents whose date could not be read.
        examples: some of those dates, as written.
        either_way: documents whose date may be day/month or month/day, where the others do not tell which.
        day_first: how those were read.
    """

    days: NDArray[np.datetime64]
    precision: NDArray[np.int8]
    missing: int
    unread: int
    examples: tuple[str, ...]
    either_way: int
    day_first: bool

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where a date was read: bool [D]."""
        known: NDArray[np.bool_] = self.precision > Precision.NONE
        return known


@dataclass(frozen=True)
class _Written:
    """A date as it is written: a and b are day and month in an order that other dates may tell."""

    year: int
    month: int = 1
    day: int = 1
    precision: Precision = Precision.DAY
    a: int = 0
    b: int = 0
    dots: bool = False

    @property
    def proves(self) -> bool | None:
        """Whether the day comes first; None where it may be either."""
        return None if self.a == self.b or max(self.a, self.b) <= 12 else self.a > 12

    def in_order(self, day_first: bool) -> _Written:
        """With day and month in their places, by what it proves itself or else in the order given."""
        if not self.a:
            return self
        proved = self.proves
        first = day_first if proved is None else proved
        return replace(self, day=self.a if first else self.b, month=self.b if first else self.a)


def read_dates(written: Sequence[str], day_first: bool | None = None) -> Dates:
    """Reads dates in figures and with names of months (in a dozen languages), years, months and quarters alone, ISO 8601, with or
    without time and time zone (the day is that of the place where it was written), and seconds or milliseconds since 1970.

    Dates such as 03/04/2031 are read as those of the same column prove that leave no choice; where none does, with the month
    first, but with the day first where it is followed by a full stop.

    Args:
        written: [D], '' where there is none.
        day_first: how dates are read that leave a choice; None: as above.
    """
    times = Counter(text.strip() for text in written)
    missing = times.pop("", 0)
    read = {text: _read(text) for text in times}
    proofs = Counter[bool]()
    open_dots = open_dates = 0
    for text, date in read.items():
        if date is not None and date.a:
            if date.proves is not None:
                proofs[date.proves] += times[text]
            elif date.a != date.b:
                open_dates += times[text]
                open_dots += times[text] * date.dots
    chosen = day_first
    if chosen is None:
        chosen = proofs[True] > proofs[False] if proofs else 2 * open_dots > open_dates
    settled = len(proofs) == 1 and day_first is None

    distinct = list(times)
    ordered = [date.in_order(chosen) if date else None for date in read.values()]
    parts = [(date.year, date.month, date.day) if date else (0, 0, 0) for date in ordered]
    frame = pd.DataFrame(parts, columns=["year", "month", "day"])
    days = pd.to_datetime(frame, errors="coerce").to_numpy(dtype="datetime64[D]")
    place = {text: number for number, text in enumerate(distinct)}
    index = np.array([place.get(text.strip(), len(distinct)) for text in written], np.int64)
    days = np.append(days, np.datetime64("NaT"))
    precision = np.array([date.precision if date else 0 for date in ordered] + [0], np.int8)
    precision[np.isnat(days)] = Precision.NONE
    unread = [text for text in distinct if precision[place[text]] == Precision.NONE]
    return Dates(
        days=days[index],
        precision=precision[index],
        missing=missing,
        unread=sum(times[text] for text in unread),
        examples=tuple(unread[:EXAMPLES]),
        either_way=0 if settled else open_dates,
        day_first=chosen,
    )


_YEAR = r"(?P<y>[12]\d{3})"
_SHORT_YEAR = r"(?P<y>[12]\d{3}|'?\d\d)"
_NAME = r"(?P<name>[^\W\d_]+)\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_OF = r"[ -]?(?:de |of |d')?"
_REST = r"(?:(?:t|z|[ ,]).*)?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_YEAR}(?:\.0)?年?",
        rf"{_YEAR} ?[-/.年] ?(?P<m>\d{{1,2}}) ?[-/.月] ?(?P<d>\d{{1,2}})日?{_REST}",
        rf"{_YEAR} ?[-/.年] ?(?P<m>\d{{1,2}})月?",
        rf"{_YEAR}(?P<m>\d\d)(?P<d>\d\d){_REST}",
        rf"(?P<a>\d{{1,2}}) ?(?P<mark>[-/.]) ?(?P<b>\d{{1,2}}) ?(?P=mark) ?{_SHORT_YEAR}{_REST}",
        rf"(?P<m>\d{{1,2}}) ?[-/.] ?{_YEAR}",
        rf"{_DAY}{_OF}{_NAME},?{_OF}{_SHORT_YEAR}{_REST}",
        rf"{_NAME}[ -]?{_DAY},?[ -]+{_YEAR}{_REST}",
        rf"{_NAME} {_DAY},? \d{{1,2}}:\d\d(?::\d\d)?(?: [^ ]+)? {_YEAR}",
        rf"{_NAME},?{_OF}{_YEAR}",
        rf"{_YEAR}[ ,-]+{_NAME}(?:[ -]+{_DAY}{_REST})?",
        rf"{_YEAR}[ /-]?q(?P<q>[1-4])",
        rf"q(?P<q>[1-4])[ /-]?{_YEAR}",
        r"(?P<seconds>1?\d{9})(?:\.\d+)?",
        r"(?P<milliseconds>1?\d{12})",
    )
)
"""How dates are written, in folded form."""

_WEEKDAY = re.compile(r"[^\W\d_]+[.,]* ")


def _read(text: str) -> _Written | None:
    """What a date says; None where it is not understood. Whether there is such a day is not looked at."""
    folded = " ".join(fold(text).split())
    weekday = _WEEKDAY.match(folded)
    for candidate in (folded, folded[weekday.end() :] if weekday else ""):
        for form in _FORMS:
            found = form.fullmatch(candidate)
            if found and (date := _of_parts(found.groupdict())):
                return date
    return None


def _of_parts(part: dict[str, str | None]) -> _Written | None:
    if stamp := part.get("seconds") or part.get("milliseconds"):
        day = np.datetime64(int(stamp) // (1 if part.get("seconds") else 1000), "s").astype("datetime64[D]").item()
        return _Written(day.year, day.month, day.day)
    year = int((part["y"] or "").lstrip("'"))
    if year < 100:
        year += 1900 if year >= CENTURY_TURNS else 2000
    if a := part.get("a"):
        return _Written(year, a=int(a), b=int(part["b"] or 0), dots=part["mark"] == ".")
    if quarter := part.get("q"):
        return _Written(year, 3 * int(quarter) - 2, precision=Precision.QUARTER)
    month = int(part.get("m") or 0)
    if name := part.get("name"):
        month = _MONTHS.get(name, 0)
        if not month:
            return None
    if day := part.get("d"):
        return _Written(year, month, int(day))
    return _Written(year, month, precision=Precision.MONTH) if month else _Written(year, precision=Precision.YEAR)


_MONTH_NAMES = (
    "january jan januar januari janvier janv enero ene gennaio gen janeiro stycznia styczen ledna leden января январь",
    "february feb februar februari fevrier fevr febrero febbraio fevereiro fev lutego luty unora unor февраля февраль",
    "march mar marz maerz mars marts marzo marco maart mrt marca marzec brezna brezen марта март",
    "april apr avril avr abril abr aprile kwietnia kwiecien dubna duben апреля апрель",
    "may mai mayo maggio mag maio mei maj maja kvetna kveten мая маи",
    "june jun juni juin junio giugno giu junho czerwca czerwiec cervna cerven июня июнь",
    "july jul juli juillet juil julio luglio lug julho lipca lipiec cervence cervenec июля июль",
    "august aug augusti augustus aout agosto ago sierpnia sierpien srpna srpen августа август",
    "september sep sept septembre septiembre settembre set setembro wrzesnia wrzesien zari сентября сентябрь",
    "october oct oktober okt octobre octubre ottobre ott outubro out pazdziernika pazdziernik rijna rijen октября октябрь",
    "november nov novembre noviembre novembro listopada listopad ноября ноябрь",
    "december dec dezember dez desember des decembre diciembre dic dicembre dezembro grudnia grudzien prosince prosinec "
    "декабря декабрь",
)
_MONTHS = {name: month for month, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
"""Names of months, full and short, in folded form."""
