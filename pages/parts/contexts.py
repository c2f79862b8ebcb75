"""A word of a topic in its contexts, group beside group; without a word the passages in which the topic is strongest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.parts.document_view import document_drawer, open_document, passage_of, title_of
from pages.parts.filters import SEARCH, ask_for_topic_alone
from pages.parts.guard import guarded
from pages.parts.live_html import live_html
from pages.parts.style import escaped, group_colour, group_name_html, plain_markdown
from pages.parts.topic_list import CLICKED
from pages.parts.workspace import PARAMETER, Reading, Workspace, current
from spdp_engine.corpus import Corpus
from spdp_engine.corpus.wording import counted
from spdp_engine.topics import Passage
from spdp_engine.topics.context import Context, ContextReader, Uses
from spdp_engine.topics.excerpt import Pieces
from spdp_engine.topics.telling import percent

PASSAGES = 4
CONTEXTS = 8
"""Shown at first; as many more when asked for."""

SHORT_PASSAGE = 420
"""Characters of a passage that are shown before it is opened."""

ON_TOPIC = "Uses in which the model is surer of this topic than of all others together; they come first"
SHARE = "The part of the document that the topic takes"


def contexts_section(
    workspace: Workspace, reading: Reading, topic: int, groups: Sequence[int], word: str | None
) -> None:
    """A column for each group: where it uses a word of the topic, or where the topic is strongest.

    Args:
        workspace: the workspace.
        reading: the run as it is read.
        topic: the topic.
        groups: the groups that are shown.
        word: as in the vocabulary; None: passages.
    """
    _guarded_section(reading, topic, tuple(groups), word)


@st.fragment
def _guarded_section(reading: Reading, topic: int, groups: tuple[int, ...], word: str | None) -> None:
    with guarded():
        _section(reading, topic, groups, word)


def _section(reading: Reading, topic: int, groups: tuple[int, ...], word: str | None) -> None:
    st.subheader(f"“{plain_markdown(word)}” in its contexts" if word else "Where it shows")
    opened: tuple[int, list[int]] | None = None
    for place, group in zip(st.columns(len(groups), gap="medium"), groups, strict=True):
        with place:
            opened = (_contexts if word else _passages)(reading, topic, group, word or "") or opened
    st.caption(
        "The words of the topic are marked. "
        + (
            "Uses that belong most clearly to the topic come first, one of each document before a second. "
            if word
            else ""
        )
        + "A title opens the whole document."
    )
    _more_of_it(reading, topic, word)
    if opened:
        open_document(*opened, sought=word)
    document_drawer(reading.corpus, reading)


def _more_of_it(reading: Reading, topic: int, word: str | None) -> None:
    """The ways on: to the page Read, where documents are searched and narrowed down, and from a word back to passages."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if word:
            if st.button("Passages instead", icon=":material/arrow_back:", type="tertiary", key="contexts_back"):
                st.session_state.pop(CLICKED, None)
                st.rerun()
            st.page_link(
                "pages/read.py", label=f"Search for “{plain_markdown(word)}”", icon=":material/search:",
                query_params={PARAMETER: current().key, SEARCH: word},
            )  # fmt: skip
        elif st.button("All documents with this topic", icon=":material/article:", type="tertiary", key="contexts_all"):
            ask_for_topic_alone(topic)
            st.switch_page("pages/read.py")


Opened = tuple[int, list[int]] | None
"""A document that was asked for, and the list it stands in."""


def _passages(reading: Reading, topic: int, group: int, _word: str) -> Opened:
    """Documents of a group in which the topic is strongest."""
    shown = _shown(f"passages_{topic}_{group}", PASSAGES)
    passages = reading.passages.strongest(topic, group, shown + 1)
    body = "".join(_passage_html(reading, passage, group) for passage in passages[:shown])
    name = group_name_html(group, reading.topics.group_names[group])
    picked = live_html(f"<div>{name}{body}</div>", f"passages_{group}")
    if len(passages) > shown:
        _more(f"passages_{topic}_{group}", PASSAGES, "More passages")
    return (int(picked), [passage.document for passage in passages[:shown]]) if picked is not None else None


def _passage_html(reading: Reading, passage: Passage, group: int) -> str:
    """A passage with the topic's words marked; a long one opens."""
    corpus, document = reading.corpus, passage.document
    short, rest = _split(passage.pieces, SHORT_PASSAGE)
    more = f"<details><summary>Read on</summary><p>{marked_html(rest)}</p></details>" if rest else ""
    told = [escaped(part) for part in (passage.date, passage_of(corpus, document)) if part]
    told.append(f'<span title="{SHARE}.">{percent(passage.share)} of its words are on this topic</span>')
    return (
        f'<div class="px-passage" style="--group:{group_colour(group)}">'
        f"<h6>{_title_button(corpus, document)}</h6><small>{' · '.join(told)}</small>"
        f'<p dir="auto">{marked_html(short)}{"…" if rest else ""}</p>{more}</div>'
    )


def _split(pieces: Pieces, length: int) -> tuple[Pieces, Pieces]:
    """Pieces up to about `length` characters, cut at a space, and what follows."""
    sizes = np.cumsum([len(text) for text, _ in pieces])
    if not len(sizes) or sizes[-1] <= 1.3 * length:
        return pieces, ()
    at = int(np.searchsorted(sizes, length))
    text, marked = pieces[at]
    if marked:
        return pieces[: at + 1], pieces[at + 1 :]
    begin = int(sizes[at]) - len(text)
    cut = text.find(" ", max(0, length - begin))
    cut = len(text) if cut < 0 else cut
    return (*pieces[:at], (text[:cut], False)), ((text[cut:], False), *pieces[at + 1 :])


def _contexts(reading: Reading, topic: int, group: int, word: str) -> Opened:
    """Where a group uses the word."""
    reader = ContextReader(reading.passages.belonging)
    uses = reader.uses(word, topic, group)
    key = f"contexts_{topic}_{group}_{word}"
    shown = _shown(key, CONTEXTS)
    rows = "".join(_context_html(reading, context, topic) for context in reader.read(uses, 0, shown))
    name = group_name_html(group, reading.topics.group_names[group])
    picked = live_html(
        f'<div class="px-contexts" style="--group:{group_colour(group)}">{name}{_told_html(uses)}{rows}</div>',
        f"contexts_{group}",
    )
    if len(uses) > shown:
        _more(key, CONTEXTS, f"{min(CONTEXTS, len(uses) - shown)} more")
    return (int(picked), list(dict.fromkeys(uses.documents.tolist()))) if picked is not None else None


def _told_html(uses: Uses) -> str:
    """How often the group uses the word."""
    if not len(uses):
        return '<p class="px-quiet">Never uses this word.</p>'
    on_topic = "all" if uses.on_topic == len(uses) else f"{uses.on_topic:,}" if uses.on_topic else "none"
    return (
        f'<p class="px-legend">{counted(len(uses), "use")} in {counted(uses.n_documents, "document")}, '
        f'<span class="px-hint" title="{ON_TOPIC}.">{on_topic} on this topic</span></p>'
    )


def _context_html(reading: Reading, context: Context, topic: int) -> str:
    corpus, document = reading.corpus, context.document
    belonging = reading.passages.belonging
    told = [escaped(part) for part in (corpus.documents.dates[document], passage_of(corpus, document)) if part]
    told.append(f'<span title="{SHARE}.">{percent(float(belonging.shares[document, topic]))} on this topic</span>')
    if context.topic != topic:
        told.append(f"here likelier {escaped(reading.name(context.topic))}")
    before = ("" if context.begins else "… ") + marked_html(context.before)
    after = marked_html(context.after) + ("" if context.ends else " …")
    elsewhere = "" if context.topic == topic else " px-elsewhere"
    return (
        f'<div class="px-context{elsewhere}"><div class="px-kwic" dir="auto">'
        f'<span class="px-before"><span>{before}</span></span><b>{escaped(context.word)}</b>'
        f'<span class="px-after"><span>{after}</span></span></div><small>{_title_button(corpus, document)} · '
        f"{' · '.join(told)}</small></div>"
    )


def _title_button(corpus: Corpus, document: int) -> str:
    return open_button(document, ((title_of(corpus, document), False),))


def open_button(document: int, title: Pieces) -> str:
    """A title that opens its document."""
    hint = "Open the whole document"
    return f'<button type="button" class="px-open" data-pick="{document}" title="{hint}">{marked_html(title)}</button>'


def marked_html(pieces: Pieces) -> str:
    """A text with what is marked in it."""
    return "".join(f"<mark>{escaped(text)}</mark>" if marked else escaped(text) for text, marked in pieces)


def _shown(key: str, first: int) -> int:
    """How many are shown."""
    return int(st.session_state.get(f"shown_{key}", first))


def _more(key: str, step: int, label: str) -> None:
    """A button that shows more."""

    def show() -> None:
        st.session_state[f"shown_{key}"] = _shown(key, step) + step

    st.button(label, key=f"more_{key}", on_click=show, icon=":material/expand_more:", type="tertiary")
