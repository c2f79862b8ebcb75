"""Runs with and without learning, repeats and good first topics: perplexity and seconds on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from benchmarks.blocking_runs import first_topics
from benchmarks.data import NamedCorpus
from benchmarks.fit_split import HELD_OUT
from benchmarks.machine import Machine
from benchmarks.report import Row
from benchmarks.runs import Points, Progress
from spdp_engine.models.spdp import SpdpPriors
from spdp_engine.sampling.sampler import Sampler, SamplerSettings
from spdp_engine.types import Iteration, TokenArrays

SCHEDULE = "blocks"

WARM_UP = 6
"""Iterations of a run that is thrown away before one whose seconds are told: hyperparameters have been drawn by then."""


@dataclass(frozen=True)
class Variant:
    """How a run differs from one with default settings.

    Attributes:
        name: what results call it.
        what: the same for readers, as the rest of a sentence.
        learn: whether hyperparameters are learned.
        repeats: whether documents repeat words; None: the engine's default.
        tempering: whether the beginning is tempered, where the first pass gives the first topics.
        random_start: whether the first topics are drawn at random; else the first pass gives them.
        fixed: names of hyperparameters that are not learned.
        times: how many times as many iterations a traced run takes as others do, to see when it reaches their fit.
    """

    name: str
    what: str = ""
    learn: bool = True
    repeats: bool | None = None
    tempering: bool | None = None
    random_start: bool = False
    fixed: tuple[str, ...] = ()
    times: int = 1

    def settings(self, topics: int, seed: int, device: str | None) -> SamplerSettings:
        """Settings of a run."""
        return SamplerSettings(
            topics=topics, schedule=SCHEDULE, seed=seed, device=device, held_out=HELD_OUT, learn=self.learn,
            repeats=self.repeats, tempering=self.tempering, fixed=self.fixed,
        )  # fmt: skip

    def begin(self, corpus: TokenArrays, wanted: Row) -> Sampler:
        """A sampler by the settings in a row ('topics', 'seed', 'device'), at its first topics where they are random."""
        topics, seed = int(str(wanted["topics"])), int(str(wanted["seed"]))
        sampler = Sampler(corpus, self.settings(topics, seed, str(wanted["device"])))
        if self.random_start:
            sampler.start_at(first_topics(sampler.training_tokens, topics, seed))
        return sampler


DEFAULT = Variant("default", "as anybody would run it")
FIXED = Variant(
    "fixed", "hyperparameters stay at their defaults, the thesis's values where the thesis has them", learn=False
)
UNTEMPERED = Variant("not tempered", "hyperparameters are learned, every sweep is alike", tempering=False)
NO_REPEATS = Variant("no repeats", "hyperparameters are learned, documents do not repeat words", repeats=False)
PLAIN = Variant(
    "plain", "no learning, no repeats, no tempering: the thesis's model", learn=False, repeats=False, tempering=False
)
RANDOM_FIXED = Variant(
    "random, fixed",
    "as `fixed`, from random first topics instead of the first pass, and not tempered",
    learn=False,
    tempering=False,
    random_start=True,
    times=2,
)
RANDOM_PLAIN = Variant(
    "random, plain",
    "as `plain`, from random first topics",
    learn=False,
    repeats=False,
    tempering=False,
    random_start=True,
    times=2,
)

RIVALS = (RANDOM_PLAIN, RANDOM_FIXED)
"""Those whose seconds the default's are held to: random first topics and fixed hyperparameters, without repeats and with them."""

VARIANTS = {one.name: one for one in (DEFAULT, FIXED, UNTEMPERED, NO_REPEATS, PLAIN, RANDOM_FIXED, RANDOM_PLAIN)}

HYPERPARAMETERS = tuple(one.name for one in fields(SpdpPriors))

ABLATIONS = {name: Variant(name, fixed=(name,)) for name in HYPERPARAMETERS}
"""Each hyperparameter fixed by itself, by its name."""

Corpora = Mapping[str, NamedCorpus]
"""By name."""


def is_traced(iteration: int) -> bool:
    """Whether a trace has a point there: close together where much happens, then every fifth iteration."""
    return iteration <= 50 or iteration % 5 == 0


@dataclass(frozen=True)
class TracedRun:
    """Measures one run of a variant.

    Attributes:
        corpora: what is sampled.
        machine: where.
    """

    corpora: Corpora = field(repr=False)
    machine: Machine

    def __call__(self, wanted: Row, progress: Progress) -> tuple[Row, Points]:
        """See `runs.TracedMeasure`. Random first topics count as the first iteration, and take no time.

        There is a point at the last iteration, and where runs of other variants end.
        """
        variant, corpus = VARIANTS[str(wanted["variant"])], self.corpora[str(wanted["corpus"])].arrays
        warm_up(variant.begin(corpus, wanted))
        sampler, last = variant.begin(corpus, wanted), int(str(wanted["iterations"]))
        kept, points = {last // variant.times, last}, list[Row]()
        while sampler.iteration < last:
            record = sampler.step()
            progress(record)
            if is_traced(record.iteration) or record.iteration in kept:
                points.append({
                    "iteration": record.iteration, "seconds": f"{record.elapsed:.3f}",
                    "perplexity": _figure(record.perplexity), "averaged": _figure(record.averaged),
                })  # fmt: skip
        return {**_ending(record), **self.machine.columns()}, points


@dataclass(frozen=True)
class FinalRun:
    """Measures how one run ends in which a hyperparameter is fixed. Attributes: see `TracedRun`."""

    corpora: Corpora = field(repr=False)
    machine: Machine

    def __call__(self, wanted: Row, progress: Progress) -> Row:
        """See `runs.Measure`."""
        sampler = ABLATIONS[str(wanted["fixed"])].begin(self.corpora[str(wanted["corpus"])].arrays, wanted)
        records = sampler.run(int(str(wanted["iterations"])), progress)
        return {**_ending(records[-1]), **self.machine.columns()}


def warm_up(sampler: Sampler) -> None:
    """Makes a sampler that is thrown away do once whatever runs do, so that drivers compile and modules are loaded."""
    sampler.run(WARM_UP)
    # runs come to these later
    if sampler.settings.tempering:
        sampler._schedule.tempered_sweep(sampler.iteration)
    sampler._averages.add(sampler.iteration)
    sampler._averages.renumbered()


def _ending(record: Iteration) -> Row:
    """How a run ended, as columns. A short one may end before it averages; its last sample then counts as the average."""
    averaged = record.perplexity if record.averaged is None else record.averaged
    learned = {name: record.hyperparameters.get(name) for name in HYPERPARAMETERS}
    return {
        "single": _figure(record.perplexity),
        "averaged": _figure(averaged),
        "samples": record.samples,
        "seconds": f"{record.elapsed:.3f}",
        **{name: "" if value is None else f"{value:.5g}" for name, value in learned.items()},
    }


def _figure(perplexity: float | None) -> str:
    return "" if perplexity is None else f"{perplexity:.4f}"
