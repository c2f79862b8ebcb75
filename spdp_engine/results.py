"""What a run leaves behind: five files, in a folder or in a zip.

topics.csv      topic, group, rank, word, probability            the most probable words of each topic in each group
prevalence.csv  topic, group, tokens, share, rank, wording_gap    how much each group gives each topic
documents.csv   document, passage, group, title, date, topic_1 .. topic_K    each document's shares
quality.csv     topic, group, npmi, pmi                          how coherent each topic's words are, in all groups and in each
manifest.json   every setting, versions, what was read and dropped, SHA-256 of each input, associations included

Once samples were averaged, all of them tell the averages.
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import platform
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spdp_engine.corpus import AssociationTable, Corpus, Note, Reference, Scored, match_associations
from spdp_engine.errors import InputError
from spdp_engine.models import Matrices
from spdp_engine.models.mean import MeanSample
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics import TopicQuality, Topics, measure_quality, read_topics
from spdp_engine.types import Iteration, Sample

WORDS_IN_FILE = 50
"""Words of each topic and group in topics.csv."""

PACKAGES = ("numpy", "pandas", "pyopencl", "pocl-binary-distribution", "streamlit")


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
    """

    corpus: Corpus
    settings: SamplerSettings
    sample: Sample
    records: tuple[Iteration, ...]
    training_tokens: int
    associations: Associations | None = None
    reference: Reference | None = None
    scored: Scored | None = None

    def topics(self) -> Topics:
        """The sample, ready to be read."""
        return self._topics

    @cached_property
    def _topics(self) -> Topics:
        return read_topics(self.sample, self.corpus.vocabulary, self.corpus.group_names)

    @cached_property
    def quality(self) -> TopicQuality:
        """Coherence and diversity of the topics, with the corpus itself as reference."""
        return measure_quality(self._topics, self.corpus)

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


def topics_table(result: Result) -> pd.DataFrame:
    """One row for each of the top words of each topic in each group; topics by number, from 1."""
    topics = result.topics()
    rows = []
    for topic in range(topics.n_topics):
        for group, words in zip(topics.group_names, topics.top_words(topic, WORDS_IN_FILE), strict=True):
            rows += [(topic + 1, group, rank, word.word, word.probability) for rank, word in enumerate(words, 1)]
    return pd.DataFrame(rows, columns=["topic", "group", "rank", "word", "probability"])


def prevalence_table(result: Result) -> pd.DataFrame:
    """One row for each topic and group: tokens, share within the group, rank within the group, the topic's wording gap.

    Tokens are whole numbers in a single sample, and means with one decimal in an average.
    """
    topics = result.topics()
    tokens = topics.tokens.round(1)
    rows = [
        (topic + 1, group, tokens[i, topic], topics.prevalence[i, topic], int(topics.group_rank[i, topic]), topics.gap[topic])
        for topic in range(topics.n_topics)
        for i, group in enumerate(topics.group_names)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["topic", "group", "tokens", "share", "rank", "wording_gap"])


def documents_table(result: Result) -> pd.DataFrame:
    """One row for each document (or passage of one): number, group, title, date, and the topics' shares, which sum to 1."""
    corpus = result.corpus
    passage = pd.Series(corpus.origin).groupby(corpus.origin).cumcount() + 1
    table = pd.DataFrame(
        {
            "document": corpus.origin + 1,
            "passage": passage,
            "group": corpus.documents.groups,
            "title": corpus.documents.titles,
            "date": corpus.documents.dates,
        }
    )
    shares = result.sample.document_shares()
    names = [f"topic_{topic + 1}" for topic in range(shares.shape[1])]
    return pd.concat([table, pd.DataFrame(shares, columns=names)], axis=1)


def quality_table(result: Result) -> pd.DataFrame:
    """Coherence in one row for each topic's words that all groups share, with no group, and one for each group's own.

    npmi and pmi: mean over pairs of the most probable words; empty for a topic of fewer than two. With a reference there are
    reference_npmi and reference_pmi, too.
    """
    measured = {"": result.quality, "reference_": result.reference_quality}
    names = ("", *result.corpus.group_names)
    table = pd.DataFrame(
        [(topic + 1, name) for topic in range(result.settings.topics) for name in names], columns=["topic", "group"]
    )
    for prefix, quality in measured.items():
        if quality:
            table[f"{prefix}npmi"] = np.vstack([quality.npmi, quality.group_npmi]).T.ravel()
            table[f"{prefix}pmi"] = np.vstack([quality.pmi, quality.group_pmi]).T.ravel()
    return table


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
        "inputs": [asdict(source) for source in corpus.documents.sources],
        "associations": used and _associations(used),
        "notes": [asdict(note) for one in (corpus, used, other, scored) if one for note in one.notes],
        "measures": {
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
        },
        "versions": {"python": platform.python_version(), "system": platform.platform(), **_package_versions()},
    }


def _settings(settings: SamplerSettings) -> dict[str, Any]:
    """All settings but the transformation matrices, which may be large: their file is told of instead."""
    told = asdict(replace(settings, associations=None))
    del told["associations"]
    return told


def _associations(used: Associations) -> dict[str, Any]:
    """Which file of associations it was, and how much of it counted; what there is to tell of it is among the notes."""
    table = used.table
    return {"name": table.name, "sha256": table.sha256, "rows_read": len(table), "rows_used": used.rows_used}


def files(result: Result) -> Mapping[str, bytes]:
    """The five files by name."""
    tables = {
        "topics": topics_table,
        "prevalence": prevalence_table,
        "documents": documents_table,
        "quality": quality_table,
    }
    content = {f"{name}.csv": _csv(make(result)) for name, make in tables.items()}
    text = json.dumps(manifest(result), ensure_ascii=False, indent=2, default=str, allow_nan=False)
    return {**content, "manifest.json": text.encode("utf-8")}


def write_folder(result: Result, folder: Path) -> None:
    """Writes the five files into a folder, which is made if need be.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files(result).items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise InputError(
            f"The results could not be written to “{folder}”: {error.strerror}. Choose another folder."
        ) from error


def zip_bytes(result: Result) -> bytes:
    """The five files as a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files(result).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def version() -> str:
    """Parallax's own version, from pyproject.toml of this checkout."""
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    return str(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"])


def _csv(table: pd.DataFrame) -> bytes:
    """UTF-8 with a byte order mark: spreadsheets otherwise guess the encoding, and guess wrong."""
    return table.to_csv(index=False, float_format="%.8g", lineterminator="\n").encode("utf-8-sig")


def _package_versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
