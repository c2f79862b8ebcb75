"""What is worked out once for a collection and kept as long as it lives: the index of its texts, its dates, its columns."""

from __future__ import annotations

import threading
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.topics.crosstab import fields_with_few_values, in_order, values_of
from spdp_engine.topics.dates import Dates, read_dates
from spdp_engine.topics.folding import fold
from spdp_engine.topics.labels import words_of_titles
from spdp_engine.topics.search import TextIndex


class Library:
    """A corpus as it is looked things up in; everything is worked out when first asked for."""

    def __init__(self, corpus: Corpus) -> None:
        self._documents = corpus.documents
        self._vocabulary, self._tokeniser = corpus.vocabulary, corpus.tokeniser
        self._dates: dict[bool | None, Dates] = {}
        self._values: dict[str, NDArray[np.object_]] = {}
        self.fields = fields_with_few_values(corpus)
        self.things = corpus.things

    @cached_property
    def index(self) -> TextIndex:
        """Titles and texts, to be searched."""
        return TextIndex(self._documents)

    def dates(self, day_first: bool | None = None) -> Dates:
        """When documents are from; `day_first`: how dates are read that leave a choice."""
        if day_first not in self._dates:
            self._dates[day_first] = read_dates(self._documents.dates, day_first)
        return self._dates[day_first]

    @cached_property
    def _by_form(self) -> dict[str, list[int]]:
        """Numbers of the words that are the same without accents, by that form."""
        found: dict[str, list[int]] = {}
        for number, word in enumerate(self._vocabulary):
            found.setdefault(fold(word), []).append(number)
        return found

    def words(self, form: str) -> list[int]:
        """Numbers of the words of the vocabulary that somebody may mean who types this, as `fold` writes it."""
        meant = [fold(word) for word in self._tokeniser.words(form)]  # a word that it is joined with
        return sorted(
            {number for one in (form, *(meant if len(meant) == 1 else ())) for number in self._by_form.get(one, ())}
        )

    def values(self, field: str) -> NDArray[np.object_]:
        """The values of one of `fields`, object [D], '' where there is none."""
        if field not in self._values:
            self._values[field] = values_of(self._documents.fields[field])
        return self._values[field]

    def distinct(self, field: str) -> tuple[str, ...]:
        """The different values of one of `fields`, in the order that people expect."""
        return in_order(set(self.values(field).tolist()))


_KEPT: WeakKeyDictionary[Corpus, Library] = WeakKeyDictionary()
_ONE_AT_A_TIME = threading.Lock()


def library(corpus: Corpus) -> Library:
    """The one library of a corpus."""
    with _ONE_AT_A_TIME:
        found = _KEPT.get(corpus)
        if found is None:
            found = _KEPT[corpus] = Library(corpus)
        return found


def read_ahead(corpus: Corpus) -> None:
    """Works out what the page Compare needs of a corpus, before it is asked for."""
    books = library(corpus)
    books.dates()
    for field in books.fields:
        books.values(field)
    words_of_titles(corpus)
