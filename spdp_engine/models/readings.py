"""What is counted and read of tokens with topics, the same for every model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


def count_tokens(
    token_word: NDArray[np.int32],
    token_document: NDArray[np.int32],
    document_group: NDArray[np.int32],
    topics: NDArray[np.integer],
    shape: tuple[int, ...],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Counts tokens by document and by group and word.

    Args:
        token_word: [N].
        token_document: [N].
        document_group: [D].
        topics: [N], the topic of each token.
        shape: (I, V, K).

    Returns:
        int32 [D, K] and int32 [I, V, K].
    """
    (_, words, k), documents = shape, len(document_group)
    topics = topics.astype(np.int64)
    of_documents = np.bincount(token_document.astype(np.int64) * k + topics, minlength=documents * k).reshape(
        documents, k
    )
    group_word = document_group[token_document].astype(np.int64) * words + token_word
    of_words = np.bincount(group_word * k + topics, minlength=int(np.prod(shape))).reshape(shape)
    return of_documents.astype(np.int32), of_words.astype(np.int32)


class Readings:
    """The part of a sample (see `types.Sample`) that follows from counts of tokens, by document and by group and word."""

    priors: Any
    counts: Any
    alphas: Float | None
    words: NDArray[np.int32] | None

    @property
    def group_words(self) -> NDArray[np.int32]:
        """Tokens of each group, word and topic, those that the model counts: int32 [I, V, K]."""
        raise NotImplementedError

    @property
    def all_words(self) -> NDArray[np.int32]:
        """The same of all tokens, those included that repeat others of their document."""
        return self.group_words if self.words is None else self.words

    def document_shares(self) -> Float:
        """theta[d, k] = (n[d, k] + alpha[d, k]) / sum_k (n + alpha): float64 [D, K], rows sum to 1."""
        n = self.counts.document_topics + (self.priors.alpha if self.alphas is None else self.alphas)
        shares: Float = n / n.sum(axis=1, keepdims=True)
        return shares

    def group_topic_tokens(self) -> NDArray[np.int64]:
        """Tokens of each group in each topic: int64 [I, K]."""
        tokens: NDArray[np.int64] = self.all_words.sum(axis=1, dtype=np.int64)
        return tokens

    def group_word_tokens(self, topic: int) -> NDArray[np.int64]:
        """Tokens of each word of each group in one topic: int64 [I, V]."""
        return self.all_words[:, :, topic].astype(np.int64)
