"""The stepped sampler: a corpus and settings in, one `Iteration` out for each step, a `Sample` whenever asked."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError, SettingsError
from spdp_engine.models import Matrices, Priors, SpdpPriors
from spdp_engine.models.spdp import largest_cell
from spdp_engine.models.stirling import seating_factors
from spdp_engine.sampling.devices import Device, choose_device
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.sampling.methods import METHODS, Method, method_named, methods_of, model_named
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.sampling.state import State, check_memory
from spdp_engine.sampling.tuning import best_shape, default_schedule
from spdp_engine.types import Iteration, Sample, TokenArrays, Tokens

log = logging.getLogger(__name__)

HELD_OUT_CHUNK = 256
MAXIMUM_TOPICS = 4096


@dataclass(frozen=True)
class SamplerSettings:
    """Everything that decides a run, beside the corpus.

    Attributes:
        topics: K, 1 .. 4096.
        priors: hyperparameters; None: the model's defaults.
        schedule: one of the model's in `methods.METHODS`; None: the device's default.
        workers: how many sample at once in `blocks`; None: every core of the device.
        device: part of a device's name; None: the first of `devices.list_devices`.
        seed: 0 .. 2^32 - 1. Same seed, schedule and workers: the same bits, unless the method is approximate by timing.
        held_out: share of the documents of which half the tokens are held out.
        measure_every: iterations between measurements of held-out perplexity; 0: never.
        model: a name of `methods.MODELS`.
        order: in which the schedule visits the tokens; None: its default, and the only choice where it has one order.
        associations: transformation matrices, by group and word of the corpus; None: the identity.

    Raises:
        SettingsError: a value is out of its range, or two do not go together.
    """

    topics: int = 20
    priors: Priors = None  # type: ignore[assignment]  # filled in below
    schedule: str | None = None
    workers: int | None = None
    device: str | None = None
    seed: int = 1
    held_out: float = 0.1
    measure_every: int = 1
    model: str = "spdp"
    order: str | None = None
    associations: Matrices | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.topics <= MAXIMUM_TOPICS:
            raise SettingsError(f"The number of topics must be between 1 and {MAXIMUM_TOPICS}; it is {self.topics}.")
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"The seed must be between 0 and {2**32 - 1}; it is {self.seed}.")
        if self.workers is not None and not 1 <= self.workers <= 1024:
            raise SettingsError(f"The number of workers must be between 1 and 1024; it is {self.workers}.")
        if self.measure_every < 0:
            raise SettingsError(f"Iterations between measurements must not be negative; they are {self.measure_every}.")
        model = model_named(self.model)
        if self.priors is None:
            object.__setattr__(self, "priors", model.priors())
        if type(self.priors) is not model.priors:
            raise SettingsError(f"These priors are not those of the model {self.model}. Give it its own, or none.")
        if self.schedule is not None:
            self.check_method(method_named(self.model, self.schedule))
        elif self.order is not None:
            raise SettingsError(f"The order “{self.order}” is one of a schedule's. Name the schedule, too.")
        elif self.associations is not None:
            self.check_method(methods_of(self.model)[0])

    def check_method(self, method: Method) -> None:
        """Refuses an order or associations that a method has no use for.

        Raises:
            SettingsError: as said.
        """
        if self.order is not None and self.order not in method.orders:
            there = (
                f"Its orders are {' and '.join(method.orders)}." if method.orders else "It has one order; give none."
            )
            raise SettingsError(f"The schedule {method.schedule} has no order “{self.order}”. {there}")
        if self.associations is not None and not method.associations:
            others = [one.schedule for one in METHODS if one.model == method.model and one.associations]
            remedy = f"Take one of {', '.join(others)}" if others else "Take the model spdp"
            raise SettingsError(
                f"The schedule {method.schedule} of the model {method.model} has no use for associations. {remedy}, or leave the "
                "associations out."
            )

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
        if settings.topics > len(corpus.token_word):
            raise SettingsError(
                f"There are more topics ({settings.topics}) than words in the texts ({len(corpus.token_word)}). Take fewer topics."
            )
        schedule = settings.schedule or default_schedule(settings.model, self.device, settings.topics)
        method = method_named(settings.model, schedule)
        settings.check_method(method)
        workers = method.runner.workers(settings.workers, self.device)
        readers = max(workers, self.device.default_workers)
        needed = method.memory_needed(corpus, settings.topics, readers, settings.associations)
        check_memory(self.device, settings.topics, corpus.n_words, needed)
        order = settings.order or (method.orders[0] if method.orders else None)
        self.settings = replace(settings, schedule=schedule, order=order, workers=workers, device=self.device.name)
        self.held_out = choose_held_out(corpus, settings.held_out, settings.seed)
        self._training = Tokens(
            corpus.token_word[~self.held_out], corpus.token_document[~self.held_out],
            corpus.document_group, corpus.n_words, corpus.n_groups,
        )  # fmt: skip
        self.training_tokens = len(self._training.token_word)
        self.iteration = 0
        self._elapsed = 0.0
        try:
            shape = best_shape(method, self.device, settings.topics)
            self._queue = cl.CommandQueue(context_of(self.device))
            self._state = method.state(
                self.device, self._queue, corpus, settings.topics, settings.priors, workers, settings.associations
            )
            self._schedule = method.runner(self._state, self._training, settings.seed, order, shape)
            self._scorer = _HeldOutScorer(self._queue, self._state, corpus, self.held_out)
            self._queue.finish()
        except (cl.MemoryError, MemoryError) as error:
            raise DeviceError(
                f"The device “{self.device.name}” ran out of memory. Take fewer topics or a smaller collection."
            ) from error

    def start_at(self, topics: NDArray[np.uint16], counts: Any = None) -> None:
        """Begins from given topics instead of the first pass; counts as the first iteration.

        Args:
            topics: uint16 [training tokens], in the order of the corpus without its held-out tokens.
            counts: the model's counts; None: such as follow from the topics (in SPDP one table to each cell).

        Raises:
            SettingsError: not one topic of this run to each training token.
        """
        if topics.shape != (self.training_tokens,) or int(topics.max()) >= self.settings.topics:
            raise SettingsError(
                f"A run of {self.settings.topics} topics begins from {self.training_tokens:,} topics below that number, one for "
                "each training token."
            )
        self._schedule.write_topics(topics)
        self._state.write(self._training, topics, counts)
        self.iteration = 1

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

    def likelihoods(self) -> NDArray[np.float64]:
        """sum_k theta[d,k] phi[i,k,w] of each held-out token now, always in the same order: float64 [held-out tokens].

        Averaged over sweeps, their logarithms give the perplexity of the averaged model.
        """
        return self._scorer.likelihoods(trained=self.iteration > 0)

    def inspect(self) -> Sample:
        """A consistent copy of the state, as of the last iteration."""
        return self._state.read_sample(self.iteration, self._training, self.topics)

    def topics(self) -> NDArray[np.uint16]:
        """The topic of each training token, in the order of the corpus without its held-out tokens: uint16."""
        return self._schedule.read_topics()

    def totals(self) -> NDArray[np.int32]:
        """Sums over words as the device keeps them, int32: in SPDP customers M and tables T [2, I, K]; in LDA tokens [K]."""
        return self._state.read_totals()


class _HeldOutScorer:
    """Held-out tokens on the device, and their probabilities."""

    def __init__(self, queue: cl.CommandQueue, state: State, corpus: TokenArrays, held_out: NDArray[np.bool_]) -> None:
        self._queue, self._state = queue, state
        self._tokens = int(held_out.sum())
        if not self._tokens:
            return
        words, documents = corpus.token_word[held_out], corpus.token_document[held_out]
        order = np.lexsort((documents, corpus.document_group[documents], words))
        lengths = np.bincount(corpus.token_document[~held_out], minlength=len(corpus.document_group))
        chunks = -(-self._tokens // HELD_OUT_CHUNK)
        context, flags = context_of(state.device), cl.mem_flags
        self._word, self._document, self._scale, self._untrained_scale = (
            state.copied(array)
            for array in (
                words[order], documents[order], state.document_scale(lengths), state.document_scale(0 * lengths),
            )
        )  # fmt: skip
        self._sums = np.empty(chunks, np.float32)
        self._sums_buffer = cl.Buffer(context, flags.WRITE_ONLY, self._sums.nbytes)
        self._likelihood = cl.Buffer(context, flags.WRITE_ONLY, 4 * self._tokens)
        constants = {**state.constants, "CHUNK": HELD_OUT_CHUNK}
        self._kernel = cl.Kernel(build_program(state.device, (*state.headers, "held_out.cl"), constants), "held_out")

    def perplexity(self, trained: bool) -> float | None:
        if not self._tokens:
            return None
        self._measure(trained)
        cl.enqueue_copy(self._queue, self._sums, self._sums_buffer)
        return math.exp(-float(self._sums.sum(dtype=np.float64)) / self._tokens)

    def likelihoods(self, trained: bool) -> NDArray[np.float64]:
        likelihood = np.empty(self._tokens, np.float32)
        if self._tokens:
            self._measure(trained)
            cl.enqueue_copy(self._queue, likelihood, self._likelihood)
        return likelihood.astype(np.float64)

    def _measure(self, trained: bool) -> None:
        self._kernel(
            self._queue, (self._state.readers,), (1,), np.int32(self._tokens), self._word, self._document,
            self._scale if trained else self._untrained_scale, self._likelihood, self._sums_buffer, *self._state.arguments,
        )  # fmt: skip


def memory_for(corpus: TokenArrays, settings: SamplerSettings) -> int:
    """Bytes of device memory that a run on this corpus will take."""
    schedule = settings.schedule
    method = method_named(settings.model, schedule) if schedule else methods_of(settings.model)[0]
    return sum(method.memory_needed(corpus, settings.topics, settings.workers or 1, settings.associations).values())


def warm_up(settings: SamplerSettings, corpus: TokenArrays | None = None) -> None:
    """Does beforehand what a run would otherwise begin with: compiles its kernels, by running them on a few tokens, and
    builds the table of seating factors that the corpus needs.

    Drivers compile when a kernel is built and again when it first runs, a second or more in all. Programs depend on the
    method, on whether there are associations, and on the number of topics, rounded up to whole vectors. Errors are logged
    and left to the run itself.
    """
    try:
        associations = None if settings.associations is None else Matrices.identity(1, 1)
        settings = replace(settings, associations=associations, held_out=0.5, measure_every=1)
        Sampler(few_tokens(settings.topics + 1), settings).run(2)
        if corpus is not None and isinstance(settings.priors, SpdpPriors):
            seating_factors(settings.priors.discount, largest_cell(corpus))
    except Exception:
        log.info("warming up failed", exc_info=True)


def few_tokens(count: int) -> Tokens:
    """Two documents of so many tokens of one word."""
    return Tokens(
        np.zeros(2 * count, np.int32), np.repeat(np.arange(2, dtype=np.int32), count), np.zeros(2, np.int32), 1, 1
    )
