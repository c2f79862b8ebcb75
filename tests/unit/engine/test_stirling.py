"""The table of how customers sit against exact arithmetic."""

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
    Seating,
    bounded_table_limit,
    seating,
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


def look_up(table: Seating, m: int, t: int) -> float:
    return float(table.alone[table.index(np.array(m), np.array(t))])


def exact_alone(a: Fraction, m: int, t: int) -> float:
    return float(exact_stirling(a, m - 1)[t - 1] / exact_stirling(a, m)[t])


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_the_table_equals_exact_rationals(discount: float) -> None:
    table = seating(discount, 40)
    assert table.table_limit == 40
    for m in range(1, 41):
        for t in range(1, m + 1):
            # 6e-8 is what storing as float32 costs
            assert look_up(table, m, t) == pytest.approx(exact_alone(DISCOUNTS[discount], m, t), rel=1e-7), (m, t)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_a_tiny_limit_changes_nothing_below_it(discount: float, limit: int) -> None:
    table = seating(discount, 25, limit)
    assert table.table_limit == limit
    for m in range(1, 26):
        for t in range(1, min(m, limit) + 1):
            assert look_up(table, m, t) == pytest.approx(exact_alone(DISCOUNTS[discount], m, t), rel=1e-7), (m, t)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_the_share_of_lone_customers_is_that_of_seatings_drawn_one_by_one(discount: float) -> None:
    """Five customers at t tables: every seating, weighed by the products of (1 - a)(2 - a) .. over its tables."""

    def seatings(left: int, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
        if not left:
            return [sizes]
        joined = [(*sizes[:at], size + 1, *sizes[at + 1 :]) for at, size in enumerate(sizes)]
        return [one for more in (*joined, (*sizes, 1)) for one in seatings(left - 1, more)]

    weights = {t: [0.0, 0.0] for t in range(1, 6)}
    for sizes in seatings(5, ()):
        weight = np.prod([np.prod(np.arange(1, size) - discount) for size in sizes])
        weights[len(sizes)][0] += weight
        weights[len(sizes)][1] += weight * sizes.count(1) / 5
    for t, (total, alone) in weights.items():
        assert look_up(seating(discount, 5), 5, t) == pytest.approx(alone / total, rel=1e-6)


def test_the_only_customer_sits_alone_and_nobody_does_in_an_empty_cell() -> None:
    for discount in DISCOUNTS:
        table = seating(discount, 5)
        assert (look_up(table, 0, 0), look_up(table, 1, 1)) == (0.0, 1.0)


def test_nobody_sits_alone_at_the_only_table_of_several_or_where_there_is_none() -> None:
    table = seating(0.7, 50, 9)
    assert all(look_up(table, m, 1) == 0.0 for m in range(2, 51))
    assert all(look_up(table, m, 0) == 0.0 for m in range(1, 51))


@pytest.mark.parametrize("customers", [1, 2, 5, 6, 7, 8, 600, 1025])
@pytest.mark.parametrize("limit", [1, 6, 512])
def test_rows_are_triangular_then_rectangular_and_leave_no_gap(customers: int, limit: int) -> None:
    table = seating(0.5, customers, limit)
    expected = 0
    for m in range(customers + 1):
        width = min(m, table.table_limit) + 1
        places = table.index(np.full(width, m), np.arange(width))
        assert places.tolist() == list(range(expected, expected + width)), f"row {m}"
        expected += width
    assert expected == len(table.alone)


@pytest.mark.parametrize("chunk_edge", [511, 512, 513, 1024, 1025])
def test_rows_at_the_edges_of_chunks_equal_those_of_a_longer_table(chunk_edge: int) -> None:
    short, long = seating(0.3, chunk_edge, 64), seating(0.3, 2_000, 64)
    np.testing.assert_array_equal(short.alone, long.alone[: len(short.alone)])


def test_a_hundred_thousand_customers_stay_within_the_memory_bound() -> None:
    table = seating(0.7, 100_000)
    assert table.alone.nbytes <= MAXIMUM_BYTES
    assert table.alone.dtype == np.float32
    assert table.maximum_customers == 100_000
    assert table.table_limit == bounded_table_limit(100_000) > 100
    assert ((table.alone >= 0) & (table.alone <= 1)).all()


@pytest.mark.parametrize("customers", [1, 10, 512, 20_000, 40_000, 1_000_000, 5_000_000])
def test_the_bound_on_tables_follows_from_the_bound_on_memory(customers: int) -> None:
    limit = bounded_table_limit(customers)
    assert 1 <= limit <= min(MAXIMUM_TABLES, customers)
    assert 4 * (limit + 1) * (customers + 1) <= MAXIMUM_BYTES or limit == 1


def scaled_stirling_rows(a: float, n: int, tables: int) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """S(n-1, t) and S(n, t) for t = 0 .. tables, each as mantissas and exponents.

    The definition, each number with an exponent of its own so that none overflows. Its terms are all positive, so a row
    adds at most three roundings: the relative error is below 3 n 2^-53, 1e-11 at n = 30,000.
    """
    times = np.arange(tables + 1) * a
    mantissa, exponent = np.zeros(tables + 1), np.zeros(tables + 1, np.int64)
    mantissa[0] = 1.0
    rows = []
    for m in range(n):
        larger = exponent.copy()
        np.maximum(exponent[1:], exponent[:-1], out=larger[1:])
        # Where t > m the factor m - t a may be negative, but the number is 0.
        total = np.ldexp(mantissa * np.maximum(m - times, 0.0), exponent - larger)
        total[1:] += np.ldexp(mantissa[:-1], exponent[:-1] - larger[1:])
        mantissa, change = np.frexp(total)
        exponent = np.where(mantissa > 0, larger + change, 0)
        if m >= n - 2:
            rows.append((mantissa, exponent))
    return rows


@pytest.mark.parametrize(("discount", "limit"), [(0.0, 60), (0.7, 512)])
def test_no_drift_at_thirty_thousand_customers(discount: float, limit: int) -> None:
    n = 30_000
    table = seating(discount, n, limit)
    assert table.table_limit == limit
    (before, before_exponent), (now, now_exponent) = scaled_stirling_rows(discount, n, limit)
    t = np.arange(2, limit + 1)
    alone = np.ldexp(before[t - 1] / now[t], before_exponent[t - 1] - now_exponent[t])
    np.testing.assert_allclose(table.alone[table.index(np.full(len(t), n), t)], alone, rtol=1e-6)
    assert np.isfinite(table.alone).all()


def test_the_scaled_rows_are_the_exact_ones() -> None:
    """Guards the test above."""
    for row, n in zip(scaled_stirling_rows(0.3, 31, 12), (30, 31), strict=True):
        exact = [float(value) for value in exact_stirling(DISCOUNTS[0.3], n)[:13]]
        np.testing.assert_allclose(np.ldexp(*row), exact, rtol=1e-13)


@pytest.mark.parametrize("discount", [1.0, 1.5, -0.1, float("nan"), float("inf")])
def test_a_discount_out_of_range_is_refused(discount: float) -> None:
    with pytest.raises(SettingsError, match="at least 0 and below 1"):
        seating(discount, 10)


def test_the_table_is_shared_and_cannot_be_written() -> None:
    table = seating(0.7, 60)
    assert seating(0.7, 60) is table
    with pytest.raises(ValueError, match="read-only"):
        table.alone[0] = 1.0
