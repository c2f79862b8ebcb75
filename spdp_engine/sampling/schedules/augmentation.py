"""Parameters given topics, then topics given parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from spdp_engine.sampling.lda_state import LdaState
from spdp_engine.sampling.schedules.sequential import Sequential
from spdp_engine.sampling.state import padded_topics
from spdp_engine.types import TokenArrays


class DataAugmentation(Sequential):
    """LDA's theta and phi are drawn given the topics, then all topics given theta and phi: exact Gibbs sampling, uncollapsed.

    The first pass goes token by token, as in `sequential`.
    """

    takes_repeats = False
    takes_tempering = False
    _state: LdaState

    @classmethod
    def memory_needed(cls, corpus: TokenArrays, topics: int) -> dict[str, int]:
        """See `Schedule.memory_needed`: theta and phi."""
        padded = padded_topics(topics, LdaState.row_multiple)
        return {
            **super().memory_needed(corpus, topics),
            "theta": 4 * len(corpus.document_group) * padded,
            "phi": 4 * corpus.n_words * padded,
        }

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        names = "draw_shares", "draw_wordings", "scale_wordings", "data_augmentation", "count_tokens"
        self._draw_shares, self._draw_wordings, self._scale_wordings, self._draw_topics, self._count = (
            self._kernel(name, "data_augmentation.cl", SHARED=1) for name in names
        )
        state = self._state
        self._shares = state.cleared(state.documents * state.padded)
        self._wordings = state.cleared(state.words * state.padded)
        self._scale = state.cleared(state.padded)

    def sweep(self, iteration: int) -> None:
        """See `Schedule.sweep`."""
        state, queue = self._state, self._state.queue
        numbers, tokens = (self._seed, np.uint32(iteration)), np.int32(len(self._order))
        of_documents, of_words = state.documents * state.padded, state.words * state.padded
        self._draw_shares(
            queue,
            (of_documents,),
            None,
            np.int32(state.documents),
            state.document_topics,
            state.alpha,
            *numbers,
            self._shares,
        )
        self._draw_wordings(
            queue, (of_words,), None, np.int32(state.words), state.word_topics, np.float32(state.priors.beta), *numbers,
            self._wordings,
        )  # fmt: skip
        self._scale_wordings(queue, (state.padded,), None, np.int32(state.words), self._wordings, self._scale)
        self._draw_topics(
            queue,
            (int(tokens),),
            None,
            tokens,
            *self.tokens,
            *numbers,
            state.alpha,
            self._shares,
            self._wordings,
            self._scale,
        )
        state.clear(state.document_topics, of_documents)
        state.clear(state.word_topics, of_words)
        self._count(queue, (int(tokens),), None, tokens, *self.tokens, state.document_topics, state.word_topics)
        state.correct()
