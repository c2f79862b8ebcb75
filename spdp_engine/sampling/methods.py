"""Every sampler by its name: which models there are, and under which schedules each runs.

This is the one place that chooses. To add a model: its priors, counts and estimates go to `models/`, what one of its tokens
does to a header in `kernels/`, its buffers to a `State`, and its rows here. Schedules, evaluation, jobs, reading of topics and
pages stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spdp_engine.errors import SettingsError
from spdp_engine.models.lda import LdaPriors
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.priors import Priors
from spdp_engine.models.spdp import SpdpPriors
from spdp_engine.sampling.averaging import Averages
from spdp_engine.sampling.lda_state import LdaState
from spdp_engine.sampling.repeats import Repeats
from spdp_engine.sampling.schedules import (
    BlockedBackward,
    BlockedNested,
    Blocks,
    DataAugmentation,
    Schedule,
    Sequential,
    TokenParallel,
    TopicParallel,
)
from spdp_engine.sampling.spdp_state import SpdpHybridState, SpdpState
from spdp_engine.types import TokenArrays


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes:
        name: as people write it.
        title: as people read it.
        about: what it says, in a few words.
        priors: its hyperparameters.
    """

    name: str
    title: str
    about: str
    priors: type[Priors]


@dataclass(frozen=True)
class Method:
    """A model under a schedule.

    Attributes:
        model: name of the model.
        schedule: name of the schedule, unique within the model.
        state: what keeps the counts on the device.
        runner: what runs through the tokens.
        exact: whether its long-run distribution is the posterior; for `blocks`, with one worker.
        source: where it comes from.
        associations: whether it takes transformation matrices.
        repeats: whether documents may repeat words in a run that does not say; `runner.takes_repeats` says whether they can.
        tempering: whether the beginning of a run is tempered that does not say; `runner.takes_tempering` says whether it can be.
        default: whether a run that names no schedule may get it: the first such on a CPU, the fastest on other devices. Its
            held-out perplexity is within 2 % of exact sampling's (`python -m benchmarks fit-quality`).
    """

    model: str
    schedule: str
    state: Any
    runner: type[Schedule]
    exact: bool
    source: str
    associations: bool = False
    repeats: bool = False
    tempering: bool = False
    default: bool = False

    @property
    def orders(self) -> tuple[str, ...]:
        """Orders in which its tokens can be visited, the default first; none where there is no choice."""
        return self.runner.orders

    def memory_needed(
        self,
        corpus: TokenArrays,
        topics: int,
        workers: int = 1,
        matrices: Matrices | None = None,
        repeats: bool | None = None,
    ) -> dict[str, int]:
        """Bytes of device memory that a run takes, by purpose. repeats: None: as in a run that does not say."""
        state: dict[str, int] = self.state.memory_needed(corpus, topics, workers, matrices)
        averages = Averages.memory_needed(corpus, *self.state.rows(corpus, topics))
        repeated = Repeats.memory_needed(corpus) if (self.repeats if repeats is None else repeats) else {}
        return {**state, **self.runner.memory_needed(corpus, topics), **averages, **repeated}

    @property
    def exactness(self) -> str:
        """What it claims of its long-run distribution, in words."""
        if not self.exact:
            return "approximate"
        return "exact with one worker, near it with more" if self.runner.lags else "exact"


MODELS = {
    model.name: model
    for model in (
        Model("spdp", "SPDP", "each group words a topic in its own way, around a wording they share", SpdpPriors),
        Model("lda", "LDA", "all groups word a topic alike; they differ in how much they say of it", LdaPriors),
    )
}
"""Models by name; the first is the default."""

METHODS = (
    Method("spdp", "blocks", SpdpState, Blocks, True,
           "conflict-free blocks of documents x words, one for each core", associations=True, repeats=True, tempering=True,
           default=True),
    Method("spdp", "sequential", SpdpState, Sequential, True,
           "one token at a time: the thesis's Algorithm 1", associations=True, repeats=True, tempering=True),
    Method("spdp", "topic_parallel", SpdpState, TopicParallel, True,
           "one token at a time, its topics at once: the thesis's 11.1.1 and 14.1"),
    Method("spdp", "token_parallel", SpdpState, TokenParallel, False,
           "many tokens at once on shared counts: the thesis's GPU-SPDP (order document) and Improved-GPU-SPDP (interleaved)",
           associations=True, default=True),
    Method("spdp", "hybrid", SpdpHybridState, Blocks, False,
           "blocks with a variational base wording: the thesis's equation 8.8", associations=True),
    Method("lda", "blocks", LdaState, Blocks, True,
           "conflict-free blocks of documents x words, one for each core", tempering=True, default=True),
    Method("lda", "single_site", LdaState, Sequential, True, "one token at a time: Griffiths and Steyvers (2004)"),
    Method("lda", "blocked_backward", LdaState, BlockedBackward, True,
           "all tokens of a word in a document together, by backward simulation: the blocking paper's 3.2.1"),
    Method("lda", "blocked_nested", LdaState, BlockedNested, True,
           "all tokens of a word in a document together, by nested simulation: the blocking paper's 3.2.2"),
    Method("lda", "data_augmentation", LdaState, DataAugmentation, True,
           "parameters given topics, then topics given parameters: the blocking paper's comparison"),
)  # fmt: skip
"""Every method; a model's first is its default on a CPU."""


def model_named(name: str) -> Model:
    """The model of that name.

    Raises:
        SettingsError: there is none.
    """
    if name not in MODELS:
        raise SettingsError(f"There is no model called “{name}”. Choose one of: {', '.join(MODELS)}.")
    return MODELS[name]


def methods_of(model: str) -> tuple[Method, ...]:
    """The methods of a model, the default first.

    Raises:
        SettingsError: there is no such model.
    """
    model_named(model)
    return tuple(method for method in METHODS if method.model == model)


def method_named(model: str, schedule: str) -> Method:
    """The method of that model and schedule.

    Raises:
        SettingsError: there is none.
    """
    methods = methods_of(model)
    for method in methods:
        if method.schedule == schedule:
            return method
    there = ", ".join(method.schedule for method in methods)
    raise SettingsError(f"The model {model} has no schedule called “{schedule}”. Choose one of: {there}.")
