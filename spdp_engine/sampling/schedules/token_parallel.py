"""Many tokens at a time, on counts that all share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.sampling.schedules.base import Schedule, shuffled_documents
from spdp_engine.types import TokenArrays


class TokenParallel(Schedule):
    """Many tokens at a time, each by a team of work-items, with atomic changes to shared counts (the thesis's GPU-SPDP).

    Approximate: what a token sees of the others is out of date by what they are doing. Order `interleaved`, the thesis's improved
    version, keeps tokens of one document apart: first tokens of all documents, then second tokens, and so on.
    """

    file = "token_parallel.cl"
    reproducible = False  # which tokens see which counts depends on how fast work-groups get on
    orders = ("interleaved", "document")
    shapes = tuple(
        {"TEAM": team, "TEAMS": teams} for team, teams in ((1, 8), (1, 32), (4, 8), (8, 4), (16, 4), (32, 2))
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._begin, self._first, self._sweep = (
            self._kernel(name, SHARED=1) for name in ("token_parallel_begin", "token_parallel_first", "token_parallel")
        )

    def _arrange(self, corpus: TokenArrays, seed: int, order: str | None) -> NDArray[np.int64]:
        """See `Schedule._arrange`."""
        by_document = super()._arrange(corpus, seed, order)
        if (order or self.orders[0]) == "document":
            return by_document
        rank = shuffled_documents(len(corpus.document_group), seed)
        ranks = rank[corpus.token_document[by_document]]
        place = np.arange(len(ranks)) - np.searchsorted(ranks, ranks)
        return by_document[np.lexsort((ranks, place))]

    def _pass(self, kernel: Any, iteration: int) -> None:
        state, tokens = self._state, len(self._order)
        team, teams = self._shape["TEAM"], self._shape["TEAMS"]
        self._begin(state.queue, (1,), (1,), *state.arguments)
        self._launch(
            kernel, iteration, np.int32(tokens), size=(-(-tokens // teams) * team * teams,), group=(team * teams,)
        )
        state.correct()
        state.finish_sweep()
