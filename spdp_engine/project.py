"""A project: documents, a run and what a person made of it, in one file that opens again where it was left.

    data = project_bytes(project)           # a `.parallax` file
    project = read_project("speeches.parallax")
    job = project.job(queue)                # rests until it is extended, and goes on to the bit

In the app `Workspace.project()` gives the project as it stands (None while there is nothing to save; it may wait a moment for the
sampler) and `Workspace.take_project(project)` takes one in, so that a page saves with

    st.download_button("Save the project", lambda: project_bytes(workspace.project()), f"{name}{ENDING}", MIME)

The file is a zip of JSON, UTF-8 and .npy (see `packing`): nothing in it is ever executed. It holds the corpus as it was read, so
that it opens exactly, whatever a later tokeniser makes of the texts; and of the run what cannot be told from the rest (see
`sampling.snapshot`), of which the sample that is read follows to the bit.

A later Parallax that adds fields with defaults to what is kept opens older files. Where a field goes or means something else,
`FORMAT_VERSION` rises, and `read_project` says what it no longer reads.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import (
    AssociationTable,
    Collection,
    Columns,
    Corpus,
    CorpusSettings,
    Documents,
    InputFile,
    Note,
    Reference,
    RowOrigins,
    Scored,
    Source,
    Tokeniser,
)
from spdp_engine.corpus.changes import WordChange, with_change
from spdp_engine.corpus.originals import originals_of
from spdp_engine.errors import InputError, ParallaxError
from spdp_engine.jobs import Job, Queue, Rested
from spdp_engine.models import Counts, LdaCounts, LdaPriors, LdaSample, Matrices, Priors, SpdpPriors, SpdpSample
from spdp_engine.models.mean import MeanSample
from spdp_engine.packing import Archive, Damaged, NotPacked, PackingError, TooLarge, pack
from spdp_engine.results import Associations, version
from spdp_engine.results.result import package_versions
from spdp_engine.runs import Run
from spdp_engine.sampling import Origin, SamplerSettings, Snapshot, to_go_on
from spdp_engine.sampling.averaging import Sums
from spdp_engine.sampling.repeats import Seats
from spdp_engine.topics.findings import Findings, SeedEvidence, WordEvidence
from spdp_engine.topics.pairing import RunTopics
from spdp_engine.topics.view import View
from spdp_engine.types import Iteration, Sample, ScoredTokens

ENDING = ".parallax"
MIME = "application/vnd.parallax.project"

FORMAT = "parallax project"
FORMAT_VERSION = 2
"""1: each row of the table was a document. 2: rows may be passages of one document."""

READ_AGAIN = 200
"""Documents that are cut into words again when a project is opened, to see whether they would now be read otherwise."""

USUAL_MEMORY = 8 * 2**30
"""Bytes of memory where the system does not tell how much there is."""


@dataclass(frozen=True, eq=False)
class Project:
    """What a project file holds.

    Attributes:
        name: what the collection is called.
        collection: rows as they were read, with their report.
        documents: those that have text and a group.
        words: how texts become words, as asked for.
        corpus: what the run is on.
        settings: of the sampler, with device and workers filled in.
        records: one for each iteration.
        snapshot: the exact state of the run.
        associations: what it took of a file of associations; None: there was none.
        scored: words of a file of their own that measure the fit; None: tokens of the corpus do.
        reference: a text by which topics are judged, beside the corpus; None: there is none.
        view: how its topics are read.
        findings: how sure that is; None: it was not measured to the end, and so it is measured anew.
        earlier: what is kept of other runs beside it.
        pending: changes of words with which the run is to go on, but has not yet.
        report_title: what was written for the title of the report; None: nothing was.
        report_note: the note at its beginning.
        versions: of Parallax and what it stands on, as the file tells; empty before it was in one.
    """

    name: str
    collection: Collection
    documents: Documents
    words: CorpusSettings
    corpus: Corpus
    settings: SamplerSettings
    records: tuple[Iteration, ...]
    snapshot: Snapshot
    associations: Associations | None = None
    scored: Scored | None = None
    reference: Reference | None = None
    view: View = field(default_factory=View)
    findings: Findings | None = None
    earlier: tuple[Run, ...] = ()
    pending: tuple[WordChange, ...] = ()
    report_title: str | None = None
    report_note: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def sample(self) -> Sample:
        """What is read of the run: to the bit what was read when the project was saved."""
        return self.snapshot.sample(self.corpus, self.settings)

    @cached_property
    def _going_on(self) -> tuple[SamplerSettings, str]:
        return to_go_on(self.snapshot, self.settings)

    @property
    def settings_here(self) -> SamplerSettings:
        """Settings with which the run goes on in this process: as they are, but for a device that is not here."""
        return self._going_on[0]

    def job(self, queue: Queue) -> Job:
        """A handle of the run, resting: all of it is there at once, and it goes on when it is extended."""
        rested = Rested(self.snapshot, self.records, self.sample)
        return Job(self.corpus, self.settings_here, self.snapshot.iteration, queue, rested, self.scored)

    @property
    def told(self) -> str:
        """What the project holds, in a sentence."""
        topics, iterations = self.settings.topics, self.snapshot.iteration
        by = f", saved by Parallax {self.versions['parallax']}" if "parallax" in self.versions else ""
        return (
            f"This project holds a run of {topics:,} {'topic' if topics == 1 else 'topics'} after {iterations:,} "
            f"{'iteration' if iterations == 1 else 'iterations'}{by}. It can be read as it was left, and run longer."
        )

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What there is to know before one goes on with it, in sentences; none where all is as it was."""
        remarks = [self._going_on[1], self._read_otherwise()]
        return tuple(remark for remark in remarks if remark)

    def _read_otherwise(self) -> str:
        """Whether this version of Parallax would find other words in the texts, by a sample of them."""
        corpus = self.corpus
        number = {word: place for place, word in enumerate(corpus.vocabulary)}
        some = np.unique(np.linspace(0, corpus.n_documents - 1, min(READ_AGAIN, corpus.n_documents)).astype(int))
        starts, ends = (np.searchsorted(corpus.token_document, some, side) for side in ("left", "right"))
        otherwise = 0
        for document, start, end in zip(some.tolist(), starts, ends, strict=True):
            words = corpus.tokeniser.words(corpus.documents.texts[document])
            found = [number[word] for word in words if word in number]
            otherwise += found != corpus.token_word[start:end].tolist()
        if not otherwise:
            return ""
        return (
            f"This version of Parallax finds other words in {otherwise:,} of {len(some):,} texts that were looked at than the one "
            "the project was saved with. The run keeps the words that it had; they are found anew when you change the settings of "
            "words."
        )


# --- files


def project_bytes(project: Project) -> bytes:
    """The project as the bytes of a `.parallax` file.

    Raises:
        PackingError: its parts do not belong together, so that it could not be opened again.
    """
    _checked(project, sys.maxsize)
    about = {"format": FORMAT, "version": FORMAT_VERSION, "name": project.name, "versions": _versions()}
    texts, passages = _passages(project)
    corpus = replace(project.corpus, documents=replace(project.corpus.documents, texts=texts))
    return pack({"project": replace(project, corpus=corpus, versions={}), "passages": passages}, KINDS, about)


def write_project(project: Project, path: Path) -> None:
    """Writes a project file, in the place of one that is there only when it is whole.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        data, part = project_bytes(project), path.with_name(f".{path.name}.part")
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"The project could not be written to “{path}”: {error.strerror}. Choose another place."
        ) from error


def read_project(given: str | Path | InputFile, limit: int | None = None) -> Project:
    """The project of a `.parallax` file.

    Args:
        given: the file, by its path or in memory.
        limit: bytes that it may come to in memory; None: half of what this machine has.

    Raises:
        InputError: the file cannot be opened, is no project, is damaged, is of a newer format or too large.
    """
    name, data = _bytes_of(given)
    limit = _memory() // 2 if limit is None else limit
    try:
        archive = Archive(data, limit)
        _check_format(archive.about, name)
        project: Project = archive.value("project", Project, KINDS)
        passages = archive.value("passages", np.ndarray, ())
        project = replace(project, versions=_texts_by_text(archive.about.get("versions")))
        return _checked(_with_texts(project, passages), limit)
    except NotPacked as error:
        raise InputError(
            f"{name} is not a Parallax project, or only part of one; bring a file that was saved with “Save the project”."
        ) from error
    except (TooLarge, MemoryError) as error:
        raise InputError(
            f"{name} comes to more in memory than this machine has to spare ({limit / 2**20:,.0f} MB); open it on a larger one."
        ) from error
    except PackingError as error:
        raise InputError(f"{name} is damaged: {error}. Take an earlier copy, or save the project again.") from error


KINDS = (
    Associations, AssociationTable, Collection, Columns, Corpus, CorpusSettings, Counts, Documents, Findings, Iteration,
    LdaCounts, LdaPriors, LdaSample, Matrices, MeanSample, Note, Origin, Project, Reference, RowOrigins, Run, RunTopics,
    SamplerSettings, Scored, ScoredTokens, Seats, SeedEvidence, Snapshot, Source, SpdpPriors, SpdpSample, Sums, Tokeniser, View,
    WordChange, WordEvidence,
)  # fmt: skip
"""The classes that a project file may speak of."""


def _versions() -> dict[str, str]:
    return {"parallax": version(), "python": platform.python_version(), **package_versions()}


def _bytes_of(given: str | Path | InputFile) -> tuple[str, bytes]:
    if isinstance(given, InputFile) and given.data is not None:
        return given.name, given.data
    path = Path(given.path or given.name) if isinstance(given, InputFile) else Path(given)
    try:
        return path.name, path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from error


def _check_format(about: dict[str, Any], name: str) -> None:
    if about.get("format") != FORMAT or not isinstance(about.get("version"), int):
        raise NotPacked("it says that it is something else")
    if about["version"] > FORMAT_VERSION:
        by = _texts_by_text(about.get("versions")).get("parallax", "")
        raise InputError(
            f"{name} was saved by a newer Parallax{f' ({by})' if by else ''}, whose projects this one ({version()}) cannot read; "
            "get the newest Parallax."
        )


def _texts_by_text(value: object) -> dict[str, str]:
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, dict) else {}


def _memory() -> int:
    """Bytes of memory that the machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows does not tell so
        return USUAL_MEMORY


# --- passages, which are parts of texts that are kept anyway


def _passages(project: Project) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The corpus's texts as they are kept: in full, or as () and int32 [D, 3], the row of each, its beginning and its end there."""
    whole, corpus, of = project.documents.texts, project.corpus, originals_of(project.documents)
    bounds = (np.searchsorted(of, corpus.origin, side).tolist() for side in ("left", "right"))
    places = np.empty((corpus.n_documents, 3), np.int32)
    row, end = -1, 0
    for place, (text, first, last) in enumerate(zip(corpus.documents.texts, *bounds, strict=True)):
        if row < first:  # another document begins
            row, end = first, 0
        while row < last and (start := whole[row].find(text, end)) < 0:
            row, end = row + 1, 0
        if row >= last:  # the corpus is not of these documents
            return corpus.documents.texts, np.empty((0, 3), np.int32)
        end = start + len(text)
        places[place] = row, start, end
    return (), places


def _with_texts(project: Project, places: NDArray[Any]) -> Project:
    """The project with the texts of its corpus.

    Raises:
        PackingError: they are not there.
    """
    corpus, whole = project.corpus, project.documents.texts
    if not len(places):
        return project
    if places.shape == (len(corpus.origin), 2):  # of version 1
        places = np.column_stack((corpus.origin, places))
    if (
        places.shape != (len(corpus.origin), 3)
        or not _within(places[:, 0], len(whole))
        or not _within(places, sys.maxsize)
        or not _tells_documents(project.documents)
        or not np.array_equal(originals_of(project.documents)[places[:, 0]], corpus.origin)
    ):
        raise _Inconsistent("texts of passages")
    texts = tuple(whole[row][start:end] for row, start, end in places.tolist())
    return replace(project, corpus=replace(corpus, documents=replace(corpus.documents, texts=texts)))


# --- what a file says must hold together, since arrays go to a device unseen


class _Inconsistent(PackingError):
    """Parts of a file that do not belong together."""

    def __init__(self, what: str) -> None:
        super().__init__(f"its {what} do not fit the rest")


def _checked(project: Project, limit: int) -> Project:
    """The project, once all of it holds together.

    Raises:
        PackingError: as said.
    """
    corpus, settings, documents = project.corpus, project.settings, project.documents
    n, d = len(corpus.token_word), len(corpus.document_group)
    shape = corpus.n_groups, corpus.n_words, settings.topics
    if 8 * np.prod(shape, dtype=object) > limit:
        raise TooLarge
    fitting = {
        "words": n > 0 and len(corpus.token_document) == n and _within(corpus.token_word, corpus.n_words),
        "documents of words": _within(corpus.token_document, d) and bool((np.diff(corpus.token_document) >= 0).all()),
        "groups": _within(corpus.document_group, corpus.n_groups),
        "documents": _whole(corpus.documents, d) and len(corpus.origin) == d and _within(corpus.origin, len(documents)),
        "passages": bool((np.diff(corpus.origin) >= 0).all()),
        "rows": _whole(documents, len(documents.texts)) and _tells_documents(documents),
        "table": set(documents.columns.parts().values()) <= set(project.collection.table.columns)
        and (project.collection.origins is None or _origins_fit(project.collection)),
        "iterations": tuple(record.iteration for record in project.records)
        == tuple(range(1, project.snapshot.iteration + 1)),
        "hyperparameters": {name for record in project.records for name in record.hyperparameters}
        <= _names(settings.priors),
        "associations": (settings.associations is None) == (project.associations is None),
        "scored words": project.scored is None
        or (
            len(project.scored.tokens.token_word) == len(project.scored.tokens.token_document)
            and _within(project.scored.tokens.token_word, corpus.n_words)
            and _within(project.scored.tokens.token_document, d)
        ),
        "reference": project.reference is None
        or (
            len(project.reference.token_word) == len(project.reference.token_document)
            and _within(project.reference.token_word, len(project.reference.vocabulary))
        ),
        "findings": project.findings is None or _findings_fit(project.findings, corpus, settings.topics),
        "changes of words": _changes_fit(project.pending, corpus),
        "other runs": all(_run_fits(run) for run in project.earlier),
    }
    for what, fits in fitting.items():
        if not fits:
            raise _Inconsistent(what)
    try:
        View.from_plain(project.view.to_plain(), settings.topics)
        project.sample  # noqa: B018  # made now, since it checks the state of the run
    except ParallaxError as error:
        raise Damaged("the state of the run in it contradicts itself") from error
    return project


def _within(numbers: NDArray[Any], below: int) -> bool:
    return not numbers.size or (int(numbers.min()) >= 0 and int(numbers.max()) < below)


def _whole(documents: Documents, count: int) -> bool:
    columns = documents.texts, documents.groups, documents.titles, documents.dates, documents.fields
    return all(len(column) == count for column in columns)


def _tells_documents(documents: Documents) -> bool:
    """Whether each row says of which document it is."""
    column = documents.columns.document
    try:
        return column is None or len(documents.cells(column)) == len(documents.groups) == len(documents)
    except KeyError:
        return False


def _names(priors: Priors) -> set[str]:
    return {one.name for one in fields(priors)}


def _origins_fit(collection: Collection) -> bool:
    origins, rows = collection.origins, len(collection.table)
    assert origins
    return len(origins.file) == len(origins.row) == rows and _within(origins.file, len(origins.files))


def _findings_fit(findings: Findings, corpus: Corpus, topics: int) -> bool:
    of_topics = findings.gap_draws, findings.gap_baseline
    fit = all(array is None or (array.ndim == 2 and array.shape[1] == topics) for array in of_topics)
    draws, words, seeds, limit = findings.prevalence_draws, findings.words, findings.seeds, findings.gap_limit
    fit &= limit is None or limit.shape == (topics,)
    fit &= draws is None or (draws.ndim == 3 and draws.shape[1:] == (corpus.n_groups, topics))
    if words:
        of_words = [array for array in (words.log_odds, words.low, words.high, words.sure) if array is not None]
        fit &= (
            words.vocabulary == corpus.vocabulary
            and _within(words.word, corpus.n_words)
            and _within(words.topic, topics)
        )
        fit &= len(words.word) == len(words.topic)
        fit &= all(array.shape == (len(words.topic), corpus.n_groups) for array in of_words)
    if seeds:
        fit &= seeds.topics.shape == (topics,)
        fit &= words is None or seeds.words.shape == (len(words.topic), corpus.n_groups)
    return fit


def _changes_fit(changes: Sequence[WordChange], corpus: Corpus) -> bool:
    """Whether these changes could be made of the words of a corpus, one after the other as a person collected them."""
    words = {word for change in changes for word in (change.word, change.into) if word is not None}
    collected: tuple[WordChange, ...] = ()
    try:
        for change in changes:
            collected = with_change(collected, change)
    except ParallaxError:
        return False
    return len(collected) == len(changes) and words <= set(corpus.vocabulary)


def _run_fits(run: Run) -> bool:
    topics = run.topics
    groups, words, count = len(topics.group_names), len(topics.vocabulary), len(topics.numbers)
    return (
        len(topics.names) == count
        and topics.wordings.shape[1:] == (words, count)
        and topics.wordings.shape[0] in (1, groups)
        and topics.shares.shape == (groups, count)
        and topics.group_tokens.shape == (groups,)
        and topics.gaps.shape == (count,)
    )
