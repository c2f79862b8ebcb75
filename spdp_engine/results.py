"""What a run leaves behind: four files, in a folder or in a zip.

topics.csv      topic, group, rank, word, probability            the most probable words of each topic in each group
prevalence.csv  topic, group, tokens, share, rank, wording_gap    how much each group gives each topic
documents.csv   document, passage, group, title, date, topic_1 .. topic_K    each document's shares
manifest.json   every setting, versions, what was read and dropped, SHA-256 of each input, associations included
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import platform
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spdp_engine.corpus import AssociationTable, Corpus, Note, match_associations
from spdp_engine.errors import InputError
from spdp_engine.models import Matrices
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics import Topics, read_topics
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


@dataclass(frozen=True, eq=False)
class Result:
    """A run and its newest sample.

    Attributes:
        corpus: what the model was fitted to.
        settings: with device and workers filled in.
        sample: the state that is read.
        records: one for each iteration.
        training_tokens: tokens trained on.
        associations: what the run took of a file of associations; None: there was none.
    """

    corpus: Corpus
    settings: SamplerSettings
    sample: Sample
    records: tuple[Iteration, ...]
    training_tokens: int
    associations: Associations | None = None

    def topics(self) -> Topics:
        """The sample, ready to be read."""
        return read_topics(self.sample, self.corpus.vocabulary, self.corpus.group_names)

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
            "perplexity_trace": trace,
            "model": self.settings.model,
            "schedule": self.settings.schedule,
            "order": self.settings.order,
            "workers": self.settings.workers,
            "device": self.settings.device,
            "seed": self.settings.seed,
            "held_out": self.settings.held_out,
            "hyperparameters": asdict(self.sample.priors),
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
    """One row for each topic and group: tokens, share within the group, rank within the group, the topic's wording gap."""
    topics = result.topics()
    rows = [
        (topic + 1, group, int(topics.tokens[i, topic]), topics.prevalence[i, topic], int(topics.group_rank[i, topic]),
         topics.gap[topic])
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


def manifest(result: Result) -> dict[str, Any]:
    """Everything needed to know what was done, and to do it again."""
    corpus, used = result.corpus, result.associations
    return {
        "parallax": version(),
        "run": result.summary(),
        "settings": _settings(result.settings),
        "words": asdict(corpus.settings),
        "columns": asdict(corpus.documents.columns),
        "inputs": [asdict(source) for source in corpus.documents.sources],
        "associations": used and _associations(used),
        "notes": [asdict(note) for note in (*corpus.notes, *(used.notes if used else ()))],
        "measures": {
            "probability": "phi of group, word and topic: the group's probability of the word when it speaks on the topic",
            "share": "tokens of the group in the topic over all tokens of the group",
            "wording_gap": "Hellinger distance between the groups' wordings, mean over pairs of groups",
            "held_out_perplexity": "document completion: half the tokens of the held-out documents, never trained on",
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
    """The four files by name."""
    tables = {"topics": topics_table, "prevalence": prevalence_table, "documents": documents_table}
    content = {f"{name}.csv": _csv(make(result)) for name, make in tables.items()}
    text = json.dumps(manifest(result), ensure_ascii=False, indent=2, default=str, allow_nan=False)
    return {**content, "manifest.json": text.encode("utf-8")}


def write_folder(result: Result, folder: Path) -> None:
    """Writes the four files into a folder, which is made if need be.

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
    """The four files as a zip."""
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
