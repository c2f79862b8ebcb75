"""What the documents that were found are about, and the topics of the word that was looked for."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.document_view import topic_button_html
from pages.parts.filters import ask_for_topic
from pages.parts.found import Found
from pages.parts.live_html import live_html
from pages.parts.style import escaped, plain_markdown, topic_colour, topic_mark
from pages.parts.topic_list import lead_to
from pages.parts.workspace import Reading
from spdp_engine.topics.telling import percent

MOST_TOPICS = 5
"""Topics in which a word is said to live."""

LEAST_OF_WORD = 0.05
"""... and each has at least this part of the word's uses."""

MOST_ABOUT = 10
"""Topics of what was found that are listed."""

NARROW = "Click to see those with this topic, again to see all."
ABOUT = "The part of the words of the documents that were found, on each topic"
LIVES = "Of all uses of this word, the part that the model expects to be on the topic"


def about_what(reading: Reading, found: Found) -> None:
    """What the documents are about; a click asks for those with the topic, or no more for them where that was asked for."""
    documents, chosen = found.documents, found.filters.topic
    belonging = reading.passages.belonging
    lengths = belonging.lengths[documents]
    here = lengths @ belonging.shares[documents] / lengths.sum()
    everywhere = belonging.lengths @ belonging.shares / belonging.lengths.sum()
    topics = sorted(reading.shown, key=lambda topic: -here[topic])[:MOST_ABOUT]
    largest = max(float(here[topics].max()), 1e-12) if topics else 1.0
    rows = "".join(
        topic_button_html(
            reading, topic, float(here[topic]), largest, f"{percent(float(everywhere[topic]))} of all documents. {NARROW}",
            pressed=topic == chosen,
        )
        for topic in topics
    )  # fmt: skip
    head = f'<small><span class="px-hint" title="{ABOUT}.">What these documents are about</span></small>'
    picked = live_html(f'<div class="px-topics px-aside">{head}{rows}</div>', "about")
    if picked is not None:
        ask_for_topic(None if int(picked) == chosen else int(picked))
        st.rerun()


def where_it_lives(reading: Reading, found: Found) -> None:
    """In which topics a word is said, where the query is one word; where texts are cut at its hyphens, that it is several."""
    corpus, query = found.corpus, found.query
    if len(query.terms) != 1 or not query.terms[0].single:
        return
    term = query.terms[0]
    words = found.books.words(term.text)
    if not words:
        known = [part for part in dict.fromkeys(term.words) if len(term.words) > 1 and found.books.words(part)]
        if known:
            parts = " and ".join(f"“{plain_markdown(part)}”" for part in known)
            st.caption(
                f"Topics have no “{plain_markdown(term.text)}”, since texts are cut into words at hyphens. Search for {parts} "
                f"{'alone ' if len(known) > 1 else ''}to see the topics of that word."
            )
            return
        st.caption("No topic has this word: it is an everyday word, too rare, or not one word as the app cuts texts.")
        return
    belonging = reading.passages.belonging
    said = np.flatnonzero(np.isin(corpus.token_word, words))
    distinct, uses = np.unique(
        np.stack([corpus.token_word[said], corpus.token_document[said]]), axis=1, return_counts=True
    )
    parts = uses @ belonging.of(*distinct) / uses.sum()
    topics = [
        topic for topic in sorted(reading.shown, key=lambda topic: -parts[topic]) if parts[topic] >= LEAST_OF_WORD
    ]
    buttons = "".join(
        f'<button type="button" class="px-chip" style="--group:{topic_colour(topic)}" data-pick="{topic}" '
        f'title="{escaped(reading.topics.label(topic, 6))}. Click to compare the groups on it."><span aria-hidden="true">'
        f"{topic_mark(topic)}</span> {escaped(reading.name(topic))} <em>{percent(float(parts[topic]))}</em></button>"
        for topic in topics[:MOST_TOPICS]
    )
    word = escaped(", ".join(corpus.vocabulary[word] for word in words))
    picked = live_html(
        f'<div class="px-lives"><span class="px-hint" title="{LIVES}.">The topics of <b>{word}</b></span> {buttons}</div>',
        "lives",
    )
    if picked is not None:
        lead_to(int(picked), corpus.vocabulary[words[0]])
        st.switch_page("pages/compare.py")
