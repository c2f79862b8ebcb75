"""Posterior calibration: a value is drawn from the prior, and data by it; its rank among draws from the posterior is uniform.

S. Cook, A. Gelman and D. Rubin, "Validation of Software for Bayesian Models Using Posterior Quantiles" (JCGS 2006);
S. Talts and others, "Validating Bayesian Inference Algorithms with Simulation-Based Calibration" (arXiv 1804.06788). The sampler
starts from its own first pass, as it is used, so that this tests also that it gets from there to where it should be.

Draws for one corpus must be as good as independent of each other: they are eight sweeps apart, at which the autocorrelation of
what is ranked is below 0.02, and the first 160 sweeps are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.models.lda import LdaPriors
from spdp_engine.models.spdp import SpdpPriors

from .exact import LEVEL, Float, lda_log_posterior, rank_uniformity
from .long_runs import long_run
from .simulate import Draw, Drawn, Size, draw_lda, draw_spdp

SIZE = Size(groups=2, documents=6, words=6, topics=3, length=8)
CORPORA, DRAWS, BURN_IN, THIN = 400, 39, 20, 8

Scalar = Callable[[Drawn, Any, NDArray[np.integer], NDArray[np.integer]], Float]
"""What is ranked, of each state: from a corpus, priors, topics [states, N] and tables [states, I, V, K]."""


def tables(drawn: Drawn, priors: Any, z: NDArray[np.integer], t: NDArray[np.integer]) -> Float:
    """How many there are in all."""
    total: Float = t.sum(axis=(1, 2, 3)).astype(float)
    return total


def log_posterior(drawn: Drawn, priors: Any, z: NDArray[np.integer], t: NDArray[np.integer]) -> Float:
    """Of LDA, by the priors in which the sampler believes."""
    return lda_log_posterior(drawn.corpus, priors, z, SIZE.topics)


SPDP, LDA = SpdpPriors(0.4, 0.5, 0.6, 2.0), LdaPriors(0.4, 0.3)
CALIBRATED: dict[str, tuple[Draw, str, str, Any, Scalar]] = {
    "spdp": (draw_spdp, "spdp", "blocks", SPDP, tables),
    "lda": (draw_lda, "lda", "blocked_nested", LDA, log_posterior),
}


def p_value(name: str, wrong: dict[str, float] | None = None) -> float:
    """Of the ranks' uniformity. `wrong`: priors in which the sampler believes, other than those of the corpora."""
    draw, model, schedule, priors, scalar = CALIBRATED[name]
    believed, rng, ranks = replace(priors, **(wrong or {})), np.random.default_rng(2006), []
    for seed in range(CORPORA):
        drawn = draw(SIZE, priors, rng)
        sampler = drawn.sampler(model, schedule, believed, seed)
        sampler.step()
        run = long_run(sampler, BURN_IN + DRAWS, THIN)
        found = scalar(drawn, believed, run.topics[BURN_IN:], run.tables[BURN_IN:])
        its_tables = getattr(drawn.counts, "tables", np.zeros((0, 1, 1), np.int32))
        truth = scalar(drawn, believed, drawn.topics[None], its_tables[None])
        # Equal values are ranked at random; logarithms that differ by rounding alone are equal.
        equal = int(np.isclose(found, truth, rtol=0, atol=1e-9).sum())
        ranks.append(int((found < truth - 1e-9).sum() + rng.integers(0, equal + 1)))
    return rank_uniformity(ranks, DRAWS + 1)


@pytest.mark.false_alarms(LEVEL)
@pytest.mark.parametrize("name", CALIBRATED)
def test_ranks_of_the_truth_are_uniform(name: str) -> None:
    """False alarms: LEVEL for each."""
    assert p_value(name) > LEVEL


@pytest.mark.parametrize(("name", "wrong"), [("spdp", {"discount": 0.5}), ("lda", {"beta": 0.15})], ids=str)
def test_ranks_by_a_sampler_of_other_priors_are_not(name: str, wrong: dict[str, float]) -> None:
    assert p_value(name, wrong) < 1e-6
