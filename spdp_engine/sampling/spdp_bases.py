"""SPDP's base measures on a device, one class to each header that may stand before kernels/spdp.clh."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.spdp import Counts

if TYPE_CHECKING:
    from spdp_engine.sampling.spdp_state import SpdpState


class IdentityBase:
    """Every word is its own base word: q is kept by word."""

    header: ClassVar[str] = "spdp_identity.clh"

    def __init__(self, state: SpdpState) -> None:
        # The state holds this: a proxy, so that both go, and the memory of the device, when the last user does.
        self._state = weakref.proxy(state)
        self._tables = state.cleared(state.words * state.padded)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the header's BASE_ARGUMENTS declares, in its order."""
        return (self._tables,)

    def finish_phase(self) -> None:
        """Enqueues what follows when workers have done a phase."""

    def finish_sweep(self) -> None:
        """Enqueues what follows when all workers have done a sweep."""

    def after_correction(self) -> None:
        """Enqueues what follows when the counts were laid down or corrected."""

    def word_clusters(self) -> NDArray[np.int64] | None:
        """See `State.word_clusters`."""
        return None

    def divide_words(self, word_part: NDArray[np.int64]) -> None:
        """See `State.divide_words`."""

    def read_associated(self) -> NDArray[np.int32] | None:
        """Tables by entry, int32 [E, K]; None where they are not kept."""
        return None

    def read_base(self) -> NDArray[np.float64] | None:
        """phi0, float64 [V, K], where it is kept; else None."""
        return None

    def read_tables(self) -> NDArray[np.int32] | None:
        """q, int32 [V, K], where it is kept; else None."""
        return self._state.read_rows(self._tables, self._state.words)

    def write(self, counts: Counts) -> None:
        """Lays down tables by entry; q follows by correction."""

    def read_own(self) -> dict[str, NDArray[Any]]:
        """What cannot be told from tables alone, by name; see `State.read_own`."""
        return {}

    def restore(self, own: Mapping[str, NDArray[Any]]) -> None:
        """Lays down what `read_own` gave and the counts that were laid down before do not say."""


class AssociationBase(IdentityBase):
    """Sparse transformation matrices: tables are counted by entry, and q by base word, with copies for other workers' words."""

    header = "spdp_associations.clh"

    def __init__(self, state: SpdpState, matrices: Matrices) -> None:
        self._state, self._matrices = weakref.proxy(state), matrices
        entries = len(matrices.base_word)
        self._tables = state.cleared(state.words * state.padded)
        self._starts = state.copied(matrices.starts)
        self._rows = state.copied(matrices.base_word)
        self._weight = state.copied(matrices.weight.astype(np.float32))
        self._served = state.cleared(entries * state.padded)
        self._columns = tuple(state.copied(part) for part in matrices.columns)
        self._copies = 0

    @property
    def arguments(self) -> tuple[Any, ...]:
        """See `IdentityBase.arguments`."""
        return (self._tables, self._starts, self._rows, self._weight, self._served, *self._columns)

    def word_clusters(self) -> NDArray[np.int64] | None:
        """Words linked by a base word, directly or over others: they go to one worker, where no cluster is too large for it."""
        return _clusters(self._matrices)

    def divide_words(self, word_part: NDArray[np.int64]) -> None:
        """Gives each part that another part's base words lead to copies of their rows of q."""
        state, matrices = self._state, self._matrices
        part = word_part[matrices.row % matrices.n_words]
        foreign = part != word_part[matrices.base_word]
        # One copy for each base word and part that needs it, those of a base word one after another.
        parts = int(word_part.max()) + 1
        wanted, copy = np.unique(
            matrices.base_word[foreign].astype(np.int64) * parts + part[foreign], return_inverse=True
        )
        self._copies = len(wanted)
        if not self._copies:
            return
        rows = matrices.base_word.copy()
        rows[foreign] = state.words + copy
        shared, firsts = np.unique(wanted // parts, return_index=True)
        copy_starts = np.append(firsts, self._copies).astype(np.int32)
        self._rows = state.copied(rows)
        self._tables = state.cleared((state.words + self._copies) * state.padded)
        self._shared_count = len(shared)
        before = state.cleared(len(shared) * state.padded)
        self._copy_arguments = (
            np.int32(state.words),
            state.copied(shared.astype(np.int32)),
            state.copied(copy_starts),
            before,
        )
        files = ("topics.clh", "spdp_base_merge.cl")
        self._merge = state.kernel("spdp_base_merge", *files)
        self._spread = state.kernel("spdp_base_spread", *files)

    def finish_phase(self) -> None:
        """Adds up what each worker changed of the base words it shares with others."""
        if self._copies:
            self._merge(
                self._state.queue, (self._shared_count * self._state.padded,), None, *self._copy_arguments, self._tables
            )

    def after_correction(self) -> None:
        """Gives every copy its base word's counts."""
        if self._copies:
            self._spread(
                self._state.queue, (self._shared_count * self._state.padded,), None, *self._copy_arguments, self._tables
            )

    def read_associated(self) -> NDArray[np.int32] | None:
        """See `IdentityBase.read_associated`."""
        return self._state.read_integers(self._served, len(self._matrices.base_word))

    def read_own(self) -> dict[str, NDArray[Any]]:
        """See `IdentityBase.read_own`: tables by entry, which are among the counts."""
        return {"associated": self._state.read_integers(self._served, len(self._matrices.base_word))}

    def write(self, counts: Counts) -> None:
        """See `IdentityBase.write`."""
        if counts.associated is None:
            raise SettingsError("Counts of a run with associations must say which base words their tables serve.")
        self._state.write_rows(self._served, counts.associated, np.int32)


class VariationalBase(IdentityBase):
    """phi0 is held at its variational expectation, and updated once a sweep (the thesis's equation 8.8)."""

    header = "spdp_variational.clh"

    def __init__(self, state: SpdpState, matrices: Matrices) -> None:
        self._state = weakref.proxy(state)
        rows = state.groups * state.words
        weight = state.copied(matrices.weight.astype(np.float32))
        self._base = state.cleared(state.words * state.padded)
        cl.enqueue_fill_buffer(
            state.queue, self._base, np.full(1, 1 / state.words, np.float32), 0, 4 * state.words * state.padded
        )
        self._wordings = state.cleared(rows * state.padded)
        names = "spdp_expectation", "spdp_expectation_scale", "spdp_expectation_wordings"
        self._expect, self._scale, self._word = (state.kernel(name, "spdp_expectation.cl") for name in names)
        self._columns = *(state.copied(part) for part in matrices.columns), state.copied(matrices.row), weight
        self._entries = state.copied(matrices.starts), state.copied(matrices.base_word), weight
        self._write_wordings()

    @property
    def arguments(self) -> tuple[Any, ...]:
        """See `IdentityBase.arguments`."""
        return (self._wordings,)

    def finish_sweep(self) -> None:
        """phi0 from the tables, and P phi0 from that."""
        state = self._state
        self._expect(
            state.queue, (state.words * state.padded,), None, np.int32(state.words), np.float32(state.priors.gamma),
            state.seats, self._wordings, *self._columns, self._base,
        )  # fmt: skip
        self._scale(state.queue, (state.padded,), None, np.int32(state.words), self._base)
        self._write_wordings()

    def after_correction(self) -> None:
        """As after a sweep."""
        self.finish_sweep()

    def read_base(self) -> NDArray[np.float64] | None:
        """See `IdentityBase.read_base`."""
        return self._state.read_floats(self._base, self._state.words)

    def read_tables(self) -> NDArray[np.int32] | None:
        """See `IdentityBase.read_tables`: phi0 is kept in their place."""
        return None

    def read_own(self) -> dict[str, NDArray[Any]]:
        """See `IdentityBase.read_own`: phi0, which depends on the phi0 before."""
        return {"base": self._state.read_floats(self._base, self._state.words).astype(np.float32)}

    def restore(self, own: Mapping[str, NDArray[Any]]) -> None:
        """See `IdentityBase.restore`."""
        self._state.write_rows(self._base, own["base"])
        self._write_wordings()

    def _write_wordings(self) -> None:
        state = self._state
        rows = state.groups * state.words
        self._word(
            state.queue, (rows * state.padded,), None, np.int32(rows), *self._entries, self._base, self._wordings
        )


def _clusters(matrices: Matrices) -> NDArray[np.int64]:
    """A number for each word, the same for words that share a base word, directly or over others: int64 [V].

    Each word takes the smallest number among those it is linked with, until nothing changes; numbers are followed to
    their own number on the way, so that long chains take few rounds.
    """
    word, base = matrices.row % matrices.n_words, matrices.base_word
    label = np.arange(matrices.n_words)
    while True:
        before = label.copy()
        smaller = np.minimum(label[word], label[base])
        np.minimum.at(label, before[word], smaller)
        np.minimum.at(label, before[base], smaller)
        label = label[label]
        if np.array_equal(label, before):
            return label
