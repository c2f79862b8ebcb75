"""Corpora drawn from the models' priors, with the state that belongs to them: too large to enumerate, small enough to draw many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sample_data.generator import seat
from spdp_engine.models.lda import LdaCounts, LdaPriors
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.readings import count_tokens
from spdp_engine.models.spdp import Counts, SpdpPriors
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import Tokens


@dataclass(frozen=True)
class Size:
    """Groups I, documents D, words V, topics K, and the tokens of a document."""

    groups: int
    documents: int
    words: int
    topics: int
    length: int

    @property
    def token_document(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(self.documents, dtype=np.int32), self.length)

    @property
    def document_group(self) -> NDArray[np.int32]:
        return np.arange(self.documents, dtype=np.int32) % self.groups


@dataclass(frozen=True, eq=False)
class Drawn:
    """A corpus, and what it was drawn with.

    Attributes:
        corpus: the tokens.
        size: of it.
        topics: uint16 [N], the topic of each token.
        counts: the model's.
        matrices: SPDP's, None for the identity.
    """

    corpus: Tokens
    size: Size
    topics: NDArray[np.uint16]
    counts: Any
    matrices: Matrices | None = None

    def sampler(
        self, model: str, schedule: str, priors: SpdpPriors | LdaPriors, seed: int, workers: int = 1
    ) -> Sampler:
        """One that has not begun, of all tokens."""
        settings = plain_settings(
            self.size.topics, priors, schedule, workers, seed=seed, held_out=0.0, measure_every=0, model=model,
            associations=self.matrices,
        )  # fmt: skip
        return Sampler(self.corpus, settings)


def draw_topics(size: Size, alpha: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The topic of each token, given its document's shares: int64 [N]."""
    shares = rng.dirichlet(np.full(size.topics, alpha), size.documents)
    return np.concatenate([rng.choice(size.topics, size.length, p=row) for row in shares])


def draw_spdp(size: Size, priors: SpdpPriors, rng: np.random.Generator, matrices: Matrices | None = None) -> Drawn:
    """From SPDP: each group and topic is a restaurant, whose tables draw a base word and, by the group's matrix, a word of it."""
    topic, document, group = draw_topics(size, priors.alpha, rng), size.token_document, size.document_group
    pattern = matrices or Matrices.identity(size.groups, size.words)
    word = np.zeros(len(topic), np.int32)
    associated = np.zeros((len(pattern.base_word), size.topics), np.int32)
    base = rng.dirichlet(np.full(size.words, priors.gamma), size.topics)
    for i in range(size.groups):
        entries = slice(pattern.starts[i * size.words], pattern.starts[(i + 1) * size.words])
        for k in range(size.topics):
            here = np.flatnonzero((group[document] == i) & (topic == k))
            probability = pattern.weight[entries] * base[k, pattern.base_word[entries]]
            served, opened = seat(
                len(here), probability / probability.sum(), priors.discount, priors.concentration, rng
            )
            word[here] = pattern.row[entries][served] % size.words
            associated[entries, k] = np.bincount(served[opened], minlength=len(probability))
    corpus = Tokens(word, document, group, size.words, size.groups)
    n, m = count_tokens(word, document, group, topic, (size.groups, size.words, size.topics))
    t = np.zeros((size.groups * size.words, size.topics), np.int32)
    np.add.at(t, pattern.row, associated)
    counts = Counts(n, m, t.reshape(m.shape), associated if matrices else None)
    return Drawn(corpus, size, topic.astype(np.uint16), counts, matrices)


def draw_lda(size: Size, priors: LdaPriors, rng: np.random.Generator) -> Drawn:
    """From LDA."""
    topic, document, group = draw_topics(size, priors.alpha, rng), size.token_document, size.document_group
    wording = rng.dirichlet(np.full(size.words, priors.beta), size.topics)
    word = np.zeros(len(topic), np.int32)
    for k in range(size.topics):
        here = topic == k
        word[here] = rng.choice(size.words, here.sum(), p=wording[k])
    corpus = Tokens(word, document, group, size.words, size.groups)
    counts = LdaCounts(*count_tokens(word, document, group, topic, (size.groups, size.words, size.topics)))
    return Drawn(corpus, size, topic.astype(np.uint16), counts)


Draw = Callable[[Size, Any, np.random.Generator], Drawn]
