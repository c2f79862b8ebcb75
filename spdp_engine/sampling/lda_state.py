"""The state of LDA on a device: its buffers, and their way back as counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.hyperparameters import draw_symmetric
from spdp_engine.models.lda import LdaCounts, LdaPriors, LdaSample
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.readings import count_tokens
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.state import State, padded_topics
from spdp_engine.types import TokenArrays


class LdaState(State):
    """Counts and totals in device memory.

    The buffers are those that kernels/lda.clh lists as MODEL_ARGUMENTS.
    """

    headers = ("lda.clh",)
    row_multiple = (
        16  # floats in a cache line: so little is done for a token that two workers' rows in one line slow both down
    )
    priors: LdaPriors

    def __init__(
        self, device: Device, queue: cl.CommandQueue, corpus: TokenArrays, topics: int, priors: LdaPriors, workers: int,
        matrices: Matrices | None = None,
    ) -> None:  # fmt: skip
        """Allocates and clears. Arguments as for `SpdpState`.

        Raises:
            SettingsError: there are transformation matrices, which LDA has no use for.
        """
        if matrices is not None:
            raise SettingsError("The model lda has no use for associations. Leave them out, or take the model spdp.")
        super().__init__(device, queue, corpus, topics, priors, workers, ())
        self.word_topics = self.cleared(self.words * self.padded)
        self.worker_scales = self.cleared(self.readers * self.padded)
        self._correct = self.kernel("lda_correct", *self.headers, "lda_correct.cl")

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What MODEL_ARGUMENTS declares, in its order."""
        return (
            self.document_topics, self.word_topics, self.alpha, self.totals, self.worker_totals, self.worker_scales,
            np.float32(self.priors.beta), np.int32(self.words),
        )  # fmt: skip

    def draw_hyperparameters(self, names: Collection[str], rng: np.random.Generator, discount: bool) -> None:
        """See `State.draw_hyperparameters`."""
        super().draw_hyperparameters(names, rng, discount)
        if "beta" in names:
            self.priors = replace(self.priors, beta=draw_symmetric(self.priors.beta, self.read_words(), rng))
            self.correct()

    def read_words(self) -> NDArray[np.int32]:
        """See `State.read_words`: tokens of each word in each topic."""
        return self.read_rows(self.word_topics, self.words)

    def correct(self) -> None:
        """Totals counted anew; nothing else can go wrong."""
        self._correct(self.queue, (self.padded,), None, np.int32(self.words), self.word_topics, self.totals)

    def read_sample(
        self,
        iteration: int,
        modelled: Callable[[], tuple[TokenArrays, NDArray[np.uint16]]],
        words: NDArray[np.int32] | None = None,
    ) -> LdaSample:
        """See `State.read_sample`. The model does not tell groups apart, so the tokens' topics are counted by group here."""
        counts = LdaCounts(self.read_rows(self.document_topics, self.documents), self._count(*modelled()).group_words)
        return LdaSample(iteration, self.priors, counts, self.alphas[self.alpha_row], words)

    def _count(self, corpus: TokenArrays, topics: NDArray[np.uint16]) -> LdaCounts:
        shape = self.groups, self.words, self.topics
        return LdaCounts(*count_tokens(corpus.token_word, corpus.token_document, corpus.document_group, topics, shape))

    @classmethod
    def sample_of(
        cls, iteration: int, priors: LdaPriors, alphas: NDArray[np.float64], corpus: TokenArrays, topics: NDArray[np.uint16],
        shape: tuple[int, int, int], own: Mapping[str, NDArray[Any]], matrices: Matrices | None, words: NDArray[np.int32] | None,
    ) -> LdaSample:  # fmt: skip
        """See `State.sample_of`."""
        counted = count_tokens(corpus.token_word, corpus.token_document, corpus.document_group, topics, shape)
        return LdaSample(iteration, priors, LdaCounts(*counted), alphas, words)

    def write(self, corpus: TokenArrays, topics: NDArray[np.uint16], counts: LdaCounts | None = None) -> None:
        """See `State.write`."""
        if counts is None:
            counts = self._count(corpus, topics)
        self.write_rows(self.document_topics, counts.document_topics)
        self.write_rows(self.word_topics, counts.group_words.sum(axis=0))
        self.correct()

    @classmethod
    def memory_needed(
        cls, corpus: TokenArrays, topics: int, workers: int = 1, matrices: Matrices | None = None
    ) -> dict[str, int]:
        """See `State.memory_needed`."""
        padded = padded_topics(topics, cls.row_multiple)
        return {
            "tokens by document and topic": 4 * len(corpus.document_group) * padded,
            "tokens by word and topic": 4 * corpus.n_words * padded,
            "workers": 8 * workers * padded,
        }
