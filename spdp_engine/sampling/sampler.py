"""The stepped sampler: a corpus and settings in, one `Iteration` out for each step, a `Sample` whenever asked."""

from __future__ import annotations

import logging
import math
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError, SettingsError
from spdp_engine.models.spdp import Priors, SpdpSample
from spdp_engine.models.stirling import seating_factors
from spdp_engine.sampling.devices import Device, choose_device
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.sampling.schedules import schedule_named
from spdp_engine.sampling.spdp_state import SpdpState, memory_needed
from spdp_engine.types import Iteration, TokenArrays, Tokens

log = logging.getLogger(__name__)

HELD_OUT_CHUNK = 256
MAXIMUM_TOPICS = 4096


@dataclass(frozen=True)
class SamplerSettings:
    """Everything that decides a run, beside the corpus.

    Attributes:
        topics: K, 1 .. 4096.
        priors: hyperparameters.
        schedule: a name of `schedules.SCHEDULES`.
        workers: how many sample at once in `blocks`; None: every core of the device.
        device: part of a device's name; None: the first of `devices.list_devices`.
        seed: 0 .. 2^32 - 1. Same seed, schedule and workers: the same bits.
        held_out: share of the documents of which half the tokens are held out.
        measure_every: iterations between measurements of held-out perplexity; 0: never.

    Raises:
        SettingsError: a value is out of its range.
    """

    topics: int = 20
    priors: Priors = field(default_factory=Priors)
    schedule: str = "blocks"
    workers: int | None = None
    device: str | None = None
    seed: int = 1
    held_out: float = 0.1
    measure_every: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.topics <= MAXIMUM_TOPICS:
            raise SettingsError(f"The number of topics must be between 1 and {MAXIMUM_TOPICS}; it is {self.topics}.")
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"The seed must be between 0 and {2**32 - 1}; it is {self.seed}.")
        if self.workers is not None and not 1 <= self.workers <= 1024:
            raise SettingsError(f"The number of workers must be between 1 and 1024; it is {self.workers}.")
        if self.measure_every < 0:
            raise SettingsError(f"Iterations between measurements must not be negative; they are {self.measure_every}.")
        schedule_named(self.schedule)

    def check_makes_sense_for(self, corpus: TokenArrays) -> None:
        """Refuses what can be computed but would mean nothing to a person.

        Raises:
            SettingsError: more topics than different words.
        """
        if self.topics > corpus.n_words:
            raise SettingsError(
                f"There are more topics ({self.topics:,}) than different words in the texts ({corpus.n_words:,}). "
                "Take fewer topics, or leave fewer words out."
            )


class Sampler:
    """A run of the model on a device, one iteration at a time. Not for use by two threads at once; see `jobs` for that.

    Attributes:
        settings: as given, with device and workers filled in.
        device: where it runs.
        held_out: bool [N], which tokens of the corpus are held out.
        training_tokens: how many are not.
        iteration: iterations done.
    """

    def __init__(self, corpus: TokenArrays, settings: SamplerSettings) -> None:
        """Chooses the device, lays the corpus out on it and builds the kernels. Nothing is sampled yet.

        Raises:
            SettingsError: settings that do not fit the corpus.
            DeviceError: no device, a failed build, or too little memory.
        """
        self.device: Device = choose_device(settings.device)
        workers = 1 if settings.schedule == "sequential" else (settings.workers or self.device.default_workers)
        if settings.topics > len(corpus.token_word):
            raise SettingsError(
                f"There are more topics ({settings.topics}) than words in the texts ({len(corpus.token_word)}). Take fewer topics."
            )
        self.settings = replace(settings, workers=workers, device=self.device.name)
        self.held_out = choose_held_out(corpus, settings.held_out, settings.seed)
        training = Tokens(
            corpus.token_word[~self.held_out], corpus.token_document[~self.held_out],
            corpus.document_group, corpus.n_words, corpus.n_groups,
        )  # fmt: skip
        self.training_tokens = len(training.token_word)
        self.iteration = 0
        self._elapsed = 0.0
        try:
            self._queue = cl.CommandQueue(context_of(self.device))
            self._state = SpdpState(
                self.device, self._queue, training, settings.topics, settings.priors, workers, largest_cell(corpus)
            )
            self._schedule = schedule_named(settings.schedule)(
                self.device, self._queue, self._state, training, settings.seed
            )
            self._scorer = _HeldOutScorer(self.device, self._queue, self._state, corpus, self.held_out)
            self._queue.finish()
        except (cl.MemoryError, MemoryError) as error:
            raise DeviceError(
                f"The device “{self.device.name}” ran out of memory. Take fewer topics or a smaller collection."
            ) from error

    def step(self) -> Iteration:
        """Runs one iteration; the first gives every token its first topic."""
        begin = time.perf_counter()
        if self.iteration == 0:
            self._schedule.first()
        else:
            self._schedule.sweep(self.iteration)
        self._queue.finish()
        seconds = time.perf_counter() - begin
        self.iteration += 1
        every = self.settings.measure_every
        perplexity = self.perplexity() if every and self.iteration % every == 0 else None
        self._elapsed += time.perf_counter() - begin
        return Iteration(self.iteration, seconds, self._elapsed, self.training_tokens / seconds, perplexity)

    def run(self, iterations: int, callback: Callable[[Iteration], None] | None = None) -> list[Iteration]:
        """Runs that many iterations, handing each record to `callback`."""
        records = []
        for _ in range(iterations):
            records.append(self.step())
            if callback:
                callback(records[-1])
        return records

    def perplexity(self) -> float | None:
        """Held-out perplexity now; None where nothing is held out."""
        return self._scorer.perplexity(trained=self.iteration > 0)

    def inspect(self) -> SpdpSample:
        """A consistent copy of the state, as of the last iteration."""
        return SpdpSample(self.iteration, self.settings.priors, self._state.read_counts())

    def topics(self) -> NDArray[np.uint16]:
        """The topic of each training token, in the order of the corpus without its held-out tokens: uint16."""
        return self._schedule.read_topics()

    def totals(self) -> NDArray[np.int32]:
        """Customers M and tables T of each group and topic as the device keeps them: int32 [2, I, K]."""
        return self._state.read_totals()


class _HeldOutScorer:
    """Held-out tokens on the device, and their perplexity."""

    def __init__(
        self, device: Device, queue: cl.CommandQueue, state: SpdpState, corpus: TokenArrays, held_out: NDArray[np.bool_]
    ) -> None:
        self._queue, self._state = queue, state
        self._tokens = int(held_out.sum())
        if not self._tokens:
            return
        words, documents = corpus.token_word[held_out], corpus.token_document[held_out]
        order = np.lexsort((documents, corpus.document_group[documents], words))
        lengths = np.bincount(corpus.token_document[~held_out], minlength=len(corpus.document_group))
        chunks = -(-self._tokens // HELD_OUT_CHUNK)
        context, flags = context_of(device), cl.mem_flags
        self._word, self._document, self._scale, self._untrained_scale = (
            cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=array)
            for array in (
                words[order], documents[order], state.document_scale(lengths), state.document_scale(0 * lengths),
            )
        )  # fmt: skip
        self._sums = np.empty(chunks, np.float32)
        self._sums_buffer = cl.Buffer(context, flags.WRITE_ONLY, self._sums.nbytes)
        constants = {**state.constants, "CHUNK": HELD_OUT_CHUNK}
        self._kernel = cl.Kernel(build_program(device, (state.held_out_kernel,), constants), "held_out")

    def perplexity(self, trained: bool) -> float | None:
        if not self._tokens:
            return None
        scale = self._scale if trained else self._untrained_scale
        self._kernel(self._queue, (self._state.workers,), (1,), np.int32(self._tokens), self._word, self._document, scale,
                     self._sums_buffer, *self._state.arguments)  # fmt: skip
        cl.enqueue_copy(self._queue, self._sums, self._sums_buffer)
        return math.exp(-float(self._sums.sum(dtype=np.float64)) / self._tokens)


def largest_cell(corpus: TokenArrays) -> int:
    """Count of the commonest word in a group: the most customers a cell can have. Counted once for each corpus."""
    if corpus not in _largest_cells:
        cells = corpus.document_group[corpus.token_document].astype(np.int64) * corpus.n_words + corpus.token_word
        _largest_cells[corpus] = int(np.bincount(cells).max())
    return _largest_cells[corpus]


_largest_cells: weakref.WeakKeyDictionary[TokenArrays, int] = weakref.WeakKeyDictionary()


def memory_for(corpus: TokenArrays, topics: int) -> int:
    """Bytes of device memory that a run on this corpus will take."""
    sizes = len(corpus.document_group), corpus.n_words, corpus.n_groups, topics, len(corpus.token_word)
    return sum(memory_needed(*sizes, largest_cell(corpus)).values())


def warm_up(settings: SamplerSettings, corpus: TokenArrays | None = None) -> None:
    """Does beforehand what a run would otherwise begin with: compiles its kernels, by running them on a few tokens, and
    builds the table of seating factors that the corpus needs.

    Drivers compile when a kernel is built and again when it first runs, a second or more in all. Programs depend on the
    number of topics, rounded up to whole vectors, and on nothing else. Errors are logged and left to the run itself.
    """
    count = settings.topics + 1
    few = Tokens(
        np.zeros(2 * count, np.int32), np.repeat(np.arange(2, dtype=np.int32), count), np.zeros(2, np.int32), 1, 1
    )
    try:
        Sampler(few, replace(settings, held_out=0.5, measure_every=1)).run(2)
        if corpus is not None:
            seating_factors(settings.priors.discount, largest_cell(corpus))
    except Exception:
        log.info("warming up failed", exc_info=True)
