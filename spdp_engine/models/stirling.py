"""Tables of ratios of generalised Stirling numbers.

The sampler never needs a Stirling number, only two ratios of neighbours, and those are of modest size. They follow from
``V(n, t) = S(n, t) / S(n, t-1)`` by the recursion of Buntine and Hutter (arXiv 1007.0296), run here in double precision: in
single precision it drifts by 7.5e-4 at n = 30,000.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError

_building = threading.Lock()

MAXIMUM_TABLES = 512
"""Tables a cell may have, unless the memory bound asks for fewer."""

MAXIMUM_BYTES = 160 * 2**20
"""Memory a table of seating factors may take, in bytes."""


@dataclass(frozen=True, eq=False)
class SeatingFactors:
    """The pair of seating factors for every cell of m customers at t tables, up to bounds on both.

    For a further customer of a cell, ``x`` weighs an old table and ``y`` a new one::

        x(m, t) = (m-t+1)/(m+1) * S(m+1, t)  / S(m, t)
        y(m, t) = (t+1)/(m+1)   * S(m+1, t+1)/ S(m, t)

    The bound on tables never touches the counts: where t is at the limit y is 0, so that no further table opens. The cell goes on
    filling its old tables; what is lost is the few tokens by which the base measure would have grown beyond
    ``table_limit`` for that word.

    Attributes:
        discount: a.
        maximum_customers: largest m in the table.
        table_limit: largest t in the table.
        pairs: float32 [cells, 2], the pairs (x, y); row m starts at `start(m)`, triangular as long as m <= table_limit.
    """

    discount: float
    maximum_customers: int
    table_limit: int
    pairs: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Length of the rows once they no longer grow: table_limit + 1."""
        return self.table_limit + 1

    def start(self, customers: int) -> int:
        """Row of `pairs` where those of m customers begin."""
        return int(_row_start(np.array(customers, np.int64), self.width))

    def index(self, customers: NDArray[np.int64], tables: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of `pairs` that belong to cells of the given counts (arrays of one shape)."""
        customers = np.asarray(customers, np.int64)
        return _row_start(customers, self.width) + np.asarray(tables, np.int64)


def _row_start(customers: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    triangular = customers * (customers + 1) // 2
    rectangular = width * (width + 1) // 2 + (customers - width) * width
    return np.where(customers < width, triangular, rectangular)


def bounded_table_limit(maximum_customers: int, maximum_tables: int = MAXIMUM_TABLES) -> int:
    """The number of tables a cell may have so that the table stays within `MAXIMUM_BYTES`. At least 1."""
    by_memory = MAXIMUM_BYTES // 8 // (maximum_customers + 1) - 1
    return int(max(1, min(maximum_tables, maximum_customers, by_memory)))


def seating_factors(discount: float, maximum_customers: int, maximum_tables: int | None = None) -> SeatingFactors:
    """Builds the table, or returns the one built before for the same arguments: samplers share it.

    Args:
        discount: a, 0 <= a < 1.
        maximum_customers: the largest m needed: the count of the commonest word in a group.
        maximum_tables: bound on t; `MAXIMUM_TABLES` where None.

    Raises:
        SettingsError: the discount is out of range.
    """
    if not 0.0 <= discount < 1.0:
        raise SettingsError(f"The discount must be at least 0 and below 1; it is {discount:g}.")
    with _building:  # a second caller waits for the first, rather than build the same
        return _build(float(discount), max(1, maximum_customers), maximum_tables or MAXIMUM_TABLES)


@lru_cache(maxsize=4)
def _build(discount: float, rows: int, maximum_tables: int) -> SeatingFactors:
    limit = bounded_table_limit(rows, maximum_tables)
    pairs = np.zeros((int(_row_start(np.array(rows + 1), limit + 1)), 2), np.float32)
    pairs[0] = (0.0, 1.0)  # an empty cell: the first customer opens a table
    start = 1
    for first, old, new in _ratio_rows(discount, rows, limit):
        m = np.arange(first, first + len(old))[:, None]
        t = np.arange(limit + 1)
        old *= (m - t + 1) / (m + 1)
        new *= (t + 1) / (m + 1)
        triangular = min(len(old), max(0, limit - first))
        for row in range(triangular):
            end = start + first + row + 1
            pairs[start:end, 0] = old[row, : first + row + 1]
            pairs[start:end, 1] = new[row, : first + row + 1]
            start = end
        rest = pairs[start : start + (len(old) - triangular) * (limit + 1)].reshape(-1, limit + 1, 2)
        rest[..., 0] = old[triangular:]
        rest[..., 1] = new[triangular:]
        start += rest.size // 2
    pairs.flags.writeable = False
    return SeatingFactors(discount, rows, limit, pairs)


def _ratio_rows(
    a: float, rows: int, limit: int, chunk: int = 512
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
    """Yields (m of the first row, S(m+1,t)/S(m,t), S(m+1,t+1)/S(m,t)), the latter two float64 [<= chunk, limit + 1].

    With ``w(m, t) = 1 + (m - t a) V(m, t)`` the two ratios are ``w(m, t)/V(m, t)`` and ``w(m, t+1)``, and the recursion is
    ``V(m+1, t) = w(m, t) V(m, t-1) / w(m, t-1)``: every term positive, so nothing cancels.
    """
    t_a = np.arange(limit + 2) * a
    ratio = np.ones(limit + 2)  # V(m, t) for 2 <= t <= min(m, limit + 1)
    for first in range(1, rows + 1, chunk):
        count = min(chunk, rows + 1 - first)
        old = np.zeros((count, limit + 1))
        new = np.zeros((count, limit + 1))
        for row in range(count):
            m = first + row
            last = min(m, limit + 1)
            w = m - t_a[2 : last + 1]
            w *= ratio[2 : last + 1]
            w += 1.0
            more = np.empty(last)  # S(m+1, t) / S(m, t), t = 1 .. last
            more[0] = m - a
            np.divide(w, ratio[2 : last + 1], out=more[1:])
            np.divide(w, more[:-1], out=ratio[2 : last + 1])
            if last < limit + 1:
                ratio[last + 1] = 1.0 / more[-1]  # S(m+1, m+1) = 1
            end = min(last, limit)
            old[row, 1 : end + 1] = more[:end]
            new[row, 1:last] = w  # t = 1 .. last - 1
            if last == m:
                new[row, m : m + 1] = 1.0  # S(m+1, m+1) / S(m, m)
        new[:, limit] = 0.0  # no further table at the limit
        yield first, old, new
