"""Seconds an iteration of every SPDP schedule beside the thesis's Algorithm 1, at several K: its Tables 8, 13 and 14.

All contestants of a K take turns, an iteration each or as many as half a second holds; ratios are taken within a round. Slow ones
leave the rounds when their time is used up, though none before its second turn.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.machine import Machine
from benchmarks.report import Row
from benchmarks.runs import Progress
from benchmarks.schedules import NamedSchedule
from benchmarks.speed import THESIS, Contestant, Turn, take_turn
from benchmarks.thesis_algorithm1 import ThesisAlgorithm1
from spdp_engine.sampling.sampler import Sampler
from spdp_engine.types import Iteration, Tokens

LEAST_TURNS = 2
WARM_UP_ITERATIONS = 5
LEAST_WARM_UP = 2  # the first pass and one sweep: drivers compile a kernel when it first runs
WARM_UP_SECONDS = 10.0


@dataclass(frozen=True)
class Bounds:
    """How long a contestant is timed.

    Attributes:
        turns: at most so many turns.
        seconds: no further turn once its turns have taken so long together, unless it has had fewer than `LEAST_TURNS`.
        turn_seconds: a turn lasts until so much time was spent on sampling.
    """

    turns: int
    seconds: float
    turn_seconds: float


@dataclass
class SpeedTable:
    """Times the contestants of a K together, and hands them out one by one as rows.

    Attributes:
        tokens: what all train on.
        schedules: the contestants beside Algorithm 1; the first is what ratios are taken to, too.
        machine: where.
        bounds: how long each is timed.
    """

    tokens: Tokens
    schedules: Sequence[NamedSchedule]
    machine: Machine
    bounds: Bounds
    _timed: dict[int, list[Turn]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Contestants, in the order of the table."""
        return [*(schedule.name for schedule in self.schedules), THESIS]

    def measure(self, wanted: Row, progress: Progress) -> Row:
        """The row of one contestant at one K (`runs.Measure`). The first that is asked for at a K times all of that K."""
        topics, name = int(str(wanted["topics"])), str(wanted["contestant"])
        if topics not in self._timed:
            self._timed[topics] = take_turns(self._contestants(topics), self.bounds, progress)
        turns = self._timed[topics]
        own = [turn for turn in turns if turn.contestant == name]
        seconds = [turn.seconds / turn.iterations for turn in own]
        return {
            "turns": len(own),
            "seconds": f"{statistics.median(seconds):.5g}",
            "seconds_min": f"{min(seconds):.5g}",
            "seconds_max": f"{max(seconds):.5g}",
            "times_thesis": f"{times_as_fast(turns, name, THESIS):.5g}",
            "times_sequential": f"{times_as_fast(turns, name, self.names[0]):.5g}",
            **self.machine.columns(),
        }

    def _contestants(self, topics: int) -> dict[str, Contestant]:
        contestants: dict[str, Contestant] = {
            schedule.name: Sampler(self.tokens, schedule.settings(topics, seed=1, device=self.machine.device))
            for schedule in self.schedules
        }
        contestants[THESIS] = ThesisAlgorithm1(self.tokens, topics, device=self.machine.device, held_out=0.0)
        return contestants


def take_turns(contestants: Mapping[str, Contestant], bounds: Bounds, progress: Progress) -> list[Turn]:
    """Warms every contestant up, then lets them take their turns; `progress` hears of each."""
    for contestant in contestants.values():
        warm_up(contestant)
    turns: list[Turn] = []
    spent = dict.fromkeys(contestants, 0.0)
    for number in range(1, max(bounds.turns, LEAST_TURNS) + 1):
        for name, contestant in contestants.items():
            if number <= LEAST_TURNS or spent[name] < bounds.seconds:
                turn = take_turn(name, contestant, number, bounds.turn_seconds)
                spent[name] += turn.seconds
                progress(Iteration(number, turn.seconds, spent[name], turn.tokens_per_second, None))
                turns.append(turn)
    return turns


def warm_up(contestant: Contestant) -> None:
    """Runs a few iterations, fewer where they are slow."""
    spent = 0.0
    for number in range(1, WARM_UP_ITERATIONS + 1):
        if number > LEAST_WARM_UP and spent > WARM_UP_SECONDS:
            return
        spent += contestant.step().seconds


def times_as_fast(turns: Sequence[Turn], name: str, other: str) -> float:
    """How many times as fast as `other` the contestant is: the median of the ratios within the rounds that both took part in."""
    mine, others = (
        {turn.round: turn.iterations / turn.seconds for turn in turns if turn.contestant == one}
        for one in (name, other)
    )
    return statistics.median(mine[number] / others[number] for number in mine.keys() & others.keys())
