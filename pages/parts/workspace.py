"""A person's workspace: documents, words and runs. It outlives the browser tab.

Workspaces lie in one registry for the whole process, each under a random key that only its owner's address bar shows. A
reloaded tab finds its workspace by the key; another session has another key, and so never sees it.
"""

from __future__ import annotations

import copy
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pages.parts.library import read_ahead
from spdp_engine.choosing import Choosing
from spdp_engine.corpus import AssociationTable, Collection, Columns, Corpus, CorpusSettings, Documents, Reference
from spdp_engine.corpus.changes import WordChange, changed_settings
from spdp_engine.evidence import Evidence
from spdp_engine.jobs import ACTIVE, Job, JobState, Queue
from spdp_engine.project import Project
from spdp_engine.results import Associations, Result
from spdp_engine.runs import FurtherRun, Run, kept
from spdp_engine.topics import PassageReader, TopicQuality, Topics, measure_quality, read_topics
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.labels import Labels
from spdp_engine.topics.merging import merge_topics
from spdp_engine.topics.pairing import Pairing, RunTopics, pair_runs
from spdp_engine.topics.telling import called
from spdp_engine.topics.view import View
from spdp_engine.types import Sample

PARAMETER = "workspace"

REFRESH_SECONDS = 0.45
"""Pace at which a running job is drawn: a little over twice a second."""
LIFETIME = 24 * 3600
"""Seconds after which an unused workspace is let go."""

READ_AHEAD = 1.0
"""Seconds after a run has begun: then, while it goes on, what pages will need of its documents is worked out."""

FIRST_THE_PAGE = 1.0
"""Seconds for which the gathering of evidence leaves the cores to a page that is drawn, and to the browser that shows it."""

WORDS_IN_SENTENCE = 2
"""Words that say in a sentence what a topic without a name is about."""

VIEWS = 50
"""Changes of the view that can be taken back."""


@dataclass(eq=False)
class Reading:
    """A job's newest sample, made readable once and kept until there is a newer one.

    Attributes:
        model: the topics as the model has them.
        corpus: what the run is on.
        view: how a person reads them.
    """

    model: Topics
    corpus: Corpus
    view: View = field(default_factory=View)
    _by_reference: tuple[Reference, TopicQuality] | None = None

    def through(self, view: View) -> Reading:
        """The same, read in another way; what was worked out is kept where it holds still."""
        if view is self.view:
            return self
        if view.merged != self.view.merged:
            return Reading(self.model, self.corpus, view)
        other = copy.copy(self)
        other.view = view
        return other

    @cached_property
    def topics(self) -> Topics:
        """The topics as they are read: where some are part of others, with these as one."""
        if not self.view.merged:
            return self.model
        sample = merge_topics(self.model.sample, self.view.merged)
        return read_topics(sample, self.model.vocabulary, self.model.group_names)

    @property
    def shown(self) -> tuple[int, ...]:
        """Numbers of the topics that are shown, rising: neither hidden nor read as part of another."""
        return self.view.shown(self.model.n_topics)

    def order(self, by: str) -> list[int]:
        """The topics that are shown, pinned ones first, the others as `Topics.order` has them or, for 'number', as they count."""
        order = self.shown if by == "number" else self.topics.order(by).tolist()
        shown = set(self.shown)
        return self.view.arranged(topic for topic in order if topic in shown)

    def name(self, topic: int) -> str:
        """What people call a topic."""
        return self.view.name(topic)

    def called(self, topic: int) -> str:
        """What a sentence calls a topic: where it has no name, with words that say what it is about."""
        return called(self.view, topic, self.labels.words(topic, WORDS_IN_SENTENCE))

    @cached_property
    def labels(self) -> Labels:
        """Suggests names of topics."""
        return Labels(self.topics, self.corpus)

    @cached_property
    def passages(self) -> PassageReader:
        """Reads passages; made when first asked for, since a page that only shows words should not wait for it."""
        return PassageReader(self.corpus, self.topics)

    @cached_property
    def quality(self) -> TopicQuality:
        """How good the topics are by the corpus itself; measured when first asked for."""
        return measure_quality(self.topics, self.corpus)

    @property
    def measured_quality(self) -> TopicQuality | None:
        """The same where it has been asked for; None else."""
        return self.__dict__.get("quality")

    def quality_by(self, reference: Reference) -> TopicQuality:
        """The same by another text; kept for the one that was asked for last."""
        if self._by_reference is None or self._by_reference[0] is not reference:
            self._by_reference = reference, measure_quality(self.topics, self.corpus, reference)
        return self._by_reference[1]


@dataclass(frozen=True, eq=False)
class BeforeChanges:
    """A run as it was before it was continued with other words.

    Attributes:
        job: the run, which rests.
        associations: what it took of a file of associations.
        reference: the text by which its topics were judged.
        reading: its topics.
        changes: the changes it was continued with.
        words: how texts became words; None: the documents at hand were no longer the run's.
        run: what is kept of it among the earlier runs.
    """

    job: Job
    associations: Associations | None
    reference: Reference | None
    reading: Reading
    changes: tuple[WordChange, ...]
    words: CorpusSettings | None
    run: Run | None


@dataclass(eq=False)
class Workspace:
    """What one person has brought and made.

    Attributes:
        key: random, unguessable.
        name: what the collection is called.
        collection: rows as read, None before anything was brought.
        columns: which column is what.
        words: how texts become words.
        documents: the rows that have text.
        corpus: what runs are started on, None until it is built. Another one ends the comparison of numbers of topics on it.
        problem: why there is no corpus, in a sentence.
        associations: the rows of a file of associations, for runs that are started from now on.
        job: the newest run.
        job_associations: what it took of such a file.
        reference: a text by which the run's topics are judged, beside its corpus, in the words of that corpus.
        choosing: the newest comparison of numbers of topics on this corpus.
        evidence: of how sure what the run has found is, gathered while it rests.
        view: how the run's topics are read.
        view_history: the views before it, the newest last.
        pending: changes of words that the run has not been continued with yet.
        before_changes: the run as it was before it was continued with other words; None: it was not.
        earlier: what is kept of the runs before, and of further ones beside the present one, the newest first.
        further: a run beside the present one, as long as nothing has come of it.
        report_title: what the person wrote for the title of the report; None: nothing, so that it is the collection's name.
        report_note: the person's note at its beginning.
        report_turn: counts the collections and projects whose report these are of, so that none gets the words for another.
        opened: what there is to know of the project that the run is from, in sentences; none where it is from no project.
    """

    key: str
    name: str = ""
    collection: Collection | None = None
    columns: Columns | None = None
    words: CorpusSettings = field(default_factory=CorpusSettings)
    documents: Documents | None = None
    problem: str = ""
    associations: AssociationTable | None = None
    suggested_topics: int = 20
    job: Job | None = None
    job_name: str = ""
    job_associations: Associations | None = None
    reference: Reference | None = None
    choosing: Choosing | None = None
    evidence: Evidence | None = None
    view: View = field(default_factory=View)
    view_history: tuple[View, ...] = ()
    pending: tuple[WordChange, ...] = ()
    before_changes: BeforeChanges | None = None
    earlier: tuple[Run, ...] = ()
    further: FurtherRun | None = None
    report_title: str | None = None
    report_note: str = ""
    report_turn: int = 0
    opened: tuple[str, ...] = ()
    used: float = field(default_factory=time.time)
    _corpus: Corpus | None = None
    _reading: Reading | None = None
    _next_reading: float = 0.0
    _matched: tuple[Corpus, Associations] | None = None
    _brought: tuple[Collection, Documents] | None = None
    _evidence_of: Sample | None = None
    _kept_findings: Findings | None = None
    _findings: tuple[Findings, Mapping[int, int], Findings] | None = None
    _present: tuple[Reading, TopicQuality | None, Run] | None = None
    _pairing: tuple[Run, Run, Pairing] | None = None

    @property
    def corpus(self) -> Corpus | None:
        """See the class."""
        return self._corpus

    @corpus.setter
    def corpus(self, corpus: Corpus | None) -> None:
        if self.choosing and self.choosing.corpus is not corpus:
            self.compare_numbers(None)
        self._corpus = corpus

    def compare_numbers(self, choosing: Choosing | None) -> None:
        """Takes a new comparison of numbers of topics, or none, in place of the one before, which is ended."""
        if self.choosing:
            self.choosing.cancel()
        self.choosing = choosing

    def bring(self, collection: Collection, columns: Columns | None, name: str, topics: int = 20) -> None:
        """Takes in new documents, without associations. A run on earlier ones stays until a new one is started."""
        self.collection, self.columns, self.name = collection, columns, name
        self.words, self.suggested_topics = CorpusSettings(), topics
        self.documents, self.corpus, self.problem = None, None, ""
        self.take_associations(None)

    def take_associations(self, table: AssociationTable | None) -> None:
        """Takes in the rows of a file of associations, or leaves them out. A run that has begun keeps its own."""
        self.associations, self._matched = table, None

    def matched_associations(self) -> Associations | None:
        """The associations as they suit the corpus, matched anew when it has changed; None without either.

        Raises:
            ParallaxError: they do not go together.
        """
        if self.associations is None or self.corpus is None:
            return None
        matched = self._matched
        if matched is None or matched[0] is not self.corpus:
            matched = self._matched = None
            matched = self._matched = self.corpus, Associations.of(self.associations, self.corpus)
        return matched[1]

    def start(self, job: Job, associations: Associations | None = None) -> None:
        """Takes a new run in place of the one before, which is ended, and so is a comparison of numbers of topics, though what it
        has measured stays. Its topics are read anew, those of the run before are kept."""
        self.keep(self.present())
        self.let_go()
        if not self.job or job.corpus is not self.job.corpus:  # the documents of another corpus
            self._brought = None
            if job.corpus is self.corpus and self.collection and self.documents:
                self._brought = self.collection, self.documents
        self._take(job, associations)
        if self.job_name != self.name:
            self.write_report(None, "")
        self.job_name, self.opened = self.name, ()
        self.view, self.view_history, self.pending, self.before_changes = View(), (), (), None
        if self.reference and self.reference.vocabulary != job.corpus.vocabulary:
            self.reference = None

    def write_report(self, title: str | None, note: str) -> None:
        """Takes another title and note for the report, in the place of those that the person wrote."""
        self.report_title, self.report_note, self.report_turn = title, note, self.report_turn + 1

    def _take(self, job: Job, associations: Associations | None) -> None:
        self.leave_evidence()
        self.job, self.job_associations = job, associations
        self._reading, self._next_reading = None, 0.0
        ahead = threading.Timer(READ_AHEAD, read_ahead, (job.corpus,))
        ahead.daemon = True
        ahead.start()

    def project(self) -> Project | None:
        """The run and all that belongs to it, to be saved; waits for the sampler to tell its state.

        None where there is none to tell, as in a run that has failed or waits for its turn.
        """
        job = self.job
        if not job or not self._brought:
            return None
        waiting = job.status().state is JobState.WAITING
        snapshot = job.snapshot(1.0) if waiting else job.snapshot()
        if not snapshot:
            return None
        collection, documents = self._brought
        return Project(
            name=self.job_name,
            collection=collection,
            documents=documents,
            words=self.words if self.corpus is job.corpus else job.corpus.settings,
            corpus=job.corpus,
            settings=job.settings,
            records=job.records()[: snapshot.iteration],
            snapshot=snapshot,
            associations=self.job_associations,
            scored=job.scored,
            reference=self.reference,
            view=self.view,
            findings=self._found() if self._found_all else None,
            earlier=self.earlier,
            pending=self.pending,
            report_title=self.report_title,
            report_note=self.report_note,
        )

    def take_project(self, project: Project, queue: Queue) -> None:
        """Takes in a project as it was saved, in the place of the documents and the run at hand, of which what is kept of a run is
        kept beside it.

        Args:
            project: as it was read.
            queue: in which its run waits for its turn when it is made longer.
        """
        self.bring(project.collection, project.documents.columns, project.name, project.settings.topics)
        self.words, self.documents, self.corpus = project.words, project.documents, project.corpus
        if project.associations:
            self.take_associations(project.associations.table)
            self._matched = project.corpus, project.associations
        job = project.job(queue)
        self.start(job, project.associations)
        self.reference, self.view, self.pending = project.reference, project.view, project.pending
        self.opened = project.told, *project.remarks
        self.write_report(project.report_title, project.report_note)
        known = {run.key for run in project.earlier}
        self.earlier = kept((*project.earlier, *(run for run in self.earlier if run.key not in known)))
        if project.findings:
            self._evidence_of, self._kept_findings = project.sample, project.findings

    def change_view(self, view: View) -> None:
        """Reads the run's topics in another way; `take_back_view` takes it back."""
        if view != self.view:
            self.view_history = (*self.view_history, self.view)[-VIEWS:]
            self.view = view

    def take_back_view(self) -> None:
        """Reads the topics as before the last change of the view; nothing happens where there was none."""
        if self.view_history:
            *earlier, self.view = self.view_history
            self.view_history = tuple(earlier)

    def go_on(self, job: Job, associations: Associations | None, reference: Reference | None, reading: Reading) -> None:
        """Takes a run in place of the one from which it goes on with the pending changes of words. Topics are read as before.

        The run before rests and is kept, so that `come_back` can bring it back; what was kept so before is ended.

        Args:
            job: the new run.
            associations: what it took of a file of associations.
            reference: the reference text in its words.
            reading: of the run before.
        """
        assert self.job
        if self.before_changes:
            self.before_changes.job.discard()
        ours, run = self.corpus is self.job.corpus, self.present()
        self.keep(run)
        self.before_changes = BeforeChanges(
            self.job, self.job_associations, self.reference, reading, self.pending, self.words if ours else None, run
        )
        if ours:
            self.words = changed_settings(self.words, self.pending)
            self.corpus = job.corpus
        self.reference, self.pending = reference, ()
        self._take(job, associations)

    def come_back(self) -> None:
        """Takes the run before the changes of words in place of that with them, which is ended. The changes are pending again."""
        before = self.before_changes
        assert before and self.job
        if before.run:
            self.forget(before.run)
        self.keep(self.present())
        self.job.discard()
        if before.words is not None and self.corpus is self.job.corpus:
            self.words, self.corpus = before.words, before.job.corpus
        self.reference, self.pending, self.before_changes = before.reference, before.changes, None
        self._take(before.job, before.associations)

    def keep_changes(self) -> None:
        """Lets the run before the changes of words go."""
        if self.before_changes:
            self.before_changes.job.discard()
        self.before_changes = None

    def let_go(self) -> None:
        """Ends what goes on in the background."""
        if self.before_changes:
            self.before_changes.job.discard()
        if self.job:
            self.job.discard()
        if self.choosing:
            self.choosing.cancel()
        if self.evidence:
            self.evidence.cancel()
        if self.further:
            self.further.cancel()

    @property
    def at_rest(self) -> bool:
        """Whether there is a run that is finished or stopped."""
        return self.job is not None and self.job.status().state in (JobState.FINISHED, JobState.STOPPED)

    def keep_evidence(self) -> None:
        """Has evidence gathered once the run has come to rest, and ends that for the run as it stood before."""
        if self.job and self.job.status().state in ACTIVE:
            if self.evidence:
                self.evidence.cancel()
        elif self.job and self.at_rest and self._evidence_of is not self.job.sample():
            self.gather_evidence()

    def gather_evidence(self) -> None:
        """Has evidence gathered for the run as it rests, from the beginning; nothing happens where it has found no topics."""
        reading, given = self.resting(), self.job.topics() if self.job else None
        if not self.job or not reading or given is None:
            return
        self.leave_evidence()
        self._evidence_of = reading.model.sample
        self.evidence = Evidence(self.job.corpus, self.job.settings, given, reading.model, registry().queue)

    def leave_evidence(self) -> None:
        """Ends the gathering of evidence, and lets go what was found."""
        if self.evidence:
            self.evidence.cancel()
        self.evidence, self._evidence_of, self._kept_findings, self._findings = None, None, None, None

    def findings(self) -> Findings:
        """How sure what the run has found is, read through the view, as far as it is known; nothing is while the run goes on."""
        reading, found, merged = self.resting(), self._found(), self.view.merged
        if not found or not reading or reading.model.sample is not self._evidence_of:
            return Findings()
        told = self._findings
        if told is None or told[0] is not found or told[1] != merged:
            told = self._findings = found, merged, found.merged(merged)
        return told[2]

    def _found(self) -> Findings | None:
        """What evidence was gathered, or came with a project, of the topics as the model has them."""
        return self.evidence.findings() if self.evidence else self._kept_findings

    @property
    def _found_all(self) -> bool:
        """Whether that is all there is to find about the run as it rests."""
        if not self.job or self._evidence_of is not self.job.sample():
            return False
        return self.evidence is None or self.evidence.status().state is JobState.FINISHED

    def present(self) -> Run | None:
        """The run as it stands, to be laid beside others; None before there is a sample."""
        reading = self.reading()
        if not self.job or not reading:
            return None
        quality, told = reading.measured_quality, self._present
        if told is None or told[0] is not reading or told[1] is not quality:
            topics = RunTopics.of(reading.topics, reading.shown, [reading.name(topic) for topic in reading.shown])
            run = Run.of(
                reading.corpus, self.job.settings, self.job.records()[: reading.model.sample.iteration], topics, quality,
                self.job_name, self.job_associations.table.name if self.job_associations else "",
            )  # fmt: skip
            told = self._present = reading, quality, run
        return told[2]

    def keep(self, run: Run | None) -> None:
        """Keeps a run beside the present one; the oldest are let go where there are many."""
        if run and run.topics.n_topics:
            self.earlier = kept((run, *self.earlier))

    def forget(self, run: Run) -> None:
        """Lets a run go that was kept."""
        self.earlier = tuple(other for other in self.earlier if other is not run)

    def run_beside(self, further: FurtherRun | None) -> None:
        """Takes a new run beside the present one, or none, in place of the one on its way, which is ended."""
        if self.further:
            self.further.cancel()
        self.further = further

    def collect(self) -> Run | None:
        """Keeps what came of the run beside the present one, once it is finished; it is returned this once."""
        if not self.further or not self.further.run:
            return None
        run, self.further = self.further.run, None
        self.keep(run)
        return run

    def pairing(self, first: Run, second: Run) -> Pairing:
        """The topics of two runs, paired; kept for the two that were asked for last.

        Raises:
            InputError: they cannot be.
        """
        told = self._pairing
        if told is None or told[0] is not first or told[1] is not second:
            told = self._pairing = first, second, pair_runs(first.topics, second.topics)
        return told[2]

    def reading(self) -> Reading | None:
        """The newest sample of the run, readable; None before there is one.

        Reading a large sample takes time that the sampler would like to have. A newer sample is asked for only so often
        that reading takes a twentieth of the time.
        """
        if not self.job:
            return None
        kept = self._reading
        if kept:
            kept = self._reading = kept.through(self.view)
        if kept and time.time() < self._next_reading and self.job.status().state.value == "running":
            return kept
        sample = self.job.sample()
        if sample is None or (kept and kept.model.sample is sample):
            return kept
        begin = time.time()
        corpus = self.job.corpus
        self._reading = Reading(read_topics(sample, corpus.vocabulary, corpus.group_names), corpus, self.view)
        end = time.time()
        self._next_reading = end + 20 * (end - begin)
        return self._reading

    def resting(self) -> Reading | None:
        """The reading of a run that is not active, of which more can be asked than there is time for while it runs; else None."""
        if not self.job or self.job.status().state in ACTIVE:
            return None
        return self.reading()

    def result(self) -> Result | None:
        """The run as it stands, to take away; None before there is a sample."""
        reading = self.reading()
        if not self.job or not reading:
            return None
        job = self.job
        sample = reading.model.sample
        records = job.records()[: sample.iteration]
        return Result(
            job.corpus, job.settings, sample, records, job.training_tokens, self.job_associations, self.reference,
            scored=job.scored,
            view=reading.view, findings=self.findings(), readable=reading.topics, measured=reading.measured_quality,
        )  # fmt: skip


class Registry:
    """All workspaces of this process, and the queue of their runs."""

    def __init__(self) -> None:
        self.queue = Queue()
        self._workspaces: dict[str, Workspace] = {}
        self._lock = threading.Lock()

    def find(self, key: str | None) -> Workspace | None:
        """The workspace with this key."""
        with self._lock:
            self._forget_old()
            found = self._workspaces.get(key or "")
            if found:
                found.used = time.time()
            return found

    def create(self) -> Workspace:
        """A new, empty workspace."""
        workspace = Workspace(secrets.token_urlsafe(16))
        with self._lock:
            self._workspaces[workspace.key] = workspace
        return workspace

    def _forget_old(self) -> None:
        now = time.time()
        for key, workspace in list(self._workspaces.items()):
            if now - workspace.used > LIFETIME:
                workspace.let_go()
                del self._workspaces[key]


def by_way_of_the_app() -> None:
    """Sees to it that app.py has run before a page.

    As long as no session of the process has called `st.navigation`, Streamlit takes a folder named pages/ for its own kind
    of pages, and runs the file of an address by itself: without style, navigation and workspace. So it is told, and the
    run begun again.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


@st.cache_resource(show_spinner=False)
def registry() -> Registry:
    """The one registry of this process."""
    return Registry()


def open_workspace() -> None:
    """Finds the workspace of this session, by session or address, or makes one. Called once in each run of the script."""
    wanted = st.query_params.get(PARAMETER)
    found = registry().find(st.session_state.get(PARAMETER)) or registry().find(wanted)
    workspace = found or registry().create()
    st.session_state[PARAMETER] = workspace.key
    if wanted != workspace.key:
        st.query_params[PARAMETER] = workspace.key
    if wanted and not found:
        st.info(
            "The workspace of this address is no longer here: the app was restarted, or nobody used it for a day. "
            "This is a new one.",
            icon=":material/info:",
        )


def current() -> Workspace:
    """The workspace of this session, whose page is drawn now; where its run has come to rest, evidence of what it has found is
    gathered."""
    by_way_of_the_app()
    workspace = registry().find(st.session_state.get(PARAMETER))
    if workspace is None:  # forgotten while the tab stood open
        workspace = registry().create()
        st.session_state[PARAMETER] = workspace.key
    workspace.keep_evidence()
    if workspace.evidence:
        workspace.evidence.give_way(FIRST_THE_PAGE)
    return workspace
