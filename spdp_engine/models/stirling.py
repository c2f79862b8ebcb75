"""How customers of a Pitman-Yor process sit, given how many they are and how many tables they have.

The sampler never needs a generalised Stirling number, only ``alone(m, t) = S(m-1, t-1) / S(m, t)``: the probability that one of m
customers at t tables has a table to itself. It follows from ``V(n, t) = S(n, t) / S(n, t-1)`` by the recursion of Buntine and
Hutter (arXiv 1007.0296), run here in double precision: in single precision it drifts by 7.5e-4 at n = 30,000.
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

MAXIMUM_BYTES = 80 * 2**20
"""Memory a table may take, in bytes."""


@dataclass(frozen=True, eq=False)
class Seating:
    """The probability that a customer of a cell of m at t tables sits alone, for every m and t up to bounds on both::

        alone(m, t) = S(m-1, t-1) / S(m, t)

    The bound on tables never touches the counts: where t is at the limit no further table opens. The cell goes on filling its old
    tables; what is lost is the few tokens by which the base measure would have grown beyond ``table_limit`` for that word.

    Attributes:
        discount: a.
        maximum_customers: largest m in the table.
        table_limit: largest t in the table.
        alone: float32 [cells]; row m starts at `start(m)`, triangular as long as m <= table_limit. 0 where t = 0.
    """

    discount: float
    maximum_customers: int
    table_limit: int
    alone: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Length of the rows once they no longer grow: table_limit + 1."""
        return self.table_limit + 1

    def start(self, customers: int) -> int:
        """Place in `alone` where those of m customers begin."""
        return int(_row_start(np.array(customers, np.int64), self.width))

    def index(self, customers: NDArray[np.int64], tables: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places in `alone` of cells of the given counts (arrays of one shape)."""
        customers = np.asarray(customers, np.int64)
        return _row_start(customers, self.width) + np.asarray(tables, np.int64)


def _row_start(customers: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    triangular = customers * (customers + 1) // 2
    rectangular = width * (width + 1) // 2 + (customers - width) * width
    return np.where(customers < width, triangular, rectangular)


def bounded_table_limit(maximum_customers: int, maximum_tables: int = MAXIMUM_TABLES) -> int:
    """The number of tables a cell may have so that the table stays within `MAXIMUM_BYTES`. At least 1."""
    by_memory = MAXIMUM_BYTES // 4 // (maximum_customers + 1) - 1
    return int(max(1, min(maximum_tables, maximum_customers, by_memory)))


def seating(discount: float, maximum_customers: int, maximum_tables: int | None = None) -> Seating:
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
def _build(discount: float, rows: int, maximum_tables: int) -> Seating:
    limit = bounded_table_limit(rows, maximum_tables)
    alone = np.zeros(int(_row_start(np.array(rows + 1), limit + 1)), np.float32)
    start = 1  # nobody sits in an empty cell
    for first, part in _alone_rows(discount, rows, limit):
        triangular = min(len(part), max(0, limit + 1 - first))
        for row in range(triangular):
            end = start + first + row + 1
            alone[start:end] = part[row, : first + row + 1]
            start = end
        rest = alone[start : start + (len(part) - triangular) * (limit + 1)]
        rest.reshape(-1, limit + 1)[:] = part[triangular:]
        start += rest.size
    alone.flags.writeable = False
    return Seating(discount, rows, limit, alone)


def _alone_rows(a: float, rows: int, limit: int, chunk: int = 512) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yields m of the first row and alone(m, t), float64 [<= chunk, limit + 1].

    With ``w(m, t) = 1 + (m - t a) V(m, t)`` it is ``alone(m+1, t) = 1/w(m, t)``, since
    ``S(m+1, t) = S(m, t-1) + (m - t a) S(m, t)``, and the recursion is ``V(m+1, t) = w(m, t) V(m, t-1) / w(m, t-1)``: every term
    positive, so nothing cancels.
    """
    t_a = np.arange(limit + 1) * a
    ratio = np.ones(limit + 1)  # V(m, t) for 2 <= t <= min(m, limit)
    for first in range(1, rows + 1, chunk):
        part = np.zeros((min(chunk, rows + 1 - first), limit + 1))
        for row in range(len(part)):
            m = first + row - 1  # of the customers who are there already
            last = min(m, limit)
            w = (m - t_a[2 : last + 1]) * ratio[2 : last + 1] + 1.0
            more = np.empty(max(1, last))  # S(m+1, t) / S(m, t), t = 1 .. last
            more[0] = m - a
            np.divide(w, ratio[2 : last + 1], out=more[1:])
            np.divide(w, more[: len(w)], out=ratio[2 : last + 1])
            np.divide(1.0, w, out=part[row, 2 : last + 1])
            if m < limit:
                part[row, m + 1] = 1.0
                if m:
                    ratio[m + 1] = 1.0 / more[-1]  # S(m+1, m+1) = 1
        yield first, part
