"""Documents that show a topic, and which of their words belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.topics.belonging import Belonging
from spdp_engine.topics.reading import Topics

MINIMUM_TOKENS = 15
"""Documents shorter than this say little about a topic; they are shown only where there are no others."""

BELONGS = 0.5
"""A word belongs to a topic where the model thinks that likelier than this, and so than all other topics together."""


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


@dataclass(frozen=True)
class Piece:
    """A piece of a text.

    Attributes:
        text: as written.
        topic: the likeliest topic of a word of the vocabulary; None of what stands between such words.
        probability: of that topic, P(topic | word, document); 0 between words.
    """

    text: str
    topic: int | None = None
    probability: float = 0.0


class PassageReader:
    """Finds and marks passages of one sample of a corpus."""

    def __init__(self, corpus: Corpus, topics: Topics) -> None:
        self._corpus, self._topics = corpus, topics

    @cached_property
    def belonging(self) -> Belonging:
        """To which topics words belong."""
        return Belonging(self._corpus, self._topics)

    def strongest(self, topic: int, group: int, count: int = 5) -> tuple[Passage, ...]:
        """The group's documents in which the topic takes the largest share, the largest first.

        Of a long document that was cut into passages only one is among the first, so that it does not fill the list.
        """
        members = np.flatnonzero(self._corpus.document_group == group)
        long_enough = self.belonging.lengths[members] >= MINIMUM_TOKENS
        score = self.belonging.shares[members, topic] + long_enough  # long ones before short ones
        best = members[np.argsort(-score, kind="stable")]
        best = best[np.argsort(turns(self._corpus.origin[best]), kind="stable")][:count]
        return tuple(self._passage(int(document), topic) for document in best)

    def pieces(self, document: int) -> tuple[Piece, ...]:
        """The whole text of a document, each word of the vocabulary with its likeliest topic."""
        text = self._corpus.documents.texts[document]
        places = self.belonging.places(text)
        probability = self.belonging.of(np.array([number for *_, number in places], np.int64), document)
        pieces: list[Piece] = []
        reached = 0
        for (start, end, _), row in zip(places, probability, strict=True):
            if start < reached:
                continue
            if start > reached:
                pieces.append(Piece(text[reached:start]))
            likeliest = int(row.argmax())
            pieces.append(Piece(text[start:end], likeliest, float(row[likeliest])))
            reached = end
        if reached < len(text):
            pieces.append(Piece(text[reached:]))
        return tuple(pieces)

    def _passage(self, document: int, topic: int) -> Passage:
        documents = self._corpus.documents
        marked: list[tuple[str, bool]] = []
        for piece in self.pieces(document):
            mark = piece.topic == topic and piece.probability > BELONGS
            if marked and not mark and not marked[-1][1]:
                marked[-1] = marked[-1][0] + piece.text, False
            else:
                marked.append((piece.text, mark))
        return Passage(
            document=document,
            share=float(self.belonging.shares[document, topic]),
            title=documents.titles[document],
            date=documents.dates[document],
            pieces=tuple(marked),
        )


def turns(sources: NDArray[np.integer]) -> NDArray[np.int64]:
    """How often the source of each item has come before it in the list: int64 [n].

    A stable sort by turns puts the first of every source first, then the second of every source, and so on.
    """
    order = np.argsort(sources, kind="stable")
    first = np.concatenate(([True], np.diff(sources[order]) != 0))[: len(order)]
    places = np.arange(len(order))
    begun = np.maximum.accumulate(np.where(first, places, 0))
    found = np.empty(len(order), np.int64)
    found[order] = places - begun
    return found


def parts(corpus: Corpus, document: int) -> range:
    """The passages that a document's original was cut into, in reading order; the document alone where it was not cut."""
    origin = corpus.origin[document]
    return range(int(np.searchsorted(corpus.origin, origin)), int(np.searchsorted(corpus.origin, origin, side="right")))
