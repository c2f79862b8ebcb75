"""How much is said on a topic by another column than the group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.corpus.naturalorder import natural_order
from spdp_engine.topics.belonging import Belonging

MOST_VALUES = 30
"""A column with more different values is not cross-tabulated."""

NO_VALUE = ""
"""Stands for cells that are empty."""


@dataclass(frozen=True, eq=False)
class CrossTable:
    """A topic's share by the values of a column, in all groups together and in each of I groups.

    Documents are those that were brought: passages of one that have the same value count once.

    Attributes:
        field: the column.
        values: its R values in natural order, `NO_VALUE` last where there are empty cells.
        documents: int64 [R, 1 + I]; first all groups together, then each.
        tokens: int64 [R, 1 + I], likewise.
        share: float64 [R, 1 + I], of these words, those on the topic; NaN where there are none.
    """

    field: str
    values: tuple[str, ...]
    documents: NDArray[np.int64]
    tokens: NDArray[np.int64]
    share: NDArray[np.float64]


def fields_with_few_values(corpus: Corpus) -> tuple[str, ...]:
    """Columns beside text, group, title and date that have 2 to `MOST_VALUES` different values, in the order of the file.

    A column whose every value is in one document only, as numbers of documents are, is none of them.
    """
    fields = corpus.documents.fields
    return tuple(name for name in fields.columns if _has_few_values(fields[name], corpus.origin))


def _has_few_values(column: pd.Series, origin: NDArray[np.int32]) -> bool:
    found = set(zip(values_of(column).tolist(), origin.tolist(), strict=True))
    some = [value for value, _ in found if value != NO_VALUE]
    return 2 <= len(set(some)) <= MOST_VALUES and len(set(some)) < len(some)


def values_of(column: pd.Series) -> NDArray[np.object_]:
    """Cells as they are compared: single blanks, `NO_VALUE` where there is nothing; object [D]."""
    values: NDArray[np.object_] = column.fillna("").astype(str).str.split().str.join(" ").to_numpy(dtype=object)
    return values


def cross_table(belonging: Belonging, topic: int, field: str, cells: NDArray[np.object_]) -> CrossTable:
    """How much is said on a topic for each value of a column, and for each value within each group.

    Args:
        belonging: of the documents.
        topic: its number.
        field: the name of the column.
        cells: object [D], what `values_of` says of it.
    """
    corpus = belonging.corpus
    values = in_order(set(cells.tolist()))
    places = {value: place for place, value in enumerate(values)}
    row = np.array([places[cell] for cell in cells.tolist()], np.int64)
    group = corpus.document_group.astype(np.int64)
    shape = (len(values), corpus.n_groups)
    first = np.zeros(corpus.n_documents, bool)
    first[np.unique(corpus.origin.astype(np.int64) * len(values) + row, return_index=True)[1]] = True

    def summed(weights: NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        by_group = np.bincount(row * shape[1] + group, weights, shape[0] * shape[1]).reshape(shape)
        return np.column_stack([by_group.sum(axis=1), by_group])

    tokens = summed(belonging.lengths)
    share = np.full(tokens.shape, np.nan)
    np.divide(summed(belonging.lengths * belonging.shares[:, topic]), tokens, out=share, where=tokens > 0)
    return CrossTable(field, values, summed(first).astype(np.int64), tokens.astype(np.int64), share)


def in_order(values: set[str]) -> tuple[str, ...]:
    """Values as people expect them: 2 before 10, the empty one last."""
    return (*natural_order(values - {NO_VALUE}), *(values & {NO_VALUE}))
