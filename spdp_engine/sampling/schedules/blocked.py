"""All tokens of a word in a document at a time: the blocked samplers of LDA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.sampling.schedules.base import shuffled_documents
from spdp_engine.sampling.schedules.sequential import Sequential
from spdp_engine.types import TokenArrays

LARGEST_BLOCK = 64
"""Tokens drawn together at most; a longer block is drawn in parts of nearly equal length, which is exact, too."""


class _Blocked(Sequential):
    """One block of tokens after another, by one work-item: exact Gibbs sampling.

    The first pass goes token by token.
    """

    takes_repeats = False
    takes_tempering = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._scratch = self._state.cleared(2 * self._tree * (LARGEST_BLOCK + 1))

    @property
    def _tree(self) -> int:
        """Row length of the factors: the power of 2 that is not below the padded number of topics."""
        return 1 << (self._state.padded - 1).bit_length()

    def _make_kernels(self) -> None:
        """See `Sequential`: the first pass is that of `sequential`."""
        self._first = self._kernel("sequential_first", "sequential.cl")
        self._sweep = self._kernel(self.file.removesuffix(".cl"), TREE=self._tree)

    def _arrange(self, corpus: TokenArrays, seed: int, order: str | None) -> NDArray[np.int64]:
        """See `Schedule._arrange`: by document, in shuffled order, and by word."""
        rank = shuffled_documents(len(corpus.document_group), seed)[corpus.token_document]
        arranged = np.lexsort((corpus.token_word, rank))
        block = rank[arranged] * corpus.n_words + corpus.token_word[arranged]
        firsts = np.flatnonzero(np.diff(block, prepend=-1))
        sizes = np.diff(np.append(firsts, len(block)))
        parts = -(-sizes // LARGEST_BLOCK)
        part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        starts = np.repeat(firsts, parts) + part * np.repeat(sizes, parts) // np.repeat(parts, parts)
        self._starts = self._state.copied(np.append(starts, len(block)).astype(np.int32))
        self._blocks = np.int32(len(starts))
        return arranged

    def sweep(self, iteration: int) -> None:
        """See `Schedule.sweep`."""
        self._launch(self._sweep, iteration, self._blocks, self._starts, self._scratch)
        self._state.finish_phase()


class BlockedBackward(_Blocked):
    """Blocks by successive convolution and backward simulation (the blocking paper's 3.2.1)."""

    file = "blocked_backward.cl"


class BlockedNested(_Blocked):
    """Blocks by a binary tree of convolutions and nested simulation (the blocking paper's 3.2.2)."""

    file = "blocked_nested.cl"
