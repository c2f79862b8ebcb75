"""Conflict-free blocks of documents x words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.partition import cut_into_blocks
from spdp_engine.sampling.schedules.base import Schedule, shuffled_documents
from spdp_engine.types import TokenArrays


class Blocks(Schedule):
    """Documents x words cut into blocks, one worker to each: only sums over words lag, and only within a phase."""

    file = "blocks.cl"
    lags = True
    takes_repeats = True
    takes_tempering = True

    @classmethod
    def workers(cls, wanted: int | None, device: Device) -> int:
        """As many as wanted, or as suit the device."""
        return wanted or device.default_workers

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._first = self._kernel("blocks_first")
        self._sweep = self._kernel("blocks")

    def _arrange(self, corpus: TokenArrays, seed: int, order: str | None) -> NDArray[np.int64]:
        """See `Schedule._arrange`. Tells the state whose words are whose."""
        state = self._state
        blocks = cut_into_blocks(
            corpus.token_word, corpus.token_document, corpus.document_group, corpus.n_words, state.workers,
            shuffled_documents(len(corpus.document_group), seed), state.word_clusters() if state.workers > 1 else None,
        )  # fmt: skip
        state.divide_words(blocks.word_part)
        self._visits = state.copied(blocks.visits)
        self._starts = [state.copied(starts) for starts in blocks.starts]
        return blocks.order

    def first(self) -> None:
        """See `Schedule.first`."""
        self._pass(self._first, 0, self._visits)

    def _pass(self, kernel: Any, iteration: int, *arguments: Any) -> None:
        for starts in self._starts:
            self._launch(kernel, iteration, starts, *arguments, size=(self._state.workers,))
            self._state.finish_phase()
        self._state.finish_sweep()
