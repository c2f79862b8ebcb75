"""Work in the background that is made of runs but is none itself: where it stands, how it ends, and that it ends in time."""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from spdp_engine.errors import ParallaxError
from spdp_engine.jobs import ACTIVE, JobState

log = logging.getLogger(__name__)

Status = TypeVar("Status")

_LAST_WORDS = 3.0
"""Seconds that a process waits for what goes on in the background when it ends."""

_living: weakref.WeakSet[Background[Any]] = weakref.WeakSet()


@atexit.register
def _let_go() -> None:
    """Ends all of it before the process ends: a driver that is cut off within a kernel aborts, and says so. Jobs that it has begun
    are ended by `jobs`, whose turn is after this."""
    living = list(_living)
    for one in living:
        one.cancel()
    end = time.monotonic() + _LAST_WORDS
    for one in living:
        one.join(max(0.0, end - time.monotonic()))


class Cancelled(Exception):
    """Nobody wants it any more."""


class Background(ABC, Generic[Status]):
    """The handle of some work. Every method may be called from any thread and returns at once unless it says otherwise.

    A class of work calls `_begin` when all else of it is set up, does its work in `_work`, and publishes what it finds under
    `_changed`, as long as `_wanted` is true.

    Attributes:
        name: of the thread.
        kept: what became of it where it ends too early, and that the rest is kept: a sentence each for a thread that died, an
            unexpected error, and the beginning of one for an error that has a sentence of its own.
    """

    name: ClassVar[str]
    kept: ClassVar[tuple[str, str, str]]

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._state, self._error = JobState.PREPARING, ""

    def _begin(self) -> None:
        """Starts the work in a daemon thread."""
        _living.add(self)
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    # --- what others see and ask for

    @abstractmethod
    def status(self) -> Status:
        """Where it stands now."""

    def wait(self, timeout: float | None = None) -> Status:
        """Waits until it is over, or the time is."""
        with self._changed:
            self._changed.wait_for(lambda: not self._wanted or not self._thread.is_alive(), timeout)
        return self.status()

    def join(self, timeout: float) -> None:
        """Waits until the thread of work that is over has ended, or the time is over."""
        self._thread.join(timeout)

    def cancel(self) -> None:
        """Ends it after the present iteration. What was found stays."""
        with self._changed:
            if self._wanted:
                self._end(JobState.STOPPED)

    # --- for the work

    @abstractmethod
    def _work(self) -> None:
        """Does all of it, in its own thread.

        Raises:
            Cancelled: somebody ended it meanwhile.
            ParallaxError: as an error that a person can put right.
        """

    def _run(self) -> None:
        try:
            self._work()
            self._become(JobState.FINISHED)
        except Cancelled:
            pass
        except ParallaxError as error:
            self._become(JobState.FAILED, f"{self.kept[2]} {error}".strip())
        except BaseException:  # whatever ends the thread, the page must say so
            log.exception("%s failed", self.name)
            self._become(JobState.FAILED, self.kept[1])

    @property
    def _wanted(self) -> bool:
        """Whether it is neither over nor cancelled."""
        return self._state in ACTIVE

    def _check(self) -> None:
        """Raises `Cancelled` once nobody wants it any more."""
        if not self._wanted:
            raise Cancelled

    def _see_whether_it_lives(self) -> None:
        """Says that it failed where its thread has died. To be called under `_changed`."""
        if self._wanted and not self._thread.is_alive():
            self._end(JobState.FAILED, self.kept[0])

    def _become(self, state: JobState, error: str = "") -> None:
        with self._changed:
            if self._wanted:  # what was cancelled stays so
                self._end(state, error)

    def _end(self, state: JobState, error: str = "") -> None:
        self._state, self._error = state, error
        self._changed.notify_all()
