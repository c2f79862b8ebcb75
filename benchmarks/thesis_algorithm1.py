"""The host of `thesis_algorithm1.cl`: the thesis's Algorithm 1 with the face of the engine's sampler."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.models.spdp import Counts, SpdpPriors, SpdpSample
from spdp_engine.models.stirling import Seating, seating
from spdp_engine.sampling.devices import choose_device
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.types import Iteration, TokenArrays

KERNEL = Path(__file__).with_name("thesis_algorithm1.cl")

NEVER = -1e4
"""Logarithm of a ratio that is 0. Finite, since the kernels are built for finite numbers; its exponential is 0 all the same."""


class ThesisAlgorithm1:
    """A run of the thesis's Algorithm 1: one work-item, one token after another, everything computed anew for each.

    Attributes:
        held_out: bool [N], which tokens are held out: the same as the engine's `Sampler` holds out for the same seed.
        training_tokens: how many are not.
        iteration: iterations done.
    """

    def __init__(
        self,
        corpus: TokenArrays,
        topics: int,
        priors: SpdpPriors | None = None,
        device: str | None = None,
        seed: int = 1,
        held_out: float = 0.1,
    ) -> None:
        """Lays corpus, counts and tables out on the device. Nothing is sampled yet.

        Args:
            corpus: the tokens.
            topics: K.
            priors: hyperparameters; None: the defaults.
            device: part of a device's name; None: the engine's choice.
            seed: same seed, same bits.
            held_out: share of the documents of which half the tokens are held out.
        """
        self.device = choose_device(device)
        self.priors = priors or SpdpPriors()
        self.held_out = choose_held_out(corpus, held_out, seed)
        self.iteration = 0
        self._corpus, self._topics, self._seed = corpus, topics, seed
        self._elapsed = 0.0
        word, document = corpus.token_word[~self.held_out], corpus.token_document[~self.held_out]
        self.training_tokens = len(word)

        # Documents in random order, as the engine's sequential schedule has them: files often hold one group after another.
        rank = np.random.default_rng([seed, 0x7E51]).permutation(len(corpus.document_group))
        self._order = np.argsort(rank[document], kind="stable")
        cells = corpus.document_group[document].astype(np.int64) * corpus.n_words + word
        table = seating(self.priors.discount, int(np.bincount(cells).max()) + 1)

        self._queue = cl.CommandQueue(context_of(self.device))
        program = build_program(self.device, (str(KERNEL),), {"TOPICS": topics})  # a whole path stands for itself
        self._kernel = cl.Kernel(program, "thesis_algorithm1")
        self._tokens = [
            self._copied(array) for array in (word[self._order], document[self._order], corpus.document_group)
        ]
        self._token_topic = self._cleared(self.training_tokens)
        groups, words = corpus.n_groups, corpus.n_words
        self._shapes = [
            (len(corpus.document_group),),
            (groups, words),
            (groups, words),
            (words,),
            (groups,),
            (groups,),
            (),
        ]
        self._counts = [self._cleared(math.prod(shape) * topics) for shape in self._shapes]
        self._tables = self._copied(log_ratios(table))
        self._numbers = (
            np.int32(table.width), np.int32(words), np.float32(self.priors.alpha), np.float32(self.priors.gamma),
            np.float32(self.priors.discount), np.float32(self.priors.concentration),
        )  # fmt: skip
        self._queue.finish()

    def step(self) -> Iteration:
        """Runs one iteration; the first gives every token its first topic. Perplexity is not measured on the way."""
        begin = time.perf_counter()
        self._kernel(
            self._queue, (1,), (1,), np.int32(self.iteration == 0), np.uint32(self._seed), np.uint32(self.iteration),
            np.int32(self.training_tokens), *self._tokens, self._token_topic, *self._counts, self._tables, *self._numbers,
        )  # fmt: skip
        self._queue.finish()
        seconds = time.perf_counter() - begin
        self.iteration += 1
        self._elapsed += seconds
        return Iteration(self.iteration, seconds, self._elapsed, self.training_tokens / seconds, None)

    def inspect(self) -> SpdpSample:
        """A copy of the state as of the last iteration."""
        n, m, t = (self._read(index) for index in range(3))
        return SpdpSample(self.iteration, self.priors, Counts(document_topics=n, customers=m, tables=t))

    def sums(self) -> tuple[NDArray[np.int32], ...]:
        """The sums as the device keeps them: q [V, K]; M and T [I, K]; Q [K]."""
        return tuple(self._read(index) for index in range(3, 7))

    def topics(self) -> NDArray[np.int32]:
        """The topic of each training token, in the order of the corpus without its held-out tokens: int32."""
        laid_out = np.empty(self.training_tokens, np.int32)
        cl.enqueue_copy(self._queue, laid_out, self._token_topic)
        topics = np.empty_like(laid_out)
        topics[self._order] = laid_out
        return topics

    def perplexity(self) -> float:
        """Held-out perplexity now."""
        return held_out_perplexity(self.inspect(), self._corpus, self.held_out)

    def _copied(self, array: NDArray[np.generic]) -> cl.Buffer:
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context_of(self.device), flags, hostbuf=np.ascontiguousarray(array))

    def _cleared(self, count: int) -> cl.Buffer:
        buffer = cl.Buffer(context_of(self.device), cl.mem_flags.READ_WRITE, 4 * count)
        cl.enqueue_fill_buffer(self._queue, buffer, np.zeros(1, np.int32), 0, 4 * count)
        return buffer

    def _read(self, index: int) -> NDArray[np.int32]:
        counts = np.empty((*self._shapes[index], self._topics), np.int32)
        cl.enqueue_copy(self._queue, counts, self._counts[index])
        return counts


def log_ratios(table: Seating) -> NDArray[np.float32]:
    """Logarithms of S(m+1, t)/S(m, t) and S(m+1, t+1)/S(m, t), float32 [cells, 2], `NEVER` where a ratio is 0.

    Args:
        table: how customers sit, for one customer more than m can be. Cells are laid out as there.
    """
    m = np.arange(table.maximum_customers)
    lengths = np.minimum(m + 1, table.width)
    t = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
    m = np.repeat(m, lengths)
    logs = np.full((len(m), 2), NEVER, np.float32)
    old, new = t > 0, ((t > 0) | (m == 0)) & (t < table.table_limit)
    joins = m[old] - table.discount * t[old]
    logs[old, 0] = np.log(joins) - np.log1p(-table.alone[table.index(m[old] + 1, t[old])].astype(np.float64))
    logs[new, 1] = -np.log(table.alone[table.index(m[new] + 1, t[new] + 1)].astype(np.float64))
    return logs


def held_out_perplexity(sample: SpdpSample, corpus: TokenArrays, held_out: NDArray[np.bool_]) -> float:
    """exp(-mean log sum_k theta[d, k] phi[i, k, w]) over held-out tokens, plainly, in double precision."""
    word, document = corpus.token_word[held_out], corpus.token_document[held_out]
    wordings = sample.group_wordings()[corpus.document_group[document], word]
    probability = np.einsum("lk,lk->l", wordings, sample.document_shares()[document])
    return math.exp(-float(np.log(probability).mean()))
