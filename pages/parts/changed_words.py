"""Changed words: left out or read as one, collected in a list, with which the run then goes on; and what that has changed."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.cards import GAP
from pages.parts.guard import show_problem
from pages.parts.style import escaped, plain_markdown
from pages.parts.workspace import Reading, Workspace, registry
from spdp_engine.continuing import continue_with
from spdp_engine.corpus import Corpus
from spdp_engine.corpus.changes import WordChange, change_reference, vocabulary_word, with_change
from spdp_engine.errors import ParallaxError
from spdp_engine.jobs import ACTIVE
from spdp_engine.topics.changes import TopicChange, topic_changes

ITERATIONS = 200
"""Done after the words have changed; the run can be made longer."""

REST_SECONDS = 20.0
"""So long a run is waited for that is to rest before it goes on with other words."""

PROBLEM = "shaping_problem"
"""Where the session keeps what a change was answered with."""

WORDS_TO_CHANGE = 30
"""Main words of each group that are offered when a word is changed; any other can be written."""

SAME_BEGINNING = 4
"""Words that begin with so many letters alike are offered first to be joined."""


def word_changes(workspace: Workspace, reading: Reading, word: str) -> None:
    """What can be done with a word that was clicked."""
    with st.container(horizontal=True, vertical_alignment="center", key="px-word"):
        st.html(f'<span class="px-quiet">“{escaped(word)}”</span>')
        _stop_button(workspace, reading.corpus, word, key="stop_clicked")
        with st.popover("Join with another word", icon=":material/join_inner:"):
            _join(workspace, reading, word, key="join_clicked")


def change_words_of(workspace: Workspace, reading: Reading, topic: int) -> None:
    """A word of the topic, or any other, to be left out or joined."""
    words = _main_words(reading, topic)
    word = st.selectbox(
        "Word", words, index=None, placeholder="choose, or write any word", accept_new_options=True, key=f"word_{topic}",
        help="A main word of the topic, or any word of the texts that is modelled.",
    )  # fmt: skip
    if not word:
        return
    try:
        word = vocabulary_word(reading.corpus, word)
    except ParallaxError as error:
        show_problem(str(error))
        return
    _stop_button(workspace, reading.corpus, word, key="stop_chosen")
    _join(workspace, reading, word, key="join_chosen")


def _stop_button(workspace: Workspace, corpus: Corpus, word: str, key: str) -> None:
    about = "Leaves the word out of all topics, once you continue with the changes."
    if st.button("Make it a stop word", icon=":material/block:", key=key, help=about):
        _collect(workspace, corpus, word)


def _join(workspace: Workspace, reading: Reading, word: str, key: str) -> None:
    """The word as which this one is to be read."""
    begin = word[:SAME_BEGINNING].casefold()
    alike = [other for other in reading.corpus.vocabulary if other.startswith(begin) and other != word]
    into = st.selectbox(
        f"Read “{plain_markdown(word)}” as", alike[:WORDS_TO_CHANGE], index=None, accept_new_options=True, key=f"{key}_into",
        placeholder="choose, or write a word",
        help="From then on both count as this word: two spellings, or singular and plural.",
    )  # fmt: skip
    if st.button("Read them as one word", icon=":material/join_inner:", key=key, disabled=not into):
        _collect(workspace, reading.corpus, word, into)


def _main_words(reading: Reading, topic: int) -> list[str]:
    """Words of the topic in any group, those of all groups first."""
    words = [word.word for words in reading.topics.top_words(topic, WORDS_TO_CHANGE) for word in words]
    return list(dict.fromkeys((*reading.topics.shared_words(topic, WORDS_TO_CHANGE), *words)))


def _collect(workspace: Workspace, corpus: Corpus, word: str, into: str | None = None) -> None:
    """Puts a change on the list, or what is told instead, and draws the page."""
    try:
        change = WordChange(vocabulary_word(corpus, word), None if into is None else vocabulary_word(corpus, into))
        workspace.pending = with_change(workspace.pending, change)
    except ParallaxError as error:
        st.session_state[PROBLEM] = str(error)
    st.rerun()


def pending_changes(workspace: Workspace) -> None:
    """The changes of words that are not in the topics yet, each to be taken back, and the button that continues with them."""
    if problem := st.session_state.pop(PROBLEM, None):
        show_problem(problem)
    if not workspace.pending:
        return
    with st.container(border=True, key="px-pending"):
        st.markdown("**Changes of words** that the topics do not know yet. A click takes one back.")
        with st.container(horizontal=True):
            for place, change in enumerate(workspace.pending):
                st.button(
                    plain_markdown(change_text(change)), icon=":material/close:", key=f"pending_{place}",
                    on_click=_take_back, args=(workspace, change), help="Takes this change back.",
                )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Continue with these changes", type="primary", icon=":material/play_arrow:"):
                _continue(workspace)
            st.caption(
                f"The run goes on from where it is for {ITERATIONS} iterations. Topics keep their numbers, names and colours."
            )


def change_text(change: WordChange) -> str:
    """A change in a few words."""
    return f"leave out “{change.word}”" if change.into is None else f"read “{change.word}” as “{change.into}”"


def _take_back(workspace: Workspace, change: WordChange) -> None:
    workspace.pending = tuple(other for other in workspace.pending if other != change)


def _continue(workspace: Workspace) -> None:
    """Lets the run rest where it does not, and goes on with the changed words."""
    job = workspace.job
    assert job
    try:
        with st.spinner("Changing the words …"):
            if job.status().state in ACTIVE:
                job.stop()
                job.wait(REST_SECONDS)
            reading = workspace.reading()
            assert reading
            new, associations = continue_with(
                job, reading.model.sample, workspace.pending, workspace.job_associations, ITERATIONS, registry().queue
            )
            reference = workspace.reference and change_reference(workspace.reference, job.corpus, new.corpus)
    except ParallaxError as error:
        st.session_state[PROBLEM] = str(error)
        st.rerun()
    workspace.go_on(new, associations, reference, reading)
    new.wait_for_sample(REST_SECONDS)
    st.rerun()


def what_changed(workspace: Workspace, reading: Reading) -> None:
    """What became of the topics since the run goes on with other words, and the way back; nothing where it does not."""
    before = workspace.before_changes
    if before is None:
        return
    assert workspace.job
    said = ", ".join(change_text(change) for change in before.changes)
    with st.expander(f"With changed words: {plain_markdown(said)}", icon=":material/difference:", expanded=True):
        if workspace.job.status().state in ACTIVE:
            st.caption("What changed is told here when the run rests.")
        else:
            _changes_table(
                reading, topic_changes(before.reading.through(reading.view).topics, reading.topics, reading.shown)
            )
        with st.container(horizontal=True):
            st.button(
                "Bring the earlier words back", icon=":material/undo:", on_click=workspace.come_back,
                help="The run as it was before these changes; they are on the list again, to be changed.",
            )  # fmt: skip
            st.button(
                "Keep the changes", icon=":material/check:", on_click=workspace.keep_changes,
                help="Lets the run before them go, and closes this.",
            )  # fmt: skip


def _changes_table(reading: Reading, changes: tuple[TopicChange, ...]) -> None:
    """A row to each topic, those first whose words changed most."""
    moved = sum(bool(change.came or change.went) for change in changes)
    among = "its ten main words" if moved == 1 else "their ten main words"
    st.markdown(f"{moved} of {len(changes)} topics {'has' if moved == 1 else 'have'} other words among {among}.")
    number = st.column_config.NumberColumn
    table = pd.DataFrame(
        {
            "Topic": [reading.name(change.topic) for change in changes],
            "Came": [", ".join(change.came) for change in changes],
            "Went": [", ".join(change.went) for change in changes],
            "Share before": [100 * change.share_before for change in changes],
            "Share": [100 * change.share_after for change in changes],
            "Gap before": [change.gap_before for change in changes],
            "Gap": [change.gap_after for change in changes],
        }
    )
    if reading.topics.worded_alike:
        table = table.drop(columns=["Gap before", "Gap"])
    st.dataframe(
        table, hide_index=True, height=min(len(changes), 7) * 35 + 39,
        column_config={
            "Came": st.column_config.TextColumn(help="Words that are among the topic’s ten most probable only now."),
            "Went": st.column_config.TextColumn(help="Words that were among them only before."),
            "Share before": number(format="%.1f %%", help="Of the words, before the change: the mean over groups."),
            "Share": number(format="%.1f %%", help="Of the words: the mean over groups."),
            "Gap before": number(format="%.2f", help=f"{GAP}; before the change."),
            "Gap": number(format="%.2f", help=f"{GAP}."),
        },
    )  # fmt: skip
