"""Draws of hyperparameters against their conditional distributions, integrated or enumerated.

A chain of draws is compared with a distribution by shares of it below some quantiles. The standard error of each share is taken
from the means of batches, and the share may be off by `DEVIATIONS` of them: by chance that happens once in 200,000 times (Student's
t of 39 degrees). Seeds are fixed, so that what passes once passes always. Wrong distributions are rejected by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaln, gammaln
from scipy.stats import kstest

from spdp_engine.models.hyperparameters import (
    CONCENTRATIONS,
    DISCOUNTS,
    SMALLEST_PRIOR,
    draw_alphas,
    draw_concentration,
    draw_discount,
    draw_symmetric,
    old_table_steps,
    slice_sample,
)
from spdp_engine.models.stirling import seating

from .test_stirling import exact_stirling

Float = NDArray[np.float64]
Density = Callable[[Float], Float]

BATCHES, DEVIATIONS = 40, 5.3
QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
NOBODY = np.random.default_rng(0)


def chain(step: Callable[[float], float], start: float, length: int, burn_in: int = 100) -> Float:
    """So many draws, each from the one before."""
    drawn, x = np.empty(length), start
    for turn in range(-burn_in, length):
        x = step(x)
        if turn >= 0:
            drawn[turn] = x
    return drawn


def quantiles_of(log_density: Density, grid: Float) -> Float:
    """Quantiles of a density on a fine grid."""
    logs = log_density(grid)
    density = np.exp(logs - logs.max())
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    return np.interp(QUANTILES, below / below[-1], grid)


def deviations(drawn: Float, quantiles: Float) -> Float:
    """By how many standard errors the shares of draws below quantiles are off."""
    below = (drawn[:, None] < quantiles).reshape(BATCHES, -1, len(quantiles)).mean(axis=1)
    with np.errstate(divide="ignore"):
        return (below.mean(axis=0) - QUANTILES) / (below.std(axis=0, ddof=1) / np.sqrt(BATCHES))


def assert_draws_are_of(drawn: Float, log_density: Density, grid: Float) -> None:
    off = deviations(drawn, quantiles_of(log_density, grid))
    assert np.abs(off).max() < DEVIATIONS, off


def assert_draws_are_not_of(drawn: Float, log_density: Density, grid: Float) -> None:
    assert np.abs(deviations(drawn, quantiles_of(log_density, grid))).max() > DEVIATIONS


# ---- slice sampling -------------------------------------------------------------------------------------------------

DENSITIES: dict[str, tuple[Callable[[float], float], float, float]] = {
    "Gamma(3)": (lambda x: 2 * np.log(x) - x if x > 0 else -np.inf, 0.0, 60.0),
    "two hills": (lambda x: float(np.logaddexp(-((x + 1.5) ** 2) / 0.5, -((x - 1.5) ** 2) / 2)), -8.0, 8.0),
    "cut on both sides": (lambda x: -(x**2) / 2, -0.5, 2.0),
    "flat": (lambda x: 0.0, 3.0, 4.0),
}


@pytest.mark.parametrize("width", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("name", DENSITIES)
def test_slice_sampling_draws_of_a_known_density(name: str, width: float) -> None:
    """However wide its first step."""
    log_density, low, high = DENSITIES[name]
    rng = np.random.default_rng(101)
    drawn = chain(lambda x: slice_sample(log_density, x, width, low, high, rng), (low + high) / 2, 2_000)
    assert low <= drawn.min() and drawn.max() <= high
    grid = np.linspace(low, high, 2_001)[1:-1]
    assert_draws_are_of(drawn, np.vectorize(log_density), grid)
    # Warmer, it is another density, but for the flat one.
    if name != "flat":
        assert_draws_are_not_of(drawn, lambda x: 0.3 * np.vectorize(log_density)(x), grid)


def test_one_slice_leaves_a_density_as_it_is() -> None:
    """Of draws of the density, one step makes draws of it. False alarms: 1e-4 (Kolmogorov and Smirnov), at a fixed seed."""
    rng = np.random.default_rng(102)

    def log_density(x: float) -> float:
        return -x

    before = rng.exponential(size=3_000)
    after = np.array([slice_sample(log_density, x, 0.5, 0.0, 50.0, rng) for x in before])
    assert (before != after).all()
    assert kstest(after, "expon").pvalue > 1e-4


def test_a_slice_begins_within_bounds_and_stays_there() -> None:
    rng = np.random.default_rng(103)
    for x in (-7.0, 0.0, 1.0, 9.0):
        for _ in range(20):
            assert 0 <= slice_sample(lambda x: 50 * x, x, 0.3, 0.0, 1.0, rng) <= 1


# ---- Dirichlet priors -----------------------------------------------------------------------------------------------


def log_symmetric(prior: Float, counts: NDArray[np.int64]) -> Float:
    """log of p(prior | counts): Gamma(1, 1) times a Dirichlet-multinomial for each column."""
    words, totals = len(counts), counts.sum(axis=0)
    x = np.asarray(prior)[..., None]
    seen = (gammaln(x * words) - gammaln(x * words + totals)).sum(axis=-1)
    for row in counts:
        seen = seen + (gammaln(x + row) - gammaln(x)).sum(axis=-1)
    return seen - prior


COUNTS = {
    "a few words": np.array([[3, 0, 1], [0, 2, 1], [1, 0, 7], [0, 0, 0]]),
    "an empty topic": np.array([[4, 0], [1, 0], [0, 0]]),
    "one word": np.array([[5, 2, 9]]),
    "alike": np.full((6, 2), 12),
    "nothing": np.zeros((3, 2), int),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_symmetric_prior_is_drawn_of_its_conditional(name: str) -> None:
    counts, rng = COUNTS[name], np.random.default_rng(111)
    drawn = chain(lambda x: draw_symmetric(x, counts, rng), 0.1, 2_000)
    grid = np.exp(np.linspace(np.log(1e-5), np.log(60.0), 2_000))
    assert_draws_are_of(drawn, lambda x: log_symmetric(x, counts), grid)
    # With twice its prior expectation it would be another.
    assert_draws_are_not_of(drawn, lambda x: log_symmetric(x, counts) + x / 2, grid)


@pytest.mark.filterwarnings("error")
def test_a_small_symmetric_prior_is_drawn_of_its_conditional_too() -> None:
    """Fifty topics of one word of two each: a prior of some thousandths, for which Beta variates leave double precision."""
    counts, rng = np.array([[20] * 25 + [0] * 25, [0] * 25 + [20] * 25]), np.random.default_rng(112)
    drawn = chain(lambda x: draw_symmetric(x, counts, rng), 0.01, 2_000)
    grid = np.exp(np.linspace(np.log(1e-7), np.log(1.0), 4_000))
    assert_draws_are_of(drawn, lambda x: log_symmetric(x, counts), grid)


def test_a_prior_is_never_less_than_single_precision_can_tell_from_nothing() -> None:
    counts, rng = np.tile([20, 0], (50_000, 1)), np.random.default_rng(113)  # nobody speaks of the second topic
    drawn = [draw_alphas(np.array([[1.0, 1.0]]), counts, np.zeros(50_000, np.int64), rng)[0, 1] for _ in range(20)]
    assert min(drawn) == SMALLEST_PRIOR


@pytest.mark.parametrize(
    "counts",
    [np.array([[4, 0], [3, 1], [0, 2], [6, 0], [0, 0]]), np.array([[1, 0], [0, 1]])],
    ids=["five documents", "two tokens"],
)
def test_asymmetric_alphas_of_one_group_are_drawn_of_their_conditional(counts: NDArray[np.int64]) -> None:
    """Each of two alphas, the other and the rates integrated out: p(alpha_k) = 0.1/(0.1 + alpha_k)^2."""
    rng = np.random.default_rng(121)
    row = np.zeros(len(counts), int)
    grid = np.exp(np.linspace(np.log(1e-5), np.log(1e5), 400))
    alphas, drawn = np.full((1, 2), 0.1), np.empty((4_000, 2))
    for turn in range(len(drawn)):
        alphas = draw_alphas(alphas, counts, row, rng)
        drawn[turn] = alphas[0]
    one, other = grid[:, None], grid[None, :]
    logs = -2 * np.log(0.1 + one) - 2 * np.log(0.1 + other) + np.zeros((len(grid), len(grid)))
    for n in counts[counts.sum(axis=1) > 0]:
        logs += betaln(one + n[0], other + n[1]) - betaln(one, other)
    density = np.exp(logs - logs.max())
    first, second = (np.log(np.trapezoid(density, grid, axis=axis)) for axis in (1, 0))
    assert_draws_are_of(drawn[:, 0], lambda x: first, grid)
    assert_draws_are_of(drawn[:, 1], lambda x: second, grid)
    if len(counts) == 5:
        assert_draws_are_not_of(drawn[:, 1], lambda x: first, grid)


def test_alphas_of_several_groups_and_their_documents_belong_together() -> None:
    """Alphas of their prior, documents of the alphas, new alphas of the documents: these are of the prior again.

    Below x an alpha has the share x/(0.1 + x) of its prior, and a quotient of two groups' alphas x/(1 + x). False alarms: 1e-4 for
    each of nine tests (Kolmogorov and Smirnov), at a fixed seed.
    """
    rng = np.random.default_rng(122)
    row, lengths = np.repeat([0, 1], [2, 3]), [5, 0, 1, 8, 3]
    found = np.empty((1_000, 2, 3))
    for turn in range(len(found)):
        alphas = rng.exponential(1 / rng.exponential(10.0, 3), (2, 3))
        theta = rng.standard_gamma(alphas[row]) + 1e-300
        counts = np.array([rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, theta, strict=True)])
        for _ in range(3):
            alphas = draw_alphas(np.maximum(alphas, SMALLEST_PRIOR), counts, row, rng)
        found[turn] = alphas
    assert found.min() >= SMALLEST_PRIOR
    for k in range(3):
        for i in range(2):
            assert kstest(found[:, i, k], lambda x: x / (0.1 + x)).pvalue > 1e-4
        assert kstest(found[:, 0, k] / found[:, 1, k], lambda x: x / (1 + x)).pvalue > 1e-4
        # Groups that say much of a topic pull up the others.
        assert np.corrcoef(np.log(found[:, 0, k]), np.log(found[:, 1, k]))[0, 1] > 0.3


# ---- Pitman-Yor processes -------------------------------------------------------------------------------------------


def log_opened(a: Float, b: Float, tables: NDArray[np.int64]) -> Float:
    """log of prod_i prod_(t < T_i) (b + a t)."""
    result = np.zeros(np.broadcast(a, b).shape)
    for total in tables.ravel().tolist():
        for t in range(total):
            result = result + np.log(b + a * t)
    return result


PROCESSES = {
    "three": (np.array([10, 3, 0]), np.array([4, 1, 0])),
    "many tables": (np.array([[20, 30], [8, 12]]), np.array([[15, 24], [8, 9]])),
    "one token": (np.array([1]), np.array([1])),
    "none": (np.zeros(3, int), np.zeros(3, int)),
}


def log_concentration(b: Float, a: float, customers: NDArray[np.int64], tables: NDArray[np.int64]) -> Float:
    """log of p(b | ...), of b and not of its logarithm."""
    result = log_opened(np.array(a), b, tables) - 2 * np.log(b + 100)
    for m in customers.ravel().tolist():
        result = result - np.log(b[..., None] + np.arange(m)).sum(axis=-1)
    return result


@pytest.mark.parametrize(
    ("name", "discount"),
    [("three", 0.0), ("three", 0.3), ("many tables", 0.3), ("many tables", 0.8), ("one token", 0.8), ("none", 0.0)],
)
def test_a_concentration_is_drawn_of_its_conditional(name: str, discount: float) -> None:
    customers, tables = PROCESSES[name]
    rng = np.random.default_rng(131)
    drawn = chain(lambda b: draw_concentration(b, discount, customers, tables, rng), 5.0, 1_200)
    assert CONCENTRATIONS[0] <= drawn.min() and drawn.max() <= CONCENTRATIONS[1]
    grid = np.exp(np.linspace(np.log(CONCENTRATIONS[0]), np.log(CONCENTRATIONS[1]), 2_000))
    assert_draws_are_of(drawn, lambda b: log_concentration(b, discount, customers, tables), grid)
    # As if its logarithm had the density.
    assert_draws_are_not_of(drawn, lambda b: log_concentration(b, discount, customers, tables) - np.log(b), grid)


@pytest.mark.parametrize("concentration", [0.5, 40.0])
def test_a_discount_is_drawn_of_its_conditional_given_how_tables_were_joined(concentration: float) -> None:
    tables, rng = np.array([4, 9, 1]), np.random.default_rng(132)
    steps = np.array([1, 2, 7, 7]), np.array([1, 1, 3, 6]), np.array([6, 3, 2, 1])

    def log_density(a: Float) -> Float:
        n, t, times = steps
        return log_opened(a, np.array(concentration), tables) + np.log(n - a[:, None] * t) @ times

    drawn = chain(lambda a: draw_discount(a, concentration, tables, steps, rng), 0.5, 2_000)
    assert DISCOUNTS[0] <= drawn.min() and drawn.max() <= DISCOUNTS[1]
    grid = np.linspace(*DISCOUNTS, 2_001)
    assert_draws_are_of(drawn, log_density, grid)
    assert_draws_are_not_of(drawn, lambda a: log_density(a) + np.log(a), grid)


def test_a_discount_is_drawn_of_its_conditional_given_counts() -> None:
    """With the order in which tables were opened drawn each time: p(a) ~ prod (b + a t) prod S_a(m, t)."""
    customers, tables = np.array([1, 2, 5, 9, 9, 6]), np.array([1, 1, 3, 2, 6, 6])
    totals, concentration = np.array([tables[:3].sum(), tables[3:].sum()]), 5.0
    rng = np.random.default_rng(133)

    def step(a: float) -> float:
        steps = old_table_steps(customers, tables, seating(a, 9), rng)
        return draw_discount(a, concentration, totals, steps, rng)

    def log_density(a: Float) -> Float:
        result = log_opened(a, np.array(concentration), totals)
        for m, t in zip(customers.tolist(), tables.tolist(), strict=True):
            result = result + np.log(np.array([exact_stirling(one, m)[t] for one in a.tolist()], float))
        return result

    drawn = chain(step, 0.5, 1_200, 20)
    grid = np.linspace(*DISCOUNTS, 101)
    assert_draws_are_of(drawn, log_density, grid)
    assert_draws_are_not_of(drawn, lambda a: log_density(a) + np.log(a), grid)


# ---- how tables were opened -----------------------------------------------------------------------------------------


def joins_of(
    customers: NDArray[np.int64], tables: NDArray[np.int64], a: float, seed: int, **more: int
) -> NDArray[np.int64]:
    """How often one joined at n customers and t tables: [n, t]."""
    table = seating(a, max(1, int(customers.max(initial=0))), **more)
    n, t, times = old_table_steps(customers, tables, table, np.random.default_rng(seed))
    found = np.zeros((int(customers.max(initial=0)) + 1, int(tables.max(initial=0)) + 1), np.int64)
    np.add.at(found, (n, t), times)
    assert len(np.unique(np.stack([n, t]), axis=1).T) == len(n) and (times > 0).all()
    return found


@pytest.mark.parametrize("a", [0.0, 0.3, 0.7, 0.95])
def test_whoever_did_not_open_a_table_joined_one(a: float) -> None:
    rng = np.random.default_rng(141)
    customers = np.concatenate([rng.integers(1, 400, 300), np.arange(1, 30), [700]])
    tables = np.concatenate([rng.integers(1, np.minimum(customers[:300], 60) + 1), np.arange(1, 30), [1]])
    found = joins_of(customers, tables, a, 142)
    assert found.sum() == (customers - tables).sum()
    n, t = found.nonzero()
    assert (t >= 1).all() and (n >= t).all(), (
        "nobody can join before there is a table, and no more tables than customers"
    )
    # One cell alone: at most one joined at each number of customers.
    alone = joins_of(np.array([50]), np.array([20]), a, 143)
    assert alone.sum() == 30 and alone.sum(axis=1).max() == 1


@pytest.mark.parametrize("a", [0.0, 0.7])
def test_cells_at_the_limit_of_tables_are_counted_too(a: float) -> None:
    customers = np.array([300, 300, 80])
    tables = np.array([12, 11, 12])
    assert joins_of(customers, tables, a, 144, maximum_tables=12).sum() == (customers - tables).sum()


def test_nobody_joined_where_there_is_nobody_or_everybody_opened_a_table() -> None:
    none = np.zeros(0, np.int64)
    for customers, tables in ((none, none), (np.array([1, 1]), np.array([1, 1])), (np.array([7]), np.array([7]))):
        steps = old_table_steps(customers, tables, seating(0.5, 7), NOBODY)
        assert [len(part) for part in steps] == [0, 0, 0]
        assert all(np.issubdtype(part.dtype, np.integer) for part in steps)


def expected_joins(m: int, t: int, a: float, in_proportion: bool = True) -> Float:
    """The probability that one joined at n customers and s tables, over all ways to seat m at t tables: [n, s].

    in_proportion: to their weights; else all ways alike.
    """
    expected, total = np.zeros((m + 1, t + 1)), 0.0
    for opened in combinations(range(1, m), t - 1):  # beside the first
        steps, s, weight = [], 1, 1.0
        for n in range(1, m):
            if n in opened:
                s += 1
            else:
                steps.append((n, s))
                weight *= n - s * a if in_proportion else 1
        total += weight
        for step in steps:
            expected[step] += weight
    return expected / total


@pytest.mark.parametrize("a", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(("m", "t"), [(2, 1), (3, 2), (6, 3), (8, 6), (10, 5)])
def test_ways_to_seat_a_cell_are_drawn_in_proportion(m: int, t: int, a: float) -> None:
    """Of 20,000 equal cells each number is a binomial one: 5.3 standard deviations off once in ten million times."""
    cells = 20_000
    found = joins_of(np.full(cells, m), np.full(cells, t), a, 145) / cells
    expected = expected_joins(m, t, a)
    error = np.sqrt(expected * (1 - expected) / cells)
    assert expected.sum() == pytest.approx(m - t)
    assert (np.abs(found - expected) <= DEVIATIONS * error + 1e-6).all()
    if t > 1:
        assert (np.abs(found - expected_joins(m, t, a, in_proportion=False)) > DEVIATIONS * error).any()


def test_the_enumeration_adds_up_to_stirling_numbers() -> None:
    """Guards the test above."""
    for m, t in ((5, 2), (7, 4)):
        weight = 0.0
        for opened in combinations(range(1, m), t - 1):
            tables = 1 + np.searchsorted(opened, np.arange(1, m), side="right")
            weight += np.prod([n - s * 0.3 for n, s in zip(range(1, m), tables, strict=True) if n not in opened])
        assert weight == pytest.approx(float(exact_stirling(0.3, m)[t]))
