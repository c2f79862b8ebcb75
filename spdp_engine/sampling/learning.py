"""When hyperparameters are learned: between which sweeps, and which of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from spdp_engine.errors import SettingsError
from spdp_engine.models import Priors
from spdp_engine.sampling.repeats import Repeats
from spdp_engine.sampling.state import State

BEGIN = 5
"""Iterations before the first time: the first topics are no evidence."""

OFTEN, EVERY = 5, 50
"""Sweeps from one time to the next, in the first 50 and later."""

FIRST_DISCOUNT = 250
"""Iterations before the first new discount; then ten times as many before each next. Each builds the table of how customers sit
anew, in the time of several sweeps, and a discount near the right one serves as well as the right one: the concentration makes good
what it lacks."""


class Learner:
    """Draws hyperparameters from their conditionals between sweeps."""

    def __init__(self, state: State, repeats: Repeats | None, fixed: tuple[str, ...], seed: int) -> None:
        """Nothing is drawn yet.

        Args:
            state: whose hyperparameters.
            repeats: those of the documents; None where words do not repeat.
            fixed: names of priors that stay as they are.
            seed: decides what is drawn.
        """
        self._state, self._repeats = state, repeats
        self._names = frozenset(learnable(state.priors, repeats is not None)) - frozenset(fixed)
        self._rng = np.random.default_rng([seed, 0x1EA2])

    @property
    def random(self) -> dict[str, Any]:
        """State of the generator of random numbers, as NumPy tells it."""
        return dict(self._rng.bit_generator.state)

    @random.setter
    def random(self, state: Mapping[str, Any]) -> None:
        try:
            self._rng.bit_generator.state = dict(state)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise SettingsError(
                "The state of the run's random numbers is of another kind. Take the state of a run, or begin a new one."
            ) from error

    def learn(self, iteration: int) -> None:
        """Draws what is due after so many iterations."""
        if self._names and is_due(iteration):
            self._state.draw_hyperparameters(self._names, self._rng, is_due_for_discount(iteration))
            if self._repeats:
                self._repeats.draw_hyperparameters(self._names, self._rng)


def learnable(priors: Priors, repeats: bool) -> tuple[str, ...]:
    """Names of the priors that a run can learn."""
    return tuple(one.name for one in fields(priors) if repeats or not one.name.startswith("repeat_"))


def is_due(iteration: int) -> bool:
    """Whether hyperparameters are drawn after so many iterations."""
    return iteration >= BEGIN and iteration % (OFTEN if iteration < 50 else EVERY) == 0


def is_due_for_discount(iteration: int) -> bool:
    """Whether the discount is, too."""
    due = FIRST_DISCOUNT
    while due < iteration:
        due *= 10
    return due == iteration
