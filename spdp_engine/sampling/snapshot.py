"""The exact state of a run between two iterations, as plain arrays and values.

    snapshot = sampler.snapshot()
    again = Sampler(corpus, sampler.settings, snapshot=snapshot)

From there every step gives the same bits as the run would have given without the interruption, on the same device with the same
versions, except under a schedule that is not `reproducible`. What a run believes of its tokens is kept in the order of the corpus,
so that it goes on elsewhere, too, with other workers: a valid state of the same chain, whose next steps draw other random numbers.

Kept is what cannot be told from the rest: counts of tokens and sums follow from topics and tables, and are counted anew.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.errors import DeviceError, SettingsError
from spdp_engine.models.mean import MeanSample
from spdp_engine.models.priors import Priors
from spdp_engine.models.readings import Readings, count_tokens
from spdp_engine.sampling.averaging import Sums, what_is_read
from spdp_engine.sampling.devices import Device, choose_device, list_devices
from spdp_engine.sampling.methods import Method, method_named, methods_of, model_named
from spdp_engine.sampling.programs import fingerprint
from spdp_engine.sampling.repeats import Seats
from spdp_engine.types import Sample, TokenArrays, Tokens

if TYPE_CHECKING:
    from spdp_engine.sampling.sampler import SamplerSettings


@dataclass(frozen=True)
class Origin:
    """What the bits of a run depend on beside its documents, settings and state.

    Attributes:
        device: its name.
        driver: name and version of its driver.
        kernels: fingerprint of the kernel sources.
        numpy: version of NumPy, which draws hyperparameters.
        scipy: version of SciPy, by which they are weighed.
    """

    device: str
    driver: str
    kernels: str
    numpy: str
    scipy: str

    @classmethod
    def here(cls, device: Device) -> Origin:
        """That of a run on this device in this process."""
        return cls(device.name, device.driver, fingerprint(), np.__version__, importlib.metadata.version("scipy"))


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a run after an iteration. N tokens of which n are trained on, D documents, I groups, V words, K topics.

    Attributes:
        iteration: iterations done, at least 1.
        elapsed: seconds that they took.
        held_out: bool [N], tokens that are not trained on.
        seats: topics of the n training tokens, and who sits where in documents that repeat words.
        own: what the model knows beside them, by name: in SPDP `tables`, int32 [I, V, K], with associations `associated`, int32
            [entries, K], in the hybrid sampler `base`, float32 [V, K]; in LDA nothing.
        priors: hyperparameters in force.
        alphas: float64 [R, K], those of topics in documents; R = I in SPDP, 1 in LDA.
        random: state of the generator that draws hyperparameters, as NumPy tells it; None where none are learned.
        settled: whether the chain has settled, so that samples are averaged.
        trace: float64 [T], perplexities that tell when it has.
        mark: the perplexity against which means are found out of date; infinite before there are means.
        scored_samples: samples in `scored`.
        scored: float32 [M], running sums of the probabilities of the tokens that measure the fit.
        averages: running sums for readers' means; None without samples.
        earlier: the mean before it, where it may still be shown.
        origin: where it was made.
        tempering: whether its beginning is tempered; not where it began at given topics, or by a version that did not do so yet.
    """

    iteration: int
    elapsed: float
    held_out: NDArray[np.bool_]
    seats: Seats
    own: Mapping[str, NDArray[Any]]
    priors: Priors
    alphas: NDArray[np.float64]
    random: Mapping[str, Any] | None
    settled: bool
    trace: NDArray[np.float64]
    mark: float
    scored_samples: int
    scored: NDArray[np.float32]
    averages: Sums | None
    earlier: MeanSample | None
    origin: Origin
    tempering: bool = False

    def training(self, corpus: TokenArrays) -> Tokens:
        """The tokens that are trained on."""
        return training_tokens(corpus, self.held_out)

    def topics(self, corpus: TokenArrays) -> NDArray[np.int32]:
        """The topic of each token of the corpus, int32 [N], -1 of those that are held out."""
        topics = np.full(len(self.held_out), -1, np.int32)
        topics[~self.held_out] = self.seats.of_tokens(self.training(corpus))
        return topics

    def check(self, corpus: TokenArrays, settings: SamplerSettings) -> None:
        """Refuses a state of other documents or settings.

        Raises:
            SettingsError: as said.
        """
        method = _method(settings)
        documents, groups, words, topics = (
            len(corpus.document_group), corpus.n_groups, corpus.n_words, settings.topics
        )  # fmt: skip
        rows = method.state.alpha_rows(corpus)[0]
        wordings = method.state.rows(corpus, topics)[0] // words
        fitting = {
            "number of iterations": self.iteration >= 1,
            "held-out words": _is(self.held_out, np.bool_, len(corpus.token_word)),
            "repeats": settings.repeats is None or (self.seats.seated is not None) == settings.repeats,
            "priors": type(self.priors) is model_named(settings.model).priors,
            "priors of topics": _is(self.alphas, np.float64, rows, topics) and bool((self.alphas > 0).all()),
            "random numbers": (self.random is not None) == settings.learn,
            "averages": self.averages is None
            or (
                self.averages.samples >= 1
                and _is(self.averages.wordings, np.float32, wordings, words, topics)
                and _is(self.averages.shares, np.float32, documents, topics)
                and _is(self.averages.words, np.uint32, groups, words, topics)
            ),
            "earlier averages": self.earlier is None
            or (
                self.earlier.samples >= 1
                and _is(self.earlier.wordings, np.float32, wordings, words, topics)
                and _is(self.earlier.shares, np.float32, documents, topics)
                and _is(self.earlier.words, np.float32, groups, words, topics)
                and isinstance(self.earlier.last, Readings)
                and _is(self.earlier.counts.document_topics, np.int32, documents, topics)
                and self.earlier.base_wording().shape == (words, topics)
            ),
        }
        for what, fits in fitting.items():
            if not fits:
                raise SettingsError(
                    f"The state of the run is of other documents or settings: its {what} do not fit. Begin a new run instead."
                )
        self.seats.check(self.training(corpus), topics)

    def sample(self, corpus: TokenArrays, settings: SamplerSettings) -> Sample:
        """What `Sampler.inspect` gave of the run, to the bit, without a device.

        Raises:
            SettingsError: the state is of other documents or settings.
        """
        self.check(corpus, settings)
        training = self.training(corpus)
        state, shape = _method(settings).state, (corpus.n_groups, corpus.n_words, settings.topics)
        alphas = self.alphas[state.alpha_rows(corpus)[1]]

        def last(words: NDArray[np.int32] | None = None) -> Sample:
            sample: Sample = state.sample_of(
                self.iteration,
                self.priors,
                alphas,
                *self.seats.modelled(training),
                shape,
                self.own,
                settings.associations,
                words,
            )
            return sample

        def single() -> Sample:
            if self.seats.seated is None:
                return last()
            tokens = training.token_word, training.token_document, training.document_group
            return last(count_tokens(*tokens, self.seats.of_tokens(training), shape)[1])

        sums = self.averages
        if sums is None:
            return what_is_read(self.iteration, 0, self.earlier, single, single)
        return what_is_read(self.iteration, sums.samples, self.earlier, lambda: sums.mean(last()), single)


def training_tokens(corpus: TokenArrays, held_out: NDArray[np.bool_]) -> Tokens:
    """The tokens of a corpus that are trained on."""
    kept = ~held_out
    return Tokens(
        corpus.token_word[kept], corpus.token_document[kept], corpus.document_group, corpus.n_words, corpus.n_groups
    )


def to_go_on(snapshot: Snapshot, settings: SamplerSettings) -> tuple[SamplerSettings, str]:
    """How a run goes on in this process.

    Args:
        snapshot: its state.
        settings: with device and workers filled in, as the run had them.

    Returns:
        Its settings here, those of the device left open where that device is not here; and, in a sentence, why it does not go on
        bit for bit, '' where it does.
    """
    before = snapshot.origin
    device = next((one for one in list_devices() if one.name == before.device), None)
    if device is None:
        settings = replace(settings, device=None, workers=None)
        try:
            device = choose_device()
        except DeviceError as error:
            return settings, f"What was found can be read, but the run cannot go on here. {error}"
    if not _method(settings).runner.reproducible:
        return settings, (
            f"Under the schedule {settings.schedule} no run is the same twice, so this one goes on, but not as it would have."
        )
    now = Origin.here(device)
    if now.device != before.device:
        return settings, (
            f"The run was computed on “{before.device}” and goes on on “{now.device}”: from the same state, but not bit for bit as "
            "it would have there."
        )
    names = {"driver": "the device's driver", "kernels": "Parallax", "numpy": "NumPy", "scipy": "SciPy"}
    others = [names[one.name] for one in fields(Origin) if getattr(now, one.name) != getattr(before, one.name)]
    if others:
        return settings, (
            f"The run was computed with another version of {' and '.join(others)}: it goes on from the same state, but perhaps not "
            "bit for bit as it would have."
        )
    return settings, ""


def _method(settings: SamplerSettings) -> Method:
    """The method of a run; settings that were filled in name its schedule."""
    if settings.schedule is None:
        return methods_of(settings.model)[0]
    return method_named(settings.model, settings.schedule)


def _is(array: NDArray[Any], kind: type[np.generic], *shape: int) -> bool:
    return array.dtype == kind and array.shape == shape
