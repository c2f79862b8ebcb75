"""One token at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.sampling.schedules.base import Schedule, shuffled_documents
from spdp_engine.types import TokenArrays


class Sequential(Schedule):
    """One token at a time, by one work-item: exact Gibbs sampling."""

    file = "sequential.cl"
    takes_repeats = True
    takes_tempering = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._make_kernels()

    def _arrange(self, corpus: TokenArrays, seed: int, order: str | None) -> NDArray[np.int64]:
        """See `Schedule._arrange`: with repeats, a document's tokens of one word side by side."""
        if not self._repeats:
            return super()._arrange(corpus, seed, order)
        rank = shuffled_documents(len(corpus.document_group), seed)[corpus.token_document]
        return np.lexsort((corpus.token_word, rank))

    def _make_kernels(self) -> None:
        """Kernels NAME_first and NAME of NAME.cl."""
        name = self.file.removesuffix(".cl")
        self._first, self._sweep = self._kernel(f"{name}_first"), self._kernel(name)

    def _pass(self, kernel: cl.Kernel, iteration: int) -> None:
        """See `Schedule._pass`: one work-item, or one team of them."""
        team = (self._shape.get("TEAM", 1),)
        self._launch(kernel, iteration, np.int32(len(self._order)), size=team, group=team)
        self._state.finish_phase()
        self._state.finish_sweep()
