"""What share of a run learning takes, and what share averages over samples."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks.learning_runs import DEFAULT, Corpora, warm_up
from benchmarks.machine import Machine
from benchmarks.report import Row
from benchmarks.runs import Progress
from spdp_engine.sampling.sampler import Sampler


@dataclass
class Seconds:
    """That parts of a run took so far, what they had the device do included.

    Attributes:
        learning: drawing hyperparameters and putting them in force.
        topics: averages for readers: adding samples, and seeing whether topics changed their numbers.
        longer: by how much longer each measuring of perplexity takes with averaged probabilities of the held-out tokens.
        extra: measuring once more without them, to know that. No other run does.
    """

    learning: float = 0.0
    topics: float = 0.0
    longer: list[float] = field(default_factory=list)
    extra: float = 0.0

    @property
    def scores(self) -> float:
        """All that averaged probabilities of the held-out tokens took: by the median, since single differences are mostly noise."""
        return len(self.longer) * statistics.median(self.longer or [0.0])


@contextmanager
def timed_parts(sampler: Sampler) -> Iterator[Seconds]:
    """Times parts of a sampler that learns while it steps. The queue is empty when a part begins, and again when it ends."""
    seconds = Seconds()
    monitor, measure = sampler._monitor, sampler._monitor.perplexities

    def timed(call: Callable[[], Any]) -> tuple[Any, float]:
        sampler._queue.finish()
        begin = time.perf_counter()
        result = call()
        sampler._queue.finish()
        return result, time.perf_counter() - begin

    def added_to(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any) -> Any:
            result, took = timed(partial(call, *arguments))
            setattr(seconds, part, getattr(seconds, part) + took)
            return result

        return wrapper

    def perplexities(trained: bool, add: bool = False) -> tuple[float, float | None]:
        if not add:
            return measure(trained)
        found, took = {}, {}
        for adds in (False, True) if monitor.samples % 2 else (True, False):  # whoever comes second finds warm caches
            found[adds], took[adds] = timed(partial(measure, trained, add=adds))
        seconds.longer.append(took[True] - took[False])
        seconds.extra += took[False]
        return found[True]

    averages = sampler._averages
    parts = [
        (sampler._learner, "learn", "learning"),
        *((averages, name, "topics") for name in ("add", "renumbered", "clear")),
    ]
    with ExitStack() as stack:
        for owner, name, part in parts:
            stack.enter_context(patch.object(owner, name, added_to(part, getattr(owner, name))))
        stack.enter_context(patch.object(monitor, "perplexities", perplexities))
        yield seconds


@dataclass(frozen=True)
class SharesRun:
    """Measures one run with default settings.

    Attributes:
        corpora: what is sampled.
        machine: where.
    """

    corpora: Corpora = field(repr=False)
    machine: Machine

    def __call__(self, wanted: Row, progress: Progress) -> Row:
        """See `runs.Measure`."""
        corpus = self.corpora[str(wanted["corpus"])].arrays
        warm_up(DEFAULT.begin(corpus, wanted))
        sampler = DEFAULT.begin(corpus, wanted)
        with timed_parts(sampler) as seconds:
            last = sampler.run(int(str(wanted["iterations"])), progress)[-1]
        return {
            "seconds": f"{last.elapsed - seconds.extra:.4f}",
            "learning": f"{seconds.learning:.4f}",
            "topics_averaged": f"{seconds.topics:.4f}",
            "scores_averaged": f"{seconds.scores:.4f}",
            "samples": last.samples,
            **self.machine.columns(),
        }
