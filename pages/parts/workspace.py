"""A person's workspace: documents, words and runs. It outlives the browser tab.

Workspaces lie in one registry for the whole process, each under a random key that only its owner's address bar shows. A
reloaded tab finds its workspace by the key; another session has another key, and so never sees it.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from functools import cached_property

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from spdp_engine.choosing import Choosing
from spdp_engine.corpus import AssociationTable, Collection, Columns, Corpus, CorpusSettings, Documents, Reference
from spdp_engine.jobs import ACTIVE, Job, Queue
from spdp_engine.results import Associations, Result
from spdp_engine.topics import PassageReader, TopicQuality, Topics, measure_quality, read_topics
from spdp_engine.topics.view import View

PARAMETER = "workspace"

REFRESH_SECONDS = 0.45
"""Pace at which a running job is drawn: a little over twice a second."""
LIFETIME = 24 * 3600
"""Seconds after which an unused workspace is let go."""


@dataclass(eq=False)
class Reading:
    """A job's newest sample, made readable once and kept until there is a newer one."""

    topics: Topics
    corpus: Corpus
    view: View = field(default_factory=View)
    _by_reference: tuple[Reference, TopicQuality] | None = None

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """Numbers of the topics that are shown, rising: neither hidden nor read as part of another."""
        return tuple(k for k in range(self.topics.n_topics) if k not in self.view.hidden and k not in self.view.merged)

    def name(self, topic: int) -> str:
        """What people call a topic: the name that they gave it, else its number from 1."""
        return self.view.names.get(topic) or f"Topic {topic + 1}"

    @cached_property
    def passages(self) -> PassageReader:
        """Reads passages; made when first asked for, since a page that only shows words should not wait for it."""
        return PassageReader(self.corpus, self.topics)

    @cached_property
    def quality(self) -> TopicQuality:
        """How good the topics are by the corpus itself; measured when first asked for."""
        return measure_quality(self.topics, self.corpus)

    def quality_by(self, reference: Reference) -> TopicQuality:
        """The same by another text; kept for the one that was asked for last."""
        if self._by_reference is None or self._by_reference[0] is not reference:
            self._by_reference = reference, measure_quality(self.topics, self.corpus, reference)
        return self._by_reference[1]


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
        view: how the run's topics are read.
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
    view: View = field(default_factory=View)
    used: float = field(default_factory=time.time)
    _corpus: Corpus | None = None
    _reading: Reading | None = None
    _next_reading: float = 0.0
    _matched: tuple[Corpus, Associations] | None = None

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
        has measured stays."""
        self.let_go()
        self.job, self.job_name, self.job_associations = job, self.name, associations
        self._reading, self._next_reading = None, 0.0
        if self.reference and self.reference.vocabulary != job.corpus.vocabulary:
            self.reference = None

    def let_go(self) -> None:
        """Ends what goes on in the background."""
        if self.job:
            self.job.discard()
        if self.choosing:
            self.choosing.cancel()

    def reading(self) -> Reading | None:
        """The newest sample of the run, readable; None before there is one.

        Reading a large sample takes time that the sampler would like to have. A newer sample is asked for only so often
        that reading takes a twentieth of the time.
        """
        if not self.job:
            return None
        kept = self._reading
        if kept and time.time() < self._next_reading and self.job.status().state.value == "running":
            return kept
        sample = self.job.sample()
        if sample is None or (kept and kept.topics.sample is sample):
            return kept
        begin = time.time()
        corpus = self.job.corpus
        self._reading = Reading(read_topics(sample, corpus.vocabulary, corpus.group_names), corpus)
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
        sample = reading.topics.sample
        records = job.records()[: sample.iteration]
        return Result(
            job.corpus, job.settings, sample, records, job.training_tokens, self.job_associations, self.reference
        )


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


def _by_way_of_the_app() -> None:
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
    """The workspace of this session."""
    _by_way_of_the_app()
    workspace = registry().find(st.session_state.get(PARAMETER))
    if workspace is None:  # forgotten while the tab stood open
        workspace = registry().create()
        st.session_state[PARAMETER] = workspace.key
    return workspace
