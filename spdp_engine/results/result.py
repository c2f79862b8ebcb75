"""A run and its newest sample, as a person reads them, and everything that there is to tell of how they came about."""

from __future__ import annotations

import importlib.metadata
import platform
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import AssociationTable, Corpus, Note, Reference, Scored, match_associations
from spdp_engine.models import Matrices
from spdp_engine.models.mean import MeanSample
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics import TopicQuality, Topics, measure_quality, read_topics
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.merging import merge_topics
from spdp_engine.topics.view import View
from spdp_engine.types import Iteration, Sample

PACKAGES = ("numpy", "pandas", "pyopencl", "pocl-binary-distribution", "streamlit")
"""Whose versions are told: what computes, and what a person saw it with."""


@dataclass(frozen=True, eq=False)
class Associations:
    """A file of associations and what it means for a corpus.

    Attributes:
        table: the rows of the file.
        matrices: what they come to, for `SamplerSettings.associations`.
        notes: of reading and of matching.
    """

    table: AssociationTable
    matrices: Matrices
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, table: AssociationTable, corpus: Corpus) -> Associations:
        """Matches a table to a corpus.

        Raises:
            InputError, SettingsError: they do not go together; see `corpus.match_associations`.
        """
        return cls(table, *match_associations(table, corpus))

    @property
    def rows_used(self) -> int:
        """Rows whose words are in the vocabulary."""
        return next(note.count for note in self.notes if note.kind == "built")


def averaged_in(sample: Sample) -> tuple[int, int | None]:
    """How many samples of the chain were averaged into this one, and the iteration of the first; 0 and None of a single sample."""
    return (sample.samples, sample.since) if isinstance(sample, MeanSample) else (0, None)


def averaging_began(records: Sequence[Iteration]) -> int | None:
    """The first iteration whose probabilities are in the averaged perplexity; None before there is one."""
    return next((record.iteration for record in records if record.samples), None)


@dataclass(frozen=True, eq=False)
class Result:
    """A run and its newest sample.

    Attributes:
        corpus: what the model was fitted to.
        settings: with device and workers filled in.
        sample: what is read: the mean of samples once there are some, before that the state.
        records: one for each iteration.
        training_tokens: tokens trained on.
        associations: what the run took of a file of associations; None: there was none.
        reference: a text in which the topics' words were looked for, beside the corpus itself; None: there was none.
        scored: what was scored of a file of its own; None: tokens of the corpus itself were held out.
        view: names of topics, hidden, merged and pinned ones.
        findings: how sure all of it is, of the topics as they are read through the view.
        readable: those topics, where they were read before; None: they are read when they are asked for.
        measured: their quality, likewise.
    """

    corpus: Corpus
    settings: SamplerSettings
    sample: Sample
    records: tuple[Iteration, ...]
    training_tokens: int
    associations: Associations | None = None
    reference: Reference | None = None
    scored: Scored | None = None
    view: View = field(default_factory=View)
    findings: Findings = field(default_factory=Findings)
    readable: Topics | None = field(default=None, repr=False)
    measured: TopicQuality | None = field(default=None, repr=False)

    def topics(self) -> Topics:
        """The sample, ready to be read."""
        return self._topics

    @cached_property
    def _topics(self) -> Topics:
        if self.readable:
            return self.readable
        sample = merge_topics(self.sample, self.view.merged)
        return read_topics(sample, self.corpus.vocabulary, self.corpus.group_names)

    @property
    def kept(self) -> tuple[int, ...]:
        """Numbers of the topics that are not read as part of another, rising."""
        return tuple(topic for topic in range(self.settings.topics) if topic not in self.view.merged)

    def name(self, topic: int) -> str:
        """What people call a topic: the name that they gave it, else its number from 1."""
        return self.view.names.get(topic) or f"Topic {topic + 1}"

    def status(self, topic: int) -> str:
        """What a person made of a topic, in words; '' of one that was left as it was."""
        if topic in self.view.merged:
            return f"read as part of topic {self.view.merged[topic] + 1}"
        parts = self.view.parts(topic)
        made = ["hidden"] if topic in self.view.hidden else ["pinned"] if topic in self.view.pinned else []
        if parts:
            numbers = ", ".join(str(part + 1) for part in parts)
            made.append(f"read together with {'topic' if len(parts) == 1 else 'topics'} {numbers}")
        return ", ".join(made)

    @cached_property
    def quality(self) -> TopicQuality:
        """Coherence and diversity of the topics, with the corpus itself as reference."""
        return self.measured or measure_quality(self._topics, self.corpus)

    @cached_property
    def reference_quality(self) -> TopicQuality | None:
        """The same with the reference; None without one."""
        return measure_quality(self._topics, self.corpus, self.reference) if self.reference else None

    @property
    def hyperparameters(self) -> dict[str, float]:
        """Those in force at the end by name; alpha: the mean over groups and topics, which `alphas` tells one by one."""
        return dict(self.records[-1].hyperparameters) if self.records else asdict(self.sample.priors)

    @property
    def alphas(self) -> dict[str, list[float]] | None:
        """By group, alpha of each topic in its documents at the end; None where the sample does not know them."""
        last = self.sample.last if isinstance(self.sample, MeanSample) else self.sample
        alphas = getattr(last, "alphas", None)
        if alphas is None:
            return None
        groups, first = np.unique(self.corpus.document_group, return_index=True)  # documents of a group share theirs
        return {self.corpus.group_names[i]: alphas[d].tolist() for i, d in zip(groups, first, strict=True)}

    @property
    def tokens_per_second(self) -> float:
        """Training tokens a second, sampling only: the median over the iterations after the first."""
        rates = [record.tokens_per_second for record in self.records[1:] or self.records]
        return float(np.median(rates))

    @property
    def perplexity_trace(self) -> list[tuple[int, float]]:
        """(iteration, held-out perplexity) wherever it was measured."""
        return [(r.iteration, r.perplexity) for r in self.records if r.perplexity is not None]

    def summary(self) -> dict[str, Any]:
        """The figures of the run, as `fit --json` prints them."""
        trace = self.perplexity_trace
        averaged = [record.averaged for record in self.records if record.averaged is not None]
        samples, since = averaged_in(self.sample)
        return {
            "documents": self.corpus.n_documents,
            "groups": self.corpus.group_sizes(),
            "originals": self.corpus.n_originals,
            "group_originals": self.corpus.group_originals(),
            "tokens": self.corpus.n_tokens,
            "training_tokens": self.training_tokens,
            "vocabulary": self.corpus.n_words,
            "topics": self.settings.topics,
            "iterations": self.sample.iteration,
            "seconds": self.records[-1].elapsed if self.records else 0.0,
            "tokens_per_second": self.tokens_per_second,
            "held_out_perplexity": trace[-1][1] if trace else None,
            "averaged_perplexity": averaged[-1] if averaged else None,
            "averaging_began": averaging_began(self.records),
            "samples_averaged": samples,
            "samples_since": since,
            "perplexity_trace": trace,
            "model": self.settings.model,
            "schedule": self.settings.schedule,
            "order": self.settings.order,
            "workers": self.settings.workers,
            "device": self.settings.device,
            "seed": self.settings.seed,
            "held_out": self.settings.held_out,
            "learn": self.settings.learn,
            "fixed": list(self.settings.fixed),
            "repeats": self.settings.repeats,
            "tempering": self.settings.tempering,
            "hyperparameters": self.hyperparameters,
            "quality": self.quality.summary(),
            **_scored_figures(self.scored),
        }


def _scored_figures(scored: Scored | None) -> dict[str, int]:
    """What was scored of a file of its own, and what not; nothing where there was none."""
    if scored is None:
        return {}
    return {
        "scored_documents": scored.documents,
        "scored_tokens": scored.n_tokens,
        "unscored_tokens": scored.unscored_tokens,
        "unscored_rows": scored.unscored_rows,
    }


def manifest(result: Result) -> dict[str, Any]:
    """Everything needed to know what was done, and to do it again."""
    corpus, used, other, scored = result.corpus, result.associations, result.reference, result.scored
    return {
        "parallax": version(),
        "run": result.summary(),
        "alphas": result.alphas,
        "reference_quality": result.reference_quality and result.reference_quality.summary(),
        "reference_inputs": [asdict(source) for source in other.sources] if other else [],
        "scored_inputs": [asdict(source) for source in scored.sources] if scored else [],
        "scored_by": scored.id_column if scored else None,
        "settings": _settings(result.settings),
        "words": asdict(corpus.settings),
        "columns": asdict(corpus.documents.columns),
        "view": result.view.to_plain(),
        "evidence": _evidence(result.findings),
        "inputs": [asdict(source) for source in corpus.documents.sources],
        "associations": used and _associations(used),
        "notes": [asdict(note) for one in (corpus, used, other, scored) if one for note in one.notes],
        "measures": {
            "documents": "texts that are modelled: documents, or passages of them; groups has those of each group",
            "originals": "documents, passages of one counted once: these are what intervals resample, and what chance deals out",
            "probability": "phi of group, word and topic: the group's probability of the word when it speaks on the topic",
            "share": "tokens of the group in the topic over all tokens of the group",
            "wording_gap": "Hellinger distance between the groups' wordings, mean over pairs of groups",
            "held_out_perplexity": "document completion: half the tokens of the held-out documents, never trained on",
            "averaged_perplexity": "the same of the probabilities' mean over samples since averaging began",
            "samples_averaged": "samples in the mean that the tables tell; it begins anew where the fit improves much",
            "hyperparameters": "those in force at the end; alpha is the mean of alphas",
            "alphas": "prior of each topic in the documents of each group at the end",
            "npmi": "coherence: mean normalised pointwise mutual information over pairs of a topic's most probable words, -1 to 1",
            "pmi": "the same, not normalised; pmi_total is the sum over topics",
            "diversity": "different words among all topics' most probable ones, over their number",
            "csv": "names and words are as in the documents; a spreadsheet may take a cell that begins with = + - @ for a formula",
        },
        "versions": {"python": platform.python_version(), "system": platform.platform(), **package_versions()},
    }


def _settings(settings: SamplerSettings) -> dict[str, Any]:
    """All settings but the transformation matrices, which may be large: their file is told of instead."""
    told = asdict(replace(settings, associations=None))
    del told["associations"]
    return told


def _evidence(known: Findings) -> dict[str, Any]:
    """What was measured of how sure the findings are."""

    def count(draws: NDArray[np.float32] | None) -> int | None:
        return None if draws is None else len(draws)

    return {
        "level": known.level,
        "prevalence_draws": count(known.prevalence_draws),
        "gap_draws": count(known.gap_draws),
        "groups_dealt_out_at_random": count(known.gap_baseline),
        "words": known.words is not None,
        "seeds": known.seeds and known.seeds.of,
    }


def _associations(used: Associations) -> dict[str, Any]:
    """Which file of associations it was, and how much of it counted; what there is to tell of it is among the notes."""
    table = used.table
    return {"name": table.name, "sha256": table.sha256, "rows_read": len(table), "rows_used": used.rows_used}


def version() -> str:
    """Parallax's own version, from pyproject.toml of this checkout."""
    path = Path(__file__).resolve().parents[2] / "pyproject.toml"
    return str(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"])


def package_versions() -> dict[str, str]:
    """Those of `PACKAGES` that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
