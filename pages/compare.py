"""Compare the groups: all topics at a glance, and of one how much each group talks about it, in which words, and where it shows."""

from __future__ import annotations

import streamlit as st

from pages.parts.cards import alike_sentence
from pages.parts.changed_words import pending_changes, what_changed, word_changes
from pages.parts.contexts import contexts_section
from pages.parts.crosstab import crosstab_section
from pages.parts.evidence import evidence_line
from pages.parts.guard import guarded
from pages.parts.periods import periods_section
from pages.parts.prevalence import prevalence_section
from pages.parts.shaping import topic_header
from pages.parts.style import escaped
from pages.parts.topic_list import CLICKED, at_a_glance, shows_table, topic_list
from pages.parts.wording import wording_section
from pages.parts.workspace import REFRESH_SECONDS, Reading, Workspace, current
from spdp_engine.jobs import ACTIVE, Job
from spdp_engine.sampling import model_named

ABREAST = 5
"""Columns of words that fit beside one another."""


def page() -> None:
    """The page."""
    workspace = current()
    reading = workspace.reading()
    if reading is None:
        st.title("Compare")
        st.html(
            '<p class="px-lead">There are no topics yet. Start a run; as soon as it has begun, its topics can be compared here.</p>'
        )
        target = "pages/explore.py" if workspace.corpus else "pages/documents.py"
        if st.button("Find topics" if workspace.corpus else "Choose documents", type="primary"):
            st.switch_page(target)
        return
    job = workspace.job
    assert job is not None
    topics = reading.topics
    alone = len(topics.group_names) == 1
    st.title("Compare the groups" if not alone else "Read the topics")
    if job.status().state in ACTIVE:
        _going_on(job)
    evidence_line(workspace)
    if alone:
        st.info("There is one group, so there is nothing to compare; these are its topics.", icon=":material/info:")
    elif sentence := alike_sentence(model_named(job.settings.model).title, topics):
        st.html(f'<p class="px-lead">{escaped(sentence)}</p>')
    what_changed(workspace, reading)
    pending_changes(workspace)
    topic = topic_list(workspace, reading)
    quality = reading.quality if workspace.resting() else None
    with st.container(key="px-overview"):
        overview, header = (st.container(), st.container()) if shows_table() else st.columns([2, 3], gap="large")
    with overview:
        at_a_glance(workspace, reading, topic, quality)
    with header:
        topic_header(workspace, reading, topic, quality)
        prevalence_section(workspace, reading, topic)
    _words_and_contexts(workspace, reading, topic, _groups(reading))
    periods_section(workspace, reading, topic)
    crosstab_section(workspace, reading, topic)


@st.fragment(run_every=REFRESH_SECONDS)
def _going_on(job: Job) -> None:
    """How far the run is that goes on in the background; when it rests, the page is drawn with what it has found."""
    with guarded():
        status = job.status()
        if status.state not in ACTIVE:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"The run goes on in the background ({status.iteration:,} of {status.target:,} iterations).")
            if st.button("Show its newest state", icon=":material/refresh:"):
                st.rerun()


def _groups(reading: Reading) -> list[int]:
    """The groups whose words (where they have their own) and passages are shown: all, or a choice where there are many."""
    topics = reading.topics
    everyone = list(range(len(topics.group_names)))
    if len(everyone) <= ABREAST:
        return everyone
    return st.multiselect(
        f"Groups whose {'passages' if topics.worded_alike else 'words'} are shown", everyone, everyone[:ABREAST],
        format_func=topics.group_names.__getitem__, max_selections=ABREAST, key="compare_groups", persist_state="session",
    ) or everyone[:ABREAST]  # fmt: skip


@st.fragment
def _words_and_contexts(workspace: Workspace, reading: Reading, topic: int, groups: list[int]) -> None:
    """How the groups word the topic, and where it shows. Drawn by itself when a word is clicked, which changes nothing above."""
    with guarded():
        if picked := wording_section(workspace, reading, topic, groups):
            _, word = picked
            st.session_state[CLICKED] = topic, word
        of, word = st.session_state.get(CLICKED, (None, None))
        clicked = word if of == topic and word in reading.corpus.vocabulary else None
        if clicked:
            word_changes(workspace, reading, clicked)
        contexts_section(workspace, reading, topic, groups, clicked)


with guarded():
    page()
