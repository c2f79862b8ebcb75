"""How differently groups word a topic, without what chance adds: the squared Hellinger distance, corrected by documents.

A distance between two wordings that are known from few documents is too large on average: what chance did to either one is counted
as a difference. How much that is depends on how many documents speak of the topic, and on how much each of them does. So it is
taken off by the jackknife: each document is left out in turn.

    root[i, w] = sqrt(p[i, w]),   p: the share of word w among the tokens of group i in the topic
    r[i, w]    = root[i, w] - (n - 1)/n sum_d (root without d - root)       n: documents of the group in the topic
    H2[i, j]   = 1 - sum_w r[i, w] r[j, w]

r is nearly free of bias where a word is expected once or oftener, and so is the product of two groups' r, which come from different
documents. H2 is below 0 as often as it is above where groups do not differ.

Sources: M. H. Quenouille, "Notes on Bias in Estimation", Biometrika 43, 1956; J. W. Tukey, "Bias and confidence in not quite large
samples", Annals of Mathematical Statistics 29, 1958, for the variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spdp_engine.measures.cells import Cells

Float = NDArray[np.float64]

FEWEST_DOCUMENTS = 2
"""Of each group: one cannot be left out."""


class SquaredGap(NamedTuple):
    """The mean over pairs of groups of the squared Hellinger distance of their wordings.

    Attributes:
        square: without what chance adds; may be below 0.
        variance: of that, by the jackknife.
        excess: what chance had added.
    """

    square: float
    variance: float
    excess: float


def squared_gap(cells: Cells, document_group: NDArray[np.integer], groups: Sequence[int]) -> SquaredGap | None:
    """The squared wording gap of a topic.

    Args:
        cells: of the topic.
        document_group: [D].
        groups: those that are compared, two or more.

    Returns:
        None where one of the groups has fewer than `FEWEST_DOCUMENTS` documents with tokens of the topic.
    """
    size = len(groups)
    place_of = np.full(int(document_group.max(initial=0)) + 1, -1)
    place_of[list(groups)] = np.arange(size)
    cells = cells.of(place_of[document_group] >= 0)
    documents, at, tokens = _documents(cells)
    own = place_of[document_group[documents]]
    n = np.bincount(own, minlength=size)
    if size < 2 or n.min() < FEWEST_DOCUMENTS:
        return None
    words, word = np.unique(cells.word, return_inverse=True)
    group, width = own[at], len(words)

    def by_word(values: Float) -> Float:
        sums = np.bincount(group * width + word, values, size * width).reshape(size, width)
        return sums.astype(np.float64, copy=False)

    counts = by_word(cells.count)
    totals = counts.sum(axis=1)
    left = np.sqrt(totals[own] - tokens)  # all that a group says without one document, as a root
    shrunk = 1 / left - 1 / np.sqrt(totals[own])  # what leaving it out does to the roots of words that it does not have
    had = counts[group, word]
    change = (np.sqrt(np.maximum(had - cells.count, 0)) - np.sqrt(had)) / left[at]  # and besides to those it has
    plain = np.sqrt(counts / totals[:, None])
    changes = np.sqrt(counts) * np.bincount(own, shrunk, size)[:, None] + by_word(change)
    roots = plain - ((n - 1) / n)[:, None] * changes
    others = roots.sum(axis=0) - roots
    pairs = size * (size - 1)
    square = 1 - (roots * others).sum() / pairs
    without = shrunk * (np.sqrt(counts) * others).sum(axis=1)[own] + np.bincount(
        at, change * others[group, word], len(own)
    )
    without *= 2 / pairs
    without -= (np.bincount(own, without, size) / n)[own]
    variance = np.bincount(own, without**2, size) @ ((n - 1) / n)
    excess = (1 - (plain * (plain.sum(axis=0) - plain)).sum() / pairs) - square
    return SquaredGap(float(square), float(variance), float(excess))


def _documents(cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64], Float]:
    """Documents with tokens of the topic, rising [D']; which of them each cell has [C]; and their tokens [D']."""
    documents, at = np.unique(cells.document, return_inverse=True)
    tokens: Float = np.bincount(at, cells.count, len(documents)).astype(np.float64)
    return documents, at, tokens
