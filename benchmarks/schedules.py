"""The samplers of a model as contestants: each schedule, in each order that it knows."""

from __future__ import annotations

from dataclasses import dataclass

from spdp_engine.models import Matrices
from spdp_engine.sampling.methods import METHODS
from spdp_engine.sampling.sampler import SamplerSettings, plain_settings


@dataclass(frozen=True)
class NamedSchedule:
    """A way to sample a model.

    Attributes:
        model: its model.
        schedule: a schedule of that model.
        order: the order of tokens, where the schedule knows several; else "".
        exact: whether it is exact whatever the number of workers; `blocks` is with one alone.
    """

    model: str
    schedule: str
    order: str
    exact: bool

    @property
    def name(self) -> str:
        """What results call it."""
        return f"{self.schedule}, {self.order}" if self.order else self.schedule

    def settings(
        self,
        topics: int,
        seed: int,
        device: str | None,
        held_out: float = 0.0,
        workers: int | None = None,
        associations: Matrices | None = None,
    ) -> SamplerSettings:
        """Settings of a run with it that measures nothing on the way."""
        return plain_settings(
            topics=topics, schedule=self.schedule, workers=workers, device=device, seed=seed, held_out=held_out,
            measure_every=0, model=self.model, order=self.order or None, associations=associations,
        )  # fmt: skip


def all_schedules(model: str, first: str) -> tuple[NamedSchedule, ...]:
    """Every way to sample the model; the schedule called `first`, which the others are compared with, in front."""
    found = [
        NamedSchedule(model, method.schedule, order, method.exact and not method.runner.lags)
        for method in METHODS
        if method.model == model
        for order in (method.orders or ("",))
    ]
    return tuple(sorted(found, key=lambda one: one.schedule != first))
