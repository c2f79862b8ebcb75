"""How often each document uses each word within each topic: what estimates that mind documents are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Cells:
    """The C pairs of a document and a word that have tokens of one topic.

    Attributes:
        document: int64 [C].
        word: int64 [C].
        count: float64 [C], tokens of each pair, 1 or more.
    """

    document: NDArray[np.int64]
    word: NDArray[np.int64]
    count: NDArray[np.float64]

    def of(self, documents: NDArray[np.bool_]) -> Cells:
        """Those of some documents. documents: bool, one to a document."""
        kept = documents[self.document]
        return Cells(self.document[kept], self.word[kept], self.count[kept])


def cells_by_topic(
    token_topic: NDArray[np.integer],
    token_document: NDArray[np.integer],
    token_word: NDArray[np.integer],
    sizes: tuple[int, int, int],
) -> list[Cells]:
    """Counts tokens by topic, document and word.

    Args:
        token_topic: [N].
        token_document: [N].
        token_word: [N].
        sizes: numbers of topics K, documents and words.

    Returns:
        K of them.
    """
    topics, documents, words = sizes
    key = (token_topic.astype(np.int64) * documents + token_document) * words + token_word
    key, count = np.unique(key, return_counts=True)
    row, word = np.divmod(key, words)
    topic, document = np.divmod(row, documents)
    ends = np.searchsorted(topic, np.arange(1, topics))
    parts = (np.split(array, ends) for array in (document, word, count.astype(np.float64)))
    return [Cells(*part) for part in zip(*parts, strict=True)]
