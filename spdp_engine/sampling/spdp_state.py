"""The state of SPDP on a device: its buffers, and their way back as counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError
from spdp_engine.models.spdp import Counts, Priors
from spdp_engine.models.stirling import bounded_table_limit, seating_factors
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.types import TokenArrays

LANES = 8
"""Topics to a vector, as in kernels/topics.clh."""


def padded_topics(topics: int) -> int:
    """K rounded up to whole vectors."""
    return -(-topics // LANES) * LANES


class SpdpState:
    """Counts, cached factors and totals in device memory.

    The buffers are those that kernels/spdp.clh lists as MODEL_ARGUMENTS. A state begins empty: no token has a topic.
    """

    header = "spdp.clh"
    held_out_kernel = "spdp_held_out.cl"

    def __init__(
        self,
        device: Device,
        queue: cl.CommandQueue,
        corpus: TokenArrays,
        topics: int,
        priors: Priors,
        workers: int,
        largest_cell: int,
    ) -> None:
        """Allocates and clears.

        Args:
            device: where.
            queue: a queue on it.
            corpus: sizes, and the groups of documents.
            topics: K.
            priors: hyperparameters.
            workers: how many keep sums of their own.
            largest_cell: count of the commonest word in a group, the most customers a cell can have.

        Raises:
            DeviceError: too little memory.
        """
        self.queue, self.topics, self.priors = queue, topics, priors
        self.padded = padded_topics(topics)
        self.constants = {"TOPICS": self.padded}
        self.documents, self.words, self.groups = len(corpus.document_group), corpus.n_words, corpus.n_groups
        self.workers = workers
        needed = memory_needed(
            self.documents, self.words, self.groups, topics, len(corpus.token_word), largest_cell, workers
        )
        _check_memory(device, topics, self.words, needed)
        ratios = seating_factors(priors.discount, largest_cell)
        self.width = ratios.width
        alpha = np.zeros(self.padded, np.float32)
        alpha[:topics] = priors.alpha
        context = context_of(device)
        rows = self.groups * self.words

        def copied(array: NDArray[Any]) -> cl.Buffer:
            flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
            return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array))

        def cleared(count: int) -> cl.Buffer:
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * count)
            cl.enqueue_fill_buffer(queue, buffer, np.zeros(1, np.int32), 0, 4 * count)
            return buffer

        self.document_group = copied(corpus.document_group)
        self.document_topics = cleared(self.documents * self.padded)
        self.seats = cleared(2 * rows * self.padded)
        self.factors = cleared(2 * rows * self.padded)
        self.base_tables = cleared(self.words * self.padded)
        self.ratios = copied(ratios.pairs)
        self.alpha = copied(alpha)
        self.totals_count = 2 * self.groups * self.padded
        self.totals = cleared(self.totals_count)
        self.worker_totals = cleared(workers * self.totals_count)
        self.worker_quotients = cleared(workers * (self.totals_count + 2 * self.padded))
        refresh = cl.Kernel(build_program(device, ("spdp_refresh.cl",), self.constants), "spdp_refresh")
        refresh(queue, (rows,), None, np.int32(rows), np.int32(self.width), self.ratios, self.seats, self.factors)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What MODEL_ARGUMENTS declares, in its order."""
        priors = self.priors
        return (
            self.document_group, self.document_topics, self.seats, self.factors, self.base_tables, self.ratios,
            self.alpha, self.totals, self.worker_totals, self.worker_quotients,
            np.float32(priors.discount), np.float32(priors.concentration), np.float32(priors.gamma),
            np.int32(self.words), np.int32(self.groups), np.int32(self.width),
        )  # fmt: skip

    def document_scale(self, lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """1 / (n + sum_k alpha) for documents of the given lengths in training tokens: float32 [D]."""
        return (1.0 / (lengths + self.topics * self.priors.alpha)).astype(np.float32)

    def read_counts(self) -> Counts:
        """Copies the counts to the host. Waits for the device."""
        n = np.empty((self.documents, self.padded), np.float32)
        seats = np.empty((self.groups, self.words, self.padded, 2), np.int32)
        cl.enqueue_copy(self.queue, n, self.document_topics)
        cl.enqueue_copy(self.queue, seats, self.seats)
        kept = slice(0, self.topics)
        return Counts(
            document_topics=n[:, kept].astype(np.int32),
            customers=np.ascontiguousarray(seats[:, :, kept, 0]),
            tables=np.ascontiguousarray(seats[:, :, kept, 1]),
        )

    def read_totals(self) -> NDArray[np.int32]:
        """M and T as the device keeps them: int32 [2, I, K]."""
        totals = np.empty((2, self.groups, self.padded), np.int32)
        cl.enqueue_copy(self.queue, totals, self.totals)
        return totals[:, :, : self.topics]


def memory_needed(
    documents: int, words: int, groups: int, topics: int, tokens: int, largest_cell: int, workers: int = 1
) -> dict[str, int]:
    """Bytes of device memory that a run takes, by purpose."""
    padded = padded_topics(topics)
    table_limit = bounded_table_limit(max(1, largest_cell))
    return {
        "topics by document": 4 * documents * padded,
        "topics by word and group": 16 * groups * words * padded,
        "topics by word": 4 * words * padded,
        "tokens": 18 * tokens,
        "seating factors": 8 * (table_limit + 1) * (largest_cell + 1),
        "workers": 8 * workers * (2 * groups + 1) * padded,
    }


def _check_memory(device: Device, topics: int, words: int, needed: dict[str, int]) -> None:
    """Refuses what will not fit, with the figures."""
    total = sum(needed.values())
    largest = max(needed["topics by word and group"] // 2, needed["topics by document"])
    if total > device.memory or largest > device.largest_buffer:
        raise DeviceError(
            f"This run needs {total / 2**20:,.0f} MB of memory on “{device.name}”, which has "
            f"{device.memory / 2**20:,.0f} MB (largest piece: {largest / 2**20:,.0f} of "
            f"{device.largest_buffer / 2**20:,.0f} MB). Take fewer topics than {topics}, or raise the number of documents "
            f"a word must be in ({words:,} words now)."
        )
