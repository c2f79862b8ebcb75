"""Topics of two runs, matched."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.measures.matching import distances_together, match_topics, topic_distances


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


@pytest.mark.parametrize(("fewer", "more"), [(1, 1), (1, 4), (2, 3), (3, 5)])
def test_runs_of_different_numbers_of_topics_have_the_smallest_sum_too(fewer: int, more: int) -> None:
    """Against every way to give each topic of the smaller run one of its own."""
    for seed in range(20):
        one, other = wordings(6, fewer, seed=seed), wordings(6, more, seed=100 + seed)
        match, distances = match_topics(one, other)
        assert distances.shape == (fewer, more) and len(set(match)) == fewer
        best = min(distances[np.arange(fewer), list(ways)].sum() for ways in permutations(range(more), fewer))
        assert distances[np.arange(fewer), match].sum() == pytest.approx(best)
        turned, across = match_topics(other, one)
        np.testing.assert_array_equal(across, distances.T)
        there = np.flatnonzero(turned >= 0)
        assert len(there) == fewer and set(turned[turned < 0]) <= {-1}
        assert across[there, turned[there]].sum() == pytest.approx(best)


def test_a_run_with_more_topics_is_found_in_it() -> None:
    one = wordings(2, 30, 5)
    match, _ = match_topics(one, one[..., [4, 2]])
    np.testing.assert_array_equal(match, [-1, -1, 1, -1, 0])


def test_two_topics_read_as_one_are_weighed() -> None:
    """Against the mixture written out; and a topic that was cut in two is found again in the two alone."""
    whole, part, rest, other = wordings(20, 4).T
    for first, second in product((1.0, 30.0), (0.0, 5.0)):
        mixed = (first * part + second * rest) / (first + second)
        plain = np.sqrt(1 - np.sqrt(whole * mixed).sum())
        found = distances_together(whole[:, None], part[:, None], rest[:, None], np.array([[first], [second]]))
        assert found.shape == (1,) and found[0] == pytest.approx(plain)
    cut = 0.3 * part + 0.7 * rest
    both = distances_together(
        np.stack([cut, cut], 1),
        np.stack([part, part], 1),
        np.stack([rest, other], 1),
        np.array([[3.0, 3.0], [7.0, 7.0]]),
    )
    assert both[0] == pytest.approx(0, abs=1e-7)
    assert both[1] > topic_distances(cut[:, None], part[:, None])[0, 0] > 0.1


@pytest.mark.parametrize(
    ("one", "other"), [((5, 3), (4, 3)), ((2, 5, 3), (5, 3)), ((2, 5, 3), (3, 5, 3)), ((5,), (5,))]
)
def test_shapes_that_do_not_fit_are_refused(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must both be"):
        match_topics(np.ones(one), np.ones(other))
