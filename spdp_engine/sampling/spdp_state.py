"""The state of SPDP on a device: its buffers, and their way back as counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.hyperparameters import draw_concentration, draw_discount, draw_symmetric, old_table_steps
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.spdp import (
    Counts,
    SpdpPriors,
    SpdpSample,
    largest_cell,
    of_first_pass,
    seat_at_one_table,
    seat_at_tables,
)
from spdp_engine.models.stirling import bounded_table_limit, seating
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.spdp_bases import AssociationBase, IdentityBase, VariationalBase
from spdp_engine.sampling.state import State, padded_topics, whole_groups
from spdp_engine.types import TokenArrays


class SpdpState(State):
    """Counts, what is kept of them, and totals in device memory.

    The buffers are those that kernels/spdp.clh lists as MODEL_ARGUMENTS.
    """

    priors: SpdpPriors
    keeps_base: ClassVar[bool] = False
    """Whether phi0 is kept, in the place of tables by base word."""

    def __init__(
        self, device: Device, queue: cl.CommandQueue, corpus: TokenArrays, topics: int, priors: SpdpPriors, workers: int,
        matrices: Matrices | None = None,
    ) -> None:  # fmt: skip
        """Allocates and clears.

        Args:
            device: where.
            queue: a queue on it.
            corpus: all tokens, those held out included: sizes, and the counts of words.
            topics: K.
            priors: hyperparameters.
            workers: how many keep sums of their own.
            matrices: P^i; None: the identity.

        Raises:
            SettingsError: a word of the corpus that no base word leads to.
        """
        _check_reachable(corpus, matrices)
        super().__init__(device, queue, corpus, topics, priors, workers, (2, corpus.n_groups))
        self.matrices = matrices
        self._largest_cell = largest_cell(corpus)
        table = seating(priors.discount, self._largest_cell)
        self.width = table.width
        rows = self.groups * self.words
        self.document_group = self.copied(corpus.document_group)
        self.seats = self.cleared(2 * rows * self.padded)
        self.joins = self.cleared(rows * self.padded)
        self.alone = self.copied(table.alone)
        self.worker_quotients = self.cleared(self.readers * (self.totals_count + 2 * self.padded))
        self.base = self._make_base()
        self.headers = (self.base.header, "spdp.clh")  # type: ignore[misc]
        names = "spdp_correct_cells", "spdp_correct_base", "spdp_correct_totals"
        self._correct_cells, self._correct_base, self._correct_totals = (
            self.kernel(name, *self.headers, "spdp_correct.cl") for name in names
        )
        self.correct()

    def _make_base(self) -> IdentityBase:
        return IdentityBase(self) if self.matrices is None else AssociationBase(self, self.matrices)

    @classmethod
    def rows(cls, corpus: TokenArrays, topics: int) -> tuple[int, int]:
        """See `State.rows`."""
        return corpus.n_groups * corpus.n_words, padded_topics(topics)

    @classmethod
    def alpha_rows(cls, corpus: TokenArrays) -> tuple[int, NDArray[np.int32]]:
        """See `State.alpha_rows`: one to each group."""
        return corpus.n_groups, corpus.document_group

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What MODEL_ARGUMENTS declares, in its order."""
        priors = self.priors
        return (
            self.document_group, self.document_topics, self.seats, self.joins, self.alone, self.alpha,
            self.totals, self.worker_totals, self.worker_quotients, *self.base.arguments,
            np.float32(priors.discount), np.float32(priors.concentration), np.float32(priors.gamma),
            np.int32(self.words), np.int32(self.groups), np.int32(self.width),
        )  # fmt: skip

    def first_pass(self, enqueue: Callable[[], None]) -> None:
        """See `State.first_pass`, and `models.spdp.of_first_pass`."""
        priors = self.priors
        self.priors = of_first_pass(priors)
        enqueue()
        self.priors = priors
        self._write_cells()

    def finish_phase(self) -> None:
        """See `State.finish_phase`."""
        super().finish_phase()
        self.base.finish_phase()

    def finish_sweep(self) -> None:
        """See `State.finish_sweep`."""
        self.base.finish_sweep()

    def correct(self) -> None:
        """Tables back into their bounds; base words, what is kept of them and totals counted anew."""
        self._write_cells()
        self._correct_base(self.queue, *whole_groups(self.words), *self.arguments)
        self._correct_totals(
            self.queue,
            *whole_groups(self.totals_count),
            self.seats,
            np.int32(self.words),
            np.int32(self.groups),
            self.totals,
        )
        self.base.after_correction()

    def _write_cells(self) -> None:
        """Enqueues the bringing of every cell into its bounds, and what is kept of it by the priors in force."""
        rows = self.groups * self.words
        self._correct_cells(self.queue, *whole_groups(rows), np.int32(rows), *self.arguments)

    def draw_hyperparameters(self, names: Collection[str], rng: np.random.Generator, discount: bool) -> None:
        """See `State.draw_hyperparameters`."""
        super().draw_hyperparameters(names, rng, discount)
        priors = self.priors
        words = self.read_words() if "gamma" in names else None
        if words is not None:
            priors = replace(priors, gamma=draw_symmetric(priors.gamma, words, rng))
        customers, tables = self.read_totals()
        if "concentration" in names:
            drawn = draw_concentration(priors.concentration, priors.discount, customers, tables, rng)
            priors = replace(priors, concentration=drawn)
        if discount and "discount" in names:
            seats = self.read_integers(self.seats, self.groups, self.words, pair=True).reshape(-1, 2)
            seats = seats[seats[:, 0] > 1]
            steps = old_table_steps(seats[:, 0], seats[:, 1], seating(priors.discount, self._largest_cell), rng)
            drawn = draw_discount(priors.discount, priors.concentration, tables, steps, rng)
            priors = replace(priors, discount=drawn)
            self.alone = self.copied(seating(drawn, self._largest_cell).alone)
        self.priors = priors
        if discount:
            self.correct()

    def read_words(self) -> NDArray[np.int32] | None:
        """See `State.read_words`: tables by base word."""
        return self.base.read_tables()

    def word_clusters(self) -> NDArray[np.int64] | None:
        """See `State.word_clusters`."""
        return self.base.word_clusters()

    def divide_words(self, word_part: NDArray[np.int64]) -> None:
        """See `State.divide_words`."""
        self.base.divide_words(word_part)

    def read_sample(
        self,
        iteration: int,
        modelled: Callable[[], tuple[TokenArrays, NDArray[np.uint16]]],
        words: NDArray[np.int32] | None = None,
    ) -> SpdpSample:
        """See `State.read_sample`."""
        seats = self.read_integers(self.seats, self.groups, self.words, pair=True)
        counts = Counts(
            document_topics=self.read_rows(self.document_topics, self.documents),
            customers=np.ascontiguousarray(seats[..., 0]),
            tables=np.ascontiguousarray(seats[..., 1]),
            associated=self.base.read_associated(),
        )
        return SpdpSample(
            iteration, self.priors, counts, self.alphas[self.alpha_row], self.matrices, self.base.read_base(), words
        )

    def read_own(self) -> dict[str, NDArray[Any]]:
        """See `State.read_own`: tables, and what the base measure knows of them."""
        seats = self.read_integers(self.seats, self.groups, self.words, pair=True)
        return {"tables": np.ascontiguousarray(seats[..., 1]), **self.base.read_own()}

    def restore(self, corpus: TokenArrays, topics: NDArray[np.uint16], own: Mapping[str, NDArray[Any]]) -> None:
        """See `State.restore`."""
        shape = self.groups, self.words, self.topics
        self.write(corpus, topics, self._counts_of(corpus, topics, shape, own, self.matrices))
        self.base.restore(own)

    @classmethod
    def sample_of(
        cls, iteration: int, priors: SpdpPriors, alphas: NDArray[np.float64], corpus: TokenArrays, topics: NDArray[np.uint16],
        shape: tuple[int, int, int], own: Mapping[str, NDArray[Any]], matrices: Matrices | None, words: NDArray[np.int32] | None,
    ) -> SpdpSample:  # fmt: skip
        """See `State.sample_of`."""
        counts = cls._counts_of(corpus, topics, shape, own, matrices)
        base = cls._own(own, "base", np.float32, shape[1:]).astype(np.float64) if cls.keeps_base else None
        return SpdpSample(iteration, priors, counts, alphas, matrices, base, words)

    @classmethod
    def _counts_of(
        cls, corpus: TokenArrays, topics: NDArray[np.uint16], shape: tuple[int, int, int],
        own: Mapping[str, NDArray[Any]], matrices: Matrices | None,
    ) -> Counts:  # fmt: skip
        tables, associated = cls._own(own, "tables", np.int32, shape), None
        if matrices is not None and not cls.keeps_base:
            associated = cls._own(own, "associated", np.int32, (len(matrices.base_word), shape[2]))
        tokens = corpus.token_word, corpus.token_document, corpus.document_group
        return seat_at_tables(*tokens, topics, tables, associated, matrices)

    @staticmethod
    def _own(
        own: Mapping[str, NDArray[Any]], name: str, kind: type[np.generic], shape: tuple[int, ...]
    ) -> NDArray[Any]:
        """One of the arrays of `read_own`.

        Raises:
            SettingsError: it is not there, or of another kind or shape.
        """
        array = own.get(name)
        if array is None or array.dtype != kind or array.shape != shape:
            raise SettingsError(
                f"The state of the run lacks its {name}, or they are of another run. Take the state of one run."
            )
        return array

    def write(self, corpus: TokenArrays, topics: NDArray[np.uint16], counts: Counts | None = None) -> None:
        """See `State.write`; where no counts are given, each cell has one table."""
        if counts is None:
            counts = seat_at_one_table(
                corpus.token_word, corpus.token_document, corpus.document_group, topics,
                (self.groups, self.words, self.topics), self.matrices,
            )  # fmt: skip
        self.write_rows(self.document_topics, counts.document_topics)
        room = [(0, 0), (0, 0), (0, self.padded - self.topics), (0, 0)]
        seats = np.pad(np.stack([counts.customers, counts.tables], axis=-1), room).astype(np.int32)
        cl.enqueue_copy(self.queue, self.seats, np.ascontiguousarray(seats))
        self.base.write(counts)
        self.correct()

    def read_integers(self, buffer: cl.Buffer, *shape: int, pair: bool = False) -> NDArray[np.int32]:
        """Copies a buffer of integers to the host: int32 [*shape, K], or [*shape, K, 2]."""
        full = np.empty((*shape, self.padded, *((2,) if pair else ())), np.int32)
        cl.enqueue_copy(self.queue, full, buffer)
        kept = (slice(None),) * len(shape)
        return np.ascontiguousarray(full[(*kept, slice(self.topics))])

    def read_floats(self, buffer: cl.Buffer, *shape: int) -> NDArray[np.float64]:
        """Copies a buffer of floats to the host: float64 [*shape, K]."""
        full = np.empty((*shape, self.padded), np.float32)
        cl.enqueue_copy(self.queue, full, buffer)
        return full[..., : self.topics].astype(np.float64)

    @classmethod
    def memory_needed(
        cls, corpus: TokenArrays, topics: int, workers: int = 1, matrices: Matrices | None = None
    ) -> dict[str, int]:
        """See `State.memory_needed`."""
        padded, words, groups = padded_topics(topics), corpus.n_words, corpus.n_groups
        largest = max(1, largest_cell(corpus))
        entries = len(matrices.base_word) if matrices else 0
        return {
            "tokens by document and topic": 4 * len(corpus.document_group) * padded,
            "customers and tables": 8 * groups * words * padded,
            "customers less discounts": 4 * groups * words * padded,
            "tables by base word": 4 * (words + entries) * padded,
            "tables by association": 4 * entries * padded,
            "who sits alone": 4 * (bounded_table_limit(largest) + 1) * (largest + 1),
            "workers": 8 * workers * (2 * groups + 1) * padded,
        }


class SpdpHybridState(SpdpState):
    """SPDP with phi0 held at its variational expectation between sweeps."""

    never_learned = ("gamma",)  # no tables are counted by base word
    keeps_base = True

    def _make_base(self) -> IdentityBase:
        return VariationalBase(self, self.matrices or Matrices.identity(self.groups, self.words))

    @classmethod
    def memory_needed(
        cls, corpus: TokenArrays, topics: int, workers: int = 1, matrices: Matrices | None = None
    ) -> dict[str, int]:
        """See `State.memory_needed`: phi0 in the place of tables by base word, and P phi0 of every group."""
        wordings = 4 * corpus.n_groups * corpus.n_words * padded_topics(topics)
        return {**super().memory_needed(corpus, topics, workers), "base wordings by group": wordings}


def _check_reachable(corpus: TokenArrays, matrices: Matrices | None) -> None:
    """Refuses matrices of another size, or with no base word for a word that is there.

    Raises:
        SettingsError: as said.
    """
    if matrices is None:
        return
    if (matrices.n_groups, matrices.n_words) != (corpus.n_groups, corpus.n_words):
        raise SettingsError(
            f"The associations are for {matrices.n_groups} groups and {matrices.n_words:,} words, but the documents have "
            f"{corpus.n_groups} and {corpus.n_words:,}. Read the associations again for these documents."
        )
    group = corpus.document_group[corpus.token_document]
    lost = np.flatnonzero(matrices.unreachable()[group, corpus.token_word])
    if len(lost):
        raise SettingsError(
            f"By the associations no base word leads to word {corpus.token_word[lost[0]]} in group {group[lost[0]]}, which the "
            "texts hold. Let it be its own base word there."
        )
