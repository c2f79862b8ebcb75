"""A sampler in a background thread: its handle, and the queue in which handles wait for their turn.

The worker thread owns the sampler; nobody else touches it. What others see are immutable values that the worker publishes:
`Iteration` records after each iteration, and samples when somebody wants one. Nothing here knows of screens.
"""

from __future__ import annotations

import atexit
import enum
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus, Scored
from spdp_engine.errors import ParallaxError
from spdp_engine.sampling import Sampler, SamplerSettings, Snapshot
from spdp_engine.types import Iteration, Sample

log = logging.getLogger(__name__)

SHARE_FOR_READERS = 0.05
"""At most this share of the worker's time goes into copying samples for readers."""

SHORTEST_INTERVAL = 0.3
"""Seconds between two samples for readers, at least."""


class JobState(enum.Enum):
    """Where a job stands."""

    WAITING = "waiting"
    PREPARING = "preparing"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


ACTIVE = (JobState.WAITING, JobState.PREPARING, JobState.RUNNING)


@dataclass(frozen=True)
class JobStatus:
    """A job at a glance.

    Attributes:
        state: where it stands.
        iteration: iterations done.
        target: iterations asked for.
        waiting_before: jobs that are to run before this one, 0 unless it waits.
        last: the newest record, None before the first iteration.
        error: one sentence where the job failed, else ''.
    """

    state: JobState
    iteration: int
    target: int
    waiting_before: int
    last: Iteration | None
    error: str

    @property
    def seconds_left(self) -> float | None:
        """Time the remaining iterations will take at the pace so far; None before there is a pace."""
        if not self.last or self.iteration < 2:
            return None
        return self.last.elapsed / self.iteration * max(0, self.target - self.iteration)


class Queue:
    """First come, first served: at most `limit` jobs run at a time."""

    def __init__(self, limit: int | None = None) -> None:
        """Without a limit: one sampler for each four cores, since one sampler keeps all the cores it gets busy."""
        self.limit = limit or max(1, (os.cpu_count() or 1) // 4)
        self._waiting: deque[object] = deque()
        self._running: set[object] = set()
        self._changed = threading.Condition()

    def enter(self, ticket: object, give_up: Callable[[], bool]) -> bool:
        """Waits for a place. Returns False, without one, once `give_up()` is true."""
        with self._changed:
            self._waiting.append(ticket)
            try:
                while self._waiting[0] is not ticket or len(self._running) >= self.limit:
                    if give_up():
                        return False
                    self._changed.wait(0.1)
                self._running.add(ticket)
                return True
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def leave(self, ticket: object) -> None:
        """Gives the place back; nothing happens where there is none."""
        with self._changed:
            self._running.discard(ticket)
            self._changed.notify_all()

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a place."""
        return bool(self._waiting)

    def let_pass(self, ticket: object, give_up: Callable[[], bool]) -> bool:
        """Gives the place to those who wait for one, and waits behind them for another; returns at once where nobody waits.

        Returns:
            Whether there is a place; False once `give_up()` is true.
        """
        with self._changed:
            if not self._waiting:
                return True
            self.leave(ticket)
            return self.enter(ticket, give_up)

    def before(self, ticket: object) -> int:
        """How many jobs run or wait before this one; 0 where it does not wait."""
        with self._changed:
            if ticket not in self._waiting:
                return 0
            return self._waiting.index(ticket) + len(self._running)


_living: weakref.WeakSet[Job] = weakref.WeakSet()
_LAST_WORDS = 3.0
"""Seconds that a process waits for its samplers when it ends."""


@atexit.register
def _let_go() -> None:
    """Ends every sampler before the process ends: a driver that is cut off within a kernel aborts, and says so."""
    jobs = list(_living)
    for job in jobs:
        job.discard()
    end = time.monotonic() + _LAST_WORDS
    for job in jobs:
        job.join(max(0.0, end - time.monotonic()))


@dataclass(frozen=True, eq=False)
class Rested:
    """A run that rested when it was kept.

    Attributes:
        snapshot: its state.
        records: one for each of its iterations.
        sample: what is read of it.
    """

    snapshot: Snapshot
    records: tuple[Iteration, ...]
    sample: Sample


class Job:
    """The handle of one run. Every method may be called from any thread and returns at once unless it says otherwise."""

    def __init__(
        self, corpus: Corpus, settings: SamplerSettings, iterations: int, queue: Queue,
        start: NDArray[np.integer] | Rested | None = None, scored: Scored | None = None,
    ) -> None:  # fmt: skip
        """Starts the run in a daemon thread.

        Args:
            corpus: what is modelled.
            settings: of the run.
            iterations: to be done.
            queue: in which it waits for its turn.
            start: a topic for each token of the corpus, [N], to begin from, such as those of an earlier run; those of tokens
                that are held out are not looked at. Or a run that rested, with its settings: all of it is there at once, and it
                goes on, without touching the device before, when it is extended. None: the first pass gives topics.
            scored: words of a file of their own that measure the fit; None: tokens of the corpus do.
        """
        self.corpus, self.scored = corpus, scored
        self._start = None if isinstance(start, Rested) else start
        self._requested = settings
        self._queue = queue
        self._changed = threading.Condition()
        self._state = JobState.WAITING
        self._target = iterations
        self._pause = self._stop = self._discarded = False
        self._wanted = True  # somebody wants a sample: so from the start, that the first is there at once
        self._records: list[Iteration] = []
        self._sample: Sample | None = None
        self._error = ""
        self._settings = settings
        self._training_tokens = 0
        self._topics: NDArray[np.int32] | None = None
        self._next_copy = 0.0
        self._sampler: Sampler | None = None
        self._asked: list[Future[Snapshot | None]] = []
        self._over = False
        self._kept: Snapshot | None = None
        if isinstance(start, Rested):
            self._kept, self._records, self._sample = start.snapshot, list(start.records), start.sample
            self._training_tokens = int(len(corpus.token_word) - start.snapshot.held_out.sum())
            self._state, self._target = JobState.FINISHED, start.snapshot.iteration
        _living.add(self)
        self._thread = threading.Thread(target=self._work, name="parallax-sampler", daemon=True)
        self._thread.start()

    # --- what others see

    @property
    def settings(self) -> SamplerSettings:
        """The settings, with device and workers filled in once they are known."""
        return self._settings

    @property
    def training_tokens(self) -> int:
        """Tokens the sampler trains on; 0 until it is prepared."""
        return self._training_tokens

    def status(self) -> JobStatus:
        """Where the job stands now."""
        with self._changed:
            if not self._discarded and self._state in (*ACTIVE, JobState.PAUSED) and not self._thread.is_alive():
                self._fail(
                    "The sampler stopped unexpectedly. What it had found until then is kept; start a new run to go on."
                )
            last = self._records[-1] if self._records else None
            iteration = last.iteration if last else 0
            return JobStatus(self._state, iteration, self._target, self._queue.before(self), last, self._error)

    def topics(self) -> NDArray[np.int32] | None:
        """The topic of each token when the run last rested, int32 [N], -1 of those that are held out; None before."""
        kept = self._kept
        if self._topics is None and kept:
            self._topics = kept.topics(self.corpus)
        return self._topics

    def snapshot(self, timeout: float = 60.0) -> Snapshot | None:
        """The exact state of the run after its newest iteration: waits for the worker, which copies it when it is asked.

        None where there is none: before the first iteration, in a run that has failed or was discarded, and where the time is over
        first (a run that waits for its turn in the queue cannot tell before it has it).
        """
        with self._changed:
            if self._kept or self._over or not self._records:
                return self._kept
            asked: Future[Snapshot | None] = Future()
            self._asked.append(asked)
            self._changed.notify_all()
        try:
            return asked.result(timeout)
        except (TimeoutError, CancelledError):
            asked.cancel()
            return None

    def records(self) -> tuple[Iteration, ...]:
        """Every record so far."""
        return tuple(self._records)

    def sample(self) -> Sample | None:
        """The newest published sample, and asks for a newer one; None before the first iteration."""
        self._wanted = True
        return self._sample

    def wait_for_sample(self, timeout: float) -> bool:
        """Waits until the first sample is published, the job is over, or the time is. Returns whether there is one."""
        with self._changed:
            self._changed.wait_for(lambda: self._sample is not None or self._state not in ACTIVE, timeout)
            return self._sample is not None

    def wait(self, timeout: float | None = None) -> JobStatus:
        """Waits until the job is neither waiting, preparing nor running, or until the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._state not in ACTIVE or not self._thread.is_alive(), timeout)
        return self.status()

    # --- what others ask for

    def pause(self) -> None:
        """Pauses after the present iteration and gives the place in the queue to the next job."""
        self._ask(pause=True)

    def resume(self) -> None:
        """Goes on after a pause, as soon as there is a place."""
        self._ask(pause=False)

    def stop(self) -> None:
        """Ends the run after the present iteration. `extend` can take it up again."""
        self._ask(stop=True)

    def extend(self, iterations: int) -> None:
        """Asks for so many iterations more than have been done, and goes on if the run had ended."""
        with self._changed:
            if self._state in (JobState.FAILED,):
                return
            self._target = (self._records[-1].iteration if self._records else 0) + iterations
            self._stop = self._pause = False
            if self._state in (JobState.FINISHED, JobState.STOPPED, JobState.PAUSED):
                self._state = JobState.WAITING
            self._changed.notify_all()

    def discard(self) -> None:
        """Ends the thread and lets the device's memory go. The published records and sample stay."""
        with self._changed:
            self._discarded = self._stop = True
            if self._state in (JobState.WAITING, JobState.PAUSED):
                self._state = JobState.STOPPED
            self._changed.notify_all()

    def join(self, timeout: float) -> None:
        """Waits until the thread of a discarded job has ended, or the time is over."""
        self._thread.join(timeout)

    def _ask(self, pause: bool = False, stop: bool = False) -> None:
        with self._changed:
            self._pause, self._stop = pause, self._stop or stop
            if self._state is JobState.PAUSED and not pause:
                self._state = JobState.STOPPED if stop else JobState.WAITING
            self._changed.notify_all()

    # --- the worker

    def _work(self) -> None:
        try:
            while self._take_turn():
                pass
        except ParallaxError as error:
            with self._changed:
                self._fail(str(error))
        except BaseException:  # whatever ends the thread, the page must say so
            log.exception("the sampler failed")
            with self._changed:
                self._fail(
                    "The sampler failed; the log says why. What it had found until then is kept; start a new run to go on."
                )
        finally:
            self._queue.leave(self)
            self._sampler = None
            with self._changed:
                self._over = True
                for asked in self._asked:
                    asked.cancel()

    def _take_turn(self) -> bool:
        """Waits until there is something to do and a place to do it in, then works until paused, stopped or done.

        Returns False when the job is discarded.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._discarded or self._asked or self._state is JobState.WAITING)
            if self._discarded:
                return False
        self._answer()
        if self._state is not JobState.WAITING:
            return True
        if not self._queue.enter(self, lambda: self._stop or self._pause):
            self._rest()
            return not self._discarded
        try:
            if self._sampler is None:
                self._become(JobState.PREPARING)
                scored = self.scored.tokens if self.scored else None
                self._sampler = Sampler(self.corpus, self._requested, scored, self._kept)
                if self._start is not None:
                    self._sampler.start_at(self._start[~self._sampler.held_out].astype(np.uint16))
                self._settings = self._sampler.settings
                self._training_tokens = self._sampler.training_tokens
            self._become(JobState.RUNNING)
            while not (self._stop or self._pause) and self._sampler.iteration < self._target:
                record = self._sampler.step()
                self._kept = None
                self._records.append(record)
                self._publish(self._sampler)
                self._answer()
            if self._records:
                self._publish(self._sampler, now=True)
                topics = np.full(len(self._sampler.held_out), -1, np.int32)
                topics[~self._sampler.held_out] = self._sampler.topics()
                self._topics = topics
        finally:
            self._queue.leave(self)
        self._rest()
        return not self._discarded

    def _answer(self) -> None:
        """Hands the state of the run to those who have asked for it."""
        if not self._asked:
            return
        snapshot = self._sampler.snapshot() if self._sampler and self._sampler.iteration else None
        with self._changed:
            for one in self._asked:
                if one.set_running_or_notify_cancel():
                    one.set_result(snapshot)
            self._asked.clear()

    def _publish(self, sampler: Sampler, now: bool = False) -> None:
        """Copies a sample for readers if one is wanted, seldom enough to leave the sampler its speed."""
        begin = time.perf_counter()
        if not now and (not self._wanted or begin < self._next_copy):
            return
        self._wanted = False
        sample = sampler.inspect()
        with self._changed:
            self._sample = sample
            self._changed.notify_all()
        end = time.perf_counter()
        self._next_copy = end + max(SHORTEST_INTERVAL, (end - begin) / SHARE_FOR_READERS)

    def _rest(self) -> None:
        """Says how the turn ended."""
        with self._changed:
            done = bool(self._records) and self._records[-1].iteration >= self._target
            if self._stop:
                self._state = JobState.STOPPED
            elif done:
                self._state = JobState.FINISHED
            elif self._pause:
                self._state = JobState.PAUSED
            else:
                self._state = JobState.WAITING  # resumed or extended in the meantime
            self._stop = False
            self._changed.notify_all()

    def _become(self, state: JobState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()

    def _fail(self, sentence: str) -> None:
        self._state, self._error = JobState.FAILED, sentence
        self._changed.notify_all()

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("A job belongs to its process and cannot be copied to another.")
