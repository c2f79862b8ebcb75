"""One token at a time, its topics weighed at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from spdp_engine.sampling.schedules.base import Schedule


class TopicParallel(Schedule):
    """One token at a time, its topics weighed by a team of work-items: exact Gibbs sampling (the thesis's 11.1.1 and 14.1)."""

    file = "topic_parallel.cl"
    shapes = tuple({"TEAM": team} for team in (4, 8, 16, 32, 2))

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._first = self._kernel("topic_parallel_first")
        self._sweep = self._kernel("topic_parallel")

    def first(self) -> None:
        """See `Schedule.first`."""
        self._pass(self._first, 0)

    def sweep(self, iteration: int) -> None:
        """See `Schedule.sweep`."""
        self._pass(self._sweep, iteration)

    def _pass(self, kernel: Any, iteration: int) -> None:
        team = (self._shape["TEAM"],)
        self._launch(kernel, iteration, np.int32(len(self._order)), size=team, group=team)
        self._state.finish_phase()
        self._state.finish_sweep()
