"""All topics, and which of them is read: a list to walk through, a picture and a table at a glance, those that are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.cards import COHERENCE, GAP, percent
from pages.parts.chosen import chosen_number
from pages.parts.heat_map import Cells, heat_map_figure, heat_map_html
from pages.parts.live_html import live_html
from pages.parts.overview import balance_figure
from pages.parts.pictures import draw
from pages.parts.style import plain_markdown
from pages.parts.workspace import PARAMETER, Reading, Workspace
from spdp_engine.topics import TopicQuality
from spdp_engine.topics.findings import Findings

PICKED_TOPIC = "picked_topic"
"""Where the session keeps a topic to which another element leads."""

CLICKED = "clicked_word"
"""Where the session keeps a topic and the word of it that was clicked last."""

TOPIC = "topic"
"""What the address calls the topic that is read, counted from 1."""

CHOSEN, READ = "compare_topic", "compare_topic_read"
"""Where the session keeps what the list of topics has chosen, and the topic that was read when the page was drawn last."""

ADDRESSED = "topic_in_address"
"""Where the session keeps what the address said of the topic when it was last looked at."""

ORDERS = {"gap": "Most differently worded", "prevalence": "Most talked about", "number": "By number"}
PICTURE, TABLE = "Picture", "Table"
SHARES, GAPS = "How much", "How differently"

TABLE_ROWS = 10
"""Rows of the table that are seen at once; more are scrolled."""

WORDS_TO_FIND = 20
"""Words of each group by which a topic is found."""


def lead_to(topic: int, word: str | None = None) -> None:
    """Makes the page Compare read this topic when it is drawn next, and show this word in its contexts."""
    st.session_state[PICKED_TOPIC] = topic
    if word is not None:
        st.session_state[CLICKED] = topic, word


def topic_to_read(workspace: Workspace, reading: Reading) -> int:
    """The topic that is read: one that was picked, one that the address names, else that of before.

    A topic that is read as part of another leads to that one.
    """
    shown, session = reading.shown, st.session_state
    addressed = st.query_params.get(TOPIC)
    if addressed is not None and addressed != session.get(ADDRESSED) and addressed.isdecimal():
        lead_to(int(addressed) - 1)
    before = chosen_number(CHOSEN)
    topic = session.pop(PICKED_TOPIC, session.get(READ) if before is None else before)
    topic = None if topic is None else workspace.view.whole(int(topic))
    if topic not in shown:
        topic = reading.order("prevalence" if reading.topics.worded_alike else "gap")[0]
    session[CHOSEN] = session[READ] = topic
    session[ADDRESSED] = st.query_params[TOPIC] = str(topic + 1)
    return int(topic)


def topic_list(workspace: Workspace, reading: Reading) -> int:
    """The list of topics, in an order of the person's choice, with buttons to walk along it. Returns the topic that is read."""
    topic_to_read(workspace, reading)
    orders = [order for order in ORDERS if order != "gap" or not reading.topics.worded_alike]
    by = "compare_order" if "gap" in orders else "compare_order_alike"
    chosen_order = st.session_state.get(by)
    order = reading.order(chosen_order if chosen_order in orders else orders[0])
    with st.container(horizontal=True, vertical_alignment="bottom", key="px-topics"):
        chosen = st.selectbox(
            "Topic", order, format_func=lambda topic: _in_list(reading, topic), key=CHOSEN, persist_state="session",
            width="stretch",
        )  # fmt: skip
        for label, icon, step, key in (("Previous", "chevron_left", -1, "P"), ("Next", "chevron_right", 1, "N")):
            st.button(
                label, icon=f":material/{icon}:", on_click=_walk, args=(order, step), shortcut=key, key=f"topic_{label}",
                help=f"The {label.lower()} topic of the list.", disabled=len(order) < 2,
            )  # fmt: skip
        st.selectbox("Order", orders, format_func=ORDERS.__getitem__, key=by, persist_state="session", width=235)
    return int(chosen)


def _walk(order: Sequence[int], step: int) -> None:
    """Goes on to the next topic of the list, or back; after the last comes the first."""
    topic = st.session_state[READ]
    if topic in order:
        lead_to(order[(order.index(topic) + step) % len(order)])


def _in_list(reading: Reading, topic: int) -> str:
    """A topic in the list: its name, its figures, and words where it has no name of its own."""
    topics, pin = reading.topics, "⚑ " if topic in reading.view.pinned else ""
    gap = "" if topics.worded_alike else f", gap {topics.gap[topic]:.2f}"
    words = "" if topic in reading.view.names else f": {topics.label(topic, 5)}"
    return f"{pin}{reading.name(topic)} ({percent(topics.overall[topic])}{gap}){words}"


def at_a_glance(workspace: Workspace, reading: Reading, topic: int, quality: TopicQuality | None) -> None:
    """All topics that are shown as a picture or as a table; a click in either chooses one. And those that are hidden."""
    head = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    head.subheader("All topics at a glance", width="content")
    kind = head.segmented_control(
        "Show them as", (PICTURE, TABLE), default=PICTURE, required=True, key="compare_glance", persist_state="session",
        label_visibility="collapsed",
    )  # fmt: skip
    if kind == TABLE:
        picked = _table(workspace, reading, quality)
    elif len(reading.topics.group_names) == 2:
        picked = _balance(reading, topic)
    else:
        picked = _heat_map(reading, topic)
    if picked is not None and picked != topic:
        lead_to(picked)
        st.rerun()
    _hidden(workspace, reading)


def shows_table() -> bool:
    """Whether the topics are shown as a table, which wants the width of the page."""
    return bool(st.session_state.get("compare_glance") == TABLE)


def _balance(reading: Reading, topic: int) -> int | None:
    """Two groups: who talks about it more, against how far apart the wordings are. Returns the topic that was clicked."""
    up = "talked about more" if reading.topics.worded_alike else "worded more differently"
    st.caption(f"Up: {up}. Left or right: who talks about it more. Click a topic to read it.")
    event = draw(
        balance_figure(reading, topic), "all topics", key="overview", on_select="rerun", selection_mode="points"
    )
    return _clicked(event, lambda point: reading.shown[point["point_index"]] if point["curve_number"] == 0 else topic)


def _heat_map(reading: Reading, topic: int) -> int | None:
    """Any number of groups: shares or wording gaps. Returns the topic that was clicked."""
    gaps = False
    if not reading.topics.worded_alike:
        kinds = (SHARES, GAPS)
        gaps = st.segmented_control(
            "What is shown", kinds, default=SHARES, required=True, key="compare_heat", persist_state="session",
            label_visibility="collapsed",
        ) == GAPS  # fmt: skip
    st.caption(
        "The darker, the further a group’s wording of the topic is from the others’ (0: alike, 1: no word in common)."
        if gaps
        else "The darker, the larger the topic’s share of a group’s words, in per cent. Click a topic to read it."
    )
    cells = Cells.of(reading.topics, reading.order("gap" if gaps else "prevalence"), gaps)
    picked = live_html(heat_map_html(reading, cells, topic), key="heat_map")
    to_save = st.expander("As a picture to save", icon=":material/image:", on_change="rerun", key="heat_map_to_save")
    if to_save.open:
        with to_save:
            draw(heat_map_figure(reading, cells), "all topics", key="overview")
    return None if picked is None else int(picked)


def _clicked(event: Any, where: Any) -> int | None:
    """The topic that was clicked just now. What is marked stays marked when the page is drawn again, and is no click then."""
    points = event["selection"]["points"] if event else []
    picked = where(points[0]) if points else None
    if picked == st.session_state.get("last_pick"):
        return None
    st.session_state["last_pick"] = picked
    return picked


def _table(workspace: Workspace, reading: Reading, quality: TopicQuality | None) -> int | None:
    """A row to each topic, to be sorted, searched and copied. Returns the topic whose row was clicked."""
    wanted = st.text_input(
        "Find topics", key="compare_find", placeholder="a name or a word", icon=":material/search:", width=300,
        label_visibility="collapsed",
    )  # fmt: skip
    order = [topic for topic in reading.order("number") if not wanted or _has(reading, topic, wanted)]
    if not order:
        st.caption("No topic has that in its name or among its main words.")
        return None
    table, columns = topics_table(reading, order, quality, workspace.findings())
    event = st.dataframe(
        table, hide_index=True, column_config=columns, height=min(len(order), TABLE_ROWS) * 35 + 39, on_select="rerun",
        selection_mode="multi-cell", key="topics_table",
    )  # fmt: skip
    st.caption("Click a row to read its topic, a column’s head to sort. Cells that are marked can be copied.")
    rows = {row for row, _ in event["selection"]["cells"]}
    picked = order[rows.pop()] if len(rows) == 1 else None
    if picked == st.session_state.get("last_row"):
        return None
    st.session_state["last_row"] = picked
    return picked


def _has(reading: Reading, topic: int, wanted: str) -> bool:
    """Whether a topic has this in its name or among its groups' main words."""
    wanted = wanted.strip().casefold()
    words = {word.word for words in reading.topics.top_words(topic, WORDS_TO_FIND) for word in words}
    return wanted in reading.name(topic).casefold() or any(wanted in word.casefold() for word in words)


def topics_table(
    reading: Reading, order: Sequence[int], quality: TopicQuality | None, findings: Findings
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A row to each topic, pinned ones first, and how its columns are shown. What is not known is left out or empty."""
    topics, view = reading.topics, reading.view
    number = st.column_config.NumberColumn
    order = list(order)
    table: dict[str, Any] = {
        "Number": [topic + 1 for topic in order],
        "Name": [f"{'⚑ ' if topic in view.pinned else ''}{reading.name(topic)}" for topic in order],
        "Words": [topics.label(topic, 5) for topic in order],
        "Share": 100 * topics.overall[order],
    }
    columns: dict[str, Any] = {
        "Number": number(width=70, help="The topic’s number in its run; ⚑ in its name: pinned."),
        "Name": st.column_config.TextColumn(width=200, pinned=True),
        "Words": st.column_config.TextColumn(width=260, help="Words that all groups use much."),
        "Share": number(format="%.1f %%", width=80, help="Of the words: the mean over groups."),
    }
    if not topics.worded_alike:
        table["Wording gap"] = topics.gap[order]
        columns["Wording gap"] = number(format="%.2f", width=105, help=f"{GAP}.")
        real = [findings.gap_is_real(topic) for topic in order]
        if any(one is not None for one in real):
            table["Difference"] = [{True: "real", False: "may be chance", None: "–"}[one] for one in real]
            columns["Difference"] = st.column_config.TextColumn(
                width=110, help="Whether the wording gap is larger than groups dealt out at random would have."
            )
    found = [findings.topic_found(topic) for topic in order]
    if any(found):
        table["Found"] = [f"{one[0]} of {one[1]}" if one else "–" for one in found]
        columns["Found"] = st.column_config.TextColumn(
            width=80, help="In how many runs, each with another seed, there is such a topic."
        )
    if quality:
        table["Coherence"] = quality.npmi[order].round(2) + 0.0
        columns["Coherence"] = number(format="%.2f", width=95, help=f"{COHERENCE}.")
    if len(topics.group_names) > 1:
        for i, name in enumerate(topics.group_names):
            head = f"{name} " if name in table else name  # a group may be called as a column is
            table[head] = 100 * topics.prevalence[i, order]
            columns[head] = number(
                format="%.1f %%", width=90, help=f"Share of the words of {plain_markdown(name)} on the topic."
            )
    return pd.DataFrame(table), columns


def _hidden(workspace: Workspace, reading: Reading) -> None:
    """The topics that are hidden, folded away, each of which can be shown again."""
    view, topics = workspace.view, reading.topics
    hidden = sorted(topic for topic in view.hidden if topic not in view.merged)
    if not hidden:
        return
    share = float(np.sum(topics.overall[hidden]))
    with st.expander(f"Hidden topics ({len(hidden)})", icon=":material/visibility_off:"):
        st.caption(f"Shares of the others still include them: together they are {percent(share)} of the words.")
        for topic in hidden:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Show again", icon=":material/visibility:", key=f"show_{topic}", on_click=workspace.change_view,
                    args=(view.show(topic),),
                )  # fmt: skip
                name = reading.name(topic)
                st.markdown(
                    f"{plain_markdown(name)} ({percent(topics.overall[topic])}): {plain_markdown(topics.label(topic, 5))}"
                )


def link(workspace: Workspace, topic: int) -> str:
    """The address of a topic in this workspace."""
    return f"{st.context.url or ''}?{PARAMETER}={workspace.key}&{TOPIC}={topic + 1}"
