"""Agreement of two runs on wording gaps: 1 for the same, whatever the topics' order; 0 for nothing in common."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.measures import hellinger_between_groups
from spdp_engine.measures.stability import gap_agreement

GROUPS, WORDS, TOPICS = 3, 400, 6
EVEN = np.full(TOPICS, 1 / TOPICS)
Wordings = NDArray[np.float64]


def made(seed: int, base: Wordings | None = None, spread: float = 30.0) -> Wordings:
    """[I, V, K], groups around base wordings, which are the seed's own where none are given."""
    draw = np.random.default_rng(seed)
    base = bases(seed) if base is None else base
    shares = [[draw.dirichlet(spread * WORDS * base[:, k] + 1e-3) for k in range(TOPICS)] for _ in range(GROUPS)]
    return np.array(shares).transpose(0, 2, 1)


def bases(seed: int) -> Wordings:
    return np.random.default_rng([seed, 7]).dirichlet(np.full(WORDS, 0.05), TOPICS).T


def test_a_run_agrees_with_itself_in_whatever_order() -> None:
    wordings = made(1)
    order = np.array([3, 0, 5, 1, 4, 2])
    assert gap_agreement(wordings, wordings, EVEN, EVEN) == pytest.approx(1)
    assert gap_agreement(wordings, wordings[:, :, order], EVEN, EVEN) == pytest.approx(1)


def test_gaps_that_are_drawn_anew_do_not_agree() -> None:
    """The topics are the same, but what sets the groups apart is chance. Eight hundred differences to a topic: near 0."""
    base = bases(1)
    assert gap_agreement(made(1, base, 1.0), made(2, base, 1.0), EVEN, EVEN) < 0.15


def test_half_of_a_difference_agrees_less_than_all_of_it() -> None:
    """Gaps of half the length: 2 * 1/2 / (1 + 1/4)."""
    roots = np.sqrt(made(1))
    common = roots.mean(axis=0)
    half = (common + (roots - common) / 2) ** 2
    assert gap_agreement(roots**2, half, EVEN, EVEN) == pytest.approx(0.8, abs=1e-6)


def test_topics_count_by_their_weights() -> None:
    wordings, base = made(1, spread=1.0), bases(1)
    other = wordings.copy()
    other[:, :, 0] = made(2, base, 1.0)[:, :, 0]  # the gaps of the first topic are others
    light, heavy = EVEN.copy(), EVEN.copy()
    light[0], heavy[0] = 0.0, 100.0
    assert gap_agreement(wordings, other, light, light) == pytest.approx(1)
    assert gap_agreement(wordings, other, heavy, heavy) < gap_agreement(wordings, other, EVEN, EVEN) < 1


def test_it_is_symmetric_and_single_precision_suffices() -> None:
    one, other = made(1), made(2)
    weights_one, weights_other = np.random.default_rng(5).dirichlet(np.ones(TOPICS), 2)
    agreement = gap_agreement(one, other, weights_one, weights_other)
    assert gap_agreement(other, one, weights_other, weights_one) == pytest.approx(agreement)
    single = gap_agreement(one.astype(np.float32), other.astype(np.float32), weights_one, weights_other)
    assert single == pytest.approx(agreement, abs=1e-4)


def test_squares_of_gaps_are_those_of_hellinger_distances() -> None:
    roots = np.sqrt(made(1))
    squares = ((roots - roots.mean(axis=0)) ** 2).sum(axis=(0, 1))
    pairs = (hellinger_between_groups(roots**2) ** 2).sum(axis=(1, 2)) / 2
    np.testing.assert_allclose(squares, 2 / GROUPS * pairs, rtol=1e-6)


def test_where_groups_word_topics_alike_there_is_nothing_to_agree_on() -> None:
    alike = np.repeat(made(1)[:1], GROUPS, axis=0)
    assert math.isnan(gap_agreement(alike, alike, EVEN, EVEN))
    single = alike.astype(np.float32)
    assert math.isnan(gap_agreement(single, single, EVEN, EVEN)), "rounding is no gap"
    assert math.isnan(gap_agreement(alike[:1], made(2)[:1], EVEN, EVEN)), "one group"


def test_runs_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="both be"):
        gap_agreement(made(1), made(1)[:, :, :-1], EVEN, EVEN[:-1])
