"""Sentences about shares, gaps and words: what they claim is what is known, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from spdp_engine.topics.findings import Findings
from spdp_engine.topics.telling import (
    Pen,
    called,
    difference_intervals,
    gap_sentence,
    own_words_sentence,
    percent,
    percents,
    shares_sentence,
    stands,
    times_as_much,
    words_are_known,
)
from spdp_engine.topics.view import View
from tests.unit.engine.hand_made import (
    Known,
    counted_topics,
    drawn_shares,
    measured,
    shared_out,
    sure,
    unsure,
    words_measured,
)

TWO = ("Commons", "Courier")


def paper_counts() -> np.ndarray:
    """Two groups on one topic: shared words, and two own words each."""
    return np.array([[300, 200, 2, 1, 90, 60], [300, 200, 90, 60, 2, 1]], float)[:, :, None]


def test_a_topic_without_a_name_is_called_by_number_and_words_and_another_as_it_was_named() -> None:
    view = View().named(1, "Rents").merge([4], into=2)
    assert called(view, 1, ["rent", "landlord"]) == "Rents"
    assert called(view, 0, ["rent", "landlord"]) == "topic 1 (rent, landlord)"
    assert called(view, 2, ["rent"]) == "topic 3 + 5 (rent)"
    assert called(view, 3, []) == "topic 4", "of a topic without words"


# --- how much


def test_shares_without_evidence_are_told_without_a_verdict() -> None:
    topics = shared_out([[0.14, 0.86], [0.08, 0.92]], TWO)
    assert (
        shares_sentence(topics, Findings(), 0, "housing") == "Commons spends 14% of its words on housing, Courier 8.0%."
    )


def test_a_clear_difference_is_told_as_a_ratio() -> None:
    topics = shared_out([[0.08, 0.92], [0.16, 0.84]], TWO)
    found = Known(prevalence_draws=drawn_shares(topics, 0.006))
    assert shares_sentence(topics, found, 0, "housing") == (
        "Courier spends 16% (15 to 17%) of its words on housing, Commons 8.0% (7.0 to 9.0%): twice as much."
    )


def test_an_unclear_difference_may_be_chance() -> None:
    topics = shared_out([[0.14, 0.86], [0.13, 0.87]], TWO)
    found = Known(prevalence_draws=drawn_shares(topics, 0.02))
    sentence = shares_sentence(topics, found, 0, "housing")
    assert sentence.endswith("the difference may be chance.") and "times" not in sentence


def test_equal_shares_and_shares_of_nothing() -> None:
    alike = shared_out([[0.5, 0.5], [0.5, 0.5]], TWO)
    assert "Commons" in shares_sentence(alike, Findings(), 0, "x") and "Courier" in shares_sentence(
        alike, Findings(), 0, "x"
    )
    silent = shared_out([[0.5, 0.5], [0.0, 0.0]], TWO)
    draws = drawn_shares(silent, 0.01)
    draws[:, 1] = 0
    sentence = shares_sentence(silent, Known(prevalence_draws=draws), 0, "x")
    assert sentence.endswith("Courier 0.0% (0.0 to 0.0%): more than 20 times as much.")
    nothing = shared_out([[0.0, 0.0], [0.0, 0.0]], TWO)
    assert (
        "nan" not in shares_sentence(nothing, Known(prevalence_draws=np.zeros((9, 2, 2), np.float32)), 0, "x").lower()
    )


def test_one_group_has_nothing_to_compare() -> None:
    topics = shared_out([[0.3, 0.7]], ("All",))
    found = Known(prevalence_draws=drawn_shares(topics, 0.01))
    assert shares_sentence(topics, Findings(), 1, "housing") == "All spends 70% of its words on housing."
    assert shares_sentence(topics, found, 1, "housing").startswith("All spends 70% (6")
    assert difference_intervals(found, 1) is None


def test_of_many_groups_the_most_and_the_least_are_told() -> None:
    shares = [[0.1 + 0.01 * i, 0.9 - 0.01 * i] for i in range(12)]
    topics = shared_out(shares, [f"G{i}" for i in range(12)])
    sentence = shares_sentence(topics, Known(prevalence_draws=drawn_shares(topics, 0.005)), 0, "housing")
    assert sentence.startswith("G11 spends the largest part of its words on housing, 21%")
    assert "G0 the smallest, 10%" in sentence and sentence.endswith("2.1 times as much.")


def test_differences_of_many_groups_hold_all_at_once() -> None:
    """Twelve groups that do not differ at all: with 66 intervals of 90 % each, some pair would nearly always look different.

    The difference that is read out is the largest. Over 200 collections it may be called clear in 10 %, and more than 17 % has a
    probability of 1e-3. An interval for each pair by itself is wrong in most collections.
    """
    random = np.random.default_rng(3)
    alone = together = 0
    for _ in range(200):
        shares = 0.2 + random.normal(0, 0.01, 12)
        draws = (shares + random.normal(0, 0.01, (300, 12))).astype(np.float32)[:, :, None]
        found = difference_intervals(Known(prevalence_draws=draws), 0)
        assert found is not None
        most, least = int(shares.argmax()), int(shares.argmin())
        together += found[most, least, 0] > 0
        alone += np.quantile(draws[:, most, 0] - draws[:, least, 0], 0.05) > 0
    assert together <= 34
    assert alone > 100


def test_differences_are_the_same_from_both_sides() -> None:
    topics = shared_out([[0.2, 0.8], [0.3, 0.7], [0.25, 0.75]], "abc")
    found = difference_intervals(Known(prevalence_draws=drawn_shares(topics, 0.02)), 0)
    assert found is not None
    assert np.allclose(found, -found.transpose(1, 0, 2)[:, :, ::-1]) and np.all(found[..., 0] <= found[..., 1])
    assert found[1, 0].mean() == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("larger", "smaller", "told"),
    [
        (0.18, 0.1, "1.8 times as much"),
        (0.2, 0.1, "twice as much"),
        (0.102, 0.1, "slightly more, and more than by chance"),
        (0.3, 0.001, "more than 20 times as much"),
        (0.3, 0.0, "more than 20 times as much"),
    ],
)
def test_ratios_in_words(larger: float, smaller: float, told: str) -> None:
    assert times_as_much(larger, smaller) == told


def test_per_cents_have_a_decimal_where_they_are_small() -> None:
    assert percent(0.142) == "14%" and percent(0.0823) == "8.2%" and percent(0) == "0.0%" and percent(0.0996) == "10%"
    assert percents(-0.01, 1.2, 0.5) == "0 to 100%" and percents(0.0712, 0.1034, 0.08) == "7.1 to 10.3%"


# --- how


def test_a_gap_is_told_with_what_is_known_of_it() -> None:
    topics = counted_topics(paper_counts(), TWO)
    gap = f"{topics.gap[0]:.2f}"
    assert gap_sentence(topics, Findings(), 0) == f"Their wordings are {gap} apart (0 alike, 1 no word in common)."
    told = (
        f"Their wordings are {gap} apart in the model; by the documents alone, without what chance adds, 0.31 (0.28 to 0.34). "
        "Documents dealt out at random"
    )
    real = Known(gaps={0: (0.28, 0.34)}, chance={0: (0.05, 0.25)}, real={0: True})
    assert gap_sentence(topics, real, 0) == f"{told} would stay below 0.25: the difference is real."
    chance = Known(gaps={0: (0.28, 0.34)}, chance={0: (0.05, 0.35)}, real={0: False})
    assert gap_sentence(topics, chance, 0) == f"{told} can come to 0.35: it may be chance."
    few = Known(gaps={0: (0.0, 0.34)}, chance={0: (0.05, 0.15)}, real={0: False})
    assert gap_sentence(topics, few, 0).endswith(
        "0.17 (0.00 to 0.34). Documents dealt out at random would stay below 0.15, but the interval reaches 0, since few documents "
        "decide: it may be chance."
    )
    unknown = Findings(gap_baseline=np.full((20, 1), np.nan, np.float32))
    assert gap_sentence(topics, unknown, 0) == (
        f"Their wordings are {gap} apart (0 alike, 1 no word in common); what of that may be chance is not known."
    )


def test_a_gap_of_many_groups_is_a_mean() -> None:
    counts = np.concatenate([paper_counts(), paper_counts()[:1] + 5])
    assert "apart on average over pairs of groups" in gap_sentence(counted_topics(counts, "abc"), Findings(), 0)


def test_own_words_are_those_of_counts_until_more_is_known() -> None:
    topics = counted_topics(paper_counts(), TWO)
    assert own_words_sentence(topics, Findings(), 0, "rent", (0, 1)) == (
        "Of rent, Commons says tenants, eviction; Courier says landlords, investment."
    )
    assert own_words_sentence(topics, Findings(), 0, "rent", (1,)) == "Of rent, Courier says landlords, investment."


def test_own_words_that_may_be_chance_are_not_told() -> None:
    topics = counted_topics(paper_counts(), TWO)
    told = {(0, 1, "landlords"): sure(5, 5), (0, 1, "investment"): sure(1, 5), (0, 0, "tenants"): unsure()}
    found = measured(topics, told=told)
    assert own_words_sentence(topics, found, 0, "rent", (1,)) == "Of rent, Courier says landlords."
    assert own_words_sentence(topics, found, 0, "rent", (0, 1)) == (
        "Of rent, Courier says landlords; Commons leans to tenants, eviction, which may be chance."
    )
    alike = shared_out([[0.2, 0.8], [0.1, 0.9]], TWO)
    assert own_words_sentence(alike, measured(alike), 0, "rent", (0, 1)) == ""


def test_words_are_not_called_chance_before_chance_is_measured() -> None:
    """At first a word is judged by its interval alone, which says yes seldom, and never no."""
    topics = counted_topics(paper_counts(), TWO)
    early = Known(words=words_measured(topics), told={(0, 1, "landlords"): unsure()})
    assert not words_are_known(early)
    assert "Courier says landlords, investment" in own_words_sentence(topics, early, 0, "rent", (0, 1))


def test_a_word_stands_that_is_sure_and_found_in_most_runs() -> None:
    assert stands(None) is None
    assert stands(sure()) is True and stands(sure(3, 5)) is True and stands(sure(5, 5)) is True
    assert stands(sure(2, 5)) is False and stands(sure(2, 4)) is False
    assert stands(unsure()) is False and stands(unsure(5, 5)) is False


def test_the_pen_writes_names_and_words_alone() -> None:
    topics = counted_topics(paper_counts(), TWO)
    pen = Pen(lambda group: f"<b>{group}</b>", lambda text: text.upper())
    assert own_words_sentence(topics, Findings(), 0, "rent", (0,), pen) == "Of RENT, <b>0</b> says TENANTS, EVICTION."
    assert "on RENT" in shares_sentence(topics, Findings(), 0, "rent", pen)
