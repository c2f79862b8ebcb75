"""The table of seating factors against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.stirling import (
    MAXIMUM_BYTES,
    MAXIMUM_TABLES,
    SeatingFactors,
    bounded_table_limit,
    seating_factors,
)

DISCOUNTS = {0.0: Fraction(0), 0.3: Fraction(3, 10), 0.7: Fraction(7, 10)}


@cache
def exact_stirling(a: Fraction, n: int) -> tuple[Fraction, ...]:
    """S(n, 0 .. n) by the definition, in rational numbers."""
    if n == 0:
        return (Fraction(1),)
    row = [Fraction(0)] * (n + 1)
    for t, value in enumerate(exact_stirling(a, n - 1)):
        row[t] += (n - 1 - t * a) * value
        row[t + 1] += value
    return tuple(row)


def look_up(factors: SeatingFactors, m: int, t: int) -> NDArray[np.float64]:
    return factors.pairs[factors.index(np.array(m), np.array(t))].astype(np.float64)


def exact_pair(a: Fraction, m: int, t: int) -> tuple[float, float]:
    now, next_row = exact_stirling(a, m), exact_stirling(a, m + 1)
    old = Fraction(m - t + 1, m + 1) * next_row[t] / now[t]
    new = Fraction(t + 1, m + 1) * next_row[t + 1] / now[t]
    return float(old), float(new)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_pairs_equal_exact_rationals(discount: float) -> None:
    factors = seating_factors(discount, 40)
    assert factors.table_limit == 40
    for m in range(1, 41):
        for t in range(1, m + 1):
            old, new = exact_pair(DISCOUNTS[discount], m, t)
            if t == factors.table_limit:
                new = 0.0
            # 6e-8 is what storing as float32 costs
            np.testing.assert_allclose(look_up(factors, m, t), (old, new), rtol=1e-7, err_msg=f"m={m} t={t}")


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_a_tiny_limit_changes_nothing_below_it(discount: float, limit: int) -> None:
    factors = seating_factors(discount, 25, limit)
    assert factors.table_limit == limit
    for m in range(1, 26):
        for t in range(1, min(m, limit) + 1):
            old, new = exact_pair(DISCOUNTS[discount], m, t)
            np.testing.assert_allclose(look_up(factors, m, t), (old, 0.0 if t == limit else new), rtol=1e-7)


def test_an_empty_cell_must_open_a_table() -> None:
    for discount in DISCOUNTS:
        assert look_up(seating_factors(discount, 5), 0, 0).tolist() == [0.0, 1.0]


def test_customers_without_a_table_are_impossible() -> None:
    factors = seating_factors(0.7, 50, 9)
    assert all(look_up(factors, m, 0).tolist() == [0.0, 0.0] for m in range(1, 51))


@pytest.mark.parametrize("customers", [1, 2, 5, 6, 7, 8, 600, 1025])
@pytest.mark.parametrize("limit", [1, 6, 512])
def test_rows_are_triangular_then_rectangular_and_leave_no_gap(customers: int, limit: int) -> None:
    factors = seating_factors(0.5, customers, limit)
    expected = 0
    for m in range(customers + 1):
        width = min(m, factors.table_limit) + 1
        places = factors.index(np.full(width, m), np.arange(width))
        assert places.tolist() == list(range(expected, expected + width)), f"row {m}"
        expected += width
    assert expected == len(factors.pairs)


@pytest.mark.parametrize("chunk_edge", [511, 512, 513, 1024, 1025])
def test_rows_at_the_edges_of_chunks_equal_those_of_a_longer_table(chunk_edge: int) -> None:
    short, long = seating_factors(0.3, chunk_edge, 64), seating_factors(0.3, 2_000, 64)
    np.testing.assert_array_equal(short.pairs, long.pairs[: len(short.pairs)])


def test_a_hundred_thousand_customers_stay_within_the_memory_bound() -> None:
    factors = seating_factors(0.7, 100_000)
    assert factors.pairs.nbytes <= MAXIMUM_BYTES
    assert factors.pairs.dtype == np.float32
    assert factors.maximum_customers == 100_000
    assert factors.table_limit == bounded_table_limit(100_000) > 100
    assert np.isfinite(factors.pairs).all()
    assert (factors.pairs >= 0).all()


@pytest.mark.parametrize("customers", [1, 10, 512, 20_000, 40_000, 1_000_000, 5_000_000])
def test_the_bound_on_tables_follows_from_the_bound_on_memory(customers: int) -> None:
    limit = bounded_table_limit(customers)
    assert 1 <= limit <= min(MAXIMUM_TABLES, customers)
    assert 8 * (limit + 1) * (customers + 1) <= MAXIMUM_BYTES or limit == 1


def scaled_stirling_rows(
    discounts: NDArray[np.float64], n: int, tables: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """S(n, t) and S(n+1, t) for t = 0 .. tables as mantissa and exponent, for several discounts at once.

    The definition, each number with an exponent of its own so that none overflows. Its terms are all positive, so a row
    adds at most two roundings: the relative error is below 2 n 2^-53, 7e-12 at n = 30,000.
    """
    times = np.arange(tables + 1) * discounts[:, None]
    mantissa = np.zeros((len(discounts), tables + 1))
    mantissa[:, 0] = 1.0
    exponent = np.zeros(mantissa.shape, np.int64)
    for m in range(n + 1):
        if m == n:
            before = mantissa.copy(), exponent.copy()
        larger = np.maximum(exponent, np.roll(exponent, 1, axis=1))
        # t <= m, or else the number is 0; the factor m - t a is then not negative
        total = np.ldexp(mantissa * np.maximum(m - times, 0.0), exponent - larger)
        total[:, 1:] += np.ldexp(mantissa[:, :-1], exponent[:, :-1] - larger[:, 1:])
        mantissa, change = np.frexp(total)
        exponent = np.where(mantissa > 0, larger + change, 0)
    return *before, mantissa, exponent


def test_no_drift_at_thirty_thousand_customers() -> None:
    n = 30_000
    discounts = np.array([0.0, 0.7])
    tables = bounded_table_limit(n) + 1
    now, now_exponent, after, after_exponent = scaled_stirling_rows(discounts, n, tables)
    t = np.arange(1, tables)
    for row, discount in enumerate(discounts.tolist()):
        factors = seating_factors(discount, n)
        old, new = factors.pairs[factors.index(np.full(len(t), n), t)].T
        same = np.ldexp(after[row, t] / now[row, t], after_exponent[row, t] - now_exponent[row, t])
        more = np.ldexp(after[row, t + 1] / now[row, t], after_exponent[row, t + 1] - now_exponent[row, t])
        np.testing.assert_allclose(old, same * (n - t + 1) / (n + 1), rtol=1e-6)
        np.testing.assert_allclose(new[:-1], (more * (t + 1) / (n + 1))[:-1], rtol=1e-6)
        assert new[-1] == 0.0
        assert not np.isnan(factors.pairs).any()


@pytest.mark.parametrize("discount", [1.0, 1.5, -0.1, float("nan"), float("inf")])
def test_a_discount_out_of_range_is_refused(discount: float) -> None:
    with pytest.raises(SettingsError, match="at least 0 and below 1"):
        seating_factors(discount, 10)


def test_the_table_is_shared_and_cannot_be_written() -> None:
    factors = seating_factors(0.7, 60)
    assert seating_factors(0.7, 60) is factors
    with pytest.raises(ValueError, match="read-only"):
        factors.pairs[0, 0] = 1.0
