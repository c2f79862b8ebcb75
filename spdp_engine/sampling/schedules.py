"""Schedules: who samples which token when.

A schedule lays the training tokens out on the device in its own order, knows how to run the first pass and a sweep over any
model's state, and how to give the tokens' topics back in the corpus's order.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.partition import cut_into_blocks
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.sampling.spdp_state import SpdpState
from spdp_engine.types import TokenArrays


class Schedule:
    """What every schedule shares: the tokens on the device, their topics, and kernels called NAME_first and NAME in NAME.cl."""

    name: ClassVar[str]

    def __init__(self, device: Device, queue: cl.CommandQueue, state: SpdpState, seed: int) -> None:
        self._device, self._queue, self._state, self._seed = device, queue, state, np.uint32(seed)
        program = build_program(device, (state.header, f"{self.name}.cl", "merge_totals.cl"), state.constants)
        self._first_kernel = cl.Kernel(program, f"{self.name}_first")
        self._sweep_kernel = cl.Kernel(program, self.name)
        self._merge_kernel = cl.Kernel(program, "merge_totals")

    def _lay_out(self, corpus: TokenArrays, order: NDArray[np.int64]) -> None:
        """Copies the tokens in this order to the device, none with a topic yet."""
        self._order = order
        self._token_word = self._copied(corpus.token_word[order])
        self._token_document = self._copied(corpus.token_document[order])
        size = 2 * len(order)
        self._token_topic = cl.Buffer(context_of(self._device), cl.mem_flags.READ_WRITE, size)
        cl.enqueue_fill_buffer(self._queue, self._token_topic, np.zeros(1, np.uint16), 0, size)

    def _copied(self, array: NDArray[Any]) -> cl.Buffer:
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context_of(self._device), flags, hostbuf=np.ascontiguousarray(array))

    def first(self) -> None:
        """Enqueues the first pass: each token gets its topic from the model, given the tokens before it."""
        raise NotImplementedError

    def sweep(self, iteration: int) -> None:
        """Enqueues one sweep over all tokens."""
        raise NotImplementedError

    def _launch(self, kernel: cl.Kernel, iteration: int, *arguments: Any) -> None:
        """Enqueues a kernel that takes `arguments`, the tokens and the model, one work-item to a worker; then merges the totals."""
        state = self._state
        kernel(self._queue, (state.workers,), (1,), *arguments, self._token_word, self._token_document,
               self._token_topic, self._seed, np.uint32(iteration), *state.arguments)  # fmt: skip
        self._merge_kernel(self._queue, (state.totals_count,), None, np.int32(state.workers),
                           np.int32(state.totals_count), state.worker_totals, state.totals)  # fmt: skip

    def read_topics(self) -> NDArray[np.uint16]:
        """The topic of each token, in the order of the corpus: uint16 [N]. Waits for the device."""
        laid_out = np.empty(len(self._order), np.uint16)
        cl.enqueue_copy(self._queue, laid_out, self._token_topic)
        topics = np.empty_like(laid_out)
        topics[self._order] = laid_out
        return topics


def _shuffled_documents(documents: int, seed: int) -> NDArray[np.int64]:
    """A rank for each document. Files often hold one group after another; the first pass should meet them mixed."""
    return np.random.default_rng([seed, 0x0D0C]).permutation(documents)


class Sequential(Schedule):
    """One token at a time: exact Gibbs sampling, one work-item."""

    name = "sequential"

    def __init__(
        self, device: Device, queue: cl.CommandQueue, state: SpdpState, corpus: TokenArrays, seed: int
    ) -> None:
        super().__init__(device, queue, state, seed)
        rank = _shuffled_documents(len(corpus.document_group), seed)
        self._lay_out(corpus, np.argsort(rank[corpus.token_document], kind="stable"))

    def first(self) -> None:
        """See `Schedule.first`."""
        self._launch(self._first_kernel, 0, np.int32(len(self._order)))

    def sweep(self, iteration: int) -> None:
        """See `Schedule.sweep`."""
        self._launch(self._sweep_kernel, iteration, np.int32(len(self._order)))


class Blocks(Schedule):
    """Conflict-free blocks of documents x words, one worker to each: only the totals lag, and only within a phase."""

    name = "blocks"

    def __init__(
        self, device: Device, queue: cl.CommandQueue, state: SpdpState, corpus: TokenArrays, seed: int
    ) -> None:
        super().__init__(device, queue, state, seed)
        blocks = cut_into_blocks(
            corpus.token_word, corpus.token_document, corpus.document_group, corpus.n_words, state.workers,
            _shuffled_documents(len(corpus.document_group), seed),
        )  # fmt: skip
        self._lay_out(corpus, blocks.order)
        self._visits = self._copied(blocks.visits)
        self._starts = [self._copied(starts) for starts in blocks.starts]

    def first(self) -> None:
        """See `Schedule.first`."""
        for starts in self._starts:
            self._launch(self._first_kernel, 0, starts, self._visits)

    def sweep(self, iteration: int) -> None:
        """See `Schedule.sweep`."""
        for starts in self._starts:
            self._launch(self._sweep_kernel, iteration, starts)


SCHEDULES: dict[str, type[Sequential] | type[Blocks]] = {kind.name: kind for kind in (Blocks, Sequential)}
"""Schedules by name; the first is the default."""


def schedule_named(name: str) -> type[Sequential] | type[Blocks]:
    """The schedule of that name.

    Raises:
        SettingsError: there is none.
    """
    if name not in SCHEDULES:
        raise SettingsError(f"There is no schedule called “{name}”. Choose one of: {', '.join(SCHEDULES)}.")
    return SCHEDULES[name]
