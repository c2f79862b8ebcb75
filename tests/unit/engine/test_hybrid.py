"""The variational base of hybrid sampling. Its tokens are in `test_kernels`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma

from spdp_engine.models import Matrices, SpdpPriors
from spdp_engine.sampling.sampler import Sampler, plain_settings

from .corpora import random_matrices, random_tokens
from .on_device import evaluate
from .reference import expected_base

CORPUS = random_tokens(1_500, 20, 40, 3, seed=91)
MATRICES = {"identity": None, "sparse": random_matrices(CORPUS, 0.5, 1), "dense": random_matrices(CORPUS, 10.0, 2)}


def test_digamma_equals_scipy() -> None:
    x = np.concatenate([np.logspace(-6, 7, 5_000), np.linspace(0.01, 8.0, 5_000)]).astype(np.float32)
    expected = digamma(x.astype(np.float64))
    # Up to 1e6 where x is small. About the zero at 1.46 errors are absolute.
    np.testing.assert_allclose(evaluate("digamma.clh", "digamma(x_)", len(x), x_=x), expected, rtol=4e-7, atol=4e-7)


@pytest.mark.parametrize("gamma", [0.1, 2.0])
@pytest.mark.parametrize("matrices", MATRICES)
def test_the_base_after_a_sweep_is_that_of_equation_8_8(matrices: str, gamma: float) -> None:
    given = MATRICES[matrices]
    settings = plain_settings(
        8, SpdpPriors(gamma=gamma), "hybrid", 2, held_out=0.0, measure_every=0, associations=given
    )
    sampler = Sampler(CORPUS, settings)
    before = sampler.inspect().base_wording()
    np.testing.assert_allclose(before, 1 / CORPUS.n_words, rtol=1e-6)
    for _ in range(4):
        sampler.step()
        sample = sampler.inspect()
        plain = expected_base(before, sample.counts.tables, gamma, given or Matrices.identity(3, CORPUS.n_words))
        # exp(digamma) where it is e^-10 has ten times the rounding of a number about 1.
        np.testing.assert_allclose(sample.base_wording(), plain, rtol=2e-5)
        np.testing.assert_allclose(sample.base_wording().sum(axis=0), 1, rtol=1e-5)
        before = sample.base_wording()
    assert sample.counts.associated is None, "tables do not know which base word they serve"


@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize("gamma", [0.02, 0.01, 1e-4, 1e-6])
def test_a_small_gamma_leaves_no_word_impossible(gamma: float, matrices: str) -> None:
    """exp(digamma(0.01)) is e^-100, which single precision does not hold: such words keep 1e-20 of the likeliest."""
    settings = plain_settings(8, SpdpPriors(gamma=gamma), "hybrid", 2, associations=MATRICES[matrices])
    sampler = Sampler(CORPUS, settings)
    for _ in range(4):
        record = sampler.step()
        base = sampler.inspect().base_wording()
        assert np.isfinite(base).all() and base.min() >= 1e-20 / CORPUS.n_words
        np.testing.assert_allclose(base.sum(axis=0), 1, rtol=1e-5)
        assert record.perplexity is not None and np.isfinite(record.perplexity)
        assert len(np.unique(sampler.topics())) == 8


@pytest.mark.parametrize("matrices", MATRICES)
def test_the_base_follows_from_given_topics(matrices: str) -> None:
    given = MATRICES[matrices]
    settings = plain_settings(8, schedule="hybrid", workers=2, held_out=0.0, measure_every=0, associations=given)
    sampler = Sampler(CORPUS, settings)
    sampler.start_at(np.random.default_rng(92).integers(0, 8, len(CORPUS)).astype(np.uint16))
    sample = sampler.inspect()
    uniform = np.full((CORPUS.n_words, 8), 1 / CORPUS.n_words)
    plain = expected_base(uniform, sample.counts.tables, 0.1, given or Matrices.identity(3, CORPUS.n_words))
    np.testing.assert_allclose(sample.base_wording(), plain, rtol=2e-5)
    assert sample.counts.tables.max() == 1
