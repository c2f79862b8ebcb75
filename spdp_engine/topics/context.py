"""A word of a topic in its contexts: what stands before and after it, group by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.topics.belonging import Belonging
from spdp_engine.topics.excerpt import Pieces, begin_before, end_after, in_pieces
from spdp_engine.topics.passages import BELONGS, turns

CHARACTERS = 90
"""Characters of context on either side, about; contexts end between words where there are spaces."""


@dataclass(frozen=True, eq=False)
class Uses:
    """Where a group uses a word, the most telling places first.

    Attributes:
        word: its number.
        topic: the topic of which it is read.
        documents: int64 [n], the document of each use.
        nth: int64 [n], which of the word's uses in that document it is, from 0.
        probability: float64 [n], P(topic | word, document).
        on_topic: uses that belong to the topic; they come first.
        n_documents: documents of the group that use it, passages of one counted once.
    """

    word: int
    topic: int
    documents: NDArray[np.int64]
    nth: NDArray[np.int64]
    probability: NDArray[np.float64]
    on_topic: int
    n_documents: int

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True)
class Context:
    """A use of a word with its surroundings. White space is single blanks.

    Attributes:
        document: its number in the corpus.
        before: what stands before the word, in pieces, each with True where it is a word of the topic.
        word: as written.
        after: what stands after it, likewise.
        begins: whether `before` begins where the document begins.
        ends: whether `after` ends where the document ends.
        topic: the likeliest topic of the word here.
        probability: P(topic | word, document) of the topic of which it is read.
    """

    document: int
    before: Pieces
    word: str
    after: Pieces
    begins: bool
    ends: bool
    topic: int
    probability: float


class ContextReader:
    """Reads words in their contexts."""

    def __init__(self, belonging: Belonging) -> None:
        self._belonging, self._corpus = belonging, belonging.corpus

    def uses(self, word: str, topic: int, group: int) -> Uses:
        """All places where a group uses a word.

        Those where the word belongs to the topic come before others; among these the first place of every document before the
        second of any, so that one document does not fill the list; then by P(topic | word, document) theta[document, topic]:
        the word is of the topic, in a document that is.

        Args:
            word: as in the vocabulary; a word that is not in it is used nowhere.
            topic: the topic.
            group: the group.
        """
        number = self._belonging.number.get(word, -1)
        corpus = self._corpus
        documents = corpus.token_document[corpus.token_word == number].astype(np.int64)  # never falls
        documents = documents[corpus.document_group[documents] == group]
        distinct, counts = np.unique(documents, return_counts=True)
        nth = np.arange(len(documents)) - np.repeat(np.cumsum(counts) - counts, counts)
        probability = self._belonging.of(number, distinct)[:, topic]
        strength = np.repeat(probability * self._belonging.shares[distinct, topic], counts)
        elsewhere = np.repeat(probability <= BELONGS, counts)

        order = np.lexsort((nth, documents, -strength, elsewhere))
        order = order[np.lexsort((turns(corpus.origin[documents[order]]), elsewhere[order]))]
        return Uses(
            word=number,
            topic=topic,
            documents=documents[order],
            nth=nth[order],
            probability=np.repeat(probability, counts)[order],
            on_topic=int((~elsewhere).sum()),
            n_documents=len(np.unique(corpus.origin[distinct])),
        )

    def read(self, uses: Uses, first: int = 0, count: int = 10, characters: int = CHARACTERS) -> tuple[Context, ...]:
        """So many uses from the first on, with `characters` on either side."""
        chosen = slice(first, first + count)
        return tuple(
            self._context(uses, int(document), int(nth), float(probability), characters)
            for document, nth, probability in zip(
                uses.documents[chosen], uses.nth[chosen], uses.probability[chosen], strict=True
            )
        )

    def _context(self, uses: Uses, document: int, nth: int, probability: float, characters: int) -> Context:
        text = self._corpus.documents.texts[document]
        places = self._belonging.places(text)
        place_of_use = [place for place in places if place[2] == uses.word][nth]
        start, end, _ = place_of_use
        begin, stop = begin_before(text, start, characters), end_after(text, end, characters)
        near = [place for place in places if begin <= place[0] and place[1] <= stop]
        likely = self._belonging.of(np.array([number for *_, number in near], np.int64), document)
        own = likely[near.index(place_of_use)]
        marked = [place[:2] for place, row in zip(near, likely, strict=True) if row[uses.topic] > BELONGS]
        return Context(
            document=document,
            before=in_pieces(text, begin, start, marked),
            word=" ".join(text[start:end].split()),
            after=in_pieces(text, end, stop, marked),
            begins=not text[:begin].strip(),
            ends=not text[stop:].strip(),
            topic=int(own.argmax()),
            probability=probability,
        )
