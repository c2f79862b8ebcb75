"""The documents that were found: how many, a page of them with what shows that they belong here, and all of them as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from pages.parts.contexts import marked_html, open_button
from pages.parts.document_view import passage_of, title_of
from pages.parts.filters import Filters
from pages.parts.library import Library
from pages.parts.live_html import live_html
from pages.parts.style import escaped, group_colour, group_name_html
from pages.parts.workspace import Reading
from spdp_engine.corpus import Corpus
from spdp_engine.corpus.wording import counted
from spdp_engine.topics.search import Query, Term
from spdp_engine.topics.telling import percent

RESULTS = 10
"""On a page."""

MOST_IN_TABLE = 2_000
"""Rows of the table of results."""

LEAST_TOLD = 0.05
"""Smaller shares of a document are not told in the list."""

SHOWN = "read_shown"
"""Where the session keeps what was asked for last, and how often that has changed."""


@dataclass(frozen=True, eq=False)
class Found:
    """What was found.

    Attributes:
        corpus: where.
        reading: topics of a run on it; None without a run.
        books: of the corpus.
        query: the words that were looked for.
        filters: what else was asked for.
        order: what decides which comes first.
        documents: int64 [n], in this order.
    """

    corpus: Corpus
    reading: Reading | None
    books: Library
    query: Query
    filters: Filters
    order: str
    documents: NDArray[np.int64]


def how_many(found: Found) -> None:
    """How many were found, in all and in each group."""
    corpus, books, documents = found.corpus, found.books, found.documents
    narrowed = f" ({escaped(found.filters.told)})" if found.filters.told else ""
    if not len(documents):
        words = " and ".join(map(_ways_html, found.query.terms))
        having = f" has {words}" if words else ""
        st.html(f'<p class="px-lead">No {books.things[:-1]}{having}{narrowed}. Try fewer words, or fewer filters.</p>')
        return
    sizes = np.bincount(corpus.document_group, minlength=corpus.n_groups)
    counts = np.bincount(corpus.document_group[documents], minlength=corpus.n_groups)
    groups = "".join(
        f'<span title="{escaped(f"{percent(count / max(size, 1))} of the group’s {books.things}")}.">'
        f"{group_name_html(i, name)} {count:,} of {size:,}</span>"
        for i, (name, count, size) in enumerate(zip(corpus.group_names, counts.tolist(), sizes.tolist(), strict=True))
    )
    st.html(f'<div class="px-found"><b>{counted(len(documents), books.things[:-1])}</b>{narrowed}{groups}</div>')
    several = [term for term in found.query.terms if len(term.ways) > 1]
    if several:
        st.html(f"<small>Looked for {' and '.join(map(_ways_html, several))}.</small>")


def _ways_html(term: Term) -> str:
    """What is looked for, in each way that it may be written."""
    return " or ".join(f"<b>{escaped(way)}</b>" for way in term.ways)


def results(found: Found) -> int | None:
    """A page of what was found, and all of it as a table; the document that was clicked just now."""
    documents = found.documents
    pages = -(-len(documents) // RESULTS)
    chosen = found.query, found.filters.told, found.order
    before, turn = st.session_state.get(SHOWN, (None, 0))
    if before != chosen:
        turn += 1
        st.session_state[SHOWN] = chosen, turn
    key = f"read_page_{turn}"  # other documents begin on their first page
    first = RESULTS * (min(int(st.session_state.get(key, 1)), pages) - 1)
    shown = documents[first : first + RESULTS].tolist()
    body = "".join(_result_html(found, document) for document in shown)
    picked = live_html(f'<div class="px-results">{body}</div>', "results")
    if pages > 1:
        st.pagination(pages, key=key, persist_state="session")
    table = st.expander("As a table", icon=":material/table:", on_change="rerun", key="read_table")
    if table.open:
        with table:
            _table(found)
    return None if picked is None else int(picked)


def _result_html(found: Found, document: int) -> str:
    """A document in the list: title, where it is from, and what shows that it belongs here."""
    corpus, books, query = found.corpus, found.books, found.query
    group = int(corpus.document_group[document])
    told = [group_name_html(group, corpus.group_names[group])]
    told += [escaped(part) for part in (corpus.documents.dates[document], passage_of(corpus, document)) if part]
    if found.reading:
        told.append(_topics_html(found.reading, found.filters, document) or "no topic stands out")
    title = books.index.title(document, query) or ((title_of(corpus, document), False),)
    quoted = " <i>…</i> ".join(
        ("" if one.begins else "… ") + marked_html(one.pieces) + ("" if one.ends else " …")
        for one in books.index.excerpts(document, query)
    )
    return (
        f'<article class="px-result" style="--group:{group_colour(group)}"><h6>{open_button(document, title)}</h6>'
        f'<small>{" · ".join(told)}</small><p dir="auto">{quoted}</p></article>'
    )


def _topics_html(reading: Reading, filters: Filters, document: int) -> str:
    """The topic that is asked for, or else the two that are strongest in the document."""
    shares = reading.passages.belonging.shares[document]
    strongest = sorted(reading.shown, key=lambda topic: -shares[topic])[:2]
    topics = [topic for topic in strongest if shares[topic] >= LEAST_TOLD] if filters.topic is None else [filters.topic]
    return ", ".join(
        f'<span title="{escaped(reading.topics.label(topic, 5))}">{percent(float(shares[topic]))} '
        f"{escaped(reading.name(topic))}</span>"
        for topic in topics
    )


def _table(found: Found) -> None:
    """Everything that was found, in the same order."""
    corpus, reading, filters, documents = found.corpus, found.reading, found.filters, found.documents
    some = documents[:MOST_IN_TABLE].tolist()
    about = corpus.documents
    table = {
        "Document": [document + 1 for document in some],
        "Title": [about.titles[document] for document in some],
        "Group": [corpus.group_names[corpus.document_group[document]] for document in some],
        "Date": [about.dates[document] for document in some],
    }
    columns = {}
    if reading and filters.topic is not None:
        table["Share"] = (100 * reading.passages.belonging.shares[some, filters.topic]).tolist()
        columns["Share"] = st.column_config.NumberColumn(
            format="%.1f %%", help="The part of the document on the topic that is asked for."
        )
    st.dataframe(pd.DataFrame(table), hide_index=True, column_config=columns)
    if len(documents) > len(some):
        st.caption(f"The first {len(some):,} of {len(documents):,}.")
