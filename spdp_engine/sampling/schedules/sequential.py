"""One token at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from spdp_engine.sampling.schedules.base import Schedule


class Sequential(Schedule):
    """One token at a time, by one work-item: exact Gibbs sampling."""

    file = "sequential.cl"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._make_kernels()

    def _make_kernels(self) -> None:
        self._first = self._kernel("sequential_first")
        self._sweep = self._kernel("sequential")

    def first(self) -> None:
        """See `Schedule.first`."""
        self._launch(self._first, 0, np.int32(len(self._order)))
        self._state.finish_phase()
        self._state.finish_sweep()

    def sweep(self, iteration: int) -> None:
        """See `Schedule.sweep`."""
        self._launch(self._sweep, iteration, np.int32(len(self._order)))
        self._state.finish_phase()
        self._state.finish_sweep()
