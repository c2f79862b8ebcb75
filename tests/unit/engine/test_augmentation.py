"""LDA's data augmentation: gamma variates, theta and phi given topics, topics given theta and phi.

Seeds are fixed. False alarms, were they not: each comparison fails a right sampler with 1e-4 or less (`LEVEL`; five standard
deviations are 6e-7), the whole file with less than 0.5 %.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from spdp_engine.models.lda import LdaPriors
from spdp_engine.models.readings import count_tokens
from spdp_engine.sampling.sampler import Sampler, plain_settings

from .corpora import Tokens, from_documents, random_tokens
from .on_device import evaluate, read, write

LEVEL = 1e-4
VARIATES = 100_000
SHAPES = [0.01, 0.1, 1.0, 50.0]
SMALLEST = 1e-37  # what is less may be 0 on the device


def variates(shape: float, seed: int = 1, logarithms: bool = False) -> NDArray[np.float64]:
    function = "log_gamma_variate" if logarithms else "gamma_variate"
    of = np.full(VARIATES, shape)
    return evaluate("gamma.clh", f"{function}(shape, {seed}u, 3u, x, 1u)", VARIATES, shape=of).astype(np.float64)


def kolmogorov_smirnov(values: NDArray[np.float64], shape: float) -> float:
    """The p-value that values above `SMALLEST` are gamma variates above it."""
    gamma = stats.gamma(shape)
    left_out = gamma.cdf(SMALLEST)
    return float(stats.kstest(values[values > SMALLEST], lambda x: (gamma.cdf(x) - left_out) / (1 - left_out)).pvalue)


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma_variates_have_their_distribution(shape: float) -> None:
    values = variates(shape)
    assert np.isfinite(values).all() and values.min() >= 0
    assert kolmogorov_smirnov(values, shape) > LEVEL
    tiny = int((values <= SMALLEST).sum())
    assert stats.binomtest(tiny, VARIATES, stats.gamma(shape).cdf(SMALLEST)).pvalue > LEVEL


@pytest.mark.parametrize("wrong", [0.9, 1.1])
@pytest.mark.parametrize("shape", SHAPES)
def test_gamma_variates_of_a_wrong_shape_are_rejected(shape: float, wrong: float) -> None:
    """The companion of the test above."""
    assert kolmogorov_smirnov(variates(shape * wrong), shape) < LEVEL


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma_variates_have_their_mean_and_variance(shape: float) -> None:
    """Within five standard deviations of what 100,000 variates have: the fourth central moment is 3 k^2 + 6 k."""
    values = variates(shape, seed=2)
    assert abs(values.mean() - shape) < 5 * np.sqrt(shape / VARIATES)
    assert abs(values.var() - shape) < 5 * np.sqrt((2 * shape**2 + 6 * shape) / VARIATES)


@pytest.mark.parametrize("shape", [1e-4, 1e-6])
def test_logarithms_of_variates_hold_where_variates_do_not(shape: float) -> None:
    """shape x log(variate) is nearly -1 times an exponential variate."""
    values = -shape * variates(shape, logarithms=True)
    assert np.isfinite(values).all()
    assert stats.kstest(values, stats.expon.cdf).pvalue > LEVEL
    assert stats.kstest(1.05 * values, stats.expon.cdf).pvalue < LEVEL


def test_variates_of_different_places_seeds_and_draws_differ() -> None:
    of = np.ones(1_000)
    several = [
        evaluate("gamma.clh", f"gamma_variate(shape, {seed}u, {iteration}u, x, {draw}u)", 1_000, shape=of)
        for seed, iteration, draw in ((1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 0x10000))
    ]
    assert len(np.unique(several)) > 3_990


def start(corpus: Tokens, topics: int, priors: LdaPriors, seed: int = 1) -> Sampler:
    settings = plain_settings(
        topics, priors, "data_augmentation", seed=seed, held_out=0.0, measure_every=0, model="lda"
    )
    return Sampler(corpus, settings)


def parameters(sampler: Sampler) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Theta [D, K] and phi [V, K] that the last sweep drew."""
    state, schedule, topics = sampler._state, sampler._schedule, sampler.settings.topics
    shares = read(sampler, schedule._shares, np.float32, state.documents, state.padded)  # type: ignore[attr-defined]
    wordings = read(sampler, schedule._wordings, np.float32, state.words, state.padded)  # type: ignore[attr-defined]
    scale = read(sampler, schedule._scale, np.float32, state.padded)  # type: ignore[attr-defined]
    assert (shares[:, topics:] == 0).all()
    theta = shares[:, :topics].astype(np.float64)
    phi = (wordings * scale)[:, :topics].astype(np.float64)
    np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-5)
    return theta / theta.sum(axis=1, keepdims=True), phi


def test_theta_and_phi_are_drawn_given_the_topics() -> None:
    """Each share of a Dirichlet variate is a beta variate: so are its ranks in that distribution uniform.

    One share of each row is looked at, so that ranks are independent. Companions: priors half as large again are rejected.
    """
    corpus = random_tokens(600, 40, 25, 2, seed=81)
    alpha, beta, rare = 0.6, 0.4, 24
    sampler = start(corpus, 8, LdaPriors(alpha, beta))
    sampler.step()
    ranks: dict[str, list[NDArray[np.float64]]] = {name: [] for name in ("theta", "phi", "wrong alpha", "wrong beta")}

    def of_share(shapes: NDArray[np.float64], which: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        ranked: NDArray[np.float64] = stats.beta(shapes[which], shapes.sum(axis=0) - shapes[which]).cdf(shares[which])
        return ranked

    for _ in range(150):
        before = sampler.inspect().counts
        sampler.step()
        theta, phi = parameters(sampler)
        n, words = before.document_topics.T, before.group_words.sum(axis=0)
        ranks["theta"].append(of_share(n + alpha, 3, theta.T))
        ranks["phi"].append(of_share(words + beta, rare, phi))
        ranks["wrong alpha"].append(of_share(n + 1.5 * alpha, 3, theta.T))
        ranks["wrong beta"].append(of_share(words + 1.5 * beta, rare, phi))
    p_values = {name: stats.kstest(np.concatenate(of), stats.uniform.cdf).pvalue for name, of in ranks.items()}
    assert min(p_values["theta"], p_values["phi"]) > LEVEL
    assert max(p_values["wrong alpha"], p_values["wrong beta"]) < LEVEL


@pytest.mark.parametrize("topics", [3, 20])
def test_topics_are_drawn_in_proportion_to_theta_and_phi(topics: int) -> None:
    """By Pearson's test on 40,000 tokens of one word in one document, and of another in another."""
    corpus = from_documents([(0, [1] * 40_000), (0, [0] * 40_000)], 2, 1)
    sampler = start(corpus, topics, LdaPriors())
    sampler.step()
    state, schedule = sampler._state, sampler._schedule
    rng = np.random.default_rng(82)
    shares, wordings, scale = (np.zeros((rows, state.padded)) for rows in (2, 2, 1))
    shares[:, :topics], wordings[:, :topics] = rng.random((2, topics)) ** 2, rng.random((2, topics)) ** 2
    scale[:, :topics] = rng.random(topics) + 0.1
    there = [state.cleared(array.size) for array in (shares, wordings, scale)]
    for buffer, array in zip(there, (shares, wordings, scale), strict=True):
        write(sampler, buffer, array.astype(np.float32))
    tokens = np.int32(len(corpus))
    schedule._draw_topics(  # type: ignore[attr-defined]
        sampler._queue, (len(corpus),), None, tokens, *schedule.tokens, np.uint32(1), np.uint32(5), state.alpha, *there
    )
    drawn = sampler.topics()
    for document, word in ((0, 1), (1, 0)):
        weights = (shares[document] * wordings[word] * scale[0])[:topics]
        found = np.bincount(drawn[corpus.token_document == document], minlength=topics)
        expected = 40_000 * weights / weights.sum()
        kept = expected > 5
        assert found[~kept].sum() < 100
        found, expected = found[kept], expected[kept] * found[kept].sum() / expected[kept].sum()
        assert stats.chisquare(found, expected).pvalue > LEVEL
        wrong = expected.copy()
        wrong[expected.argmax()] *= 1.2
        assert stats.chisquare(found, wrong * found.sum() / wrong.sum()).pvalue < LEVEL


def test_counts_follow_the_topics_drawn() -> None:
    corpus = random_tokens(3_000, 20, 30, 2, seed=83)
    sampler = start(corpus, 8, LdaPriors())
    for _ in range(3):
        sampler.step()
        n, words = count_tokens(
            corpus.token_word, corpus.token_document, corpus.document_group, sampler.topics(), (2, 30, 8)
        )
        state = sampler._state
        np.testing.assert_array_equal(state.read_rows(state.document_topics, 20), n)
        np.testing.assert_array_equal(state.read_rows(state.word_topics, 30), words.sum(axis=0))
        np.testing.assert_array_equal(sampler.totals(), words.sum(axis=(0, 1)))


@pytest.mark.parametrize(("words", "beta"), [(1, 0.01), (1, 1e-6), (3, 1e-4)])
def test_topics_without_tokens_have_a_wording_all_the_same(words: int, beta: float) -> None:
    """Where beta is small all gamma variates of an empty topic may be less than single precision holds.

    With one word phi is 1 whatever happens, and topics come from theta alone.
    """
    corpus = from_documents([(0, [d % words] * 50) for d in range(40)], words, 1)
    sampler = start(corpus, 8, LdaPriors(alpha=5.0, beta=beta))
    sampler.start_at(np.zeros(len(corpus), np.uint16))
    sampler.step()
    _, phi = parameters(sampler)
    assert np.isfinite(phi).all()
    if words == 1:
        assert (phi == 1).all()
        counts = np.bincount(sampler.topics(), minlength=8)
        # The posterior mean given that all were of topic 0: 55/90 there, 5/90 elsewhere. Five standard deviations of
        # theta and of tokens are 0.05 and 0.02.
        np.testing.assert_allclose(counts / len(corpus), np.append(55, np.full(7, 5)) / 90, atol=0.06)
