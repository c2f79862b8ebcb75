"""How good the topics of a run are: whether their words belong together, and whether topics are about different things.

quality = measure_quality(topics, corpus)
quality = measure_quality(topics, corpus, read_reference("wikipedia.jsonl.gz", corpus))
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.corpus.reference import Reference, own_texts
from spdp_engine.errors import SettingsError
from spdp_engine.measures.coherence import WINDOW, topic_coherence
from spdp_engine.measures.diversity import WORDS as DIVERSITY_WORDS
from spdp_engine.measures.diversity import topic_diversity
from spdp_engine.topics.reading import Topics

COHERENCE_WORDS = 10
"""Most probable words of a topic whose pairs are looked at, as in the thesis and in most that has been published."""


@dataclass(frozen=True, eq=False)
class TopicQuality:
    """Coherence and diversity of K topics, each in its words that all groups share and in each of I groups' words.

    For what NPMI and PMI are, and which rules they follow, see `measures.coherence`; for diversity `measures.diversity`.

    Attributes:
        npmi: float64 [K], of the words that all groups share; NaN for a topic of fewer than two words.
        pmi: float64 [K], likewise.
        group_npmi: float64 [I, K], of each group's most probable words.
        group_pmi: float64 [I, K], likewise.
        diversity: of the topics' shared words.
        group_diversity: float64 [I], of each group's words.
        group_names: I names.
        window: words in a window; None: whole documents.
        reference: the name of the text in which words were looked for.
        reference_documents: its documents.
        reference_tokens: its words of the vocabulary.
        reference_windows: its windows.
        missing: words whose coherence was asked and that the reference never holds, by the vocabulary's order.
        coherence_words: words of a topic that coherence looks at.
        diversity_words: words of a topic that diversity looks at.
    """

    npmi: NDArray[np.float64]
    pmi: NDArray[np.float64]
    group_npmi: NDArray[np.float64]
    group_pmi: NDArray[np.float64]
    diversity: float
    group_diversity: NDArray[np.float64]
    group_names: tuple[str, ...]
    window: int | None
    reference: str
    reference_documents: int
    reference_tokens: int
    reference_windows: int
    missing: tuple[str, ...] = field(repr=False)
    coherence_words: int = COHERENCE_WORDS
    diversity_words: int = DIVERSITY_WORDS

    @property
    def mean_npmi(self) -> float:
        """The mean over topics; NaN where no topic has two words."""
        return _mean(self.npmi)

    @property
    def mean_pmi(self) -> float:
        """The mean over topics, likewise."""
        return _mean(self.pmi)

    @property
    def total_pmi(self) -> float:
        """The sum over topics, which is the thesis's score of a run (its section 10.2.1): it grows with their number."""
        return float(np.nansum(self.pmi))

    @property
    def mean_group_npmi(self) -> NDArray[np.float64]:
        """The mean over topics in each group's words: float64 [I]."""
        return np.array([_mean(row) for row in self.group_npmi])

    @property
    def mean_group_pmi(self) -> NDArray[np.float64]:
        """The mean over topics in each group's words: float64 [I]."""
        return np.array([_mean(row) for row in self.group_pmi])

    def summary(self) -> dict[str, Any]:
        """All of it as plain values for a file; None where there is no number. Topics count from 1."""
        by_group = (self.mean_group_npmi, self.mean_group_pmi, self.group_diversity)
        return {
            "npmi": _plain(self.mean_npmi),
            "pmi": _plain(self.mean_pmi),
            "pmi_total": _plain(self.total_pmi),
            "diversity": _plain(self.diversity),
            "groups": {
                name: {"npmi": _plain(npmi), "pmi": _plain(pmi), "diversity": _plain(diversity)}
                for name, npmi, pmi, diversity in zip(self.group_names, *by_group, strict=True)
            },
            "topics": [
                {
                    "topic": topic + 1,
                    "npmi": _plain(self.npmi[topic]),
                    "pmi": _plain(self.pmi[topic]),
                    "groups": {
                        name: {"npmi": _plain(self.group_npmi[i, topic]), "pmi": _plain(self.group_pmi[i, topic])}
                        for i, name in enumerate(self.group_names)
                    },
                }
                for topic in range(len(self.npmi))
            ],
            "window": self.window,
            "coherence_words": self.coherence_words,
            "diversity_words": self.diversity_words,
            "reference": {
                "name": self.reference,
                "documents": self.reference_documents,
                "tokens": self.reference_tokens,
                "windows": self.reference_windows,
                "missing_words": list(self.missing),
            },
        }


def measure_quality(
    topics: Topics,
    corpus: Corpus,
    reference: Reference | None = None,
    *,
    window: int | Literal["auto"] | None = "auto",
    coherence_words: int = COHERENCE_WORDS,
    diversity_words: int = DIVERSITY_WORDS,
) -> TopicQuality:
    """Measures a run's topics by their most probable words.

    Windows run over the words that the corpus keeps, without stop words and rare ones, since these are the words that topics are
    made of: between two of them there may be more or fewer everyday words, and that says nothing of whether they belong together.

    In a corpus of words that were cut before (`CorpusSettings.pretokenised`) the order is often lost: sorted or counted words
    have neighbours by chance. There whole documents are the windows, unless a window is asked for.

    Args:
        topics: of a sample that was fitted to `corpus`.
        corpus: the corpus.
        reference: the text in which words are looked for, read for this corpus; None: the corpus itself.
        window: words in a window; None: whole documents; 'auto': ten words, or whole documents where the order may be lost.
        coherence_words: most probable words of a topic whose pairs are looked at; all where there are fewer.
        diversity_words: most probable words of a topic that are counted; all where there are fewer.

    Raises:
        SettingsError: the reference was read for another vocabulary, or a number is too small.
    """
    reference = reference or own_texts(corpus)
    if not topics.vocabulary == corpus.vocabulary == reference.vocabulary:
        raise SettingsError(
            f"The topics, the documents and the reference ({reference.name}) have different vocabularies; read the reference "
            "again after changing which words are kept."
        )
    if coherence_words < 2 or diversity_words < 1:
        raise SettingsError(
            f"Coherence needs 2 or more words of each topic and diversity 1 or more; {coherence_words} and {diversity_words} "
            "were asked for."
        )
    if window == "auto":
        window = None if corpus.settings.pretokenised else WINDOW
    wordings = _most_probable(topics, max(coherence_words, diversity_words))
    found = topic_coherence(
        reference.token_word,
        reference.token_document,
        [words[:coherence_words] for lists in wordings for words in lists],
        window,
    )
    npmi, pmi = (values.reshape(len(wordings), topics.n_topics) for values in (found.npmi, found.pmi))
    diversity = np.array([topic_diversity([words[:diversity_words] for words in lists]) for lists in wordings])
    return TopicQuality(
        npmi=npmi[0],
        pmi=pmi[0],
        group_npmi=npmi[1:],
        group_pmi=pmi[1:],
        diversity=float(diversity[0]),
        group_diversity=diversity[1:],
        group_names=topics.group_names,
        window=window,
        reference=reference.name,
        reference_documents=reference.documents,
        reference_tokens=found.tokens,
        reference_windows=found.windows,
        missing=tuple(topics.vocabulary[word] for word in found.missing.tolist()),
        coherence_words=coherence_words,
        diversity_words=diversity_words,
    )


def _most_probable(topics: Topics, count: int) -> list[list[NDArray[np.int64]]]:
    """The numbers of the words that a person sees, [1 + I][K]: those all groups share, then each group's, K lists each."""
    number = {word: index for index, word in enumerate(topics.vocabulary)}
    lists: list[list[NDArray[np.int64]]] = [[] for _ in range(1 + len(topics.group_names))]
    for topic in range(topics.n_topics):
        groups = ([word.word for word in words] for words in topics.top_words(topic, count))
        for words, into in zip((topics.shared_words(topic, count), *groups), lists, strict=True):
            into.append(np.array([number[word] for word in words], np.int64))
    return lists


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
