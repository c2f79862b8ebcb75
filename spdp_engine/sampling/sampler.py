"""The stepped sampler: a corpus and settings in, one `Iteration` out for each step, a `Sample` whenever asked."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError, SettingsError
from spdp_engine.models import Matrices, Priors, SpdpPriors
from spdp_engine.models.mean import MeanSample
from spdp_engine.models.readings import count_tokens
from spdp_engine.models.spdp import largest_cell
from spdp_engine.models.stirling import seating
from spdp_engine.sampling.averaging import Averages, BurnIn, what_is_read
from spdp_engine.sampling.devices import Device, choose_device
from spdp_engine.sampling.held_out import choose_held_out
from spdp_engine.sampling.learning import Learner
from spdp_engine.sampling.methods import METHODS, Method, method_named, methods_of, model_named
from spdp_engine.sampling.programs import context_of
from spdp_engine.sampling.repeats import Seats
from spdp_engine.sampling.scoring import Scorer
from spdp_engine.sampling.snapshot import Origin, Snapshot, training_tokens
from spdp_engine.sampling.state import check_memory
from spdp_engine.sampling.tempering import is_tempered
from spdp_engine.sampling.tuning import best_shape, default_schedule
from spdp_engine.types import Iteration, Sample, ScoredTokens, TokenArrays, Tokens

log = logging.getLogger(__name__)

MAXIMUM_TOPICS = 4096

AVERAGE_EVERY = 20
"""Sweeps from one sample for readers' averages to the next; neighbours are much alike."""

MANY = 5
"""Samples that make a mean worth showing a little longer when the next begins."""

LOOK_EVERY = 10
"""Such samples from one look at whether topics have changed their numbers to the next."""

MONITORED = 4096
"""Training tokens that tell when the chain has settled where none are held out."""


@dataclass(frozen=True)
class SamplerSettings:
    """Everything that decides a run, beside the corpus.

    Attributes:
        topics: K, 1 .. 4096.
        priors: hyperparameters, those that are learned as they are at first; None: the model's defaults.
        schedule: one of the model's in `methods.METHODS`; None: the device's default.
        workers: how many sample at once in `blocks`; None: every core of the device.
        device: part of a device's name; None: the first of `devices.list_devices`.
        seed: 0 .. 2^32 - 1. Same seed, schedule and workers: the same bits, unless the method is approximate by timing.
        held_out: share of the documents of which half the tokens are held out.
        measure_every: iterations between measurements of held-out perplexity; 0: never.
        model: a name of `methods.MODELS`.
        order: in which the schedule visits the tokens; None: its default, and the only choice where it has one order.
        associations: transformation matrices, by group and word of the corpus; None: the identity.
        learn: whether hyperparameters are learned.
        fixed: names of priors that are not.
        repeats: whether a document may repeat words beyond what its topics say (kernels/repeats.clh); None: the method's default.
        tempering: whether some sweeps at the beginning are tempered (sampling/tempering.py); None: the method's default.

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
    learn: bool = True
    fixed: tuple[str, ...] = ()
    repeats: bool | None = None
    tempering: bool | None = None

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
        strange = set(self.fixed) - {one.name for one in fields(model.priors)}
        if strange:
            raise SettingsError(f"The model {self.model} has no {strange.pop()} that could be fixed.")
        if self.schedule is not None:
            self.check_method(method_named(self.model, self.schedule))
        elif self.order is not None:
            raise SettingsError(f"The order “{self.order}” is one of a schedule's. Name the schedule, too.")
        elif self.associations is not None or self.repeats or self.tempering:
            self.check_method(methods_of(self.model)[0])

    def check_method(self, method: Method) -> None:
        """Refuses an order, associations, repeats or tempering that a method has no use for.

        Raises:
            SettingsError: as said.
        """
        if self.order is not None and self.order not in method.orders:
            there = (
                f"Its orders are {' and '.join(method.orders)}." if method.orders else "It has one order; give none."
            )
            raise SettingsError(f"The schedule {method.schedule} has no order “{self.order}”. {there}")
        if self.repeats and not method.runner.takes_repeats:
            others = [one.schedule for one in METHODS if one.model == method.model and one.runner.takes_repeats]
            raise SettingsError(
                f"The schedule {method.schedule} of the model {method.model} does not have documents repeat words. Take one of "
                f"{', '.join(others)}, or leave the repeats out."
            )
        if self.tempering and not method.runner.takes_tempering:
            others = [one.schedule for one in METHODS if one.model == method.model and one.runner.takes_tempering]
            raise SettingsError(
                f"The beginning of a run under the schedule {method.schedule} of the model {method.model} cannot be tempered. Take "
                f"one of {', '.join(others)}, or leave the tempering out."
            )
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


def plain_settings(*arguments: Any, **named: Any) -> SamplerSettings:
    """`SamplerSettings` of a model as its sources have it: hyperparameters as given, no repeats, every sweep alike; to compare
    samplers with."""
    return SamplerSettings(*arguments, **{"learn": False, "repeats": False, "tempering": False, **named})


class Sampler:
    """A run of the model on a device, one iteration at a time. Not for use by two threads at once; see `jobs` for that.

    Attributes:
        settings: as given, with device and workers filled in, and whether the run's beginning is tempered.
        device: where it runs.
        held_out: bool [N], which tokens of the corpus are held out.
        training_tokens: how many are not.
        iteration: iterations done.
    """

    def __init__(
        self, corpus: TokenArrays, settings: SamplerSettings, scored: ScoredTokens | None = None, snapshot: Snapshot | None = None
    ) -> None:  # fmt: skip
        """Chooses the device, lays the corpus out on it and builds the kernels. Nothing is sampled yet.

        Args:
            corpus: all tokens.
            settings: of the run.
            scored: further tokens of the documents that are scored and never trained on; then none of the corpus is held out.
            snapshot: the state of a run on this corpus with these settings, to go on from; None: a new run.

        Raises:
            SettingsError: settings that do not fit the corpus, or a snapshot that does not fit both.
            DeviceError: no device, a failed build, or too little memory.
        """
        self.device: Device = choose_device(settings.device)
        if settings.topics > len(corpus.token_word):
            raise SettingsError(
                f"There are more topics ({settings.topics}) than words in the texts ({len(corpus.token_word)}). Take fewer topics."
            )
        schedule = settings.schedule or default_schedule(settings.model, self.device, settings.topics, settings.repeats)
        method = method_named(settings.model, schedule)
        settings.check_method(method)
        workers = method.runner.workers(settings.workers, self.device)
        readers = max(workers, self.device.default_workers)
        repeats = method.repeats if settings.repeats is None else settings.repeats
        fixed = tuple(dict.fromkeys((*settings.fixed, *method.state.never_learned)))
        needed = method.memory_needed(corpus, settings.topics, readers, settings.associations, repeats)
        check_memory(self.device, settings.topics, corpus.n_words, needed)
        order = settings.order or (method.orders[0] if method.orders else None)
        self.settings = replace(
            settings,
            schedule=schedule,
            order=order,
            workers=workers,
            device=self.device.name,
            repeats=repeats,
            fixed=fixed,
            tempering=method.tempering if settings.tempering is None else settings.tempering,
        )
        if snapshot:
            snapshot.check(corpus, self.settings)
            self.settings = replace(self.settings, tempering=snapshot.tempering)
            self.held_out = snapshot.held_out
        else:
            self.held_out = choose_held_out(corpus, 0.0 if scored else settings.held_out, settings.seed)
        self._training = training_tokens(corpus, self.held_out)
        self.training_tokens = len(self._training.token_word)
        self.iteration = 0
        self._elapsed = 0.0
        try:
            shape = best_shape(method, self.device, settings.topics)
            self._queue = cl.CommandQueue(context_of(self.device))
            priors = snapshot.priors if snapshot else settings.priors
            self._state = method.state(
                self.device, self._queue, corpus, settings.topics, priors, workers, settings.associations
            )
            self._schedule = method.runner(self._state, self._training, settings.seed, order, shape, repeats)
            held_out = ScoredTokens(corpus.token_word[self.held_out], corpus.token_document[self.held_out])
            self._scorer = Scorer(self._state, self._schedule, self._training, scored or held_out)
            self._monitor = self._scorer
            if not self._scorer.tokens:
                some = slice(None, None, max(1, self.training_tokens // MONITORED))
                training = ScoredTokens(self._training.token_word[some], self._training.token_document[some])
                self._monitor = Scorer(self._state, self._schedule, self._training, training)
            self._learner = Learner(
                self._state, self._schedule.repeats, fixed, settings.seed
            ) if settings.learn else None  # fmt: skip
            self._averages = Averages(self._state, self._schedule, self._training)
            self._burn_in = BurnIn()
            self._settled = False
            self._earlier: MeanSample | None = None
            if snapshot:
                self._restore(snapshot)
            self._queue.finish()
        except (cl.MemoryError, MemoryError) as error:
            raise DeviceError(
                f"The device “{self.device.name}” ran out of memory. Take fewer topics or a smaller collection."
            ) from error

    def start_at(self, topics: NDArray[np.uint16], counts: Any = None) -> None:
        """Begins from given topics instead of the first pass; counts as the first iteration. The run is not tempered then, since
        its topics are to be kept.

        The whole state of a run is a `Snapshot`, from which a sampler is made that goes on; here all but the topics begins anew.

        Args:
            topics: uint16 [training tokens], in the order of the corpus without its held-out tokens.
            counts: the model's counts; None: such as follow from the topics (in SPDP one table to each cell).

        Raises:
            SettingsError: not one topic of this run to each training token; or counts where documents repeat words, whose tables
                would not be known.
        """
        if counts is not None and self._schedule.repeats:
            raise SettingsError(
                "Counts do not say which words of a document repeat others. Begin from topics alone, or from a snapshot."
            )
        Seats(topics).check(self._training, self.settings.topics)
        self._schedule.write_topics(topics)
        self._state.write(*self._schedule.modelled(), counts)
        self.settings = replace(self.settings, tempering=False)
        self.iteration = 1

    def snapshot(self) -> Snapshot:
        """The exact state of the run, from which another sampler goes on; waits for the device.

        Raises:
            SettingsError: no iteration was done yet.
        """
        if not self.iteration:
            raise SettingsError("There is no state of a run before its first iteration. Run one.")
        trace, mark = self._burn_in.kept()
        return Snapshot(
            iteration=self.iteration,
            elapsed=self._elapsed,
            held_out=self.held_out,
            seats=self._schedule.read_seats(),
            own=self._state.read_own(),
            priors=self._state.priors,
            alphas=self._state.alphas,
            random=self._learner.random if self._learner else None,
            settled=self._settled,
            trace=trace,
            mark=mark,
            scored_samples=self._monitor.samples,
            scored=self._monitor.sums,
            averages=self._averages.read(),
            earlier=self._earlier if self._averages.samples < MANY else None,
            origin=Origin.here(self.device),
            tempering=bool(self.settings.tempering),
        )

    def _restore(self, snapshot: Snapshot) -> None:
        """Takes the state of a run, of which everything but its priors and its held-out tokens is still to come.

        Raises:
            SettingsError: other tokens measured its fit.
        """
        if snapshot.scored.shape != (self._monitor.tokens,):
            raise SettingsError(
                f"The fit of the run was measured on {len(snapshot.scored):,} words, but now there are {self._monitor.tokens:,}. "
                "Bring the same scored words."
            )
        self._schedule.write_seats(snapshot.seats)
        self._state.set_alphas(snapshot.alphas)
        self._state.restore(*snapshot.seats.modelled(self._training), snapshot.own)
        if self._learner and snapshot.random is not None:
            self._learner.random = snapshot.random
        self._monitor.restore(snapshot.scored, snapshot.scored_samples)
        if snapshot.averages:
            self._averages.restore(snapshot.averages)
        self._burn_in = BurnIn(snapshot.trace.tolist(), snapshot.mark)
        self._settled, self._earlier = snapshot.settled, snapshot.earlier
        self.iteration, self._elapsed = snapshot.iteration, snapshot.elapsed

    def step(self) -> Iteration:
        """Runs one iteration; the first gives every token its first topic."""
        begin = time.perf_counter()
        tempered = bool(self.settings.tempering) and is_tempered(self.iteration + 1)
        if self.iteration == 0:
            self._state.first_pass(self._schedule.first)
        elif tempered:
            self._schedule.tempered_sweep(self.iteration)
        else:
            self._schedule.sweep(self.iteration)
        self._queue.finish()
        seconds = time.perf_counter() - begin
        self.iteration += 1
        if self._learner and not tempered:
            self._learner.learn(self.iteration)
        every = self.settings.measure_every
        perplexity, averaged = self._measure(tempered) if every and self.iteration % every == 0 else (None, None)
        self._elapsed += time.perf_counter() - begin
        return Iteration(
            self.iteration, seconds, self._elapsed, self.training_tokens / seconds, perplexity, averaged,
            self._monitor.samples, self.hyperparameters(),
        )  # fmt: skip

    def _measure(self, tempered: bool) -> tuple[float | None, float | None]:
        """Held-out perplexity now and averaged, None where nothing is held out; averages once the chain has settled, but no sample
        of a tempered sweep."""
        now, averaged = self._monitor.perplexities(trained=True, add=self._settled and not tempered)
        if tempered:
            return (now, self._monitor.mean_perplexity()) if self._scorer.tokens else (None, None)
        self._settled = self._burn_in.settled(now) or self._settled
        if self._settled and self.iteration % AVERAGE_EVERY == 0:
            look = self.iteration % (LOOK_EVERY * AVERAGE_EVERY) == 0
            if self._averages.samples and (self._burn_in.fell() or (look and self._averages.renumbered())):
                log.info("after %d iterations the means for readers begin anew", self.iteration)
                if self._averages.samples >= MANY:
                    self._earlier = self._mean()
                self._averages.clear()
            if not self._averages.samples:
                self._burn_in.mark()
            self._averages.add(self.iteration)
        return (now, averaged) if self._scorer.tokens else (None, None)

    def hyperparameters(self) -> dict[str, float]:
        """Those in force by name; alpha: the mean over groups and topics."""
        priors = {one.name: float(getattr(self._state.priors, one.name)) for one in fields(self._state.priors)}
        if not self._schedule.repeats:
            priors = {name: value for name, value in priors.items() if not name.startswith("repeat_")}
        return {**priors, "alpha": float(self._state.alphas.mean())}

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
        return self._scorer.perplexities(trained=self.iteration > 0)[0] if self._scorer.tokens else None

    def likelihoods(self) -> NDArray[np.float64]:
        """sum_k theta[d,k] phi[i,k,w] of each held-out token now, always in the same order: float64 [held-out tokens].

        Averaged over sweeps, their logarithms give the perplexity of the averaged model.
        """
        return self._scorer.likelihoods(trained=self.iteration > 0)

    def inspect(self) -> Sample:
        """What there is to read of the run: the mean of its samples once there are some, else the state as it is."""
        return what_is_read(self.iteration, self._averages.samples, self._earlier, self._mean, self.sample)

    def _mean(self) -> MeanSample:
        sums = self._averages.read()
        assert sums is not None
        return sums.mean(self._state.read_sample(self.iteration, self._schedule.modelled))

    def sample(self) -> Sample:
        """A consistent copy of the state, as of the last iteration."""
        words = None
        if self._schedule.repeats:
            training = self._training
            shape = training.n_groups, training.n_words, self.settings.topics
            _, words = count_tokens(
                training.token_word, training.token_document, training.document_group, self.topics(), shape
            )
        return self._state.read_sample(self.iteration, self._schedule.modelled, words)

    def topics(self) -> NDArray[np.uint16]:
        """The topic of each training token, in the order of the corpus without its held-out tokens: uint16."""
        return self._schedule.read_topics()

    def totals(self) -> NDArray[np.int32]:
        """Sums over words as the device keeps them, int32: in SPDP customers M and tables T [2, I, K]; in LDA tokens [K]."""
        return self._state.read_totals()


def memory_for(corpus: TokenArrays, settings: SamplerSettings) -> int:
    """Bytes of device memory that a run on this corpus will take."""
    schedule = settings.schedule
    method = method_named(settings.model, schedule) if schedule else methods_of(settings.model)[0]
    return sum(
        method.memory_needed(
            corpus, settings.topics, settings.workers or 1, settings.associations, settings.repeats
        ).values()
    )


def warm_up(settings: SamplerSettings, corpus: TokenArrays | None = None) -> None:
    """Does beforehand what a run would otherwise begin with: compiles its kernels, by running them on a few tokens, and
    builds the table of how customers sit that the corpus needs.

    Drivers compile when a kernel is built and again when it first runs, a second or more in all. Programs depend on the
    method, on whether there are associations, and on the number of topics, rounded up to whole vectors. Errors are logged
    and left to the run itself.
    """
    try:
        associations = None if settings.associations is None else Matrices.identity(1, 1)
        settings = replace(settings, associations=associations, held_out=0.5, measure_every=1)
        sampler = Sampler(few_tokens(settings.topics + 1), settings)
        sampler.run(2)
        if sampler.settings.tempering:
            sampler._schedule.tempered_sweep(sampler.iteration)
            sampler._queue.finish()
        if settings.learn:
            importlib.import_module("scipy.special")
        if corpus is not None and isinstance(settings.priors, SpdpPriors):
            seating(settings.priors.discount, largest_cell(corpus))
    except Exception:
        log.info("warming up failed", exc_info=True)


def few_tokens(count: int) -> Tokens:
    """Two documents of so many tokens of one word."""
    return Tokens(
        np.zeros(2 * count, np.int32), np.repeat(np.arange(2, dtype=np.int32), count), np.zeros(2, np.int32), 1, 1
    )
