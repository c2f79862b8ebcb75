"""Corpora whose truth is known, to see whether intervals hold it: drawn from the model, and with planted words beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sample_data.generator import seat
from spdp_engine.corpus import Corpus, corpus_from_arrays

Float = NDArray[np.float64]

TOPICS, WORDS = 8, 800

DISCOUNT, CONCENTRATION = 0.5, 200.0
"""Of the groups' wordings where they are drawn from the model."""

SEATED = 60_000
"""Tokens from which such a wording is taken."""

PLANTED = 20
"""Words of a topic that are planted, among its `AMONG` most probable."""

AMONG = 100

STRONGEST = 2.5
"""Log-odds between two groups of planted words in the topic where they differ most; topics have equal steps from 0 to it."""

SHARES, UNEQUAL = 1.5, 0.6
"""Concentration of topics in a document, and the standard deviation of the logarithms by which groups' topics differ."""

LENGTH, UNEVEN = 100, 0.5
"""Mean tokens of a document, and the standard deviation of their logarithm."""

REPEAT_DISCOUNT, REPEAT_CONCENTRATION = 0.3, 20.0
"""With which documents repeat their words, where they do."""

PROLIFIC = 1_200
"""Tokens of the document that says more than others, where there is one: a sixth of its group's."""


@dataclass(frozen=True)
class Kind:
    """A way to draw a corpus.

    Attributes:
        name: what results call it.
        what: the same for readers.
        sizes: documents of each group; the seeds take them in turn.
        model: whether wordings are the model's; else words are planted.
        differs: whether groups differ, in topics and in wordings.
        bursty: whether documents repeat words, and one document of the last group says more than others.
    """

    name: str
    what: str
    sizes: tuple[tuple[int, ...], ...] = ((300, 60),)
    model: bool = False
    differs: bool = True
    bursty: bool = False


_BY_THREE = (150, 150), (100, 80, 60), (300, 60)
KINDS = {
    kind.name: kind
    for kind in (
        Kind("model", "wordings are the model’s, so that every word differs a little", _BY_THREE, model=True),
        Kind("planted", f"{PLANTED} words of a topic are worded differently: in one topic not at all, in the others more and more"),
        Kind("bursty", "the same, and documents repeat words, and one document says a sixth of all in its group", bursty=True),
        Kind("alike", "as `bursty`, but groups do not differ, in topics or in wordings", differs=False, bursty=True),
    )
}  # fmt: skip
"""By name. Groups have 300 and 60 documents; in `model` also 150 and 150, or 100, 80 and 60."""


@dataclass(frozen=True, eq=False)
class PlantedCorpus:
    """A drawn corpus and its truth.

    Attributes:
        corpus: documents, and their groups.
        topics: int32 [N], the topic each token was drawn from.
        shares: float64 [I, K], what a group's documents have of each topic on average.
        wordings: float64 [I, V, K].
    """

    corpus: Corpus
    topics: NDArray[np.int32]
    shares: Float
    wordings: Float

    @property
    def gaps(self) -> Float:
        """Root of the mean squared Hellinger distance over pairs of groups: float64 [K]."""
        roots = np.sqrt(self.wordings)
        pairs = [(i, j) for i in range(len(roots)) for j in range(i)]
        return np.sqrt(np.mean([1 - (roots[i] * roots[j]).sum(axis=0) for i, j in pairs], axis=0).clip(0))

    def log_odds(self, topic: int, words: NDArray[np.integer], tokens: Float) -> Float:
        """Of words in each group against all others together, which weigh as their tokens do: float64 [I, W]. tokens: [I]."""
        own = self.wordings[:, words, topic]
        others = ((own * tokens[:, None]).sum(axis=0) - own * tokens[:, None]) / (tokens.sum() - tokens)[:, None]
        return np.log(own / (1 - own)) - np.log(others / (1 - others))


def planted_corpus(kind: Kind, seed: int) -> PlantedCorpus:
    """Draws a corpus; the same arguments give the same one."""
    rng = np.random.default_rng([seed, *kind.name.encode()])
    sizes = kind.sizes[seed % len(kind.sizes)]
    wordings = _model_wordings(len(sizes), rng) if kind.model else _planted_wordings(len(sizes), kind.differs, rng)
    common = rng.gamma(8.0, size=TOPICS)
    spread = UNEQUAL if kind.differs else 0.0
    alphas = common * np.exp(spread * rng.standard_normal((len(sizes), TOPICS)))
    alphas *= SHARES / alphas.sum(axis=1, keepdims=True)
    group = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.maximum(8, LENGTH * np.exp(UNEVEN * rng.standard_normal(len(group)) - UNEVEN**2 / 2)).astype(np.int64)
    if kind.bursty:
        lengths[-1] = PROLIFIC
    drawn = [
        _document(alphas[i], wordings[i], length, kind.bursty, rng) for i, length in zip(group, lengths, strict=True)
    ]
    topics, words = (np.concatenate(part) for part in zip(*drawn, strict=True))
    names = [f"w{word}" for word in range(WORDS)]
    corpus = corpus_from_arrays(words, np.repeat(np.arange(len(group)), lengths), group, names)
    return PlantedCorpus(corpus, topics.astype(np.int32), alphas / alphas.sum(axis=1, keepdims=True), wordings)


def _model_wordings(groups: int, rng: np.random.Generator) -> Float:
    """phi0[k] ~ Dirichlet(0.05), phi[i, k] ~ PDP(a, b, phi0[k]): float64 [I, V, K]."""
    base = np.maximum(rng.dirichlet(np.full(WORDS, 0.05), TOPICS), 1e-12)
    base /= base.sum(axis=1, keepdims=True)
    wordings = np.empty((groups, WORDS, TOPICS))
    for group in range(groups):
        for topic in range(TOPICS):
            words, opened = seat(SEATED, base[topic], DISCOUNT, CONCENTRATION, rng)
            counts, tables = (np.bincount(which, minlength=WORDS) for which in (words, words[opened]))
            rest = (CONCENTRATION + DISCOUNT * tables.sum()) * base[topic]
            wordings[group, :, topic] = (counts - DISCOUNT * tables + rest) / (CONCENTRATION + SEATED)
    return wordings


def _planted_wordings(groups: int, differs: bool, rng: np.random.Generator) -> Float:
    """Wordings of few main words and many rare ones, of which some are likelier in one group: float64 [I, V, K]."""
    zipf = 1 / np.arange(5, WORDS + 5)
    prior = 40 * zipf / zipf.sum()
    base = np.maximum([rng.dirichlet(rng.permutation(prior)) for _ in range(TOPICS)], 1e-7)
    wordings = np.repeat(base.T[None], groups, axis=0)
    if differs:
        for topic, effect in enumerate(np.linspace(0, STRONGEST, TOPICS)):
            words = rng.choice(np.argsort(-base[topic])[:AMONG], PLANTED, replace=False)
            for group in range(groups):
                likelier = np.arange(PLANTED) % groups == group
                wordings[group, words, topic] *= np.exp(effect * (likelier - 1 / groups))
    wordings /= wordings.sum(axis=1, keepdims=True)
    return wordings


def _document(
    alphas: Float, wordings: Float, length: int, bursty: bool, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Topics and words of a document. alphas: [K]; wordings: [V, K]."""
    topics = rng.choice(TOPICS, length, p=rng.dirichlet(alphas))
    words = np.empty(length, np.int32)
    for topic in np.unique(topics):
        here = np.flatnonzero(topics == topic)
        wording = wordings[:, topic]
        if bursty:
            words[here] = seat(len(here), wording, REPEAT_DISCOUNT, REPEAT_CONCENTRATION, rng)[0]
        else:
            words[here] = rng.choice(WORDS, len(here), p=wording)
    return topics, words
