"""Kernels against a sampler in plain Python, token for token.

Both compute the same weights, the kernels in single precision and with products kept from step to step, so a draw could
differ where a random number falls within rounding of the border between two topics: one draw in some hundred thousand. At
these sizes and seeds none does, and none is allowed.
"""

from __future__ import annotations

import numpy as np
import pytest

from spdp_engine.models.spdp import Priors
from spdp_engine.sampling.partition import cut_into_blocks
from spdp_engine.sampling.sampler import Sampler, SamplerSettings

from .corpora import Tokens, from_documents, random_tokens
from .reference import Reference, draw_topic, uniforms

SWEEPS = 3

CORPORA = {
    "three groups": random_tokens(220, 14, 12, 3, seed=21),
    "one group": random_tokens(200, 5, 30, 1, seed=22),
    # Two words and long documents: cells of many customers and tables, and often a token that holds the only table.
    "two words": random_tokens(200, 6, 2, 2, seed=23),
    "every token alone": from_documents([(d % 2, [d]) for d in range(20)], 20, 2),
}
PRIORS = {
    "usual": Priors(),
    "Dirichlet processes": Priors(alpha=0.5, gamma=0.2, discount=0.0, concentration=2.0),
    "few tables": Priors(alpha=0.05, gamma=1.5, discount=0.1, concentration=0.3),
    "many tables": Priors(alpha=1.0, gamma=0.01, discount=0.95, concentration=50.0),
}


def document_rank(documents: int, seed: int) -> np.ndarray:
    """The places of documents in the first pass, as the schedules shuffle them."""
    return np.random.default_rng([seed, 0x0D0C]).permutation(documents)


def assert_same(sampler: Sampler, reference: Reference, iteration: int) -> None:
    different = np.flatnonzero(sampler.topics() != reference.topics)
    assert not len(different), f"iteration {iteration}: topics of tokens {different.tolist()} differ"
    counts = sampler.inspect().counts
    np.testing.assert_array_equal(counts.tables, reference.counts.tables, err_msg=f"iteration {iteration}")
    np.testing.assert_array_equal(counts.customers, reference.counts.customers)
    np.testing.assert_array_equal(counts.document_topics, reference.counts.document_topics)


def start(
    corpus: Tokens, priors: Priors, topics: int, seed: int, schedule: str, workers: int
) -> tuple[Sampler, Reference]:
    settings = SamplerSettings(topics, priors, schedule, workers, seed=seed, held_out=0.0, measure_every=0)
    return Sampler(corpus, settings), Reference(corpus, topics, priors, seed)


@pytest.mark.parametrize(
    ("priors", "topics"),
    [("usual", 20), ("usual", 1), ("Dirichlet processes", 7), ("few tables", 12), ("many tables", 8)],
)
@pytest.mark.parametrize("corpus", CORPORA)
def test_sequential_equals_the_reference(corpus: str, priors: str, topics: int) -> None:
    tokens, seed = CORPORA[corpus], 4_000_000_007
    sampler, reference = start(tokens, PRIORS[priors], topics, seed, "sequential", 1)
    rank = document_rank(len(tokens.document_group), seed)
    order = np.argsort(rank[tokens.token_document], kind="stable")
    for iteration in range(SWEEPS + 1):
        sampler.step()
        reference.pass_in_order(order, iteration)
        assert_same(sampler, reference, iteration)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    ("corpus", "priors", "topics"),
    [
        ("three groups", "usual", 20),
        ("one group", "Dirichlet processes", 12),
        ("two words", "few tables", 7),
        ("every token alone", "many tables", 1),
    ],
)
def test_blocks_equals_the_reference_with_lagging_sums(corpus: str, priors: str, topics: int, workers: int) -> None:
    tokens, seed = CORPORA[corpus], 17
    sampler, reference = start(tokens, PRIORS[priors], topics, seed, "blocks", workers)
    rank = document_rank(len(tokens.document_group), seed)
    blocks = cut_into_blocks(
        tokens.token_word, tokens.token_document, tokens.document_group, tokens.n_words, workers, rank
    )
    for iteration in range(SWEEPS + 1):
        sampler.step()
        reference.pass_in_blocks(blocks.order, blocks.starts, blocks.visits if iteration == 0 else None, iteration)
        assert_same(sampler, reference, iteration)


def test_the_reference_meets_every_case() -> None:
    """Guards the tests above: where nothing happens, agreement would prove nothing."""
    tokens = CORPORA["two words"]
    reference = Reference(tokens, 7, PRIORS["few tables"], 17)
    order = np.arange(len(tokens))
    reference.pass_in_order(order, 0)
    before = reference.topics.copy()
    reference.pass_in_order(order, 1)
    m, t = reference.counts.customers, reference.counts.tables
    assert ((m > 1) & (t == 1)).any(), "no token is ever stuck at the only table"
    assert ((t > 1) & (t < m)).any(), "no cell has both kinds of tokens"
    assert 0 < (before != reference.topics).mean() < 1, "all tokens move, or none"


def test_random_numbers_are_uniform_and_differ_by_seed_iteration_and_token() -> None:
    draws = np.array([[uniforms(seed, iteration, 30) for iteration in range(10)] for seed in (1, 2, 2**32 - 1)])
    assert ((draws >= 0) & (draws < 1)).all()
    assert len(np.unique(draws)) > 0.999 * draws.size
    # 2,700 numbers: the mean of uniforms is within 0.5 ± 0.0183 but for one case in a thousand
    assert abs(draws.mean() - 0.5) < 0.0183


def test_topics_are_drawn_in_proportion_to_their_weights() -> None:
    weights = np.random.default_rng(3).random(21) ** 3
    grid = (np.arange(10_000) + 0.5) / 10_000
    shares = np.bincount([draw_topic(weights, u) for u in grid], minlength=21) / len(grid)
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=2 / len(grid))
