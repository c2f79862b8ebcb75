"""A topic over time: how much each group says on it in each period, and which of its words rise and fall."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.measures.log_odds import log_odds_z
from spdp_engine.topics.belonging import Belonging
from spdp_engine.topics.dates import Dates, Precision
from spdp_engine.topics.reading import OWN_WORD_COUNT, OWN_WORD_Z, PRIOR_TOKENS

DRAWS = 200
"""Resamplings of a period's documents."""

LEVEL = 0.9
"""Of the bands."""

FEW = 3
"""Fewer documents than these have no band."""

MOST_PERIODS = 100
"""The unit that is proposed makes at most so many periods."""

MOST_OFFERED = 400
"""... and those that can be chosen so many."""

DOCUMENTS_A_PERIOD = 5
"""The unit that is proposed has at least so many documents in a group's period, on average over those that have some."""


class Unit(StrEnum):
    """Lengths of periods, from long to short."""

    DECADE = "decade"
    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"

    @property
    def needs(self) -> Precision:
        """How exactly a date must be known to lie in one of them."""
        return _NEEDS[self]


_NEEDS = {
    Unit.DECADE: Precision.YEAR,
    Unit.YEAR: Precision.YEAR,
    Unit.QUARTER: Precision.QUARTER,
    Unit.MONTH: Precision.MONTH,
    Unit.WEEK: Precision.DAY,
    Unit.DAY: Precision.DAY,
}


@dataclass(frozen=True, eq=False)
class Trend:
    """A topic's share of each of I groups' words in each of P periods that follow one another.

    Documents are those that were brought: passages of one that are of the same period count once.

    Attributes:
        unit: of the periods.
        starts: datetime64[D] [P], their first days.
        documents: int64 [I, P].
        tokens: int64 [I, P].
        share: float64 [I, P], sum over documents of theta times tokens, over tokens; NaN where there are none.
        low, high: float64 [I, P], between which the share lies in `LEVEL` of all resamplings of the period's documents; NaN
            where there are fewer than `FEW`.
        outside: documents no passage of which has a date that is known exactly enough for these periods.
    """

    unit: Unit
    starts: NDArray[np.datetime64]
    documents: NDArray[np.int64]
    tokens: NDArray[np.int64]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outside: int

    @property
    def names(self) -> list[str]:
        """What people call the periods, [P]."""
        return [period_name(self.unit, start) for start in self.starts]


@dataclass(frozen=True)
class ChangedWord:
    """A word of a topic that is said more, or less, in later documents than in earlier ones.

    Attributes:
        word: as in the vocabulary.
        z: log-odds z-score of the later against the earlier (see measures.log_odds).
        before, after: of the words on the topic, the share that it is.
        tokens_before, tokens_after: how often it is said on the topic, as expected under the model.
    """

    word: str
    z: float
    before: float
    after: float
    tokens_before: float
    tokens_after: float


@dataclass(frozen=True)
class WordingChange:
    """Words of a topic by how they changed, the strongest first; only those that are unlikely to be chance.

    Attributes:
        rose: words that became more frequent.
        fell: words that became rarer.
        tokens_before, tokens_after: words said on the topic, as expected under the model.
    """

    rose: tuple[ChangedWord, ...]
    fell: tuple[ChangedWord, ...]
    tokens_before: float
    tokens_after: float


def usable_units(corpus: Corpus, dates: Dates) -> tuple[tuple[Unit, ...], Unit | None]:
    """Units that make two or more periods and not too many, from long to short, and the one that suits the documents.

    That is the shortest with enough documents in a period; none where all dates are in one period of every unit.
    """
    units: list[Unit] = []
    suits: Unit | None = None
    known = int(dates.known.sum())
    for unit in Unit:
        placed = dates.precision >= unit.needs
        if 2 * int(placed.sum()) <= known:
            continue
        periods = _number(unit, dates.days[placed])
        span = int(np.ptp(periods)) + 1
        if 1 < span <= MOST_OFFERED:
            units.append(unit)
            period = periods - periods.min()
            cells, documents = (
                len(np.unique(of[placed].astype(np.int64) * span + period))
                for of in (corpus.document_group, corpus.origin)
            )
            enough = documents >= DOCUMENTS_A_PERIOD * cells
            if suits is None or (enough and span <= MOST_PERIODS):
                suits = unit
    return tuple(units), suits


def trend(belonging: Belonging, dates: Dates, topic: int, unit: Unit) -> Trend:
    """How much of each group's words in each period is on a topic.

    Bands come from drawing the period's documents anew, with replacement (a bootstrap, with a fixed seed, so that the same
    documents always have the same bands). Of few documents such bands are too narrow; so their ends are moved away from the share
    by the factor by which Student's t interval is wider than that with the deviation of n draws from n documents and a normal
    quantile (T. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015: narrowness bias).

    Raises:
        ValueError: no date is known exactly enough.
    """
    from scipy.special import ndtri, stdtrit

    corpus = belonging.corpus
    placed = np.flatnonzero(dates.precision >= unit.needs)
    numbers = _number(unit, dates.days[placed])
    if not len(numbers):
        raise ValueError("no document has a date in such a period")
    first, periods = int(numbers.min()), int(np.ptp(numbers)) + 1

    # Passages of a document are not drawn apart: they are of one hand, and mostly of one day.
    origin = corpus.origin[placed]
    _, representative, document = np.unique(
        origin.astype(np.int64) * periods + numbers - first, return_index=True, return_inverse=True
    )
    said = np.bincount(document, belonging.lengths[placed])
    on_topic = np.bincount(document, belonging.lengths[placed] * belonging.shares[placed, topic])
    cell = corpus.document_group[placed][representative].astype(np.int64) * periods + numbers[representative] - first

    shape = (corpus.n_groups, periods)
    documents = np.bincount(cell, minlength=shape[0] * shape[1])
    tokens = np.bincount(cell, said, shape[0] * shape[1])
    topic_tokens = np.bincount(cell, on_topic, shape[0] * shape[1])
    share = np.full(len(documents), np.nan)
    np.divide(topic_tokens, tokens, out=share, where=tokens > 0)
    low, high = np.full_like(share, np.nan), np.full_like(share, np.nan)
    draw = np.random.default_rng(0)
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(documents)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    wider = (
        np.sqrt(documents / np.maximum(documents - 1, 1))
        * stdtrit(np.maximum(documents - 1, 1), tails[1])
        / ndtri(tails[1])
    )
    for number in np.flatnonzero(documents >= FEW):
        n = int(documents[number])
        members = order[ends[number] - n : ends[number]]
        again = members[draw.integers(n, size=(DRAWS, n))]
        drawn = on_topic[again].sum(axis=1) / said[again].sum(axis=1)
        low[number], high[number] = share[number] + wider[number] * (np.quantile(drawn, tails) - share[number])
    return Trend(
        unit=unit,
        starts=_first_day(unit, first + np.arange(periods)),
        documents=documents.reshape(shape),
        tokens=tokens.astype(np.int64).reshape(shape),
        share=share.reshape(shape),
        low=np.clip(low, 0, 1).reshape(shape),
        high=np.clip(high, 0, 1).reshape(shape),
        outside=corpus.n_originals - len(np.unique(origin)),
    )


def halfway(days: NDArray[np.datetime64]) -> np.datetime64 | None:
    """The day before which about half of the days lie; None where all are one.

    Args:
        days: datetime64[D] [n], without NaT.
    """
    distinct, counts = np.unique(days, return_counts=True)
    if len(distinct) < 2:
        return None
    before = np.cumsum(counts)[:-1]
    return np.datetime64(distinct[1:][np.argmin(np.abs(before - len(days) / 2))], "D")


def wording_change(
    belonging: Belonging, topic: int, before: NDArray[np.bool_], after: NDArray[np.bool_], count: int = 12
) -> WordingChange:
    """Which words of a topic rose and fell between two sets of documents.

    Every token counts with its probability of being on the topic, P(topic | word, document).

    Args:
        belonging: to which topics words belong.
        topic: the topic.
        before: bool [D], the earlier documents.
        after: bool [D], the later ones.
        count: at most so many words that rose, and so many that fell.
    """
    corpus, topics = belonging.corpus, belonging.topics
    weights = belonging.of_tokens(topic)
    counts = np.array(
        [
            np.bincount(corpus.token_word[there], weights[there], corpus.n_words)
            for there in (before[corpus.token_document], after[corpus.token_document])
        ]
    )
    z = log_odds_z(counts, topics.sample.base_wording()[:, topic] * PRIOR_TOKENS)[1]
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals[:, None], np.finfo(np.float64).tiny)

    def strongest(side: int, sign: int) -> tuple[ChangedWord, ...]:
        words = np.flatnonzero((sign * z > OWN_WORD_Z) & (counts[side] >= OWN_WORD_COUNT))
        words = words[np.argsort(-sign * z[words], kind="stable")][:count]
        return tuple(
            ChangedWord(corpus.vocabulary[w], float(z[w]), *shares[:, w].tolist(), *counts[:, w].tolist())
            for w in words
        )

    return WordingChange(strongest(1, 1), strongest(0, -1), float(totals[0]), float(totals[1]))


def within(dates: Dates, unit: Unit, start: np.datetime64) -> NDArray[np.bool_]:
    """Which documents lie in the period that begins on a day: bool [D]."""
    placed = dates.precision >= unit.needs
    found = np.zeros(len(placed), bool)
    found[placed] = _number(unit, dates.days[placed]) == _number(unit, np.array([start], "datetime64[D]"))[0]
    return found


def period_name(unit: Unit, start: np.datetime64) -> str:
    """What people call the period that begins on a day."""
    day = start.astype("datetime64[D]").item()
    return {
        Unit.DECADE: f"{day.year}s",
        Unit.YEAR: f"{day.year}",
        Unit.QUARTER: f"{day.year} Q{(day.month + 2) // 3}",
        Unit.MONTH: f"{day:%B} {day.year}",
        Unit.WEEK: f"week of {day.day} {day:%B} {day.year}",
        Unit.DAY: f"{day.day} {day:%B} {day.year}",
    }[unit]


def _number(unit: Unit, days: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """The number of the period in which each day lies; it rises by one from period to period."""
    if unit in (Unit.DECADE, Unit.YEAR):
        years = days.astype("datetime64[Y]").astype(np.int64) + 1970
        return years // 10 if unit == Unit.DECADE else years
    if unit in (Unit.QUARTER, Unit.MONTH):
        months = days.astype("datetime64[M]").astype(np.int64)
        return months // 3 if unit == Unit.QUARTER else months
    since = days.astype("datetime64[D]").astype(np.int64)
    return (since + _THURSDAY) // 7 if unit == Unit.WEEK else since


def _first_day(unit: Unit, numbers: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """The first days of periods with these numbers: datetime64[D]."""
    if unit in (Unit.DECADE, Unit.YEAR):
        years = numbers * (10 if unit == Unit.DECADE else 1) - 1970
        return years.astype("datetime64[Y]").astype("datetime64[D]")
    if unit in (Unit.QUARTER, Unit.MONTH):
        return (numbers * (3 if unit == Unit.QUARTER else 1)).astype("datetime64[M]").astype("datetime64[D]")
    return (numbers * 7 - _THURSDAY if unit == Unit.WEEK else numbers).astype("datetime64[D]")


_THURSDAY = 3
"""Days from Monday, with which weeks begin (ISO 8601), to the day from which days are counted, 1 January 1970."""
