"""Conditions by which documents are narrowed down: how much of a topic there is, group, date, and other columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages.parts.library import Library
from pages.parts.style import plain_markdown
from pages.parts.workspace import Reading
from spdp_engine.corpus import Corpus
from spdp_engine.corpus.wording import listed

LEAST_SHARE = 20
"""Per cent of a document that a topic must take at first."""

NOTHING = "(empty)"
"""What stands for empty cells."""

SEARCH, SOUGHT = "search", "read_search"
"""What the address calls the words that are looked for, and where the session keeps them."""

TOPIC, WANTED = "read_topic", "read_wanted_topic"
"""Where the session keeps the topic that is asked for, and the one to ask for next."""


@dataclass(frozen=True, eq=False)
class Filters:
    """What is asked for.

    Attributes:
        keep: bool [D], documents that fulfil all conditions.
        told: the conditions in words; '' without any.
        topic: the topic of which a share is asked for; None: of none.
    """

    keep: NDArray[np.bool_]
    told: str
    topic: int | None


@dataclass(frozen=True, eq=False)
class _Condition:
    told: str
    keep: NDArray[np.bool_]


def choose_filters(corpus: Corpus, reading: Reading | None, books: Library) -> Filters:
    """The conditions, behind a button."""
    with st.popover("Filters", icon=":material/filter_alt:", width="stretch", key="read_narrow"):
        conditions = [
            *(_by_topic(reading) if reading else ()),
            *_by_group(corpus),
            *_by_date(books),
            *_by_field(books),
        ]
        if conditions:
            st.button("Leave all filters out", on_click=_leave_out, icon=":material/close:", type="tertiary")
    keep = np.ones(corpus.n_documents, bool)
    for condition in conditions:
        keep &= condition.keep
    chosen = st.session_state.get(TOPIC) if reading else None
    return Filters(keep, "; ".join(condition.told for condition in conditions), chosen)


def ask_for_topic(topic: int | None) -> None:
    """Asks for documents with this topic, or with any, beside whatever else is asked for, when the page Read is drawn next."""
    st.session_state[WANTED] = topic


def ask_for_topic_alone(topic: int) -> None:
    """Asks for documents with this topic and for nothing else when the page Read is drawn next."""
    _leave_out()
    st.session_state.pop(SOUGHT, None)
    ask_for_topic(topic)


def _leave_out() -> None:
    """Takes all conditions back."""
    for key in list(st.session_state):
        if str(key).startswith(("read_topic", "read_least", "read_group", "read_from", "read_to", "read_field")):
            del st.session_state[key]


def _by_topic(reading: Reading) -> Iterator[_Condition]:
    if WANTED in st.session_state:
        st.session_state[TOPIC] = st.session_state.pop(WANTED)
    if st.session_state.get(TOPIC) not in reading.shown:
        st.session_state[TOPIC] = None

    def name(topic: int) -> str:
        return f"{reading.name(topic)}: {reading.topics.label(topic, 4)}"

    topic = st.selectbox(
        "Topic",
        reading.shown,
        index=None,
        format_func=name,
        key=TOPIC,
        persist_state="session",
        placeholder="Any topic",
    )
    if topic is None:
        return
    least = st.slider(
        "At least so much of the document", 0, 100, LEAST_SHARE, format="%d%%", key="read_least", persist_state="session",
        help="The part of the document that the model gives to the topic (theta).",
    )  # fmt: skip
    shares = reading.passages.belonging.shares[:, topic]
    yield _Condition(f"{reading.name(topic)} at least {least}%", shares >= least / 100)


def _by_group(corpus: Corpus) -> Iterator[_Condition]:
    groups = st.multiselect(
        "Groups", range(corpus.n_groups), format_func=corpus.group_names.__getitem__, key="read_groups", persist_state="session",
        placeholder="All groups",
    )  # fmt: skip
    if groups:
        yield _Condition(listed(corpus.group_names[group] for group in groups), np.isin(corpus.document_group, groups))


def _by_date(books: Library) -> Iterator[_Condition]:
    days = books.dates().days
    known = days[~np.isnat(days)]
    if len(np.unique(known)) < 2:
        return
    first, last = known.min().item(), known.max().item()
    for place, label, key in zip(st.columns(2), ("From", "To"), ("read_from", "read_to"), strict=True):
        day: datetime.date | None = place.date_input(label, None, first, last, key=key, persist_state="session")
        if day is not None:
            bound = np.datetime64(day, "D")
            keep = days >= bound if label == "From" else days <= bound  # never true of documents without a date
            yield _Condition(f"{label.lower()} {day.isoformat()}", keep)


def _by_field(books: Library) -> Iterator[_Condition]:
    for name in books.fields:
        values = books.values(name)
        chosen = st.multiselect(
            plain_markdown(name), books.distinct(name), format_func=lambda value: value or NOTHING, key=f"read_field_{name}",
            persist_state="session", placeholder="Any",
        )  # fmt: skip
        if chosen:
            told = listed(value or NOTHING for value in chosen)
            yield _Condition(f"{name} {told}", np.isin(values, chosen))
