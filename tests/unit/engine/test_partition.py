"""The cut of documents x words into blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from spdp_engine.models.matrices import Matrices
from spdp_engine.sampling.partition import Blocks, balanced_parts, cut_into_blocks, stable_order
from spdp_engine.sampling.spdp_bases import _clusters as linked_clusters

from .corpora import AWKWARD, Tokens, random_matrices, random_tokens

CORPORA = {
    name: AWKWARD[name]
    for name in (
        "one token",
        "one word",
        "one document",
        "twelve groups",
        "an empty document, an absent word, an absent group",
    )
} | {"a usual one": lambda: random_tokens(20_000, 200, 500, 3)}
WORKERS = [1, 2, 3, 8, 50]


def cut(corpus: Tokens, workers: int, rank_seed: int = 0) -> Blocks:
    rank = np.random.default_rng(rank_seed).permutation(len(corpus.document_group))
    return cut_into_blocks(
        corpus.token_word, corpus.token_document, corpus.document_group, corpus.n_words, workers, rank
    )


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("name", CORPORA)
def test_each_token_stands_in_one_block(name: str, workers: int) -> None:
    corpus = CORPORA[name]()
    blocks = cut(corpus, workers)
    everyone = np.arange(len(corpus))
    np.testing.assert_array_equal(np.sort(blocks.order), everyone)
    np.testing.assert_array_equal(np.sort(blocks.visits), everyone)
    assert blocks.workers == workers
    assert blocks.starts.shape == (workers, workers + 1)
    assert blocks.starts[0, 0] == 0
    assert blocks.starts[-1, -1] == len(corpus)
    assert (np.diff(blocks.starts, axis=1) >= 0).all()
    np.testing.assert_array_equal(blocks.starts[1:, 0], blocks.starts[:-1, -1])


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("name", CORPORA)
def test_no_two_workers_of_a_phase_share_a_document_or_a_word(name: str, workers: int) -> None:
    corpus = CORPORA[name]()
    blocks = cut(corpus, workers)
    for starts in blocks.starts:
        worker = np.repeat(np.arange(workers), np.diff(starts))
        for places in (np.arange(starts[0], starts[-1]), blocks.visits[starts[0] : starts[-1]]):
            tokens = blocks.order[places]
            for thing in (corpus.token_word[tokens], corpus.token_document[tokens]):
                pairs = np.unique(np.stack([thing, worker]), axis=1)
                assert len(np.unique(pairs[0])) == pairs.shape[1]


def test_the_first_pass_visits_the_same_blocks_by_rank_of_document() -> None:
    corpus = random_tokens(3_000, 60, 80, 2, seed=9)
    rank = np.random.default_rng(0).permutation(60)
    blocks = cut(corpus, 3)
    bounds = np.append(blocks.starts[:, :-1].ravel(), len(corpus))
    for begin, end in pairwise(bounds):
        visits = blocks.visits[begin:end]
        np.testing.assert_array_equal(np.sort(visits), np.arange(begin, end))
        assert (np.diff(rank[corpus.token_document[blocks.order[visits]]]) >= 0).all()


def test_tokens_of_a_block_lie_by_word_then_group_then_document() -> None:
    corpus = random_tokens(3_000, 60, 80, 4, seed=10)
    blocks = cut(corpus, 3)
    bounds = np.append(blocks.starts[:, :-1].ravel(), len(corpus))
    for begin, end in pairwise(bounds):
        tokens = blocks.order[begin:end]
        keys = list(
            zip(corpus.token_word[tokens], corpus.token_group[tokens], corpus.token_document[tokens], strict=True)
        )
        assert keys == sorted(keys)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 64])
def test_parts_are_balanced(parts: int) -> None:
    sizes = np.random.default_rng(parts).zipf(1.6, 500).clip(max=3_000)
    part = balanced_parts(sizes, parts)
    assert part.min() >= 0
    assert part.max() < parts
    loads = np.bincount(part, weights=sizes, minlength=parts)
    # Each thing went to the part least full by then, the smallest of a part last: so without it, the fullest part is
    # no fuller than any other.
    fullest = loads.argmax()
    assert loads.max() - sizes[part == fullest].min() <= loads.min()


def test_workers_have_equal_shares_of_a_usual_corpus() -> None:
    corpus = random_tokens(200_000, 500, 5_000, 2, seed=11)
    blocks = cut(corpus, 4)
    sizes = np.diff(blocks.starts, axis=1)
    slowest = sizes.max(axis=1).sum() / (len(corpus) / 4)
    assert slowest < 1.1, f"phases take {slowest:.2f} times what they would if all blocks were equal"


def test_more_parts_than_things() -> None:
    part = balanced_parts(np.array([5, 1, 3]), 10)
    assert len(set(part.tolist())) == 3


@pytest.mark.parametrize("largest", [1, 2**16 - 1, 2**16, 2**32, 2**50])
def test_stable_order_is_that_of_a_stable_sort(largest: int) -> None:
    keys = np.random.default_rng(12).integers(0, largest, 3_000, endpoint=True)
    keys[::7] = largest
    np.testing.assert_array_equal(stable_order(keys), np.argsort(keys, kind="stable"))
    assert stable_order(keys[:0]).tolist() == []


# ---- words that had better stay together ------------------------------------------------------------------------------


def cut_with(corpus: Tokens, workers: int, clusters: np.ndarray) -> Blocks:
    rank = np.arange(len(corpus.document_group))
    return cut_into_blocks(
        corpus.token_word, corpus.token_document, corpus.document_group, corpus.n_words, workers, rank, clusters
    )


def test_words_of_a_cluster_go_to_one_worker() -> None:
    corpus = random_tokens(20_000, 200, 500, 3)
    clusters = np.random.default_rng(13).integers(0, 120, 500)
    sizes = np.bincount(corpus.token_word, minlength=500)
    for workers in (2, 4):
        blocks = cut_with(corpus, workers, clusters)
        too_large = np.bincount(clusters, sizes, 500) > len(corpus) / (2 * workers)
        for cluster in range(120):
            parts = set(blocks.word_part[clusters == cluster].tolist())
            assert len(parts) <= 1 or too_large[cluster]
        loads = np.bincount(blocks.word_part, sizes, workers)
        assert loads.max() < 1.2 * loads.mean()


def test_a_cluster_too_large_for_a_worker_is_taken_apart() -> None:
    corpus = random_tokens(20_000, 200, 500, 3)
    np.testing.assert_array_equal(cut_with(corpus, 4, np.zeros(500, int)).word_part, cut(corpus, 4).word_part)
    apart, together = cut_with(corpus, 4, np.arange(500)), cut(corpus, 4)
    np.testing.assert_array_equal(apart.word_part, together.word_part)


@pytest.mark.parametrize("associations", [0.0, 0.1, 0.3, 1.0, 5.0])
def test_clusters_are_words_linked_by_base_words(associations: float) -> None:
    corpus = random_tokens(100, 10, 80, 3)
    matrices = random_matrices(corpus, associations, seed=14)
    clusters = linked_clusters(matrices)
    links = sparse.coo_matrix((np.ones(len(matrices.weight)), (matrices.row % 80, matrices.base_word)), shape=(80, 80))
    _, expected = connected_components(links, directed=False)
    same = clusters[:, None] == clusters
    np.testing.assert_array_equal(same, expected[:, None] == expected)


def test_long_chains_of_words_are_one_cluster() -> None:
    """Each word leads to the next, in a shuffled order: no word sees more than its neighbours."""
    order = np.random.default_rng(15).permutation(3_000)
    matrices = Matrices.from_entries(
        1, 3_000, np.zeros(5_999, int), np.append(order, order[1:]), np.append(order, order[:-1]), np.ones(5_999)
    )
    assert len(np.unique(linked_clusters(matrices))) == 1
