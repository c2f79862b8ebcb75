"""A model's state on a device: what every model has in common.

A schedule knows a state by this interface alone: kernel sources and constants, kernel arguments, and a few things that the state
can be asked to do on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError
from spdp_engine.models.hyperparameters import draw_alphas
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.priors import Priors
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.types import Sample, TokenArrays

LANES = 8
"""Topics to a vector, as in kernels/topics.clh."""


def padded_topics(topics: int, multiple: int = LANES) -> int:
    """K rounded up to whole vectors, or to another multiple of a vector's length."""
    return -(-topics // multiple) * multiple


WORK_GROUP = 64
"""Work-items to a group, where each does little: drivers choose badly where the number of all has few divisors."""


def whole_groups(items: int) -> tuple[tuple[int], tuple[int]]:
    """Global and local size for so many work-items, rounded up to whole groups. Kernels must do nothing beyond the last item."""
    return (-(-items // WORK_GROUP) * WORK_GROUP,), (WORK_GROUP,)


class State:
    """Counts in device memory. A state begins empty: no token has a topic.

    Attributes:
        headers: kernel files that say what a token does, in the order in which they must stand before a schedule's.
        constants: preprocessor definitions that the headers need.
        never_learned: names of priors that it cannot draw.
        row_multiple: what the length of rows is a multiple of.
        topics: K; `padded` is K rounded up to it, the row length of every buffer.
        priors: hyperparameters in force; `alphas` has those of topics in documents.
        wording_rows: rows of words' probabilities; see `rows`.
        alphas: float64 [R, K], alpha of every topic: a row for each group where the model tells groups apart, else one row.
        alpha_row: int32 [D], the row of each document.
        workers: how many keep sums of their own while they sample.
        readers: how many may do so while they only read.
        totals: sums over words, int32 [`totals_shape`, padded].
    """

    headers: ClassVar[tuple[str, ...]]
    never_learned: ClassVar[tuple[str, ...]] = ()
    row_multiple: ClassVar[int] = LANES

    def __init__(
        self, device: Device, queue: cl.CommandQueue, corpus: TokenArrays, topics: int, priors: Priors, workers: int,
        totals_shape: tuple[int, ...],
    ) -> None:  # fmt: skip
        self.device, self.queue, self.topics, self.priors, self.workers = device, queue, topics, priors, workers
        self.padded = padded_topics(topics, self.row_multiple)
        self.constants: dict[str, int] = {"TOPICS": self.padded}
        self.documents, self.words, self.groups = len(corpus.document_group), corpus.n_words, corpus.n_groups
        self.wording_rows, _ = self.rows(corpus, topics)
        rows, self.alpha_row = self.alpha_rows(corpus)
        self.alpha = self.cleared(rows * self.padded)
        self.document_prior = self.cleared(self.documents)
        self.set_alphas(np.full((rows, topics), priors.alpha))
        self.document_topics = self.cleared(self.documents * self.padded)
        self.totals_shape = totals_shape
        self.totals_count = int(np.prod(totals_shape)) * self.padded
        self.totals = self.cleared(self.totals_count)
        self.readers = max(workers, device.default_workers)
        self.worker_totals = self.cleared(self.readers * self.totals_count)
        self._merge = self.kernel("merge_totals", "merge_totals.cl")

    @classmethod
    def rows(cls, corpus: TokenArrays, topics: int) -> tuple[int, int]:
        """How many rows of words' probabilities there are, I V where groups have wordings of their own, else V; their length."""
        return corpus.n_words, padded_topics(topics, cls.row_multiple)

    @classmethod
    def alpha_rows(cls, corpus: TokenArrays) -> tuple[int, NDArray[np.int32]]:
        """R, how many rows of alphas there are, and the row of each document, int32 [D]."""
        return 1, np.zeros(len(corpus.document_group), np.int32)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the header's MODEL_ARGUMENTS declares, in its order."""
        raise NotImplementedError

    def first_pass(self, enqueue: Callable[[], None]) -> None:
        """Has a schedule enqueue its first pass, by the priors that suit it."""
        enqueue()

    def finish_phase(self) -> None:
        """Enqueues what follows when workers with sums of their own have done a phase: adds up what they changed."""
        self._merge(
            self.queue, (self.totals_count,), None, np.int32(self.workers), np.int32(self.totals_count),
            self.worker_totals, self.totals,
        )  # fmt: skip

    def finish_sweep(self) -> None:
        """Enqueues what the model does once a sweep."""

    def correct(self) -> None:
        """Enqueues the correction of counts that many tokens have changed at once."""
        raise NotImplementedError

    def word_clusters(self) -> NDArray[np.int64] | None:
        """int64 [V], words that had better be one worker's; None where it does not matter."""
        return None

    def divide_words(self, word_part: NDArray[np.int64]) -> None:
        """Told by a schedule that deals words out to workers: int64 [V], the part of each word."""

    def read_sample(
        self,
        iteration: int,
        modelled: Callable[[], tuple[TokenArrays, NDArray[np.uint16]]],
        words: NDArray[np.int32] | None = None,
    ) -> Sample:
        """Copies the state to the host; waits for the device.

        Args:
            iteration: iterations done.
            modelled: gives the tokens that are counted, and their topics; it takes a moment, and not every model needs them.
            words: tokens of each group, word and topic, int32 [I, V, K], where there are more than are counted.
        """
        raise NotImplementedError

    def write(self, corpus: TokenArrays, topics: NDArray[np.uint16], counts: Any = None) -> None:
        """Lays down the counts that belong to the tokens' topics.

        Args:
            corpus: the training tokens.
            topics: uint16 [N], their topics.
            counts: the model's counts; None: such as follow from the topics.
        """
        raise NotImplementedError

    def read_own(self) -> dict[str, NDArray[Any]]:
        """What the state knows beside its tokens' topics, alphas and priors, by name; `restore` takes it back."""
        return {}

    def restore(self, corpus: TokenArrays, topics: NDArray[np.uint16], own: Mapping[str, NDArray[Any]]) -> None:
        """Lays down the state that `read_own` was read of, to the bit, alphas and priors excepted.

        Args:
            corpus: the tokens that were counted.
            topics: uint16 [N], their topics.
            own: what was read.

        Raises:
            SettingsError: they do not belong together.
        """
        self.write(corpus, topics)

    @classmethod
    def sample_of(
        cls, iteration: int, priors: Any, alphas: NDArray[np.float64], corpus: TokenArrays, topics: NDArray[np.uint16],
        shape: tuple[int, int, int], own: Mapping[str, NDArray[Any]], matrices: Matrices | None, words: NDArray[np.int32] | None,
    ) -> Sample:  # fmt: skip
        """What `read_sample` gives of a state, without a device.

        Args:
            iteration: iterations done.
            priors: in force.
            alphas: float64 [D, K], those of each document.
            corpus: the tokens that are counted.
            topics: uint16 [N], their topics.
            shape: I, V and K.
            own: as in `restore`.
            matrices: P^i; None: the identity.
            words: as in `read_sample`.

        Raises:
            SettingsError: they do not belong together.
        """
        raise NotImplementedError

    @classmethod
    def memory_needed(
        cls, corpus: TokenArrays, topics: int, workers: int = 1, matrices: Matrices | None = None
    ) -> dict[str, int]:
        """Bytes of device memory that a state takes, by purpose, none of them more than one buffer's worth of what is large."""
        raise NotImplementedError

    def read_totals(self) -> NDArray[np.int32]:
        """Sums over words as the device keeps them: int32 [*totals_shape, K]."""
        totals = np.empty((*self.totals_shape, self.padded), np.int32)
        cl.enqueue_copy(self.queue, totals, self.totals)
        return totals[..., : self.topics]

    def read_words(self) -> NDArray[np.int32] | None:
        """What tells topics apart: counts of words in each, int32 [V, K]; None where they are not kept."""
        raise NotImplementedError

    def set_alphas(self, alphas: NDArray[np.float64]) -> None:
        """Puts priors of topics in force: float64 [R, K]."""
        self.alphas = alphas
        self.write_rows(self.alpha, alphas)
        prior = alphas.sum(axis=1)[self.alpha_row]
        cl.enqueue_copy(self.queue, self.document_prior, np.ascontiguousarray(prior.astype(np.float32)))

    def draw_hyperparameters(self, names: Collection[str], rng: np.random.Generator, discount: bool) -> None:
        """Draws hyperparameters of these names given the state, and puts them in force.

        Args:
            names: of `priors`; those that the state knows nothing of are left alone.
            rng: random numbers.
            discount: whether it is time for the discount, which takes longer.
        """
        if "alpha" in names:
            counts = self.read_rows(self.document_topics, self.documents)
            self.set_alphas(draw_alphas(self.alphas, counts, self.alpha_row, rng))

    # ---- for states

    def kernel(self, name: str, *files: str) -> cl.Kernel:
        """A kernel of these files, built for this number of topics."""
        return cl.Kernel(build_program(self.device, files, self.constants), name)

    def copied(self, array: NDArray[Any]) -> cl.Buffer:
        """A buffer with the array's content, to be read only."""
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context_of(self.device), flags, hostbuf=np.ascontiguousarray(array))

    def cleared(self, count: int) -> cl.Buffer:
        """A buffer of so many zeros of four bytes."""
        buffer = cl.Buffer(context_of(self.device), cl.mem_flags.READ_WRITE, 4 * count)
        self.clear(buffer, count)
        return buffer

    def clear(self, buffer: cl.Buffer, count: int) -> None:
        """Enqueues so many zeros of four bytes into a buffer."""
        cl.enqueue_fill_buffer(self.queue, buffer, np.zeros(1, np.int32), 0, 4 * count)

    def read_rows(self, buffer: cl.Buffer, *shape: int) -> NDArray[np.int32]:
        """Copies rows of whole numbers kept as floats to the host: int32 [*shape, K]."""
        rows = np.empty((*shape, self.padded), np.float32)
        cl.enqueue_copy(self.queue, rows, buffer)
        return rows[..., : self.topics].astype(np.int32)

    def write_rows(self, buffer: cl.Buffer, array: NDArray[Any], kind: type[np.generic] = np.float32) -> None:
        """Copies an array [..., K] to a buffer [..., padded], padded with zeros."""
        room = [(0, 0)] * (array.ndim - 1) + [(0, self.padded - array.shape[-1])]
        cl.enqueue_copy(self.queue, buffer, np.ascontiguousarray(np.pad(array, room).astype(kind)))


def check_memory(device: Device, topics: int, words: int, needed: Mapping[str, int]) -> None:
    """Refuses what will not fit, with the figures.

    Args:
        device: where.
        topics: K.
        words: V.
        needed: bytes of each large buffer.

    Raises:
        DeviceError: too little memory.
    """
    total, largest = sum(needed.values()), max(needed.values())
    if total > device.memory or largest > device.largest_buffer:
        raise DeviceError(
            f"This run needs {total / 2**20:,.0f} MB of memory on “{device.name}”, which has "
            f"{device.memory / 2**20:,.0f} MB (largest piece: {largest / 2**20:,.0f} of "
            f"{device.largest_buffer / 2**20:,.0f} MB). Take fewer topics than {topics}, or raise the number of documents "
            f"a word must be in ({words:,} words now)."
        )
