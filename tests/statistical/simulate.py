"""Corpora drawn from the models' priors, with the state that belongs to them: too large to enumerate, small enough to draw many."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from sample_data.generator import seat
from spdp_engine.models.hyperparameters import CONCENTRATIONS, DISCOUNTS, SMALLEST_PRIOR
from spdp_engine.models.lda import LdaCounts, LdaPriors
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.readings import count_tokens
from spdp_engine.models.spdp import Counts, SpdpPriors
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import Tokens

from .exact import Float


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
        seats: int64 [N], the table of each token, numbered through all documents, where they repeat words; else None.
        alphas: float64 [R, K], priors of topics, a row for each group in SPDP; None: that of the priors.
    """

    corpus: Tokens
    size: Size
    topics: NDArray[np.uint16]
    counts: Any
    matrices: Matrices | None = None
    seats: NDArray[np.int64] | None = None
    alphas: Float | None = None

    def sampler(
        self, model: str, schedule: str, priors: SpdpPriors | LdaPriors, seed: int, workers: int = 1, **more: Any
    ) -> Sampler:
        """One that has not begun, of all tokens. more: of its settings."""
        settings = plain_settings(
            self.size.topics, priors, schedule, workers, seed=seed, held_out=0.0, measure_every=0, model=model,
            associations=self.matrices, repeats=self.seats is not None, **more,
        )  # fmt: skip
        return Sampler(self.corpus, settings)

    def begin(self, sampler: Sampler) -> None:
        """Lays down on the device what was drawn, to the table."""
        schedule, state = sampler._schedule, sampler._state
        if self.alphas is not None:
            state.set_alphas(self.alphas)
        if self.seats is None:
            sampler.start_at(self.topics, self.counts)
            return
        order, repeats = schedule._order, schedule.repeats
        assert repeats is not None
        of_places = self.seats[order]
        tables, at, sizes = np.unique(of_places, return_index=True, return_counts=True)
        run = np.repeat(repeats._firsts, repeats._run_lengths)[at]  # where the run of each table begins
        tables_by_run = np.lexsort((tables, run))
        run = run[tables_by_run]
        place = run + np.arange(len(run)) - np.searchsorted(run, run)
        seated, topics = np.zeros(len(order), np.int32), np.zeros(len(order), np.uint16)
        seated[place] = sizes[tables_by_run]
        topics[place] = self.topics[order][at][tables_by_run]
        repeats.write_seated(seated)
        cl.enqueue_copy(state.queue, schedule._token_topic, topics)
        state.write(*schedule.modelled(), self.counts)
        sampler.iteration = 1


def draw_seats(size: Size, discount: float, concentration: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The table of each token in its document, numbered through the corpus: int64 [N]."""
    seats: list[int] = []
    first = 0
    for _ in range(size.documents):
        sizes: list[int] = []
        for tokens, u in enumerate(rng.random(size.length).tolist()):
            weights = [*(seated - discount for seated in sizes), concentration + discount * len(sizes)]
            table = min(bisect(list(accumulate(weights)), u * (concentration + tokens)), len(sizes))
            if table == len(sizes):
                sizes.append(0)
            sizes[table] += 1
            seats.append(first + table)
        first += len(sizes)
    return np.array(seats)


def draw_topics(of_tables: NDArray[np.integer], alphas: Float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The topic of each of the model's tokens, given its document's shares: int64.

    Args:
        of_tables: tokens of the model in each document, [D].
        alphas: [D, K].
        rng: where draws come from.
    """
    shares = [rng.dirichlet(row) for row in alphas]
    return np.concatenate([rng.choice(len(row), n, p=row) for row, n in zip(shares, of_tables, strict=True)])


@dataclass(frozen=True, eq=False)
class Outline:
    """A corpus before it has words: the document (int32) and topic (int64) of each of the model's tokens, and as in `Drawn`."""

    document: NDArray[np.int32]
    topic: NDArray[np.int64]
    seats: NDArray[np.int64] | None

    def drawn(
        self, size: Size, word: NDArray[np.int32], counts: Any, matrices: Matrices | None, alphas: Float | None
    ) -> Drawn:
        """With words for the model's tokens."""
        of_tokens = np.arange(len(word)) if self.seats is None else self.seats
        corpus = Tokens(word[of_tokens], self.document[of_tokens], size.document_group, size.words, size.groups)
        return Drawn(corpus, size, self.topic[of_tokens].astype(np.uint16), counts, matrices, self.seats, alphas)


def outline(
    size: Size, priors: SpdpPriors | LdaPriors, rng: np.random.Generator, repeats: bool, alphas: Float | None
) -> Outline:
    """Documents with their topics, and with repeats their tables."""
    seats, document = None, size.token_document
    if repeats:
        seats = draw_seats(size, priors.repeat_discount, priors.repeat_concentration, rng)
        _, opener = np.unique(seats, return_index=True)
        document = document[opener]
    rows = np.full((size.groups, size.topics), priors.alpha) if alphas is None else alphas
    rows = np.broadcast_to(rows, (size.groups, size.topics))[size.document_group]
    return Outline(document, draw_topics(np.bincount(document, minlength=size.documents), rows, rng), seats)


def draw_spdp(
    size: Size,
    priors: SpdpPriors,
    rng: np.random.Generator,
    matrices: Matrices | None = None,
    repeats: bool = False,
    alphas: Float | None = None,
) -> Drawn:
    """From SPDP: each group and topic is a restaurant, whose tables draw a base word and, by the group's matrix, a word of it."""
    of_model = outline(size, priors, rng, repeats, alphas)
    topic, document, group = of_model.topic, of_model.document, size.document_group
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
    n, m = count_tokens(word, document, group, topic, (size.groups, size.words, size.topics))
    t = np.zeros((size.groups * size.words, size.topics), np.int32)
    np.add.at(t, pattern.row, associated)
    counts = Counts(n, m, t.reshape(m.shape), associated if matrices else None)
    return of_model.drawn(size, word, counts, matrices, alphas)


def draw_lda(
    size: Size, priors: LdaPriors, rng: np.random.Generator, repeats: bool = False, alphas: Float | None = None
) -> Drawn:
    """From LDA."""
    of_model = outline(size, priors, rng, repeats, alphas)
    topic, document, group = of_model.topic, of_model.document, size.document_group
    wording = rng.dirichlet(np.full(size.words, priors.beta), size.topics)
    word = np.zeros(len(topic), np.int32)
    for k in range(size.topics):
        here = topic == k
        word[here] = rng.choice(size.words, here.sum(), p=wording[k])
    counts = LdaCounts(*count_tokens(word, document, group, topic, (size.groups, size.words, size.topics)))
    return of_model.drawn(size, word, counts, None, alphas)


Draw = Callable[[Size, Any, np.random.Generator], Drawn]


# ---- hyperparameters, from the priors that spdp_engine/models/hyperparameters.py names ------------------------------


def draw_alphas(rows: int, topics: int, rng: np.random.Generator) -> Float:
    """alpha[i, k] ~ Gamma(1, rate r_k), and r_k ~ Gamma(1, rate 0.1): float64 [R, K]."""
    rate = rng.gamma(1.0, 1 / 0.1, topics)
    return np.maximum(rng.gamma(1.0, 1 / rate, (rows, topics)), SMALLEST_PRIOR)


def place_of_alpha(alphas: Float) -> Float:
    """The probability of less, of each by itself."""
    return alphas / (0.1 + alphas)


def draw_symmetric(rng: np.random.Generator) -> float:
    """gamma of SPDP and beta of LDA ~ Gamma(1, 1)."""
    return max(rng.gamma(1.0), SMALLEST_PRIOR)


def place_of_symmetric(prior: float) -> float:
    """The probability of less."""
    return float(1 - np.exp(-prior))


def draw_concentration(rng: np.random.Generator) -> float:
    """b ~ 1/(b + 100)^2 between its bounds."""
    low, high = map(place_of_concentration, CONCENTRATIONS)
    place = rng.uniform(low, high)
    return 100 * place / (1 - place)


def place_of_concentration(concentration: float) -> float:
    """The probability of less, were there no bounds."""
    return concentration / (100 + concentration)


def draw_discount(rng: np.random.Generator) -> float:
    """a ~ uniform between its bounds, which makes it its own place."""
    return rng.uniform(*DISCOUNTS)
