"""Runs that are kept to be laid beside others: what is left of one, what tells it from others, and a further one in the background.

again = FurtherRun(corpus, replace(settings, seed=2), 300, queue, "Harbour talk")
again.wait()
pairing = pair_runs(present.topics, again.run.topics)
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace

from spdp_engine.corpus import Corpus, CorpusSettings
from spdp_engine.errors import ParallaxError
from spdp_engine.jobs import ACTIVE, Job, JobState, JobStatus, Queue
from spdp_engine.sampling import SamplerSettings, method_named, methods_of, model_named
from spdp_engine.topics import TopicQuality, measure_quality, read_topics
from spdp_engine.topics.pairing import RunTopics
from spdp_engine.types import Iteration

log = logging.getLogger(__name__)

MOST_RUNS = 6
"""Runs that are kept beside the present one."""

MOST_BYTES = 400 * 2**20
"""... and what their topics take in all. One of 50 topics of 12 groups and 20,000 words takes 50 MB."""

WORDS_IN_NAME = 2
"""Left-out words that a run's name tells one by one."""

GROUPS_IN_NAME = 3
"""... and groups, where runs have different ones."""


@dataclass(frozen=True, eq=False)
class Run:
    """What is left of a run: its topics, what made them, and how well they fit. It holds no sampler, no text and no counts.

    Attributes:
        collection: what the documents are called.
        settings: of the sampler, without transformation matrices.
        words: how texts became words.
        associations: the name of the file of associations that it took, or ''.
        text: a fingerprint of the words, documents and groups that it was fitted to.
        records: one for each iteration.
        topics: as they were read last, with the names that a person gave them; without those that were hidden.
        coherence: mean NPMI in the run's own documents; None where it was not measured.
        diversity: of the topics' main words; None likewise.
        key: tells this run from all others.
    """

    collection: str
    settings: SamplerSettings
    words: CorpusSettings
    associations: str
    text: str
    records: tuple[Iteration, ...] = field(repr=False)
    topics: RunTopics = field(repr=False)
    coherence: float | None
    diversity: float | None
    key: str = field(default_factory=lambda: uuid.uuid4().hex, repr=False)

    @classmethod
    def of(
        cls, corpus: Corpus, settings: SamplerSettings, records: Sequence[Iteration], topics: RunTopics,
        quality: TopicQuality | None = None, collection: str = "", associations: str = "",
    ) -> Run:  # fmt: skip
        """Takes what is kept of a run."""
        coherence = quality.mean_npmi if quality else math.nan
        return cls(
            collection=collection,
            settings=replace(settings, associations=None),
            words=corpus.settings,
            associations=associations,
            text=fingerprint(corpus),
            records=tuple(records),
            topics=topics,
            coherence=None if math.isnan(coherence) else coherence,
            diversity=quality.diversity if quality else None,
        )

    @property
    def perplexity(self) -> float | None:
        """Held-out perplexity after the last iteration that measured it, of the averages where there are some; None without."""
        for record in reversed(self.records):
            if record.perplexity is not None:
                return record.perplexity if record.averaged is None else record.averaged
        return None

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.records[-1].iteration if self.records else 0

    @property
    def averaged(self) -> bool:
        """Whether samples were averaged."""
        return bool(self.records) and self.records[-1].samples > 0


def fingerprint(corpus: Corpus) -> str:
    """The same for two corpora of the same words in the same documents of the same groups, and for no others."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (corpus.token_word, corpus.token_document, corpus.document_group):
        digest.update(len(array).to_bytes(8, "little"))
        digest.update(array.tobytes())
    for names in (corpus.vocabulary, corpus.group_names):
        digest.update("\0".join(names).encode("utf-8", "surrogatepass"))
        digest.update(b"\1")
    return digest.hexdigest()


def kept(runs: Sequence[Run], most_runs: int = MOST_RUNS, most_bytes: int = MOST_BYTES) -> tuple[Run, ...]:
    """As many of the runs as may be kept, from the first on, each once; the first of them in any case."""
    different = list({run.key: run for run in runs}.values())
    room = most_bytes
    for count, run in enumerate(different):
        room -= run.topics.nbytes
        if count and (count >= most_runs or room < 0):
            return tuple(different[:count])
    return tuple(different)


# --- what tells runs from one another


def names_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """What each run is called beside the others: its number of topics, and what else differs, such as "20 topics, seed 2".

    Runs on other documents are told from one another by these alone. No two names are the same.
    """
    names = []
    for run in runs:
        beside = [other for other in runs if other.collection == run.collection]
        parts = [_count(run.settings.topics, "topic"), run.collection if len(beside) < len(runs) else ""]
        parts += [tell(run) for tell in _TOLD if len({tell(other) for other in beside}) > 1]
        everywhere = set.intersection(*(set(other.words.extra_stop_words) for other in beside))
        parts.append(_without([word for word in run.words.extra_stop_words if word not in everywhere]))
        parts += [tell(run) for tell in _TOLD_OF_WORDS if len({tell(other) for other in beside}) > 1]
        names.append(", ".join(part for part in parts if part))
    names = _told_apart(names, [f", {run.iterations:,} iterations" for run in runs])
    return tuple(_told_apart(names, [f" ({names[:place].count(name) + 1})" for place, name in enumerate(names)]))


def _told_apart(names: list[str], more: list[str]) -> list[str]:
    """Names, with more to those that others have, too."""
    return [name + also if names.count(name) > 1 else name for name, also in zip(names, more, strict=True)]


def _method(run: Run) -> str:
    """Model, schedule, repeats and tempering where they are not the usual ones of that model."""
    settings = run.settings
    usual = methods_of(settings.model)[0]
    parts = [model_named(settings.model).title]
    if settings.schedule not in (None, usual.schedule):
        parts.append(settings.schedule or "")
    method = method_named(settings.model, settings.schedule) if settings.schedule else usual
    if settings.repeats not in (None, method.repeats):
        parts.append("repeats" if settings.repeats else "no repeats")
    if settings.tempering not in (None, method.tempering):
        parts.append("tempered" if settings.tempering else "not tempered")
    return " ".join(parts)


def _fixed(run: Run) -> str:
    settings = run.settings
    held = settings.fixed or (() if settings.learn else tuple(one.name for one in fields(settings.priors)))
    return ", ".join(f"{name.replace('_', ' ')} {getattr(settings.priors, name):g}" for name in held)


def _joined(run: Run) -> str:
    return ", ".join(f"“{word}” as “{first}”" for first, *others in run.words.joined_words for word in others)


def _minimum(run: Run) -> str:
    return f"words in {_count(run.words.minimum_documents or 1, 'document')} or more"


def _without(words: Sequence[str]) -> str:
    """ "without “said” and “mr”": words that this run leaves out and others do not."""
    if not words:
        return ""
    named = [f"“{word}”" for word in words[:WORDS_IN_NAME]]
    more = len(words) - len(named)
    if more:
        return f"without {', '.join(named)} and {_count(more, 'more word')}"
    return f"without {' and '.join(named)}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


Tell = Callable[[Run], str]

_TOLD: tuple[Tell, ...] = (
    _method,
    lambda run: f"seed {run.settings.seed}",
    _fixed,
    lambda run: f"{100 * run.settings.held_out:g} % held out",
    lambda run: f"associations of {run.associations}" if run.associations else "",
)
"""What is told of a run where it is not the same for all, ..."""

_TOLD_OF_WORDS: tuple[Tell, ...] = (
    _joined,
    _minimum,
    lambda run: f"words in at most {100 * run.words.maximum_share:g} % of the documents",
    lambda run: f"words of {_count(run.words.minimum_length, 'letter')} or more",
    lambda run: f"stop words: {run.words.language}",
    lambda run: "with numbers" if run.words.keep_numbers else "",
    lambda run: f"passages of {run.words.passage_words} words" if run.words.passages else "whole documents",
    lambda run: f"groups {', '.join(run.topics.group_names[:GROUPS_IN_NAME])}",
)
"""... and after the words that it leaves out."""


# --- how well they fit


def incomparable(first: Run, second: Run) -> tuple[str, ...]:
    """Why the fit of two runs cannot be compared, or only in part: a sentence for each reason, none where it can."""
    if first.topics.vocabulary != second.topics.vocabulary:
        return (
            "Their vocabularies differ, so neither perplexity nor coherence can be compared: the fewer words there are to choose "
            "from, the lower is perplexity, whatever the topics.",
        )
    reasons = []
    if first.text != second.text:
        reasons.append(
            "They are on different documents or groups, so neither perplexity nor coherence can be compared."
        )
    elif (first.settings.seed, first.settings.held_out) != (second.settings.seed, second.settings.held_out):
        reasons.append(
            "Perplexity is measured on other held-out words in each, since another seed or share holds out others. Some words are "
            "harder to foresee than others: by that alone it may differ by a few per cent, and by a fifth in a small collection."
        )
    if (first.settings.topics != second.settings.topics) and first.text == second.text:
        reasons.append("Coherence tends to fall with the number of topics, as more of them are small.")
    return tuple(reasons)


# --- in the background


class FurtherRun:
    """A run beside the present one: the handle. Every method may be called from any thread and returns at once unless it says
    otherwise.

    It takes its turn in the queue like any other. Once it is finished its topics are read and their quality is measured, and the
    sampler is let go.
    """

    def __init__(
        self, corpus: Corpus, settings: SamplerSettings, iterations: int, queue: Queue, collection: str = "",
        associations: str = "",
    ) -> None:  # fmt: skip
        """Starts it in a daemon thread.

        Args:
            corpus: what is modelled.
            settings: of the run.
            iterations: to be done.
            queue: in which it waits for its turn.
            collection: what the documents are called.
            associations: the name of the file of associations that the settings hold.

        Raises:
            SettingsError: the settings make no sense for the corpus.
        """
        settings.check_makes_sense_for(corpus)
        self.settings = settings
        self._collection, self._associations = collection, associations
        self._job = Job(corpus, settings, iterations, queue)
        self._run: Run | None = None
        self._error = ""
        self._thread = threading.Thread(target=self._work, name="parallax-further-run", daemon=True)
        self._thread.start()

    @property
    def run(self) -> Run | None:
        """What came of it; None until it is finished and measured, and for good where it was cancelled or failed."""
        return self._run

    def status(self) -> JobStatus:
        """Where it stands; running until it is measured."""
        status = self._job.status()
        if status.state is JobState.FINISHED and self._run is None:
            over = self._error or not self._thread.is_alive()
            return replace(status, state=JobState.FAILED if over else JobState.RUNNING, error=self._error)
        return status

    @property
    def active(self) -> bool:
        """Whether it is still to come to something."""
        return self.status().state in ACTIVE

    def cancel(self) -> None:
        """Ends it after the present iteration; nothing is kept of it."""
        self._job.discard()

    def wait(self, timeout: float | None = None) -> JobStatus:
        """Waits until it is over and measured, or the time is."""
        self._thread.join(timeout)
        return self.status()

    def _work(self) -> None:
        job = self._job
        status = job.wait()
        job.discard()
        sample = job.sample()
        if status.state is not JobState.FINISHED or sample is None:
            return
        corpus = job.corpus
        try:
            topics = read_topics(sample, corpus.vocabulary, corpus.group_names)
            quality = measure_quality(topics, corpus)
            light = RunTopics.of(topics)
            self._run = Run.of(
                corpus, job.settings, job.records(), light, quality, self._collection, self._associations
            )
        except ParallaxError as error:
            self._error = str(error)
        except BaseException:  # whatever ends the thread, the page must say so
            log.exception("a further run could not be read")
            self._error = "The further run could not be read; the log says why. Start it again."
