"""One token at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl

from spdp_engine.sampling.schedules.base import Schedule


class Sequential(Schedule):
    """One token at a time, by one work-item: exact Gibbs sampling."""

    file = "sequential.cl"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._make_kernels()

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
