"""Read the documents: search them, narrow them down, open one with its words coloured by topic."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages.parts.document_view import DOCUMENT, ONLY, close_document, document_view, steps, title_of
from pages.parts.filters import SEARCH, SOUGHT, Filters, choose_filters
from pages.parts.found import Found, how_many, results
from pages.parts.found_topics import about_what, where_it_lives
from pages.parts.guard import guarded
from pages.parts.library import Library, library
from pages.parts.style import plain_markdown
from pages.parts.workspace import Reading, current
from spdp_engine.corpus import Corpus
from spdp_engine.topics.search import Query, read_query

ADDRESSED = "search_in_address"
"""Where the session keeps what the address said of the words that are looked for, when it was last looked at."""

FOUND = "documents_found"
"""Where the session keeps what was found last, for the way from one document to the next."""

ORDERS = {
    "match": "Best match",
    "topic": "Most on the topic",
    "new": "Newest first",
    "old": "Oldest first",
    "file": "As in the file",
}
HELP = (
    "Several words: all of them are there, in any order. “Quotation marks” keep a phrase together, as a hyphen does: "
    "middle-income is found with a space, too. A star stands for any ending: strik*. Capital letters and accents make no "
    "difference."
)


def page() -> None:
    """The page."""
    workspace = current()
    reading = workspace.reading()
    corpus = reading.corpus if reading else workspace.corpus
    if corpus is None:
        st.title("Read")
        st.html(
            '<p class="px-lead">There are no documents yet. Bring some, and they can be searched and read here.</p>'
        )
        if st.button("Choose documents", type="primary"):
            st.switch_page("pages/documents.py")
        return
    close_document()  # in the drawer beside another page
    document = _asked_for(corpus)
    if document is None:
        _search(corpus, reading)
    else:
        _read(corpus, reading)


def _asked_for(corpus: Corpus) -> int | None:
    """The document that the address names; None where it names none that there is."""
    number = st.query_params.get(DOCUMENT, "")
    if not number.isdecimal() or len(number) > len(str(corpus.n_documents)):
        return None
    return int(number) - 1 if 1 <= int(number) <= corpus.n_documents else None


def _go(document: int) -> None:
    st.query_params[DOCUMENT] = str(document + 1)


# --- one document


@st.fragment
def _read(corpus: Corpus, reading: Reading | None) -> None:
    with guarded():
        _one(corpus, reading)


def _one(corpus: Corpus, reading: Reading | None) -> None:
    """A document, on the page itself, with the way to its neighbours in the list it was found in."""
    document = _asked_for(corpus)
    if document is None:
        st.rerun()
    found, query = st.session_state.get(FOUND, ((), None))
    if document not in found:
        found, query = (), None
    left, right = st.columns([1, 2], vertical_alignment="center")
    if left.button("Back to the documents", icon=":material/arrow_back:", type="tertiary"):
        del st.query_params[DOCUMENT]
        st.rerun()
    with right:
        steps(found, document, _go, "page")
    st.title(plain_markdown(title_of(corpus, document)))
    document_view(corpus, reading, document, _go, query)


# --- all documents


def _search(corpus: Corpus, reading: Reading | None) -> None:
    st.title("Read")
    books = library(corpus)
    where, how, narrow = st.columns([6, 2, 2], vertical_alignment="bottom")
    with where:
        query = read_query(_words_to_search(f"Search {corpus.n_documents:,} {books.things}"))
    with narrow:
        filters = choose_filters(corpus, reading, books)
    hits = books.index.find(query)
    kept = filters.keep[hits.documents]
    with how:
        order = _order(reading, books, filters, query)
    documents = _sorted(order, reading, books, filters, hits.documents[kept], hits.relevance[kept])
    found = Found(corpus, reading, books, query, filters, order, documents)
    st.session_state[FOUND] = tuple(documents.tolist()), query
    if reading:
        where_it_lives(reading, found)
    how_many(found)
    if not len(documents):
        return
    list_place, about_place = st.columns([7, 3], gap="large")
    with list_place:
        picked = results(found)
    if picked is not None:
        st.session_state.pop(ONLY, None)
        _go(picked)
        st.rerun()
    if reading:
        with about_place:
            about_what(reading, found)


def _words_to_search(placeholder: str) -> str:
    """What is searched for. The address says it too, so that it can be kept and led to."""
    addressed = st.query_params.get(SEARCH)
    if addressed is not None and addressed != st.session_state.get(ADDRESSED):
        st.session_state[SOUGHT] = addressed
    text = st.text_input(
        "Search titles and texts",
        key=SOUGHT,
        type="search",
        placeholder=placeholder,
        help=HELP,
        persist_state="session",
    )
    st.session_state[ADDRESSED] = text or ""
    if text:
        st.query_params[SEARCH] = text
    else:
        st.query_params.pop(SEARCH, None)
    return text or ""


def _order(reading: Reading | None, books: Library, filters: Filters, query: Query) -> str:
    """What decides which document comes first: as chosen, else by what was asked for."""
    dated = bool(books.dates().known.any())
    possible = {
        "match": bool(query.terms),
        "topic": reading is not None and filters.topic is not None,
        "new": dated,
        "old": dated,
        "file": True,
    }
    orders = [order for order, can in possible.items() if can]
    if st.session_state.get("read_orders") != orders:
        st.session_state["read_orders"] = orders
        st.session_state["read_order"] = orders[0] if orders[0] in ("match", "topic") else "file"
    order = st.selectbox("Order", orders, format_func=ORDERS.__getitem__, key="read_order", persist_state="session")
    return order or "file"


def _sorted(
    order: str,
    reading: Reading | None,
    books: Library,
    filters: Filters,
    documents: NDArray[np.int64],
    relevance: NDArray[np.float64],
) -> NDArray[np.int64]:
    """The documents in an order."""
    if order == "match":
        return documents[np.argsort(-relevance, kind="stable")]
    if order == "topic" and reading and filters.topic is not None:
        return documents[np.argsort(-reading.passages.belonging.shares[documents, filters.topic], kind="stable")]
    if order in ("new", "old"):
        days = books.dates().days[documents]
        places = np.argsort(days.astype(np.int64) * (-1 if order == "new" else 1), kind="stable")
        return documents[places[np.argsort(np.isnat(days[places]), kind="stable")]]  # those without a date last
    return documents


with guarded():
    page()
