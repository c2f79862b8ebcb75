"""Which sweeps at the beginning of a run are tempered.

In a tempered sweep a token's weights are raised to a power below 1 before its topic is drawn (kernels/topics.clh): tokens move more
freely, and topics come loose that would long have stayed as they first happened to form. A few such sweeps at a time, and then
plain ones in which the chain cools down again, bring a run sooner to samples whose mean predicts well (`python -m benchmarks
learning`). They are part of the burn-in: they end, and what a run draws from in the long run is the posterior as before. No sample
of one is averaged, and no hyperparameter drawn after one.
"""

from __future__ import annotations

EVERY = 20
"""Iterations from one time to the next; the first of them have none."""

SWEEPS = 3
"""Tempered sweeps each time."""

LAST = 150
"""Iterations after which there are none."""


def is_tempered(iteration: int) -> bool:
    """Whether the sweep that is this iteration of a run (the first pass is iteration 1) is tempered, in a run that is."""
    return EVERY < iteration <= LAST and (iteration - 1) % EVERY < SWEEPS
