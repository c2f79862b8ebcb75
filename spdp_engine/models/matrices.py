"""Transformation matrices: from which base words the words of a group come.

    phi[i, k] ~ PDP(a, b, P^i phi0[k]),   (P^i phi0)[w] = sum_v P^i[w, v] phi0[v]

P^i[w, v] is the share of base word v that goes to word w in group i, so every column sums to 1 and P^i phi0 is a
distribution wherever phi0 is one. With the identity each word is its own base word, which is SPDP as it is mostly used.
Only the entries that are not zero are kept; which they are is the pattern, on which the sampler counts tables.

Source: C. Chen, W. Buntine, N. Ding, L. Xie, L. Du, "Differential Topic Models" (IEEE TPAMI 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spdp_engine.errors import SettingsError

Float = NDArray[np.float64]

SMALLEST_WEIGHT = 1e-12
"""Least share that an entry may have of its column: far below what makes sense, well within single precision."""

_SUM_TOLERANCE = 1e-9
# Columns of a row-major array are far apart in memory; some at once use what each cache line brings.
_TOPICS_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class Matrices:
    """P^i[w, v] of every group, sparse, by rows. Its arrays are made read-only.

    Entries are ordered by group, word and base word; no base word comes twice in a row; every column (i, v) sums to 1.

    Attributes:
        n_groups: I.
        n_words: V.
        starts: int32 [I V + 1]; row (i, w) holds the entries starts[i V + w] up to starts[i V + w + 1].
        base_word: int32 [E], the column of each entry.
        weight: float64 [E], P^i[w, v] of each entry.

    Raises:
        SettingsError: the arrays are not of this form.
    """

    n_groups: int
    n_words: int
    starts: NDArray[np.int32]
    base_word: NDArray[np.int32]
    weight: Float

    def __post_init__(self) -> None:
        n_rows, n_entries = _n_rows(self.n_groups, self.n_words), len(self.weight)
        if (
            self.starts.dtype != np.int32
            or self.starts.shape != (n_rows + 1,)
            or self.starts[0] != 0
            or self.starts[-1] != n_entries
            or np.any(self.starts[1:] < self.starts[:-1])
        ):
            raise SettingsError(
                f"The starts of the matrices' rows must be {n_rows + 1:,} int32 numbers that rise from 0 to {n_entries:,}, "
                "the number of entries."
            )
        if self.base_word.dtype != np.int32 or self.base_word.shape != (n_entries,):
            raise SettingsError(f"The matrices' base words must be {n_entries:,} int32 numbers, one for each entry.")
        if self.weight.dtype != np.float64 or self.weight.shape != (n_entries,):
            raise SettingsError(f"The matrices' weights must be {n_entries:,} float64 numbers, one for each entry.")
        _check_range("base word", self.base_word, self.n_words)
        if np.any((self.base_word[1:] <= self.base_word[:-1]) & (self.row[1:] == self.row[:-1])):
            raise SettingsError("The base words of a row of the matrices must rise, and none may come twice.")
        _check_weights(self.weight)
        column = self.row // self.n_words * self.n_words + self.base_word
        sums = np.bincount(column, weights=self.weight, minlength=n_rows)
        wrong = np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE)
        if len(wrong):
            group, word = divmod(int(wrong[0]), self.n_words)
            raise SettingsError(
                f"Every column of the matrices must sum to 1, but that of base word {word} in group {group} sums to "
                f"{sums[wrong[0]]:g}."
            )
        for array in (self.starts, self.base_word, self.weight):
            array.setflags(write=False)

    @classmethod
    def identity(cls, n_groups: int, n_words: int) -> Matrices:
        """Each word its own base word in every group: E = I V entries of 1.

        Raises:
            SettingsError: a size is below 1, or there are more than 2^31 - 1 rows.
        """
        n_rows = _n_rows(n_groups, n_words)
        return cls(
            n_groups=n_groups,
            n_words=n_words,
            starts=np.arange(n_rows + 1, dtype=np.int32),
            base_word=np.tile(np.arange(n_words, dtype=np.int32), n_groups),
            weight=np.ones(n_rows),
        )

    @classmethod
    def from_entries(
        cls,
        n_groups: int,
        n_words: int,
        group: ArrayLike,
        word: ArrayLike,
        base_word: ArrayLike,
        weight: ArrayLike,
    ) -> Matrices:
        """P^i from some of its entries, in any order: columns that are named are normalised, the others the identity's.

        Args:
            n_groups: I.
            n_words: V.
            group: whole numbers [n], i of each entry.
            word: whole numbers [n], w.
            base_word: whole numbers [n], v.
            weight: [n], above 0, in any scale: within a column only their ratios count. Weights of the same (i, w, v) are
                added.

        Raises:
            SettingsError: the arrays do not fit together, a number is out of range, a weight is not finite or not above 0
                or is less than `SMALLEST_WEIGHT` of its column, or there are more than 2^31 - 1 entries.
        """
        n_rows = _n_rows(n_groups, n_words)
        i = _whole("group", group, n_groups)
        w = _whole("word", word, n_words)
        v = _whole("base word", base_word, n_words)
        given = np.asarray(weight, dtype=np.float64)
        if not i.shape == w.shape == v.shape == given.shape:
            raise SettingsError(
                "Groups, words, base words and weights of the matrices' entries must be of one length; they have "
                f"{i.size:,}, {w.size:,}, {v.size:,} and {given.size:,}."
            )
        _check_weights(given)

        # Row, base word as one number: below 2^62, since there are fewer than 2^31 of each.
        column = i * n_words + v
        key, entry = np.unique((i * n_words + w) * n_words + v, return_inverse=True)
        largest = np.zeros(n_rows)
        np.maximum.at(largest, column, given)
        added = np.bincount(entry, given / largest[column], len(key))  # Scaled, so that no sum overflows.
        column = key // (n_words * n_words) * n_words + key % n_words
        total = np.bincount(column, added, n_rows)
        share = added / total[column]
        if np.any(share < SMALLEST_WEIGHT):
            raise SettingsError(
                f"A weight is less than {SMALLEST_WEIGHT:g} of the sum of the weights of its group and base word; leave out "
                "pairs of so little weight."
            )

        own = np.flatnonzero(total == 0)
        if len(key) + len(own) > np.iinfo(np.int32).max:
            raise SettingsError(f"The matrices have {len(key) + len(own):,} entries, but at most 2^31 - 1 can be kept.")
        key = np.concatenate([key, own * n_words + own % n_words])
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.zeros(n_rows + 1, dtype=np.int32)
        np.cumsum(np.bincount(key // n_words, minlength=n_rows), out=starts[1:])
        return cls(
            n_groups=n_groups,
            n_words=n_words,
            starts=starts,
            base_word=(key % n_words).astype(np.int32),
            weight=np.concatenate([share, np.ones(len(own))])[order],
        )

    @cached_property
    def row(self) -> NDArray[np.int32]:
        """i V + w of each entry: int32 [E]."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    @cached_property
    def columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Entries by base word: int32 [V + 1], where those of each begin, in int32 [E], the entries sorted by it."""
        entries = np.argsort(self.base_word, kind="stable").astype(np.int32)
        starts = np.searchsorted(self.base_word[entries], np.arange(self.n_words + 1)).astype(np.int32)
        return starts, entries

    def apply(self, base: Float) -> Float:
        """P^i base for every group: float64 [I, V, K]; where a column of `base` [V, K] sums to 1, so do those of the result.

        Raises:
            SettingsError: `base` has not V rows.
        """
        self._check_rows("base wording", base, self.n_words)
        n_rows, n_topics = len(self.starts) - 1, base.shape[1]
        row = self.row.astype(np.intp)
        words = np.empty((n_rows, n_topics))
        for some in _some_topics(n_topics):
            columns = np.ascontiguousarray(base[:, some].T, dtype=np.float64)
            sums = [np.bincount(row, self.weight * column[self.base_word], n_rows) for column in columns]
            words[:, some] = np.stack(sums, axis=1)
        return words.reshape(self.n_groups, self.n_words, n_topics)

    def base_tables(self, associated: NDArray[np.integer]) -> NDArray[np.int64]:
        """q, the tables of each base word summed over groups and words: int64 [V, K].

        Args:
            associated: c, whole numbers [E, K], tables of each entry.

        Raises:
            SettingsError: `associated` has not E rows.
        """
        self._check_rows("table of associated tables", associated, len(self.weight))
        n_topics = associated.shape[1]
        base_word = self.base_word.astype(np.intp)
        tables = np.empty((self.n_words, n_topics), dtype=np.int64)
        for some in _some_topics(n_topics):
            # Sums in double precision are exact: there are far fewer than 2^53 tables.
            columns = np.ascontiguousarray(associated[:, some].T, dtype=np.float64)
            tables[:, some] = np.stack([np.bincount(base_word, column, self.n_words) for column in columns], axis=1)
        return tables

    def dense(self, group: int) -> Float:
        """P^i of one group with its zeros, rows words and columns base words: float64 [V, V].

        Raises:
            SettingsError: there is no such group.
        """
        _whole("group", [group], self.n_groups)
        first = group * self.n_words
        here = slice(self.starts[first], self.starts[first + self.n_words])
        matrix = np.zeros((self.n_words, self.n_words))
        matrix[self.row[here] - first, self.base_word[here]] = self.weight[here]
        return matrix

    def unreachable(self) -> NDArray[np.bool_]:
        """Which (group, word) no base word leads to, their rows being empty: bool [I, V]. No token can be of such a word."""
        empty: NDArray[np.bool_] = np.diff(self.starts) == 0
        return empty.reshape(self.n_groups, self.n_words)

    def _check_rows(self, name: str, array: NDArray[np.generic], rows: int) -> None:
        if array.ndim != 2 or len(array) != rows:
            raise SettingsError(f"The {name} must have {rows:,} rows and a column for each topic; it is {array.shape}.")


def _some_topics(n_topics: int) -> list[slice]:
    return [slice(first, min(first + _TOPICS_AT_ONCE, n_topics)) for first in range(0, n_topics, _TOPICS_AT_ONCE)]


def _n_rows(n_groups: int, n_words: int) -> int:
    """I V, which must be from 1 to 2^31 - 1."""
    if n_groups < 1 or n_words < 1:
        raise SettingsError(
            f"Matrices need at least one group and one word; there are {n_groups:,} groups and {n_words:,} words."
        )
    if n_groups * n_words > np.iinfo(np.int32).max:
        raise SettingsError(
            f"{n_groups:,} groups of {n_words:,} words are too many for matrices, which have at most 2^31 - 1 rows."
        )
    return n_groups * n_words


def _whole(name: str, values: ArrayLike, below: int) -> NDArray[np.int64]:
    """`values` as a flat array of numbers from 0 and below `below`."""
    array = np.asarray(values)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise SettingsError(f"The {name}s of the matrices' entries must be a flat array of whole numbers.")
    _check_range(name, array, below)
    return array.astype(np.int64)


def _check_range(name: str, array: NDArray[np.generic], below: int) -> None:
    if array.size and not (array.min() >= 0 and array.max() < below):
        raise SettingsError(f"Every {name} of the matrices' entries must be from 0 to {below - 1:,}.")


def _check_weights(weight: Float) -> None:
    wrong = weight[~(np.isfinite(weight) & (weight > 0))]
    if wrong.size:
        raise SettingsError(f"Every weight of the matrices must be finite and above 0; there is one of {wrong[0]:g}.")
