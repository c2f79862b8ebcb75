"""Averages over samples of the posterior, on the device, and when they begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.models.mean import MeanSample
from spdp_engine.sampling.programs import build_program
from spdp_engine.sampling.schedules import Schedule
from spdp_engine.sampling.state import State, whole_groups
from spdp_engine.types import Sample, TokenArrays

Number = TypeVar("Number", bound=np.generic)

WINDOW = 10
"""Measurements whose means are compared."""

SETTLED = 0.02
"""The chain has settled where perplexity fell by less than this share from one window to the next: a mean over more samples gains
more than what it still falls."""

LONGEST_BURN_IN = 100
"""... or after so many measurements, whatever it does."""

NEARER = 0.1
"""Topics have changed their numbers where one is nearer by this to the mean of another than to its own, in Hellinger distance."""


FEW = 3
"""So many samples give a mean that is better than the one before it, which had been worse by fit and better by number."""


class BurnIn:
    """Decides from the trace of perplexity when the chain has come to where its samples are worth averaging."""

    def __init__(self, trace: Sequence[float] = (), mark: float = np.inf) -> None:
        """At the beginning, or as `kept` told it."""
        self._trace = list(trace)
        self._mark = mark

    def kept(self) -> tuple[NDArray[np.float64], float]:
        """All that it knows: the trace, float64 [T], and how well the model fitted when it was marked."""
        return np.array(self._trace, np.float64), self._mark

    def mark(self) -> None:
        """Remembers how well the model fits now; see `fell`."""
        self._mark = float(np.mean(self._trace[-WINDOW:]))

    def fell(self) -> bool:
        """Whether perplexity has since fallen by so much that what was found until then is better forgotten."""
        return float(np.mean(self._trace[-WINDOW:])) < self._mark * (1 - SETTLED)

    def settled(self, perplexity: float) -> bool:
        """Whether it has, by this measurement and those before."""
        self._trace.append(perplexity)
        if len(self._trace) < 2 * WINDOW:
            return False
        before, after = np.mean(self._trace[-2 * WINDOW : -WINDOW]), np.mean(self._trace[-WINDOW:])
        return bool(after > before * (1 - SETTLED)) or len(self._trace) >= LONGEST_BURN_IN


@dataclass(frozen=True, eq=False)
class Sums:
    """`Averages` as they are, on the host.

    Attributes:
        samples: how many are in the sums, at least 1.
        since: the iteration of the first.
        wordings: of phi, float32 [R, V, K], R as in `MeanSample`.
        shares: of theta, float32 [D, K].
        words: of tokens by group, word and topic, uint32 [I, V, K].
    """

    samples: int
    since: int
    wordings: NDArray[np.float32]
    shares: NDArray[np.float32]
    words: NDArray[np.uint32]

    def mean(self, last: Sample) -> MeanSample:
        """The means, with the newest sample."""
        n = np.float32(self.samples)
        words = (self.words / self.samples).astype(np.float32)
        return MeanSample(last.iteration, self.samples, self.since, last, self.wordings / n, self.shares / n, words)


def what_is_read(
    iteration: int, samples: int, earlier: MeanSample | None, mean: Callable[[], Sample], state: Callable[[], Sample]
) -> Sample:
    """What readers are shown: the mean once there are samples, the one before it while they are few, and else the state."""
    if earlier and samples < FEW:
        return replace(earlier, iteration=iteration)
    return mean() if samples else state()


class Averages:
    """Running sums over samples: wordings, documents' shares, and tokens by group, word and topic.

    Attributes:
        samples: how many are in the sums.
        since: the iteration of the first.
    """

    def __init__(self, state: State, schedule: Schedule, corpus: TokenArrays) -> None:
        """Allocates and clears.

        Args:
            state: whose samples.
            schedule: its tokens.
            corpus: the training tokens.
        """
        self._state, self._schedule, self._tokens = state, schedule, len(corpus.token_word)
        self._group = state.copied(corpus.document_group)
        self._alpha_row = state.copied(state.alpha_row.astype(np.int32))
        self._shape = state.groups, state.words
        self._wordings = state.cleared(state.wording_rows * state.padded)
        self._shares = state.cleared(state.documents * state.padded)
        self._words = state.cleared(state.groups * state.words * state.padded)
        constants = {**state.constants, **({"REPEATS": 1} if schedule.repeats else {})}
        program = build_program(state.device, (*state.headers, "averages.cl"), constants)
        self._add_wordings, self._add_shares, self._add_words = (
            cl.Kernel(program, f"average_{name}") for name in ("wordings", "shares", "tokens")
        )
        self.samples = self.since = 0

    def renumbered(self) -> bool:
        """Whether topics have changed their numbers, so that the state must not be added to the sums."""
        words = self._state.read_words()
        if words is None or not self.samples or words.shape[1] < 2:
            return False
        means = (self._read_wordings() / np.float32(self.samples)).mean(axis=0)
        from spdp_engine.measures.matching import match_topics  # here, since importing scipy takes a moment

        present = words.sum(axis=0) > 0
        now, mean = (one[:, present] / one[:, present].sum(axis=0) for one in (words, means))
        match, distances = match_topics(now, mean)
        return bool((distances[np.arange(len(match)), match] < distances.diagonal() - NEARER).any())

    def clear(self) -> None:
        """Enqueues the forgetting of all samples."""
        state = self._state
        state.clear(self._wordings, state.wording_rows * state.padded)
        state.clear(self._shares, state.documents * state.padded)
        state.clear(self._words, state.groups * state.words * state.padded)
        self.samples = 0

    def add(self, iteration: int) -> None:
        """Enqueues the adding of the state as it is after an iteration."""
        if not self.samples:
            self.since = iteration
        state, queue = self._state, self._state.queue
        self._add_wordings(
            queue, (state.readers,), (1,), np.int32(state.wording_rows), self._wordings, *state.arguments
        )
        self._add_shares(
            queue, *whole_groups(state.documents), np.int32(state.documents), self._alpha_row, state.document_prior,
            state.document_topics, state.alpha, self._shares,
        )  # fmt: skip
        seated = (self._schedule.repeats.seated,) if self._schedule.repeats else ()
        self._add_words(
            queue, *whole_groups(self._tokens), np.int32(self._tokens), np.int32(state.words), self._group,
            *self._schedule.tokens, *seated, self._words,
        )  # fmt: skip
        self.samples += 1

    def read(self) -> Sums | None:
        """Copies the sums to the host; waits for the device. None without samples."""
        if not self.samples:
            return None
        state = self._state
        return Sums(
            self.samples, self.since, self._read_wordings(), self._read(self._shares, np.float32, state.documents),
            self._read(self._words, np.uint32, *self._shape),
        )  # fmt: skip

    def restore(self, sums: Sums) -> None:
        """Goes on from sums that were read."""
        state = self._state
        self.samples, self.since = sums.samples, sums.since
        state.write_rows(self._wordings, sums.wordings)
        state.write_rows(self._shares, sums.shares)
        state.write_rows(self._words, sums.words, np.uint32)

    def _read_wordings(self) -> NDArray[np.float32]:
        state = self._state
        return self._read(self._wordings, np.float32, state.wording_rows // state.words, state.words)

    def _read(self, buffer: cl.Buffer, kind: type[Number], *shape: int) -> NDArray[Number]:
        sums = np.empty((*shape, self._state.padded), kind)
        cl.enqueue_copy(self._state.queue, sums, buffer)
        return sums[..., : self._state.topics]

    @staticmethod
    def memory_needed(corpus: TokenArrays, wording_rows: int, padded: int) -> dict[str, int]:
        """Bytes of device memory, by purpose."""
        return {
            "averages of wordings": 4 * wording_rows * padded,
            "averages of documents": 4 * len(corpus.document_group) * padded,
            "averages of words": 4 * corpus.n_groups * corpus.n_words * padded,
        }
