"""Many tokens at a time on shared counts: in which order, what stays right by itself, and what is corrected after each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.models import Matrices
from spdp_engine.models.readings import count_tokens
from spdp_engine.models.spdp import largest_cell
from spdp_engine.models.stirling import bounded_table_limit
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.sampling.schedules import TokenParallel

from .corpora import Tokens, from_documents, random_matrices, random_tokens
from .on_device import read, write
from .reference import document_rank

TOPICS = 5
LIMIT = 512
CORPUS = random_tokens(15_000, 30, 15, 2, seed=61)
"""Its commonest word has cells of more customers than there may be tables."""
CROWDED = from_documents([(0, [0] * 8_000)], 1, 1)
MATRICES = {"identity": None, "sparse": random_matrices(CORPUS, 0.7, 1), "dense": random_matrices(CORPUS, 8.0, 2)}


def start(corpus: Tokens, seed: int = 1, **more: Any) -> Sampler:
    settings = plain_settings(TOPICS, schedule="token_parallel", seed=seed, held_out=0.0, measure_every=0, **more)
    return Sampler(corpus, settings)


def with_shape(sampler: Sampler, shape: Mapping[str, int]) -> Sampler:
    sampler._schedule = TokenParallel(sampler._state, sampler._training, sampler.settings.seed, None, shape)
    return sampler


# ---- orders ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["usual", "with an empty document"])
def corpus(request: pytest.FixtureRequest) -> Tokens:
    if request.param == "usual":
        return CORPUS
    return from_documents([(0, [0, 1, 2, 0]), (0, []), (1, [1]), (1, [2, 2]), (0, [1] * 9)], 3, 2)


def ranks_and_places(
    corpus: Tokens, order: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each token in the order given: the rank of its document, and how many tokens of the document stand before it there."""
    rank = document_rank(len(corpus.document_group), seed)[corpus.token_document[order]]
    seen: Counter[int] = Counter()
    place = []
    for of_document in rank.tolist():
        place.append(seen[of_document])
        seen[of_document] += 1
    return rank, np.array(place)


@pytest.mark.parametrize("name", TokenParallel.orders)
def test_every_token_stands_once_in_every_order(name: str, corpus: Tokens) -> None:
    sampler = start(corpus, order=name)
    np.testing.assert_array_equal(np.sort(sampler._schedule._order), np.arange(len(corpus)))
    assert sampler.settings.order == name


def test_the_default_order_is_interleaved() -> None:
    assert start(CORPUS).settings.order == TokenParallel.orders[0] == "interleaved"
    np.testing.assert_array_equal(start(CORPUS)._schedule._order, start(CORPUS, order="interleaved")._schedule._order)


def test_interleaved_takes_first_tokens_of_all_documents_first(corpus: Tokens) -> None:
    rank, place = ranks_and_places(corpus, start(corpus, 7)._schedule._order, 7)
    assert list(zip(place, rank, strict=True)) == sorted(zip(place, rank, strict=True))
    rounds = np.bincount(corpus.token_document)
    assert np.bincount(place).tolist() == [(rounds > j).sum() for j in range(rounds.max())]


def test_interleaved_keeps_tokens_of_a_document_as_far_apart_as_rounds_allow(corpus: Tokens) -> None:
    """Between a document's tokens of two rounds stands every other document that has tokens in the second."""
    order = start(corpus, 7)._schedule._order
    documents = corpus.token_document[order]
    lengths = np.bincount(documents)
    for document in np.flatnonzero(lengths):
        at = np.flatnonzero(documents == document)
        for following, (one, other) in enumerate(pairwise(at), 1):
            between = set(documents[one + 1 : other].tolist())
            assert between >= set(np.flatnonzero(lengths > following).tolist()) - {document}


def test_order_document_keeps_documents_together(corpus: Tokens) -> None:
    order = start(corpus, 7, order="document")._schedule._order
    rank, place = ranks_and_places(corpus, order, 7)
    assert list(zip(rank, place, strict=True)) == sorted(zip(rank, place, strict=True))
    for document in range(len(corpus.document_group)):
        assert (np.diff(order[corpus.token_document[order] == document]) > 0).all(), "as they stand in the text"


# ---- what stays right by itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", TokenParallel.shapes, ids=lambda shape: f"{shape['TEAMS']} teams of {shape['TEAM']}")
def test_tokens_and_customers_are_exact_without_correction(shape: Mapping[str, int]) -> None:
    """8,000 tokens of one word in one document, all of them changing the same counts: no change is lost."""
    sampler = with_shape(start(CROWDED), shape)
    sampler._state.correct = lambda: None
    state = sampler._state
    for _ in range(4):
        sampler.step()
        topics = np.bincount(sampler.topics(), minlength=TOPICS)
        seats = read(sampler, state.seats, np.int32, state.padded, 2)
        np.testing.assert_array_equal(read(sampler, state.document_topics, np.float32, state.padded)[:TOPICS], topics)
        np.testing.assert_array_equal(seats[:TOPICS, 0], topics)
        assert (seats[TOPICS:] == 0).all()


@pytest.mark.parametrize("matrices", MATRICES)
def test_tables_of_base_words_are_exact_without_correction(matrices: str) -> None:
    """Tables may leave their bounds; but q is the sum of all that were opened and closed."""
    given = MATRICES[matrices]
    sampler = with_shape(start(CORPUS, associations=given), {"TEAM": 1, "TEAMS": 32})
    sampler._state.correct = lambda: None
    sampler.run(3)
    _, tables, served, base, _ = counts_there(sampler)
    if given is None or served is None:
        np.testing.assert_array_equal(base, tables.sum(axis=0))
    else:
        np.testing.assert_array_equal(base, given.base_tables(served))
        of_cells = np.zeros((2 * CORPUS.n_words, TOPICS), int)
        np.add.at(of_cells, given.row, served)
        np.testing.assert_array_equal(of_cells.reshape(tables.shape), tables)


@pytest.mark.parametrize("order", TokenParallel.orders)
@pytest.mark.parametrize("corpus", [CROWDED, CORPUS], ids=["crowded", "usual"])
@pytest.mark.parametrize("shape", [{"TEAM": 1, "TEAMS": 32}, {"TEAM": 8, "TEAMS": 1}], ids=str)
def test_all_counts_agree_after_each_pass(corpus: Tokens, order: str, shape: Mapping[str, int]) -> None:
    sampler = with_shape(start(corpus, order=order), shape)
    for _ in range(4):
        sampler.step()
        counts = sampler.inspect().counts
        counts.check(corpus.token_word, corpus.token_document, corpus.document_group, sampler.topics())
        np.testing.assert_array_equal(sampler.totals(), [counts.customers.sum(axis=1), counts.tables.sum(axis=1)])


# ---- what is corrected ----------------------------------------------------------------------------------------------


def counts_there(sampler: Sampler) -> tuple[NDArray[Any], ...]:
    """Customers, tables, tables by entry (None where they are not kept), base tables and totals as they lie on the device."""
    state: Any = sampler._state
    seats = read(sampler, state.seats, np.int32, state.groups, state.words, state.padded, 2)
    served = None
    if state.matrices is not None:
        served = read(sampler, state.base._served, np.int32, len(state.matrices.base_word), state.padded)[:, :TOPICS]
    base = read(sampler, state.base._tables, np.float32, state.words, state.padded)
    return seats[..., :TOPICS, 0], seats[..., :TOPICS, 1], served, base[:, :TOPICS], sampler.totals()  # type: ignore[return-value]


def broken(rng: np.random.Generator, tables: NDArray[np.int32]) -> NDArray[np.int32]:
    """Tables as they are, too many, more than the limit, none, or less than none."""
    kind = rng.integers(0, 6, tables.shape)
    changes = [
        tables,
        tables + rng.integers(1, 9, tables.shape),
        tables * 0 + LIMIT + 5,
        0 * tables,
        tables * 0 - 3,
        -tables,
    ]
    return np.choose(kind, changes).astype(np.int32)


@pytest.mark.parametrize("matrices", MATRICES)
def test_broken_tables_are_corrected_and_tokens_left_alone(matrices: str) -> None:
    given, rng = MATRICES[matrices], np.random.default_rng(62)
    sampler = start(CORPUS, associations=given)
    sampler.run(2)
    state: Any = sampler._state
    words, groups, padded = state.words, state.groups, state.padded
    assert bounded_table_limit(largest_cell(CORPUS)) == LIMIT
    n = read(sampler, state.document_topics, np.float32, state.documents, padded)

    seats = read(sampler, state.seats, np.int32, groups, words, padded, 2)
    customers = seats[..., 0].copy()
    assert customers.max() > LIMIT
    seats[..., 1] = np.where(customers > LIMIT, LIMIT + 5, broken(rng, seats[..., 1]))
    write(sampler, state.seats, seats)
    write(sampler, state.joins, rng.random((groups, words, padded)).astype(np.float32))
    write(sampler, state.totals, rng.integers(-9, 9, (2, groups, padded)).astype(np.int32))
    write(sampler, state.base._tables, rng.random((words, padded)).astype(np.float32))
    most = np.minimum(customers, LIMIT)
    expected = np.where(customers > 0, np.clip(seats[..., 1], 1, most), 0)
    if given is not None:
        served = broken(rng, read(sampler, state.base._served, np.int32, len(given.base_word), padded))
        write(sampler, state.base._served, served)
        expected_served = corrected(given, served, most)
        expected = np.zeros((groups * words, padded), int)
        np.add.at(expected, given.row, expected_served)
        expected = expected.reshape(customers.shape)

    state.correct()
    after = read(sampler, state.seats, np.int32, groups, words, padded, 2)
    np.testing.assert_array_equal(after[..., 0], customers, err_msg="m")
    np.testing.assert_array_equal(read(sampler, state.document_topics, np.float32, state.documents, padded), n)
    np.testing.assert_array_equal(after[..., 1], expected, err_msg="t")
    assert ((after[..., 1] > 0) == (customers > 0)).all() and (after[..., 1] <= most).all()
    _, tables, there, base, totals = counts_there(sampler)
    np.testing.assert_array_equal(totals, [customers[..., :TOPICS].sum(axis=1), tables.sum(axis=1)])
    if given is None:
        np.testing.assert_array_equal(base, tables.sum(axis=0))
    else:
        np.testing.assert_array_equal(there, expected_served[:, :TOPICS])
        np.testing.assert_array_equal(base, given.base_tables(there))
    joins = read(sampler, state.joins, np.float32, groups, words, padded)
    np.testing.assert_allclose(np.abs(joins), customers - 0.7 * after[..., 1], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(joins < 0, after[..., 1] == LIMIT)
    n_again, m_again = count_tokens(
        CORPUS.token_word, CORPUS.token_document, CORPUS.document_group, sampler.topics(), (groups, words, padded)
    )
    np.testing.assert_array_equal(n, n_again)
    np.testing.assert_array_equal(customers, m_again)


def corrected(matrices: Matrices, served: NDArray[np.int32], most: NDArray[np.int32]) -> NDArray[np.int64]:
    """Entries of a row in turn, each at least 0, together at most `most` [I, V, K]; where nothing is left, one of the likeliest."""
    result = np.zeros(served.shape, int)
    for row, bound in enumerate(most.reshape(-1, most.shape[-1])):
        here = np.arange(matrices.starts[row], matrices.starts[row + 1])
        left = bound.astype(int)
        for entry in here:
            result[entry] = np.clip(served[entry], 0, left)
            left -= result[entry]
        likeliest = here[matrices.weight[here].argmax()]
        result[likeliest] += (result[here].sum(axis=0) == 0) & (bound > 0)
    return result


@pytest.mark.parametrize("matrices", MATRICES)
def test_what_is_right_is_not_changed(matrices: str) -> None:
    sampler = start(CORPUS, associations=MATRICES[matrices])
    sampler.run(3)
    before = counts_there(sampler)
    sampler._state.correct()
    for one, other in zip(before, counts_there(sampler), strict=True):
        np.testing.assert_array_equal(one, other)
