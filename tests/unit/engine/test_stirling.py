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


def scaled_stirling_rows(a: float, n: int, tables: int) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """S(n, t) and S(n+1, t) for t = 0 .. tables, each as mantissas and exponents.

    The definition, each number with an exponent of its own so that none overflows. Its terms are all positive, so a row
    adds at most three roundings: the relative error is below 3 n 2^-53, 1e-11 at n = 30,000.
    """
    times = np.arange(tables + 1) * a
    mantissa, exponent = np.zeros(tables + 1), np.zeros(tables + 1, np.int64)
    mantissa[0] = 1.0
    rows = []
    for m in range(n + 1):
        larger = exponent.copy()
        np.maximum(exponent[1:], exponent[:-1], out=larger[1:])
        # Where t > m the factor m - t a may be negative, but the number is 0.
        total = np.ldexp(mantissa * np.maximum(m - times, 0.0), exponent - larger)
        total[1:] += np.ldexp(mantissa[:-1], exponent[:-1] - larger[1:])
        mantissa, change = np.frexp(total)
        exponent = np.where(mantissa > 0, larger + change, 0)
        if m >= n - 1:
            rows.append((mantissa, exponent))
    return rows


@pytest.mark.parametrize(("discount", "limit"), [(0.0, 60), (0.7, 512)])
def test_no_drift_at_thirty_thousand_customers(discount: float, limit: int) -> None:
    n = 30_000
    factors = seating_factors(discount, n, limit)
    assert factors.table_limit == limit
    (now, now_exponent), (after, after_exponent) = scaled_stirling_rows(discount, n, limit + 1)
    t = np.arange(1, limit + 1)
    old, new = factors.pairs[factors.index(np.full(len(t), n), t)].T
    same = np.ldexp(after[t] / now[t], after_exponent[t] - now_exponent[t])
    more = np.ldexp(after[t + 1] / now[t], after_exponent[t + 1] - now_exponent[t])
    np.testing.assert_allclose(old, same * (n - t + 1) / (n + 1), rtol=1e-6)
    np.testing.assert_allclose(new[:-1], (more * (t + 1) / (n + 1))[:-1], rtol=1e-6)
    assert new[-1] == 0.0
    assert np.isfinite(factors.pairs).all()


def test_the_scaled_rows_are_the_exact_ones() -> None:
    """Guards the test above."""
    for row, n in zip(scaled_stirling_rows(0.3, 30, 12), (30, 31), strict=True):
        exact = [float(value) for value in exact_stirling(DISCOUNTS[0.3], n)[:13]]
        np.testing.assert_allclose(np.ldexp(*row), exact, rtol=1e-13)


@pytest.mark.parametrize("discount", [1.0, 1.5, -0.1, float("nan"), float("inf")])
def test_a_discount_out_of_range_is_refused(discount: float) -> None:
    with pytest.raises(SettingsError, match="at least 0 and below 1"):
        seating_factors(discount, 10)


def test_the_table_is_shared_and_cannot_be_written() -> None:
    factors = seating_factors(0.7, 60)
    assert seating_factors(0.7, 60) is factors
    with pytest.raises(ValueError, match="read-only"):
        factors.pairs[0, 0] = 1.0
