"""A topic over time: planted trends are found, with their shares, and bands are as wide as they should be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from planted import ALL_WORDS, belonging_of, corpus_of
from scipy import stats

from spdp_engine.topics.belonging import Belonging
from spdp_engine.topics.dates import read_dates
from spdp_engine.topics.periods import (
    DRAWS,
    LEVEL,
    Trend,
    Unit,
    halfway,
    period_name,
    trend,
    usable_units,
    within,
    wording_change,
)

ON, OFF = "ship", "school"


def rising(
    shares: NDArray[np.float64], dates: list[str], groups: list[str] | None = None, lengths: list[int] | None = None
) -> tuple[Belonging, Trend]:
    """Documents with these shares of topic 0, and their trend by year."""
    texts = [f"{ON} {OFF} " * (lengths[d] if lengths else 5) for d in range(len(dates))]
    corpus = corpus_of(texts, groups, dates=dates)
    belonging = belonging_of(corpus, {ON: 0, OFF: 1}, np.column_stack([shares, 1 - shares]).tolist())
    return belonging, trend(belonging, read_dates(dates), 0, Unit.YEAR)


def test_a_planted_trend_is_found_with_its_shares() -> None:
    """Group a rises from 0.1 to 0.5 over five years, b stays at 0.3; c says nothing in the third year."""
    rows = [
        (g, y, {"a": 0.1 * y, "b": 0.3, "c": 0.2}[g])
        for g in "abc"
        for y in range(1, 6)
        for _ in range(4)
        if (g, y) != ("c", 3)
    ]
    _, found = rising(
        np.array([share for *_, share in rows]), [f"203{y}-05-01" for _, y, _ in rows], [g for g, *_ in rows]
    )
    assert found.names == ["2031", "2032", "2033", "2034", "2035"]
    assert found.share[0] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5]) and found.share[1] == pytest.approx([0.3] * 5)
    assert np.isnan(found.share[2, 2]) and np.isnan(found.low[2, 2]) and found.documents[2].tolist() == [4, 4, 0, 4, 4]
    assert found.documents[:2].tolist() == [[4] * 5] * 2 and found.tokens[0].tolist() == [40] * 5
    assert found.low[0] == pytest.approx(found.share[0]), "documents that are all alike leave nothing open"


def test_long_documents_count_by_their_words() -> None:
    _, found = rising(np.array([0.9, 0.1]), ["2031", "2031"], lengths=[30, 10])
    assert found.share[0, 0] == pytest.approx((0.9 * 60 + 0.1 * 20) / 80)


def test_gaps_have_periods_of_their_own_and_single_documents_no_band() -> None:
    _, found = rising(np.array([0.2, 0.4]), ["2031", "2034"])
    assert found.starts.astype(str).tolist() == ["2031-01-01", "2032-01-01", "2033-01-01", "2034-01-01"]
    assert found.documents.tolist() == [[1, 0, 0, 1]] and np.isnan(found.low).all()


def test_passages_of_one_document_are_drawn_together() -> None:
    """Twenty passages of four documents know no more than four documents do."""
    shares = np.repeat([0.1, 0.4, 0.9, 0.5], 5)
    texts = [f"{ON} {OFF} " * 5] * 20
    corpus = corpus_of(texts, dates=["2031"] * 20)
    belonging = belonging_of(corpus, {}, np.column_stack([shares, 1 - shares]).tolist())
    apart = trend(belonging, read_dates(["2031"] * 20), 0, Unit.YEAR)
    joined = replace(corpus, origin=np.repeat([0, 1, 2, 3], 5).astype(np.int32))
    together = trend(belonging_of(joined, {}, belonging.shares.tolist()), read_dates(["2031"] * 20), 0, Unit.YEAR)
    assert together.documents.tolist() == [[4]] and apart.documents.tolist() == [[20]]
    assert together.share == pytest.approx(apart.share)
    assert (together.high - together.low)[0, 0] > 2 * (apart.high - apart.low)[0, 0]


def test_passages_of_one_document_may_be_of_several_periods() -> None:
    """Four people who wrote in each of three years, and one without a date: each year has four documents, and its own share."""
    dates = ["2031", "2032", "2033"] * 4 + [""]
    shares = np.array([0.1, 0.2, 0.3] * 4 + [0.9])
    corpus = replace(
        corpus_of([f"{ON} {OFF} " * 5] * 13, dates=dates),
        origin=np.repeat([0, 1, 2, 3, 4], [3, 3, 3, 3, 1]).astype(np.int32),
    )
    read = read_dates(dates)
    found = trend(belonging_of(corpus, {}, np.column_stack([shares, 1 - shares]).tolist()), read, 0, Unit.YEAR)
    assert found.documents.tolist() == [[4, 4, 4]] and found.share[0] == pytest.approx([0.1, 0.2, 0.3])
    assert found.outside == 1 and usable_units(corpus, read)[0] == (Unit.YEAR,)


def covered(documents: int, periods: int = 400) -> tuple[float, float]:
    """In how many periods the band of so many documents holds the mean of those they were drawn from, 0.5; and in how many it would
    were it as narrow as the plain bootstrap has it."""
    draw = np.random.default_rng(7)
    shares = draw.uniform(size=documents * periods)
    dates = [f"{1000 + period}" for period in range(periods) for _ in range(documents)]
    corpus = corpus_of([f"{ON} {OFF}"] * len(dates), dates=dates)
    found = trend(
        belonging_of(corpus, {}, np.column_stack([shares, 1 - shares]).tolist()), read_dates(dates), 0, Unit.YEAR
    )
    share, low, high = found.share[0], found.low[0], found.high[0]
    wider = stats.t.ppf(0.95, documents - 1) / stats.norm.ppf(0.95) * np.sqrt(documents / (documents - 1))
    plain = [share + (end - share) / wider for end in (low, high)]
    return float(((low <= 0.5) & (high >= 0.5)).mean()), float(((plain[0] <= 0.5) & (plain[1] >= 0.5)).mean())


@pytest.mark.parametrize("documents", [5, 12, 30])
def test_bands_hold_the_truth_about_as_often_as_they_say(documents: int) -> None:
    """Of 400 periods 90 % are expected, a little less since shares are no normal numbers; the standard error is 1.5 points, so that
    83 and 96 % are four of them away. False alarms: below 1e-3."""
    assert 0.83 <= covered(documents)[0] <= 0.96


def test_bands_of_the_plain_bootstrap_would_hold_it_too_rarely() -> None:
    """Companion: those of five documents fall out of the bounds above."""
    assert covered(5)[1] < 0.80


def test_the_same_documents_always_have_the_same_band() -> None:
    shares = np.linspace(0.1, 0.9, 9)
    one, other = (rising(shares, ["2031"] * 9)[1] for _ in range(2))
    assert (
        (one.low == other.low).all()
        and (one.high == other.high).all()
        and one.low[0, 0] < one.share[0, 0] < one.high[0, 0]
    )
    assert 0.5 < LEVEL < 1 and DRAWS >= 100


UNITS = [
    (Unit.DECADE, "1999-12-31", "1990-01-01", "1990s"),
    (Unit.YEAR, "1999-12-31", "1999-01-01", "1999"),
    (Unit.QUARTER, "1999-12-31", "1999-10-01", "1999 Q4"),
    (Unit.QUARTER, "1969-03-31", "1969-01-01", "1969 Q1"),
    (Unit.MONTH, "1968-02-29", "1968-02-01", "February 1968"),
    (Unit.WEEK, "2031-01-19", "2031-01-13", "week of 13 January 2031"),
    (Unit.WEEK, "2031-01-13", "2031-01-13", "week of 13 January 2031"),
    (Unit.WEEK, "1969-12-31", "1969-12-29", "week of 29 December 1969"),
    (Unit.DAY, "1492-10-12", "1492-10-12", "12 October 1492"),
]


@pytest.mark.parametrize("unit, day, start, name", UNITS)
def test_periods_begin_and_are_called_as_people_expect(unit: Unit, day: str, start: str, name: str) -> None:
    corpus = corpus_of(["ship sea"] * 2, dates=[day] * 2)
    dates = read_dates([day] * 2)
    found = trend(belonging_of(corpus, {}, [[1.0]] * 2), dates, 0, unit)
    assert found.starts.astype(str).tolist() == [start] and found.names == [name]
    assert np.datetime64(start).item().weekday() == 0 or unit != Unit.WEEK
    assert within(dates, unit, found.starts[0]).all()
    assert period_name(unit, np.datetime64(start)) == name


def dated(*written: str) -> tuple[tuple[Unit, ...], Unit | None]:
    return usable_units(corpus_of([f"ship sea {d}" for d in range(len(written))], dates=written), read_dates(written))


def test_the_unit_suits_the_span_the_precision_and_how_many_documents_there_are() -> None:
    year = [f"2031-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
    units, suits = dated(*year)
    assert units == (Unit.QUARTER, Unit.MONTH, Unit.WEEK, Unit.DAY) and suits == Unit.WEEK
    assert dated(*year[::14])[1] == Unit.QUARTER, "24 documents in twelve months are too few for months"
    assert dated(*[f"{year}" for year in range(1950, 2031)] * 6) == ((Unit.DECADE, Unit.YEAR), Unit.YEAR)
    assert dated("2031-01-01", "2031-01-01") == ((), None)
    assert dated("", "n.d.", "") == ((), None)
    assert dated("1800", "2031")[1] == Unit.DECADE


def test_dates_that_are_not_exact_enough_are_left_out_and_counted() -> None:
    written = ["2031-01-05", "2031-02-05", "2031-02-06", "2031", "", "n.d."]
    corpus = corpus_of(["ship sea"] * 6, dates=written)
    found = trend(belonging_of(corpus, {}, [[1.0]] * 6), read_dates(written), 0, Unit.MONTH)
    assert found.documents.tolist() == [[1, 2]] and found.outside == 3
    assert trend(belonging_of(corpus, {}, [[1.0]] * 6), read_dates(written), 0, Unit.YEAR).outside == 2
    assert within(read_dates(written), Unit.MONTH, np.datetime64("2031-02-01")).tolist() == [
        False,
        True,
        True,
        False,
        False,
        False,
    ]


def test_halfway_has_as_many_days_on_either_side_as_can_be() -> None:
    days = np.array(["2031-01-01", "2031-01-02", "2031-01-02", "2031-01-09"], "datetime64[D]")
    assert halfway(days) == np.datetime64("2031-01-02")
    assert halfway(np.array(["2031-01-01"] * 3 + ["2031-02-01"] * 3, "datetime64[D]")) == np.datetime64("2031-02-01")
    assert halfway(days[:1]) is None and halfway(days[:0]) is None


def changing(swap: bool) -> Belonging:
    """Of ships, early texts say steam and late ones diesel; of schools, chalk and laptop. Without `swap` nothing changes."""
    draw = np.random.default_rng(3)
    texts = []
    for number in range(80):
        late = swap and number >= 40
        words = ["ship", "ship", "diesel" if late else "steam", "school", "laptop" if late else "chalk"]
        texts.append(" ".join(draw.choice(words, 30)))
    corpus = corpus_of([*texts, "steam diesel chalk laptop"], settings=ALL_WORDS)
    topic_of = {"ship": 0, "steam": 0, "diesel": 0, "school": 1, "chalk": 1, "laptop": 1}
    return belonging_of(corpus, topic_of, [[0.5, 0.5]] * 81)


def test_words_that_rose_and_fell_are_those_of_the_topic() -> None:
    belonging = changing(swap=True)
    early = np.arange(81) < 40
    change = wording_change(belonging, 0, early, ~early)
    assert [word.word for word in change.rose] == ["diesel"] and [word.word for word in change.fell] == ["steam"]
    (rose,) = change.rose
    assert rose.z > 1.96 and rose.before < 0.01 < rose.after and rose.tokens_after > 100
    said = belonging.of_tokens(0)[early[belonging.corpus.token_document]].sum()
    assert change.tokens_before == pytest.approx(said)
    assert [word.word for word in wording_change(belonging, 1, early, ~early).rose] == ["laptop"]
    back = wording_change(belonging, 0, ~early, early)
    assert [word.word for word in back.rose] == ["steam"]


def test_where_nothing_changes_no_word_is_said_to() -> None:
    """Companion. Four words, 5 % each by chance; this seed has none."""
    early = np.arange(81) < 40
    change = wording_change(changing(swap=False), 0, early, ~early)
    assert change.rose == () and change.fell == ()
    nobody = wording_change(changing(swap=False), 0, np.zeros(81, bool), np.zeros(81, bool))
    assert nobody.rose == nobody.fell == () and nobody.tokens_before == 0
