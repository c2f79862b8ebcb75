"""Documents that show a topic, and which of their words belong to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.topics.reading import Topics

MINIMUM_TOKENS = 15
"""Documents shorter than this say little about a topic; they are shown only where there are no others."""


@dataclass(frozen=True)
class Passage:
    """A document in which a topic is strong.

    Attributes:
        document: its number in the corpus.
        share: theta[d, k], the part of the document that the topic takes.
        title: '' where unknown.
        date: as written, '' where unknown.
        pieces: the text in order, each piece with True where it is a word of the topic.
    """

    document: int
    share: float
    title: str
    date: str
    pieces: tuple[tuple[str, bool], ...]


class PassageReader:
    """Finds and marks passages of one sample of a corpus."""

    def __init__(self, corpus: Corpus, topics: Topics) -> None:
        self._corpus, self._topics = corpus, topics
        self._shares = topics.sample.document_shares()
        self._lengths = np.bincount(corpus.token_document, minlength=corpus.n_documents)
        self._index = {word: number for number, word in enumerate(corpus.vocabulary)}

    def strongest(self, topic: int, group: int, count: int = 5) -> tuple[Passage, ...]:
        """The group's documents in which the topic takes the largest share, the largest first."""
        members = np.flatnonzero(self._corpus.document_group == group)
        long_enough = self._lengths[members] >= MINIMUM_TOKENS
        score = self._shares[members, topic] + long_enough  # long ones before short ones
        best = members[np.argsort(-score, kind="stable")][:count]
        return tuple(self._passage(int(document), topic) for document in best)

    def _passage(self, document: int, topic: int) -> Passage:
        documents = self._corpus.documents
        return Passage(
            document=document,
            share=float(self._shares[document, topic]),
            title=documents.titles[document],
            date=documents.dates[document],
            pieces=self._marked(document, topic),
        )

    def _marked(self, document: int, topic: int) -> tuple[tuple[str, bool], ...]:
        """A word belongs to the topic where the model thinks that likelier than all other topics together."""
        text = self._corpus.documents.texts[document]
        belongs = self._belongs(document, topic)
        pieces: list[tuple[str, bool]] = []
        end = 0
        for start, stop, word in self._corpus.tokeniser.spans(text):
            number = self._index.get(word)
            if number is None or not belongs[number] or start < end:
                continue
            if start > end:
                pieces.append((text[end:start], False))
            pieces.append((text[start:stop], True))
            end = stop
        if end < len(text):
            pieces.append((text[end:], False))
        return tuple(pieces)

    def _belongs(self, document: int, topic: int) -> NDArray[np.bool_]:
        """For every word of the vocabulary, whether P(topic | word, document) exceeds one half: bool [V]."""
        weights = self._topics.wordings[self._corpus.document_group[document]] * self._shares[document]
        belongs: NDArray[np.bool_] = weights[:, topic] > 0.5 * weights.sum(axis=1)
        return belongs
