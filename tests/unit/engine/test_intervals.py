"""Measures that mind documents and chance: intervals of shares, wording gaps, log-odds, and limits that chance seldom passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.measures.cells import Cells, cells_by_topic
from spdp_engine.measures.document_gap import squared_gap
from spdp_engine.measures.document_odds import log_odds_by_document
from spdp_engine.measures.hellinger import hellinger_between_groups
from spdp_engine.measures.intervals import (
    chance_limits,
    false_discovery_limit,
    false_discovery_limits,
    interval,
    normal_draws,
    share_draws,
)

Float = NDArray[np.float64]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def cells_of(counts: NDArray[np.integer]) -> Cells:
    """Of counts [D, V] of a topic."""
    document, word = np.nonzero(counts)
    return Cells(document, word, counts[document, word].astype(np.float64))


# --- counting


def test_cells_count_tokens_by_topic_document_and_word() -> None:
    topic, document, word = (rng(seed).integers(0, most, 500) for seed, most in ((1, 3), (2, 20), (3, 7)))
    counted = Counter(zip(topic.tolist(), document.tolist(), word.tolist(), strict=True))
    found = cells_by_topic(topic, document, word, (4, 20, 7))
    assert len(found) == 4 and not len(found[3].count)
    for k, cells in enumerate(found):
        told = dict(zip(zip(cells.document.tolist(), cells.word.tolist(), strict=True), cells.count, strict=True))
        assert told == {(d, w): n for (t, d, w), n in counted.items() if t == k}


# --- shares


def test_an_interval_is_the_middle_part_of_draws() -> None:
    draws = np.stack([np.arange(101), 2.0 * np.arange(101)], axis=1)
    assert np.allclose(interval(draws, 0.9), [[5, 95], [10, 190]])


def skewed_documents(random: np.random.Generator, documents: int) -> tuple[Float, NDArray[np.int64]]:
    """Shares of topics in the population, and tokens of documents each of which has few of the topics."""
    alphas = random.gamma(8.0, size=6)
    alphas *= 1.5 / alphas.sum()
    lengths = np.maximum(8, 100 * np.exp(0.5 * random.standard_normal(documents))).astype(np.int64)
    return alphas / alphas.sum(), random.multinomial(lengths, random.dirichlet(alphas, documents))


def share_that_holds(draws: Callable[[NDArray[np.int64], np.random.Generator], Float], documents: int) -> float:
    """How many intervals of 90 % hold the share in the population."""
    random, holds = rng(7), []
    for _ in range(200):
        true, tokens = skewed_documents(random, documents)
        low, high = interval(draws(tokens, random), 0.9).T
        holds += ((low <= true) & (true <= high)).tolist()
    return float(np.mean(holds))


@pytest.mark.parametrize("documents", [12, 25, 100])
def test_intervals_of_shares_hold_the_populations(documents: int) -> None:
    """Of 1,200 intervals in 200 populations; the standard error is about 0.01."""

    def drawn(tokens: NDArray[np.int64], random: np.random.Generator) -> Float:
        return share_draws(tokens, np.zeros(len(tokens), np.int64), 1, 300, random)[:, 0]

    assert 0.87 < share_that_holds(drawn, documents) < 0.95


def test_the_bayesian_bootstrap_would_be_too_sure() -> None:
    def drawn(tokens: NDArray[np.int64], random: np.random.Generator) -> Float:
        weighed = random.standard_exponential((300, len(tokens))) @ tokens
        return weighed / weighed.sum(axis=1, keepdims=True)

    assert share_that_holds(drawn, 12) < 0.82


def test_draws_lie_about_the_share_and_as_far_as_documents_say() -> None:
    _, tokens = skewed_documents(rng(), 400)
    share = tokens.sum(axis=0) / tokens.sum()
    draws = share_draws(tokens, np.zeros(400, np.int64), 1, 4000, rng())[:, 0]
    resampled = rng(2).multinomial(400, np.full(400, 1 / 400), 4000) @ tokens
    resampled = resampled / resampled.sum(axis=1, keepdims=True)
    assert np.allclose(np.median(draws, axis=0), share, rtol=0.02)
    assert np.allclose(draws.std(axis=0), resampled.std(axis=0), rtol=0.1)
    assert np.allclose(np.corrcoef(draws.T), np.corrcoef(resampled.T), atol=0.1)


def test_a_share_that_hangs_on_one_document_is_hardly_known() -> None:
    even = np.tile([[10, 90]], (40, 1)) + rng().integers(-5, 6, (40, 1)) * [1, -1]
    prolific = even.copy()
    prolific[0] = [4000, 0]
    widths = [
        np.ptp(interval(share_draws(t, np.zeros(40, np.int64), 1, 400, rng())[:, 0, 0], 0.9)) for t in (even, prolific)
    ]
    assert widths[0] < 0.02 and widths[1] > 0.5


def test_groups_with_little_to_say() -> None:
    """Four groups: ten documents without topic 2; one document; none; two of no words. Nothing is NaN or outside 0 to 1."""
    tokens = np.vstack(
        [np.tile([[30, 10, 0]], (10, 1)), [[5, 5, 5]], [[0, 0, 0], [0, 0, 0]], np.tile([[9, 9, 20]], (9, 1))]
    )
    group = np.array([0] * 10 + [1] + [3, 3] + [4] * 9)
    draws = share_draws(tokens, group, 5, 500, rng())
    assert np.isfinite(draws).all() and draws.min() >= 0 and draws.max() <= 1
    intervals = interval(draws, 0.9)
    assert (intervals[1, :, 0] < 0.1).all() and (intervals[1, :, 1] > 0.9).all()
    assert not draws[:, 2:4].any()
    assert intervals[0, 2, 0] < 0.005 and 0.01 < intervals[0, 2, 1] < 0.2
    assert np.allclose(intervals[0, 0], 0.75) and np.allclose(intervals[4, 2], 20 / 38)


def test_normal_draws_have_no_chance_of_their_own() -> None:
    draws = normal_draws(np.array([1.0, 2.0]), np.array([0.1, 3.0]), 2000)
    assert np.allclose(draws.mean(axis=0), [1, 2]) and np.allclose(draws.std(axis=0), [0.1, 3], rtol=0.01)


# --- wording gaps


def topic_counts(random: np.random.Generator, documents: int, wording: Float, length: int = 8) -> NDArray[np.int64]:
    """Counts [D, V] of documents that say some words of a topic, each in its own way."""
    lengths = random.poisson(length, documents) + 1
    return np.array([random.multinomial(n, random.dirichlet(40 * wording + 1e-9)) for n in lengths])


def plain_squares(counts: NDArray[np.integer], group: NDArray[np.integer], groups: int) -> float:
    """The mean over pairs of squared Hellinger distances, without any correction."""
    wordings = np.array([counts[group == i].sum(axis=0) for i in range(groups)], np.float64)
    wordings /= wordings.sum(axis=1, keepdims=True)
    squares = hellinger_between_groups(wordings[:, :, None])[0] ** 2
    return float(squares.sum() / (groups * (groups - 1)))


@pytest.mark.parametrize("groups", [2, 3])
def test_the_squared_gap_is_that_of_leaving_out_each_document(groups: int) -> None:
    """Against roots that are corrected one by one, in the plainest way there is."""
    random = rng(3)
    group = np.repeat(np.arange(groups), [7, 9, 5][:groups])
    counts = topic_counts(random, len(group), random.dirichlet(np.full(30, 0.5)))

    def roots(kept: NDArray[np.bool_], i: int) -> Float:
        said = counts[kept & (group == i)].sum(axis=0)
        root: Float = np.sqrt(said / said.sum())
        return root

    everyone = np.ones(len(group), bool)
    corrected, members = [], [np.flatnonzero(group == i) for i in range(groups)]
    for i, own in enumerate(members):
        without = [roots(np.arange(len(group)) != d, i) - roots(everyone, i) for d in own]
        corrected.append(roots(everyone, i) - (len(own) - 1) / len(own) * np.sum(without, axis=0))
    pairs = [(i, j) for i in range(groups) for j in range(groups) if i != j]
    square = float(np.mean([1 - corrected[i] @ corrected[j] for i, j in pairs]))
    variance = 0.0
    for i, own in enumerate(members):
        others = np.sum([corrected[j] for j in range(groups) if j != i], axis=0)
        left = [2 * (roots(np.arange(len(group)) != d, i) - roots(everyone, i)) @ others / len(pairs) for d in own]
        variance += (len(own) - 1) / len(own) * float(((left - np.mean(left)) ** 2).sum())
    found = squared_gap(cells_of(counts), group, range(groups))
    assert found is not None
    assert found.square == pytest.approx(square) and found.variance == pytest.approx(variance)
    assert found.excess == pytest.approx(plain_squares(counts, group, groups) - square)


def test_chance_adds_nothing_to_the_squared_gap_on_average() -> None:
    """Where groups do not differ, and where they do. The standard error of the means over 300 corpora is below 0.0015."""
    random = rng(5)
    common = random.dirichlet(np.full(40, 0.4))
    other = 0.5 * common + 0.5 * random.dirichlet(np.full(40, 0.4))
    group = np.repeat([0, 1], [60, 20])
    for wordings in ((common, common), (common, other)):
        true = 1 - float(np.sqrt(wordings[0] * wordings[1]).sum())
        squares, plain = [], []
        for _ in range(300):
            counts = np.vstack([topic_counts(random, 60, wordings[0]), topic_counts(random, 20, wordings[1])])
            found = squared_gap(cells_of(counts), group, (0, 1))
            assert found is not None
            squares.append(found.square)
            plain.append(plain_squares(counts, group, 2))
        assert np.mean(squares) == pytest.approx(true, abs=0.006)
        assert np.mean(plain) > true + 0.02


def test_a_gap_needs_two_documents_of_each_group() -> None:
    counts = topic_counts(rng(), 9, np.full(10, 0.1))
    group = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    assert squared_gap(cells_of(counts), group, (0, 1)) is None
    assert squared_gap(cells_of(counts), group, (0,)) is None
    two = squared_gap(cells_of(counts), group, (0, 2))
    alone = squared_gap(cells_of(counts[group != 1]), group[group != 1] // 2, (0, 1))
    assert two is not None and two == pytest.approx(alone)


# --- log-odds


def test_log_odds_of_documents_of_one_token_are_those_of_tokens() -> None:
    """Where documents tell nothing, they are no matter: as by the formula of Monroe et al., with the weak prior."""
    random = rng(4)
    words = np.where(random.random(4000) < 0.3, 0, random.integers(1, 6, 4000))
    group = (np.arange(4000) >= 1500).astype(np.int64)
    counts = np.zeros((4000, 6), np.int64)
    counts[np.arange(4000), words] = 1
    found = log_odds_by_document(cells_of(counts), group, 2, np.arange(6))
    own = np.array([np.bincount(words[group == i], minlength=6) for i in range(2)], np.float64)
    assert np.array_equal(found.count, own)
    prior = 50 * (own.sum(axis=0) + 0.5) / 4001
    odds = [(n + prior) / (n.sum() + 50 - n - prior) for n in own]
    assert np.allclose(found.log_odds[0], np.log(odds[0] / odds[1]), atol=0.005)
    assert np.allclose(found.log_odds[1], -found.log_odds[0])
    assert np.allclose(found.variance, (1 / (own + prior)).sum(axis=0), rtol=0.01)
    assert (found.freedom > 100).all()


def test_saying_everything_twice_is_no_more_evidence() -> None:
    counts = topic_counts(rng(6), 80, rng().dirichlet(np.full(12, 0.8)), length=20)
    group = np.arange(80) % 3
    once, twice = (log_odds_by_document(cells_of(n * counts), group, 3, np.arange(12)) for n in (1, 2))
    assert np.allclose(once.variance, twice.variance, rtol=0.02)
    assert np.allclose(once.log_odds, twice.log_odds, atol=0.02)
    assert np.allclose(
        once.contrast / once.contrast_variance**0.5, twice.contrast / twice.contrast_variance**0.5, atol=0.1
    )


def test_many_uses_in_one_document_are_hardly_evidence() -> None:
    """Thirty uses of a word in one of forty documents, and in thirty of them; and three hundred, of which the others have none."""
    scores = []
    for uses in (np.array([30] + [0] * 39), np.array([1] * 30 + [0] * 10), np.array([10] * 30 + [0] * 10)):
        counts = np.full((80, 2), 30)
        counts[:, 0] = np.r_[uses, np.zeros(40, np.int64)]
        odds = log_odds_by_document(cells_of(counts), np.repeat([0, 1], 40), 2, np.array([0]))
        scores.append(float(odds.contrast[0, 0] / odds.contrast_variance[0, 0] ** 0.5))
        assert odds.log_odds[0, 0] > 0
        freedom = float(odds.freedom[0])
        assert (freedom < 2) == (uses.max() == 30)
    assert scores[0] < 2 and scores[1] > 4 and scores[2] > scores[1]


def test_how_much_is_known_of_a_word_says_nothing_of_who_uses_it() -> None:
    """Its tokens in groups of one size; the same whoever has them; less in a group that says little on the topic, or nearly all."""
    shared, split = np.full((40, 3), 2), np.full((40, 3), 2)
    split[:20, 0], split[20:, 0], split[:20, 1], split[20:, 1] = 4, 0, 0, 4
    words, group = np.array([0, 1, 7]), np.repeat([0, 1], 20)
    for counts in (shared, split):
        found = log_odds_by_document(cells_of(counts), group, 2, words).information
        assert np.allclose(found, [[80, 80, 0], [80, 80, 0]])
    four = log_odds_by_document(cells_of(shared), np.repeat([0, 1, 1, 2, 3], 8), 4, words).information
    assert np.allclose(four[:, 0], [80 * 0.64, 80 * 0.96, 80 * 0.64, 80 * 0.64])
    assert np.allclose(four[:, 1], four[:, 0]) and not four[:, 2].any()


def test_words_that_a_topic_does_not_have() -> None:
    counts = topic_counts(rng(), 30, np.full(5, 0.2))
    odds = log_odds_by_document(cells_of(counts), np.arange(30) % 2, 2, np.array([2, 77]))
    assert odds.log_odds[:, 1] == pytest.approx(0, abs=0.1) and (odds.variance[:, 1] > 10).all()
    empty = Cells(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    nothing = log_odds_by_document(empty, np.arange(30) % 2, 2, np.array([2, 77]))
    assert np.isfinite(nothing.log_odds).all() and not nothing.log_odds.any() and (nothing.variance > 5).all()
    assert log_odds_by_document(cells_of(counts), np.arange(30) % 2, 2, np.empty(0, np.int64)).log_odds.shape == (2, 0)
    all_one = log_odds_by_document(cells_of(counts[:, :1] + 1), np.arange(30) % 2, 2, np.array([0]))
    assert np.isfinite(all_one.log_odds).all()


# --- limits


@pytest.mark.parametrize("repetitions", [19, 39])
def test_chance_passes_a_limit_once_in_twenty_times(repetitions: int) -> None:
    """Any of 30 values of quite different spread; of 1,500 trials 5 % are 75, with a standard deviation of 8.4."""
    random, passed, each = rng(9), 0, 0
    spread = np.geomspace(0.001, 10, 30)
    for _ in range(1500):
        values = 3 + spread * random.standard_normal((repetitions + 1, 30))
        passed += bool((values[0] > chance_limits(values[0], values[1:], 0.05)).any())
        each += bool((values[0] > np.quantile(values[1:], 0.95, axis=0)).any())
    assert 40 < passed < 110
    assert each > 1000  # what a limit for each of them would do


def test_of_values_that_pass_their_limits_few_are_chance() -> None:
    """Ten of 30 values lie 2 to 6 of their standard deviations above chance."""
    random, false, all_passed = rng(12), 0, 0
    spread = np.geomspace(0.001, 10, 30)
    for _ in range(300):
        values = spread * random.standard_normal((40, 30))
        values[0, :10] += np.linspace(2, 6, 10) * spread[:10]
        passed = values[0] > chance_limits(values[0], values[1:], 0.05)
        false, all_passed = false + passed[10:].sum(), all_passed + passed.sum()
    assert all_passed > 1500 and 0.015 < false / all_passed < 0.055


def test_values_that_are_not_known_have_no_limit() -> None:
    values = rng().standard_normal((20, 3))
    values[:, 1] = np.nan
    limits = chance_limits(values[0], values[1:], 0.05)
    assert np.isnan(limits[1]) and np.isfinite(limits[[0, 2]]).all()
    assert np.allclose(limits[[0, 2]], chance_limits(values[0, [0, 2]], values[1:, [0, 2]], 0.05))
    assert np.isnan(chance_limits(np.full(2, np.nan), np.zeros((5, 2)), 0.05)).all()
    assert np.array_equal(chance_limits(np.full(2, 3.0), np.full((5, 2), 3.0), 0.05), [3, 3])


def test_the_limit_of_false_discoveries() -> None:
    chance = [np.array([0.5, 1.0, 2.0]), np.array([0.2, 0.4, 3.0])]  # (1 + number above)/3 are expected
    found = np.array([9.0, 8.0, 7.0, 6.0, 2.5, 1.0])
    assert (
        false_discovery_limit(found, chance, 0.2) == 2.25
    )  # 2/3 of the five to 2.5, that is 13 %; of the six 4/3, or 22 %
    assert false_discovery_limit(found, chance, 0.1) == 4.5
    assert false_discovery_limit(found[:4], [np.array([7.0])] * 30, 0.9) == 6.0
    assert false_discovery_limit(found, chance, 0.05) == np.inf
    assert false_discovery_limit(np.empty(0), chance, 0.05) == np.inf


def test_false_discoveries_are_few() -> None:
    """40 words that differ by four standard deviations among 2,000: over 100 trials, below the rate of 5 % and not far below."""
    random, shares = rng(11), []
    for _ in range(100):
        scores = random.standard_normal(2000)
        scores[:40] += 4
        limit = false_discovery_limit(scores, [random.standard_normal(2000) for _ in range(20)], 0.05)
        shares.append((scores[40:] >= limit).sum() / max((scores >= limit).sum(), 1))
    assert 0.02 < np.mean(shares) < 0.055


def test_each_class_has_its_limit_if_all_together_have_one() -> None:
    chance = [[np.array([0.5, 4.0]), np.array([1.0])], [np.array([0.2]), np.array([2.0, 0.1])]]
    found = [np.array([5.0, 3.0, 1.0]), np.array([9.0, 8.0, 7.0, 6.0, 2.5, 0.05])]
    limits = false_discovery_limits(found, chance, 0.2)
    assert limits.tolist() == [np.inf, 2.25]  # of the first class 1 to 5.0 with 1/3 expected, 3 to 1.0 with 2/3
    for one, own, by_chance in zip(limits, found, zip(*chance, strict=True), strict=True):
        assert one == false_discovery_limit(own, by_chance, 0.2)
    crowd = [[np.array([9.0] * 20), scores] for _, scores in chance]
    assert false_discovery_limits(found, crowd, 0.2).tolist() == [np.inf, np.inf]
    assert false_discovery_limits([np.empty(0)] * 2, [[np.empty(0)] * 2] * 30, 0.2).tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("repetitions", [20, 39])
def test_where_classes_hold_nothing_few_collections_pass_their_limits(repetitions: int) -> None:
    """Of 1,500 collections 5 % are 75, with a standard deviation of 8.4. By the limit of each class alone there would be more."""
    random, passed, alone = rng(13), 0, 0
    sizes = np.cumsum([40, 15])
    for _ in range(1500):
        found, *chance = (np.split(scores, sizes) for scores in random.standard_normal((repetitions + 1, 60)))
        limits = false_discovery_limits(found, chance, 0.05)
        passed += any((scores >= limit).any() for scores, limit in zip(found, limits, strict=True))
        alone += any(
            np.isfinite(false_discovery_limit(*one, 0.05)) for one in zip(found, zip(*chance, strict=True), strict=True)
        )
    assert passed < 110
    assert alone > 1.5 * passed > 0


def test_a_crowd_decides_about_itself_alone() -> None:
    """Of 1,500 words chance goes far and none differs; of 60 others half differ, 2.2 to 4 of their standard deviations. Of what is
    called different, at most 5 % is false, and more of it is found than with one limit."""
    random, false, by_classes, by_one = rng(14), 0, 0, 0
    differing = np.linspace(2.2, 4, 30)
    for _ in range(60):
        found, *chance = ([1.3 * random.standard_normal(1500), random.standard_normal(60)] for _ in range(21))
        found[1][:30] += differing
        limits = false_discovery_limits(found, chance, 0.05)
        by_classes += sum((scores >= limit).sum() for scores, limit in zip(found, limits, strict=True))
        false += (found[0] >= limits[0]).sum() + (found[1][30:] >= limits[1]).sum()
        together = false_discovery_limit(np.concatenate(found), [np.concatenate(scores) for scores in chance], 0.05)
        by_one += (np.concatenate(found) >= together).sum()
    assert by_classes > 1.5 * by_one
    assert false <= 0.05 * by_classes
