"""Topics of two runs, matched."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.measures.matching import match_topics


def wordings(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    """Distributions over words, the words along the last axis but one."""
    *groups, words, topics = shape
    return np.random.default_rng(seed).dirichlet(np.full(words, 0.2), (*groups, topics)).swapaxes(-1, -2)


@pytest.mark.parametrize("shape", [(30, 7), (3, 30, 7), (1, 30, 1)])
def test_a_run_whose_topics_were_shuffled_is_found_again(shape: tuple[int, ...]) -> None:
    one = wordings(*shape)
    order = np.random.default_rng(1).permutation(shape[-1])
    permutation, distances = match_topics(one, one[..., order])
    assert permutation.dtype == np.int64 and distances.dtype == np.float64
    np.testing.assert_array_equal(order[permutation], np.arange(shape[-1]))
    np.testing.assert_allclose(distances[np.arange(shape[-1]), permutation], 0.0, atol=1e-7)


def test_distances_are_hellingers_and_their_mean_over_groups() -> None:
    one, other = wordings(2, 20, 4), wordings(2, 20, 4, seed=5)
    _, distances = match_topics(one, other)
    for k in range(4):
        for j in range(4):
            plain = [np.sqrt(1 - np.sqrt(one[i, :, k] * other[i, :, j]).sum()) for i in range(2)]
            assert distances[k, j] == pytest.approx(np.mean(plain))
    apart = np.eye(4)[:, :2], np.eye(4)[:, 2:]
    np.testing.assert_array_equal(match_topics(*apart)[1], np.ones((2, 2)))


def test_the_sum_is_the_smallest_of_all_permutations() -> None:
    """Also where taking each topic's nearest, one after another, would do worse."""
    greedy_is_worse = 0
    for seed in range(20):
        permutation, distances = match_topics(wordings(6, 5, seed=seed), wordings(6, 5, seed=100 + seed))
        assert sorted(permutation) == list(range(5))
        found = distances[np.arange(5), permutation].sum()
        best = min(distances[np.arange(5), list(order)].sum() for order in permutations(range(5)))
        assert found == pytest.approx(best)
        free, greedy = set(range(5)), 0.0
        for k in range(5):
            nearest = min(free, key=lambda j: distances[k, j])
            free.remove(nearest)
            greedy += distances[k, nearest]
        greedy_is_worse += greedy > best + 1e-9
    assert greedy_is_worse > 0


def test_single_precision_is_taken_too() -> None:
    one, other = wordings(30, 5), wordings(30, 5, seed=3)
    permutation, distances = match_topics(one.astype(np.float32), other.astype(np.float32))
    expected, exact = match_topics(one, other)
    np.testing.assert_array_equal(permutation, expected)
    np.testing.assert_allclose(distances, exact, atol=1e-6)
    assert distances.dtype == np.float64


@pytest.mark.parametrize(("one", "other"), [((5, 3), (5, 4)), ((2, 5, 3), (5, 3)), ((5,), (5,))])
def test_shapes_that_do_not_fit_are_refused(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must both be"):
        match_topics(np.ones(one), np.ones(other))
