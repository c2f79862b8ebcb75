"""Shaping what is read of a topic: its name and place, topics read as one, and the way to changed words and to a link."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.cards import COHERENCE, averaging_html, coherence, percent
from pages.parts.changed_words import change_words_of
from pages.parts.style import escaped, plain_markdown, topic_colour, topic_mark
from pages.parts.topic_list import lead_to, link
from pages.parts.workspace import Reading, Workspace
from spdp_engine.topics import TopicQuality
from spdp_engine.topics.view import LONGEST_NAME, View

UNTOUCHED = "The model stays as it is: this only changes how its topics are read, here and in what you take away."
"""Told wherever topics are hidden or merged."""


def topic_header(workspace: Workspace, reading: Reading, topic: int, quality: TopicQuality | None) -> None:
    """The topic's mark, its name to be written over, what is known of it, and what can be done with it."""
    with st.container(key="px-topic"):
        _name(workspace, reading, topic)
        st.html(f'<p class="px-legend">{_told(workspace, reading, topic, quality)}</p>')
        if parts := reading.view.parts(topic):
            st.caption(_merged_sentence(reading, topic, parts))
        with st.container(horizontal=True, key="px-shaping"):
            _place(workspace, reading, topic)
            _merging(workspace, reading, topic)
            with st.popover("Words", icon=":material/spellcheck:", help="Leave a word out, or read two words as one."):
                change_words_of(workspace, reading, topic)
            with st.popover("Copy link", icon=":material/link:"):
                st.code(link(workspace, topic), language=None, wrap_lines=True)
                st.caption(
                    "Leads to this topic for as long as the workspace is kept. Whoever has the link can open it."
                )
            if workspace.view_history:
                st.button(
                    "Undo", icon=":material/undo:", on_click=workspace.take_back_view,
                    help="Takes the last change of names, places, hidden and merged topics back.",
                )  # fmt: skip


def _change(workspace: Workspace, change: Callable[[View], View]) -> None:
    """Changes the view as it is when a button is pressed."""
    workspace.change_view(change(workspace.view))


def _name(workspace: Workspace, reading: Reading, topic: int) -> None:
    """The name as a field, and a suggestion that is one click away."""
    number = reading.view.numbers(topic)
    st.html(
        f'<h2 class="px-topic" style="--topic:{topic_colour(topic)}"><span aria-hidden="true">{topic_mark(topic)}</span> '
        f"Topic {number}</h2>"
    )
    key = f"name_{topic}"
    st.session_state[key] = workspace.view.names.get(topic, "")

    def rename() -> None:
        _change(workspace, lambda view: view.named(topic, st.session_state[key]))

    with st.container(horizontal=True, vertical_alignment="center", key="px-name"):
        st.text_input(
            f"Name of topic {number}", key=key, placeholder="Name this topic", max_chars=LONGEST_NAME, on_change=rename,
            label_visibility="collapsed", width="stretch",
        )  # fmt: skip
        suggestion = reading.labels.suggest(topic)
        if suggestion and suggestion != workspace.view.names.get(topic):
            st.button(
                f"“{plain_markdown(suggestion)}”", icon=":material/auto_fix_high:", key="suggestion", type="tertiary",
                on_click=_change, args=(workspace, lambda view: view.named(topic, suggestion)),
                help="Call it so: its own words, and those of its documents’ titles.",
            )  # fmt: skip


def _told(workspace: Workspace, reading: Reading, topic: int, quality: TopicQuality | None) -> str:
    """How coherent the topic is, once the run rests, in how many runs it was found, and whether topics are averages."""
    told = []
    if quality:
        figure = f'<span class="px-hint" title="{COHERENCE}.">Coherence {coherence(quality.npmi[topic])}</span>'
        if workspace.reference:
            other = reading.quality_by(workspace.reference).npmi[topic]
            figure += f", in {escaped(workspace.reference.name)} {coherence(other)}"
        told.append(figure)
    if found := workspace.findings().topic_found(topic):
        why = "Runs with other seeds begin from other topics; what only one of them finds may be chance."
        told.append(f'<span class="px-hint" title="{why}">Found in {found[0]} of {found[1]} runs</span>')
    assert workspace.job
    told.append(averaging_html(reading.model.sample, workspace.job.records()))
    return " · ".join(told)


def _merged_sentence(reading: Reading, topic: int, parts: tuple[int, ...]) -> str:
    """Which topics are read as this one."""
    of_model = [
        f"Topic {one + 1} ({percent(reading.model.overall[one])}: {plain_markdown(reading.model.label(one))})"
        for one in (topic, *parts)
    ]
    return f"Read as one: {'; '.join(of_model)}."


def _place(workspace: Workspace, reading: Reading, topic: int) -> None:
    """Pinning, and hiding."""
    pinned = [one for one in reading.view.pinned if one in reading.shown]
    if topic in pinned:
        st.button(
            "Unpin", icon=":material/keep_off:", on_click=_change, args=(workspace, lambda view: view.unpin(topic)),
            help="Puts the topic back in its place among the others.",
        )  # fmt: skip
        if pinned.index(topic) > 0:
            before = reading.view.pinned.index(pinned[pinned.index(topic) - 1])
            st.button(
                "Move up", icon=":material/arrow_upward:", on_click=_change,
                args=(workspace, lambda view: view.move(topic, before)), help="Before the pinned topic above it.",
            )  # fmt: skip
    else:
        st.button(
            "Pin", icon=":material/keep:", on_click=_change, args=(workspace, lambda view: view.pin(topic)),
            help="Puts the topic first in every list.",
        )  # fmt: skip

    def hide() -> None:
        order = reading.order("prevalence" if reading.topics.worded_alike else "gap")
        _change(workspace, lambda view: view.hide(topic))
        lead_to(order[(order.index(topic) + 1) % len(order)])

    st.button(
        "Hide", icon=":material/visibility_off:", on_click=hide, disabled=len(reading.shown) < 2,
        help=f"Leaves the topic out of lists and pictures. {UNTOUCHED}",
    )  # fmt: skip


def _merging(workspace: Workspace, reading: Reading, topic: int) -> None:
    """Topics read as part of this one, and apart again."""
    others = [other for other in reading.shown if other != topic]
    with st.popover(  # another one, and so closed, once topics have been merged
        "Merge", icon=":material/merge:", disabled=not others, help="Reads other topics and this one as one.",
        key=f"merging_{topic}_{len(reading.view.merged)}",
    ):  # fmt: skip
        topics = reading.topics
        nearest = sorted(others, key=(-topics.likeness(topic)).__getitem__)
        key = f"merge_{topic}"

        def name(other: int) -> str:
            return f"{reading.name(other)} ({percent(topics.overall[other])}): {topics.label(other, 4)}"

        chosen = st.multiselect(
            f"Read as one with {plain_markdown(reading.name(topic))}", nearest, format_func=name, key=key,
            placeholder="The most alike are first", select_all=False,
        )  # fmt: skip

        def merge() -> None:
            _change(workspace, lambda view: view.merge(chosen, into=topic))
            st.session_state[key] = []

        st.button("Read them as one", type="primary", disabled=not chosen, on_click=merge, key="merge")
        st.caption(UNTOUCHED)
    if reading.view.parts(topic):
        st.button(
            "Split", icon=":material/call_split:", on_click=_change, args=(workspace, lambda view: view.split(topic)),
            help="Reads each of its topics as one of its own again.",
        )  # fmt: skip
