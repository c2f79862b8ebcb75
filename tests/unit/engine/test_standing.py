"""What stands of a topic, and what may be chance."""

from __future__ import annotations

import numpy as np

from spdp_engine.topics.findings import Findings
from spdp_engine.topics.standing import sentences, topic_standing
from tests.unit.engine.hand_made import Known, counted_topics, drawn_shares, measured, shared_out, sure, unsure

TWO = ("Commons", "Courier")
COUNTS = np.array([[300, 200, 2, 1, 90, 60], [300, 200, 90, 60, 2, 1]], float)[:, :, None]


def test_nothing_known_says_nothing() -> None:
    topics = counted_topics(COUNTS, TWO)
    standing = topic_standing(topics, Findings(), 0)
    assert standing.found is standing.gap_is_real is standing.lasts is None and standing.words == ()
    assert sentences(topics, Findings(), standing) == ([], [])


def test_what_stands_and_what_does_not() -> None:
    topics = counted_topics(COUNTS, TWO)
    told = {
        (0, 1, "landlords"): sure(5, 5), (0, 1, "investment"): sure(5, 5),
        (0, 0, "tenants"): sure(4, 5), (0, 0, "eviction"): unsure(1, 5),
    }  # fmt: skip
    found = measured(topics, told=told, real={0: True}, found={0: (4, 5)})
    assert sentences(topics, found, topic_standing(topics, found, 0)) == (
        [
            "Found in 4 of 5 runs with different seeds.",
            "The groups word it differently, by more than chance.",
            "Own words of Commons: tenants (4 of 5 runs).",
            "Own words of Courier: landlords, investment (5 of 5 runs).",
        ],
        ["Not surely own words of Commons: eviction (1 of 5 runs)."],
    )


def test_what_is_a_matter_of_the_seed_or_chance_does_not_stand() -> None:
    topics = counted_topics(COUNTS, TWO)
    found = Known(real={0: False}, found={0: (2, 5)})
    stand, fall = sentences(topics, found, topic_standing(topics, found, 0))
    assert stand == []
    assert fall == [
        "Found in 2 of 5 runs with different seeds: it may be a matter of the seed.",
        "The groups’ wordings may differ by chance alone.",
    ]


def test_words_that_were_not_looked_at_do_not_stand() -> None:
    topics = counted_topics(COUNTS, TWO)
    found = measured(topics)
    standing = topic_standing(topics, found, 0)
    assert not standing.own(0) and [one.word.word for one in standing.doubtful(0)] == ["tenants", "eviction"]


def test_shares_stand_where_their_difference_is_more_than_chance() -> None:
    topics = shared_out([[0.2, 0.8], [0.1, 0.9]], TWO)
    clear, unclear = (Known(prevalence_draws=drawn_shares(topics, deviation)) for deviation in (0.005, 0.2))
    assert sentences(topics, clear, topic_standing(topics, clear, 0)) == (
        ["Commons talks more about it than Courier: twice as much."],
        [],
    )
    assert sentences(topics, unclear, topic_standing(topics, unclear, 0)) == (
        [],
        ["That Commons talks more about it than Courier may be chance."],
    )


def test_topics_worded_alike_have_no_gap_and_no_own_words() -> None:
    topics = shared_out([[0.2, 0.8], [0.1, 0.9]], TWO)
    assert topics.worded_alike
    found = measured(topics, real={0: True}, found={0: (5, 5)})
    assert sentences(topics, found, topic_standing(topics, found, 0))[0] == [
        "Found in 5 of 5 runs with different seeds."
    ]


def test_many_words_are_counted_rather_than_told() -> None:
    words = [f"own{n}" for n in range(9)]
    counts = np.zeros((2, 11))
    counts[:, 9:] = 300
    counts[0, :9] = np.arange(99, 90, -1)
    topics = counted_topics(counts[:, :, None], TWO, [*words, "rent", "house"])
    found = measured(topics, told={(0, 0, word): sure() for word in words})
    (sentence,) = sentences(topics, found, topic_standing(topics, found, 0))[0]
    assert sentence.endswith("and 3 more.") and sentence.count("own") == 6
