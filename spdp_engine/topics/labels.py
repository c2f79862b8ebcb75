"""A name to suggest for a topic: words that are the topic's own, and what the titles of its documents say.

Names of speakers, numbers and addresses that stand for titles say nothing of a topic, and are not looked at.

Labels(topics, corpus).suggest(topic)
"""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.corpus.columns import tells_subject
from spdp_engine.corpus.counting import Tokens, count_words
from spdp_engine.topics.passages import MINIMUM_TOKENS
from spdp_engine.topics.reading import Topics

WORDS = 3
"""Words of a suggestion."""

CANDIDATES = 12
"""Words of a topic, and of its titles, that are considered."""

TITLES = 40
"""About so many titles of strong documents are read, the same number of each group."""

IN_TITLES = 0.1
"""A word of titles counts where at least this share of them has it, and three of them do ..."""

LIFT = 2.0
"""... and it is that many times as frequent as in all titles."""

_STEM = 5
"""Words that begin with so many letters alike are taken for forms of one word."""


_TITLES: WeakKeyDictionary[Corpus, Tokens | None] = WeakKeyDictionary()


def words_of_titles(corpus: Corpus) -> Tokens | None:
    """Words of the documents' titles; None where there are no titles that say what documents are about. Kept with the corpus."""
    if corpus not in _TITLES:
        documents = corpus.documents
        told = any(documents.titles) and tells_subject(documents.columns.title)
        _TITLES[corpus] = count_words(documents.titles, corpus.tokeniser) if told else None
    return _TITLES[corpus]


class Labels:
    """Suggests names for the topics of a sample of a corpus."""

    def __init__(self, topics: Topics, corpus: Corpus) -> None:
        self._topics, self._corpus = topics, corpus
        self._known: dict[int, list[str]] = {}

    def suggest(self, topic: int, words: int = WORDS) -> str:
        """A few words for a topic, the best first, as in "Budget, tax, deficit"; '' of a topic without words.

        A word of the topic counts by what it adds to the divergence of the groups' shared wording from the wording of all topics
        together, p log(p / q); a word of titles by the same of its frequency in the titles of strong documents against all titles.
        Each kind is brought to at most 1, and a word of both kinds has the sum. Of words that only titles have one is taken.
        """
        label = ", ".join(self.words(topic, words))
        return label[:1].upper() + label[1:]

    def words(self, topic: int, count: int = WORDS) -> list[str]:
        """The words of `suggest` as the vocabulary has them."""
        if topic not in self._known:
            self._known[topic] = self._best_words(topic)
        return self._known[topic][:count]

    def _best_words(self, topic: int) -> list[str]:
        specific, titles = (
            {word: score / max(kind.values()) for word, score in kind.items()}
            for kind in (self._specific_words(topic), self._title_words(topic))
        )
        others = [word for word in titles if word not in specific]
        scores = {word: specific.get(word, 0.0) + titles.get(word, 0.0) for word in (*specific, *others[:1])}
        chosen: list[str] = []
        for word in sorted(scores, key=lambda one: (-scores[one], one)):
            if not any(_alike(word, other) for other in chosen):
                chosen.append(word)
        return chosen

    @cached_property
    def _everywhere(self) -> NDArray[np.float64]:
        """Probability of each word in all topics together: float64 [V]."""
        words: NDArray[np.float64] = self._topics.sample.base_wording() @ self._topics.overall
        return words

    def _specific_words(self, topic: int) -> dict[str, float]:
        """The words of the topic that are shared by the groups and rarer elsewhere, with what each counts, above 0."""
        shared = self._topics.shared[:, topic]
        there = np.flatnonzero((shared > self._everywhere) & (shared > 0))
        scores = shared[there] * np.log(shared[there] / self._everywhere[there])
        best = np.argsort(-scores, kind="stable")[:CANDIDATES]
        return {self._topics.vocabulary[there[i]]: float(scores[i]) for i in best}

    @property
    def _titles(self) -> Tokens | None:
        return words_of_titles(self._corpus)

    @cached_property
    def _titles_with(self) -> NDArray[np.float64]:
        """Share of all documents whose title has each word of titles: float64 [words of titles]."""
        return self._share_with(np.arange(self._corpus.n_documents))

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.bincount(self._corpus.token_document, minlength=self._corpus.n_documents)

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        return self._topics.sample.document_shares()

    def _title_words(self, topic: int) -> dict[str, float]:
        """Words that titles of the topic's strongest documents have and others seldom, with what each counts, above 0."""
        if self._titles is None:
            return {}
        strong = self._strongest(topic)
        here = self._share_with(strong)
        lift = here / np.maximum(self._titles_with, 1e-12)
        counts = (here >= IN_TITLES) & (here * len(strong) >= 2.5) & (lift >= LIFT)
        scores = np.where(counts, here * np.log(np.maximum(lift, 1.0)), 0.0)
        best = np.argsort(-scores, kind="stable")[:CANDIDATES]
        return {self._titles.words[i]: float(scores[i]) for i in best if scores[i] > 0}

    def _strongest(self, topic: int) -> NDArray[np.int64]:
        """Documents in which the topic is strongest, as many of each group, but of none more than a quarter of all it has."""
        corpus, share = self._corpus, self._shares[:, topic]
        of_each = max(3, TITLES // corpus.n_groups)
        score = share + (self._lengths >= MINIMUM_TOKENS)
        return np.concatenate(
            [
                members[np.argsort(-score[members], kind="stable")[: min(of_each, -(-len(members) // 4))]]
                for members in (np.flatnonzero(corpus.document_group == group) for group in range(corpus.n_groups))
            ]
        )

    def _share_with(self, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of these documents whose title has each word: float64 [words of titles]."""
        assert self._titles is not None
        among = np.isin(self._titles.document, documents)
        pairs = np.unique(
            self._titles.document[among].astype(np.int64) * len(self._titles.words) + self._titles.word[among]
        )
        counts = np.bincount(pairs % len(self._titles.words), minlength=len(self._titles.words))
        shares: NDArray[np.float64] = counts / len(documents)
        return shares


def _alike(word: str, other: str) -> bool:
    """Whether two words look like forms of one."""
    return word.startswith(other) or other.startswith(word) or (len(word) > _STEM and word[:_STEM] == other[:_STEM])
