"""Kernels against samplers in plain Python, token for token.

Both compute the same weights, the kernels in single precision and with products kept from step to step, so a draw could
differ where a random number falls within rounding of the border between two topics: one draw in some hundred thousand. At
these sizes and seeds none does, and none is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from spdp_engine.models import LdaPriors, Matrices, Priors, SpdpPriors
from spdp_engine.sampling.partition import Blocks, cut_into_blocks
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.sampling.schedules import TopicParallel

from .corpora import Tokens, from_documents, random_matrices, random_tokens
from .on_device import evaluate
from .reference import (
    HybridReference,
    LdaReference,
    Reference,
    SpdpReference,
    by_document,
    document_rank,
    draw_topic,
    linked_words,
    pcg3d,
    uniforms,
)

SWEEPS = 3

CORPORA = {
    "three groups": random_tokens(220, 14, 12, 3, seed=21),
    "one group": random_tokens(200, 5, 30, 1, seed=22),
    # Two words and long documents: cells of many customers and tables, and often a token that holds the only table.
    "two words": random_tokens(200, 6, 2, 2, seed=23),
    "every token alone": from_documents([(d % 2, [d]) for d in range(20)], 20, 2),
}
PRIORS = {
    "usual": SpdpPriors(),
    "Dirichlet processes": SpdpPriors(alpha=0.5, gamma=0.2, discount=0.0, concentration=2.0),
    "few tables": SpdpPriors(alpha=0.05, gamma=1.5, discount=0.1, concentration=0.3),
    "many tables": SpdpPriors(alpha=1.0, gamma=0.01, discount=0.95, concentration=50.0),
}
MATRICES = {
    "identity": lambda corpus: None,
    # Some words of some groups lead to others, so that clusters of words are small.
    "sparse": lambda corpus: random_matrices(corpus, 0.3, seed=1),
    # Every word leads to half of the others: one cluster of all words, too large for a worker.
    "dense": lambda corpus: random_matrices(corpus, 0.5 * corpus.n_words, seed=2),
}
LDA_PRIORS = {"usual": LdaPriors(), "large": LdaPriors(2.0, 0.7), "small": LdaPriors(1e-3, 1e-4)}


def assert_same(sampler: Sampler, reference: Reference, iteration: int) -> None:
    different = np.flatnonzero(sampler.topics() != reference.topics)
    assert not len(different), f"iteration {iteration}: topics of tokens {different.tolist()} differ"
    theirs = vars(sampler.inspect().counts)
    for name, array in vars(reference.counts).items():
        if array is not None:
            np.testing.assert_array_equal(theirs[name], array, err_msg=f"iteration {iteration}: {name}")


def start(corpus: Tokens, topics: int, priors: Priors, seed: int, **more: Any) -> Sampler:
    return Sampler(corpus, plain_settings(topics, priors, seed=seed, held_out=0.0, measure_every=0, **more))


def assert_same_sweeps_in_order(sampler: Sampler, reference: Reference) -> None:
    order = by_document(reference.corpus, reference.seed)
    for iteration in range(SWEEPS + 1):
        sampler.step()
        reference.pass_in_order(order, iteration)
        assert_same(sampler, reference, iteration)


def cut(tokens: Tokens, seed: int, workers: int, matrices: Matrices | None = None) -> Blocks:
    return cut_into_blocks(
        tokens.token_word, tokens.token_document, tokens.document_group, tokens.n_words, workers,
        document_rank(len(tokens.document_group), seed),
        linked_words(matrices) if matrices is not None and workers > 1 else None,
    )  # fmt: skip


def assert_same_sweeps_in_blocks(sampler: Sampler, reference: Reference, blocks: Blocks) -> None:
    for iteration in range(SWEEPS + 1):
        sampler.step()
        reference.pass_in_blocks(blocks.order, blocks.starts, blocks.visits if iteration == 0 else None, iteration)
        assert_same(sampler, reference, iteration)


# ---- SPDP -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("priors", "topics"),
    [("usual", 20), ("usual", 1), ("Dirichlet processes", 7), ("few tables", 12), ("many tables", 8)],
)
@pytest.mark.parametrize("corpus", CORPORA)
def test_sequential_equals_the_reference(corpus: str, priors: str, topics: int) -> None:
    tokens, seed = CORPORA[corpus], 4_000_000_007
    sampler = start(tokens, topics, PRIORS[priors], seed, schedule="sequential")
    assert_same_sweeps_in_order(sampler, SpdpReference(tokens, topics, PRIORS[priors], seed))


@pytest.mark.parametrize("matrices", ["sparse", "dense"])
@pytest.mark.parametrize(
    ("priors", "topics"),
    [("usual", 7), ("usual", 1), ("Dirichlet processes", 7), ("few tables", 8), ("many tables", 8)],
)
@pytest.mark.parametrize("corpus", CORPORA)
def test_sequential_draws_the_base_words_of_the_reference(corpus: str, priors: str, topics: int, matrices: str) -> None:
    tokens, seed = CORPORA[corpus], 5
    given = MATRICES[matrices](tokens)
    sampler = start(tokens, topics, PRIORS[priors], seed, schedule="sequential", associations=given)
    assert_same_sweeps_in_order(sampler, SpdpReference(tokens, topics, PRIORS[priors], seed, given))


def test_identity_matrices_given_change_nothing() -> None:
    tokens = CORPORA["three groups"]
    identity = Matrices.identity(tokens.n_groups, tokens.n_words)
    sampler = start(tokens, 8, PRIORS["usual"], 5, schedule="sequential", associations=identity)
    reference = SpdpReference(tokens, 8, PRIORS["usual"], 5)
    assert_same_sweeps_in_order(sampler, reference)
    served = sampler.inspect().counts.associated
    np.testing.assert_array_equal(served, reference.counts.tables.reshape(-1, 8))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize(
    ("corpus", "priors", "topics"),
    [
        ("three groups", "usual", 20),
        ("one group", "Dirichlet processes", 8),
        ("two words", "few tables", 7),
        ("every token alone", "many tables", 1),
    ],
)
def test_blocks_equals_the_reference_with_lagging_sums(
    corpus: str, priors: str, topics: int, matrices: str, workers: int
) -> None:
    tokens, seed = CORPORA[corpus], 17
    given = MATRICES[matrices](tokens)
    sampler = start(tokens, topics, PRIORS[priors], seed, schedule="blocks", workers=workers, associations=given)
    reference = SpdpReference(tokens, topics, PRIORS[priors], seed, given)
    assert_same_sweeps_in_blocks(sampler, reference, cut(tokens, seed, workers, given))


def test_base_words_are_shared_between_workers_in_these_tests() -> None:
    """Guards the test above: without copies of base words it would not show that they are added up."""
    tokens = CORPORA["three groups"]
    for matrices, shared in (("identity", False), ("sparse", True), ("dense", True)):
        given = MATRICES[matrices](tokens) or Matrices.identity(tokens.n_groups, tokens.n_words)
        part = cut(tokens, 17, 3, given).word_part
        assert (part[given.row % tokens.n_words] != part[given.base_word]).any() == shared


@pytest.mark.parametrize("shape", TopicParallel.shapes, ids=lambda shape: f"team of {shape['TEAM']}")
@pytest.mark.parametrize(
    ("corpus", "priors", "topics"), [("three groups", "usual", 20), ("two words", "few tables", 20)]
)
def test_topic_parallel_equals_the_reference_with_every_team(
    corpus: str, priors: str, topics: int, shape: Mapping[str, int]
) -> None:
    tokens, seed = CORPORA[corpus], 4_000_000_007
    sampler = start(tokens, topics, PRIORS[priors], seed, schedule="topic_parallel")
    sampler._schedule = TopicParallel(sampler._state, sampler._training, seed, None, shape)
    assert_same_sweeps_in_order(sampler, SpdpReference(tokens, topics, PRIORS[priors], seed))


def test_topic_parallel_gives_the_same_bits_with_every_team() -> None:
    """And the same as `sequential`, on a corpus too large for the reference."""
    tokens = random_tokens(5_000, 40, 200, 2, seed=25)
    sampler = start(tokens, 20, PRIORS["usual"], 3, schedule="sequential")
    sampler.run(3)
    expected = sampler.topics(), sampler.inspect().counts
    for shape in TopicParallel.shapes:
        sampler = start(tokens, 20, PRIORS["usual"], 3, schedule="topic_parallel")
        sampler._schedule = TopicParallel(sampler._state, sampler._training, 3, None, shape)
        sampler.run(3)
        np.testing.assert_array_equal(sampler.topics(), expected[0])
        np.testing.assert_array_equal(sampler.inspect().counts.tables, expected[1].tables)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize(("corpus", "priors", "topics"), [("three groups", "usual", 8), ("two words", "few tables", 7)])
def test_hybrid_equals_the_reference(corpus: str, priors: str, topics: int, matrices: str, workers: int) -> None:
    tokens, seed = CORPORA[corpus], 17
    given = MATRICES[matrices](tokens)
    sampler = start(tokens, topics, PRIORS[priors], seed, schedule="hybrid", workers=workers, associations=given)
    reference = HybridReference(tokens, topics, PRIORS[priors], seed, given)
    assert_same_sweeps_in_blocks(sampler, reference, cut(tokens, seed, workers, None))


# ---- LDA ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("priors", "topics"), [("usual", 20), ("usual", 1), ("large", 7), ("small", 8)])
@pytest.mark.parametrize("corpus", CORPORA)
def test_single_site_equals_the_reference(corpus: str, priors: str, topics: int) -> None:
    tokens, seed = CORPORA[corpus], 4_000_000_007
    sampler = start(tokens, topics, LDA_PRIORS[priors], seed, model="lda", schedule="single_site")
    assert_same_sweeps_in_order(sampler, LdaReference(tokens, topics, LDA_PRIORS[priors], seed))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    ("corpus", "priors", "topics"),
    [
        ("three groups", "usual", 20),
        ("one group", "large", 8),
        ("two words", "small", 7),
        ("every token alone", "usual", 1),
    ],
)
def test_blocks_of_lda_equals_the_reference_with_lagging_sums(
    corpus: str, priors: str, topics: int, workers: int
) -> None:
    tokens, seed = CORPORA[corpus], 17
    sampler = start(tokens, topics, LDA_PRIORS[priors], seed, model="lda", schedule="blocks", workers=workers)
    reference = LdaReference(tokens, topics, LDA_PRIORS[priors], seed)
    assert_same_sweeps_in_blocks(sampler, reference, cut(tokens, seed, workers))


# ---- guards ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrices", MATRICES)
def test_the_reference_meets_every_case(matrices: str) -> None:
    """Guards the tests above: where nothing happens, agreement would prove nothing."""
    tokens = CORPORA["two words"]
    reference = SpdpReference(tokens, 7, PRIORS["few tables"], 17, MATRICES[matrices](tokens))
    order = np.arange(len(tokens))
    reference.pass_in_order(order, 0)
    before = reference.topics.copy()
    reference.pass_in_order(order, 1)
    m, t = reference.counts.customers, reference.counts.tables
    assert ((m > 1) & (t == 1)).any(), "no token is ever stuck at the only table"
    assert ((t > 1) & (t < m)).any(), "no cell has both kinds of tokens"
    assert 0 < (before != reference.topics).mean() < 1, "all tokens move, or none"
    served = reference.counts.associated
    if served is not None and reference.matrices is not None:
        used = np.bincount(reference.matrices.row, (served > 0).any(axis=1))
        assert (used > 1).any(), "every word has tables of one base word alone"


def test_random_numbers_are_those_of_the_kernels() -> None:
    tokens = np.arange(500.0)
    for seed, iteration, draw in ((1, 0, 0), (2**32 - 1, 1, 1), (4_000_000_007, 70_000, 65_536)):
        for column, part in enumerate("xyz"):
            expression = f"further_uniforms({seed}u, {iteration}u, (uint)token, {draw}u).{part}"
            expected = pcg3d((seed + 0x9E3779B9 * draw) % 2**32, iteration, tokens)[:, column]
            np.testing.assert_array_equal(evaluate("random.clh", expression, 500, token=tokens), expected)


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
