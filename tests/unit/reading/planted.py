"""Documents with a sample written by hand, so that what is read of them can be compared with what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus import Columns, Corpus, CorpusSettings, Documents, build_corpus
from spdp_engine.topics import Topics, read_topics
from spdp_engine.topics.belonging import Belonging

ALL_WORDS = CorpusSettings(
    language="none", minimum_documents=1, maximum_share=1.0, minimum_length=1, keep_numbers=True, passages=False
)


@dataclass(frozen=True, eq=False)
class Planted:
    """A sample that is what it is told to be: phi [I, V, K] and theta [D, K]."""

    wordings: NDArray[np.float64]
    shares: NDArray[np.float64]
    iteration: int = 1
    priors: Any = None
    counts: Any = None

    def base_wording(self) -> NDArray[np.float64]:
        base: NDArray[np.float64] = self.wordings.mean(axis=0)
        return base

    def group_wordings(self) -> NDArray[np.float64]:
        return self.wordings

    def group_topic_tokens(self) -> NDArray[np.float64]:
        return np.full((self.wordings.shape[0], self.wordings.shape[2]), 100.0)

    def group_word_tokens(self, topic: int) -> NDArray[np.float64]:
        return 100 * self.wordings[:, :, topic]

    def document_shares(self) -> NDArray[np.float64]:
        return self.shares


def documents(
    texts: Sequence[str],
    groups: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    dates: Sequence[str] | None = None,
    fields: Mapping[str, Sequence[str | None]] | None = None,
) -> Documents:
    """Rows as they come out of a file."""
    blank = ("",) * len(texts)
    table = pd.DataFrame(dict(fields or {}), dtype="str", index=pd.RangeIndex(len(texts)))
    return Documents(
        tuple(texts), tuple(groups or ["All"] * len(texts)), tuple(titles or blank), tuple(dates or blank), table,
        Columns("text", "group"), (), (),
    )  # fmt: skip


def corpus_of(
    texts: Sequence[str],
    groups: Sequence[str] | None = None,
    settings: CorpusSettings = ALL_WORDS,
    **columns: Any,
) -> Corpus:
    """Every word of the texts is in the vocabulary."""
    return build_corpus(documents(texts, groups, **columns), settings)


def topics_of(corpus: Corpus, topic_of: Mapping[str, int], shares: NDArray[np.float64]) -> Topics:
    """Each word nearly always of its topic; words that are not named are of all topics alike."""
    topics = shares.shape[1]
    wordings = np.ones((corpus.n_groups, corpus.n_words, topics))
    for number, word in enumerate(corpus.vocabulary):
        if word in topic_of:
            wordings[:, number] = 0.01
            wordings[:, number, topic_of[word]] = 1.0
    wordings /= wordings.sum(axis=1).max()  # words that are not named stay alike in all topics
    return read_topics(Planted(wordings, shares), corpus.vocabulary, corpus.group_names)  # type: ignore[arg-type]


def belonging_of(corpus: Corpus, topic_of: Mapping[str, int], shares: Sequence[Sequence[float]]) -> Belonging:
    """To which topics words belong, where theta [D][K] is known."""
    return Belonging(corpus, topics_of(corpus, topic_of, np.array(shares, np.float64)))
