"""Blocked samplers of LDA against the same in plain Python: factors, tables of convolutions, draws.

As in `test_kernels`, a draw could differ where a random number falls within rounding of a border; at these sizes and seeds
none does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from spdp_engine.models.lda import LdaPriors
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.sampling.schedules.blocked import LARGEST_BLOCK

from .corpora import Tokens, from_documents, random_tokens
from .on_device import read
from .reference import (
    LdaReference,
    backward_table,
    draw_backward,
    draw_nested,
    further_numbers,
    nested_levels,
    scaled_factors,
    word_blocks,
)
from .test_kernels import SWEEPS, assert_same

DRAWS = {"blocked_backward": draw_backward, "blocked_nested": draw_nested}
PRIORS = {
    "usual": LdaPriors(),
    "large": LdaPriors(2.0, 0.7),
    "small": LdaPriors(1e-3, 1e-4),
    "smallest": LdaPriors(1e-6, 1e-6),
}

BLOCKS_UP_TO_64 = [(0, [v] * n) for v, n in enumerate((2, 3, 7, 20, 64))]
CORPORA = {
    "blocks of 1 to 64": from_documents([*BLOCKS_UP_TO_64, (1, [0, 1, 1, 2, 4, 4, 4, 3] * 3)], 5, 2),
    "a usual one": random_tokens(250, 9, 12, 2, seed=71),
    "one word": from_documents([(0, [0] * n) for n in (1, 5, 40)], 1, 1),
}


def start(corpus: Tokens, schedule: str, topics: int, priors: LdaPriors, seed: int) -> tuple[Sampler, LdaReference]:
    settings = plain_settings(topics, priors, schedule, seed=seed, held_out=0.0, measure_every=0, model="lda")
    return Sampler(corpus, settings), LdaReference(corpus, topics, priors, seed)


def assert_same_sweeps(sampler: Sampler, reference: LdaReference, sweeps: int = SWEEPS) -> int:
    """Returns how many blocks were drawn token by token because their products left single precision."""
    order, starts = word_blocks(reference.corpus, reference.seed, LARGEST_BLOCK)
    sampler.step()
    reference.pass_in_order(order, 0)
    assert_same(sampler, reference, 0)
    fallen_back = 0
    for iteration in range(1, sweeps + 1):
        sampler.step()
        draw = DRAWS[str(sampler.settings.schedule)]
        fallen_back += reference.pass_in_word_blocks(order, starts, iteration, draw)
        assert_same(sampler, reference, iteration)
    return fallen_back


@pytest.mark.parametrize("schedule", DRAWS)
@pytest.mark.parametrize("topics", [1, 3, 20])
@pytest.mark.parametrize("priors", ["usual", "large", "small"])
@pytest.mark.parametrize("corpus", CORPORA)
def test_blocked_samplers_equal_the_reference(corpus: str, priors: str, topics: int, schedule: str) -> None:
    sampler, reference = start(CORPORA[corpus], schedule, topics, PRIORS[priors], 4_000_000_007)
    assert assert_same_sweeps(sampler, reference) == 0


@pytest.mark.parametrize("schedule", DRAWS)
@pytest.mark.parametrize("topics", [1, 3, 20])
@pytest.mark.parametrize("count", [2, 3, 9, 33, 64])
@pytest.mark.parametrize("priors", PRIORS)
def test_factors_and_convolutions_equal_numpy(priors: str, count: int, topics: int, schedule: str) -> None:
    """One block, whose factors and tables still lie in the scratch memory when the sweep has ended."""
    others = [(d % 2, [0, *np.random.default_rng(d).integers(1, 4, d % 3).tolist()]) for d in range(20)]
    distinct = [(g, list(dict.fromkeys(words))) for g, words in others]
    corpus = from_documents([(0, [0] * count), *distinct], 4, 2)
    sampler, reference = start(corpus, schedule, topics, PRIORS[priors], 6)
    order, starts = word_blocks(corpus, 6, LARGEST_BLOCK)
    sampler.step()
    reference.pass_in_order(order, 0)
    factors: list[NDArray[np.float64]] = []

    def draw(of_block: NDArray[np.float64], number: Callable[[], float]) -> list[int] | None:
        factors.append(of_block)
        return DRAWS[schedule](of_block, number)

    sampler.step()
    reference.pass_in_word_blocks(order, starts, 1, draw)
    assert_same(sampler, reference, 1)
    (expected,) = factors
    padded = expected.shape[1]
    tree = 1 << (padded - 1).bit_length()
    scratch = read(sampler, sampler._schedule._scratch, np.float32, 2 * (count + 1) * tree)  # type: ignore[attr-defined]
    theirs = scratch[: (count + 1) * tree].reshape(count + 1, tree)
    # The logarithm that s is chosen by is up to 0.09 too low, to base 2.
    scale = theirs[1, :topics].astype(np.float64).sum() / expected[1].sum()
    assert 1 - 1e-6 < scale < 2**0.09
    expected *= scale ** np.arange(count + 1)[:, None]
    # Errors of s are carried to its powers, up to 64 of them; what is below the normal range may be 0.
    close: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-36}
    np.testing.assert_allclose(theirs[:, :padded], expected, **close)
    assert (theirs[1:, padded:] == 0).all() and (theirs[0, padded:] == 1).all()
    rest = scratch[(count + 1) * tree :]
    if schedule == "blocked_backward":
        h = backward_table(expected)
        np.testing.assert_allclose(rest.reshape(count + 1, tree)[:, :padded], h, **close)
        assert 1e-3 < h[-1, -1] < 1e30, "far within single precision"
        return
    for level in reversed(nested_levels(expected)[:-1]):
        there, rest = rest[: level.size], rest[level.size :]
        np.testing.assert_allclose(there.reshape(level.shape), level, **close)


@pytest.mark.parametrize("schedule", DRAWS)
@pytest.mark.parametrize("topics", [500, 503])
def test_where_products_leave_single_precision_tokens_are_drawn_one_by_one(topics: int, schedule: str) -> None:
    """Large alpha, a word as yet in no topic, and many topics: then the sum of the products is some e^98, the limit e^88."""
    words = [(0, np.repeat(np.arange(1, 16), 30).tolist()), (1, np.repeat(np.arange(1, 16), 5).tolist())]
    corpus = from_documents([(0, [0] * 64), *words], 16, 2)
    sampler, reference = start(corpus, schedule, topics, LdaPriors(alpha=5.0, beta=0.000625), 7)
    topic = np.zeros(len(corpus), np.uint16)
    topic[:64] = 5
    sampler.start_at(topic)
    reference.start_at(topic)
    order, starts = word_blocks(corpus, 7, LARGEST_BLOCK)
    fallen_back = []
    for iteration in (1, 2):
        sampler.step()
        fallen_back.append(reference.pass_in_word_blocks(order, starts, iteration, DRAWS[schedule]))
        assert_same(sampler, reference, iteration)
    assert fallen_back[0] == 1


@pytest.mark.parametrize("schedule", DRAWS)
@pytest.mark.parametrize("count", [65, 128, 129, 200])
def test_longer_blocks_are_drawn_in_parts_of_nearly_equal_length(count: int, schedule: str) -> None:
    corpus = from_documents([(0, [0] * count + [1] * 3), (0, [1, 0, 0])], 2, 1)
    sampler, reference = start(corpus, schedule, 3, PRIORS["usual"], 8)
    _, starts = word_blocks(corpus, 8, LARGEST_BLOCK)
    theirs = read(sampler, sampler._schedule._starts, np.int32, len(starts))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(theirs, starts)
    assert sampler._schedule._blocks == len(starts) - 1  # type: ignore[attr-defined]
    sizes = sorted(np.diff(starts).tolist())
    parts = [size for size in sizes if size > 3]
    assert sum(parts) == count
    assert max(parts) <= LARGEST_BLOCK and max(parts) - min(parts) <= 1
    assert len(parts) == -(-count // LARGEST_BLOCK)
    assert assert_same_sweeps(sampler, reference) == 0


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_the_reference_draws_shares_in_proportion_to_their_products(draw: Callable[..., list[int]]) -> None:
    """Guards the tests above, by Pearson's test. False alarms: 1e-4 each."""
    factors = scaled_factors(np.random.default_rng(9).random((5, 3)) ** 2)
    number = further_numbers(9, 0, 0)
    drawn = Counter(tuple(np.bincount(draw(factors, number), minlength=3)[:3].tolist()) for _ in range(4_000))
    shares = [js for js in product(range(5), repeat=3) if sum(js) == 4]
    weights = np.array([prod(factors[j, k] for k, j in enumerate(js)) for js in shares])
    expected = 4_000 * weights / weights.sum()
    found = np.array([drawn[js] for js in shares])
    assert found.sum() == 4_000
    assert pearson(found, expected) > 1e-4
    assert pearson(found, expected[::-1]) < 1e-4


def pearson(found: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """The p-value of Pearson's test, with what is expected less than five times taken together."""
    rare = expected < 5
    found = np.append(found[~rare], found[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    return float(chi2.sf(((found - expected) ** 2 / np.maximum(expected, 1e-9)).sum(), len(expected) - 1))
