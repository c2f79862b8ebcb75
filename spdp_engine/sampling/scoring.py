"""Tokens that were never trained on, on the device, and their probabilities."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.sampling.schedules import Schedule
from spdp_engine.sampling.state import State
from spdp_engine.types import ScoredTokens, TokenArrays

CHUNK = 256
"""Tokens whose logarithms one work-item adds up."""


class Scorer:
    """Scored tokens, their probabilities now, and those probabilities' running sums over samples.

    Attributes:
        tokens: how many.
        samples: how many samples are in the sums.
    """

    def __init__(self, state: State, schedule: Schedule, training: TokenArrays, scored: ScoredTokens) -> None:
        """Lays the tokens out; nothing happens where there are none.

        Args:
            state: of the model.
            schedule: of the training tokens.
            training: the tokens that are trained on.
            scored: those that are not.
        """
        self._state, self._schedule = state, schedule
        self.tokens, self.samples = len(scored.token_word), 0
        if not self.tokens:
            return
        words, documents = scored.token_word, scored.token_document
        order = np.lexsort((documents, training.document_group[documents], words))
        words, documents = words[order], documents[order]
        places = schedule.repeats.places(words, documents) if schedule.repeats else np.zeros(1, np.int32)
        lengths = np.bincount(training.token_document, minlength=len(training.document_group))
        self._word, self._document, self._place, self._lengths, self._no_lengths = (
            state.copied(array.astype(np.int32)) for array in (words, documents, places, lengths, 0 * lengths)
        )
        self._chunks = -(-self.tokens // CHUNK)
        self._sums = np.empty((2, self._chunks), np.float32)
        self._sums_buffer = cl.Buffer(context_of(state.device), cl.mem_flags.WRITE_ONLY, self._sums.nbytes)
        self._likelihood, self._likelihood_sum = state.cleared(self.tokens), state.cleared(self.tokens)
        constants = {**state.constants, "CHUNK": CHUNK, **({"REPEATS": 1} if schedule.repeats else {})}
        self._kernel = cl.Kernel(build_program(state.device, (*state.headers, "held_out.cl"), constants), "held_out")

    def perplexities(self, trained: bool, add: bool = False) -> tuple[float, float | None]:
        """Perplexity now, and of the mean over samples, None without any. There must be tokens.

        Args:
            trained: whether tokens have topics yet.
            add: whether this is a sample for the mean.
        """
        self.samples += add
        self._measure(trained, self.samples if add else 0)
        cl.enqueue_copy(self._state.queue, self._sums, self._sums_buffer)
        now, mean = np.exp(-self._sums.sum(axis=1, dtype=np.float64) / self.tokens)
        return float(now), float(mean) if add else None

    def likelihoods(self, trained: bool) -> NDArray[np.float64]:
        """Each token's probability now, always in the same order: float64 [tokens]."""
        if self.tokens:
            self._measure(trained, 0)
        return self._read("_likelihood")

    def mean_likelihoods(self) -> NDArray[np.float64]:
        """Their means over samples: float64 [tokens]; all 0 without samples."""
        return self._read("_likelihood_sum") / max(1, self.samples)

    def mean_perplexity(self) -> float | None:
        """Perplexity of the mean over the samples until now; None without any."""
        return float(np.exp(-np.log(self.mean_likelihoods()).mean())) if self.samples else None

    @property
    def sums(self) -> NDArray[np.float32]:
        """Running sums of probabilities over samples: float32 [tokens]. Waits for the device."""
        return self._read("_likelihood_sum").astype(np.float32)

    def restore(self, sums: NDArray[np.float32], samples: int) -> None:
        """Goes on from `sums` over so many samples."""
        self.samples = samples
        if self.tokens:
            cl.enqueue_copy(self._state.queue, self._likelihood_sum, np.ascontiguousarray(sums))

    def _read(self, name: str) -> NDArray[np.float64]:
        likelihood = np.empty(self.tokens, np.float32)
        if self.tokens:
            cl.enqueue_copy(self._state.queue, likelihood, getattr(self, name))
        return likelihood.astype(np.float64)

    def _measure(self, trained: bool, samples: int) -> None:
        state = self._state
        self._kernel(
            state.queue, (state.readers,), (1,), np.int32(self.tokens), np.int32(self._chunks), np.int32(samples),
            self._word, self._document, self._place, self._lengths if trained else self._no_lengths, state.document_prior,
            self._likelihood, self._likelihood_sum, self._sums_buffer, *self._schedule.repeat_arguments, *state.arguments,
        )  # fmt: skip
