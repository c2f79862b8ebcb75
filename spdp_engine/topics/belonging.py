"""To which topics the words of documents belong."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.topics.reading import Topics

_AT_ONCE = 100_000
"""Tokens whose topics are weighed at a time: with 50 topics 40 MB."""


class Belonging:
    """P(topic | word, document) under one sample, in proportion to phi[group, word, topic] theta[document, topic].

    Attributes:
        corpus: the documents.
        topics: the sample, readable.
        shares: theta, float64 [D, K].
        lengths: tokens of each document, int64 [D].
        number: the place of each word of the vocabulary.
    """

    def __init__(self, corpus: Corpus, topics: Topics) -> None:
        self.corpus, self.topics = corpus, topics
        self.shares = topics.sample.document_shares()
        self.lengths = np.bincount(corpus.token_document, minlength=corpus.n_documents)
        self.number = {word: place for place, word in enumerate(corpus.vocabulary)}

    def of(self, words: NDArray[np.integer] | int, documents: NDArray[np.integer] | int) -> NDArray[np.float64]:
        """The probability of every topic for n words, each in its document: float64 [n, K], rows sum to 1.

        Args:
            words: [n], numbers of words; or one word for all documents.
            documents: [n], or one document for all words.
        """
        words, documents = np.broadcast_arrays(np.atleast_1d(words), np.atleast_1d(documents))
        weights = self.topics.wordings[self.corpus.document_group[documents], words] * self.shares[documents]
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return weights

    @cached_property
    def _token_probability(self) -> NDArray[np.float64]:
        """Each token's probability in its document, whatever its topic: float64 [N]."""
        corpus = self.corpus
        found = np.empty(corpus.n_tokens)
        for start in range(0, corpus.n_tokens, _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            documents = corpus.token_document[some]
            wordings = self.topics.wordings[corpus.document_group[documents], corpus.token_word[some]]
            found[some] = np.einsum("nk,nk->n", wordings, self.shares[documents])
        return found

    def of_tokens(self, topic: int) -> NDArray[np.float64]:
        """The probability of one topic for every token of the corpus: float64 [N]."""
        documents, words = self.corpus.token_document, self.corpus.token_word
        wording = self.topics.wordings[:, :, topic]
        weights = wording[self.corpus.document_group[documents], words] * self.shares[documents, topic]
        likely: NDArray[np.float64] = weights / np.maximum(self._token_probability, np.finfo(np.float64).tiny)
        return likely

    def places(self, text: str) -> list[tuple[int, int, int]]:
        """(start, end, number) of the words of the vocabulary in a text, in reading order.

        In scripts without spaces words are pairs of characters, which overlap.
        """
        spans = self.corpus.tokeniser.spans(text)
        return [(start, end, self.number[word]) for start, end, word in spans if word in self.number]
