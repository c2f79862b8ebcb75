"""A whole document: its words coloured by topic, what is known of it, and the ways to its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages.parts.guard import guarded
from pages.parts.live_html import live_html
from pages.parts.style import escaped, group_name_html, topic_colour, topic_line, topic_mark
from pages.parts.workspace import PARAMETER, Reading, current
from spdp_engine.corpus import Corpus
from spdp_engine.topics.passages import BELONGS, Piece, parts
from spdp_engine.topics.search import Query, term_places
from spdp_engine.topics.telling import percent

MOST_TOPICS = 8
"""Topics that are coloured: more could not be told apart."""

LEAST_SHARE = 0.02
"""... and each has at least this share of the document."""

MOST_PARTS = 40
"""Passages that are shown at once, those around the one that is read."""

FIELDS_ABREAST = 8
"""More columns than these are shown only when asked for."""

ALONE = "Click to see its words alone, again to see all."
SHARE = "The part of this document that the model gives to the topic (theta)"
HOW = (
    "A word has a topic’s colour and line where the model is surer of that topic than of all others together; point at it to see "
    "how sure. Click a topic to see its words alone."
)

DOCUMENT = "document"
"""What the address of the page Read calls the document that is read, from 1."""

OPEN, ONLY, WHOLE = "open_document", "open_document_topic", "open_document_whole"
"""Where the session keeps what is open in the drawer, the topic that is singled out, and whether all passages are shown."""

Go = Callable[[int], None]
"""Leads to a document."""

Sought = Query | str | None
"""What was looked for: a query, or a word of the vocabulary."""


@dataclass(frozen=True)
class OpenDocument:
    """The document in the drawer, the list it was opened from, and what was looked for."""

    document: int
    among: tuple[int, ...]
    sought: Sought


def open_document(document: int, among: Sequence[int] = (), sought: Sought = None) -> None:
    """Opens a document in the drawer beside the page, where `document_drawer` draws it.

    Args:
        document: its number.
        among: the list it was opened from, whose documents can be read one after another.
        sought: what was looked for, to be marked.
    """
    st.session_state[OPEN] = OpenDocument(document, tuple(among), sought)
    st.session_state.pop(ONLY, None)


def close_document() -> None:
    """Closes the drawer."""
    st.session_state.pop(OPEN, None)


def document_drawer(corpus: Corpus, reading: Reading | None) -> None:
    """The drawer, where a document is open: it stays so when the page is drawn again meanwhile.

    Args:
        corpus: the documents.
        reading: topics of a run on them; None: the words have no colours.
    """
    opened: OpenDocument | None = st.session_state.get(OPEN)
    if opened and opened.document < corpus.n_documents:
        _drawer(corpus, reading)


@st.dialog("The whole document", width=920, position="right", on_dismiss=close_document)
def _drawer(corpus: Corpus, reading: Reading | None) -> None:
    opened: OpenDocument = st.session_state[OPEN]

    def go(document: int) -> None:
        st.session_state[OPEN] = replace(opened, document=document)

    with guarded():
        document = opened.document
        steps(opened.among, document, go, "drawer")
        st.html(f'<div class="px-title" role="heading" aria-level="3">{escaped(title_of(corpus, document))}</div>')
        document_view(corpus, reading, document, go, opened.sought, "drawer")
        st.page_link(
            "pages/read.py", label="Open it on a page of its own", icon=":material/open_in_full:",
            query_params={PARAMETER: current().key, DOCUMENT: str(document + 1)},
        )  # fmt: skip


def steps(among: Sequence[int], document: int, go: Go, key: str) -> None:
    """Buttons to the previous and the next document of a list, for the arrow keys too; nothing where it is not in one."""
    if len(among) < 2 or document not in among:
        return
    place = list(among).index(document)
    with st.container(horizontal=True, vertical_alignment="center", key=f"px-steps-{key}"):
        _step("Previous", ":material/arrow_back:", "Left", among[place - 1] if place else None, go, f"{key}_previous")
        st.html(f'<span class="px-quiet">{place + 1:,} of {len(among):,} in this list</span>', width="content")
        later = among[place + 1] if place + 1 < len(among) else None
        _step("Next", ":material/arrow_forward:", "Right", later, go, f"{key}_next")


def _step(label: str, icon: str, shortcut: str | None, to: int | None, go: Go, key: str) -> None:
    st.button(
        label, key=key, icon=icon, shortcut=shortcut, disabled=to is None, on_click=go, args=(0 if to is None else to,)
    )


def document_view(
    corpus: Corpus, reading: Reading | None, document: int, go: Go, sought: Sought = None, key: str = "page"
) -> None:
    """The document itself, below its title; to be called in a fragment.

    Args:
        corpus: the documents.
        reading: topics of a run on them; None: the words have no colours.
        document: its number.
        go: leads to another passage of the document.
        sought: what was looked for, to be marked.
        key: tells the places apart where documents are shown.
    """
    of_one = parts(corpus, document)
    st.html(_known_html(corpus, document))
    whole = len(of_one) > 1 and _passages(of_one, document, go, key)
    shown = _around(of_one, document) if whole else range(document, document + 1)
    if len(shown) < len(of_one) and whole:
        st.caption(f"Passages {shown[0] - of_one[0] + 1} to {shown[-1] - of_one[0] + 1} of {len(of_one)} are shown.")
    if reading is None:
        st.html(
            f'<div class="px-document"><div class="px-text" dir="auto">{_plain_html(corpus, shown, sought)}</div></div>'
        )
        return
    only = st.session_state.get(ONLY)
    picked = live_html(_document_html(corpus, reading, shown, document, only, sought), f"{key}_document")
    if picked is not None:
        st.session_state[ONLY] = None if int(picked) == only else int(picked)
        st.rerun(scope="fragment")
    st.caption(HOW)


def title_of(corpus: Corpus, document: int) -> str:
    """A document's title, or what it is called without one."""
    return corpus.documents.titles[document] or f"Document {document + 1:,}"


def passage_of(corpus: Corpus, document: int) -> str:
    """Which passage of a longer document it is; '' where it is all of it."""
    of_one = parts(corpus, document)
    return f"Passage {document - of_one[0] + 1:,} of {len(of_one):,}" if len(of_one) > 1 else ""


def _known_html(corpus: Corpus, document: int) -> str:
    """Group, date and the other columns."""
    documents = corpus.documents
    group = int(corpus.document_group[document])
    head = [group_name_html(group, corpus.group_names[group])]
    if documents.dates[document]:
        head.append(escaped(documents.dates[document]))
    row = documents.fields.iloc[document]
    fields = [
        f"<span><b>{escaped(str(name))}</b> {escaped(str(value))}</span>"
        for name, value in row.items()
        if isinstance(value, str) and value.strip()
    ]
    few, rest = "".join(fields[:FIELDS_ABREAST]), "".join(fields[FIELDS_ABREAST:])
    more = f"<details><summary>More columns</summary><div>{rest}</div></details>" if rest else ""
    return f'<div class="px-known"><div>{" · ".join(head)}</div><div>{few}</div>{more}</div>'


def _passages(of_one: range, document: int, go: Go, key: str) -> bool:
    """The way through the passages of a long document; whether all of them are to be shown."""
    place = document - of_one[0]
    with st.container(horizontal=True, vertical_alignment="center", key=f"px-passages-{key}"):
        st.html(f"<b>Passage {place + 1:,} of {len(of_one):,}</b>", width="content")
        back, on = document - 1 if place else None, document + 1 if document + 1 in of_one else None
        _step("Earlier passage", ":material/keyboard_arrow_up:", None, back, go, f"{key}_earlier")
        _step("Later passage", ":material/keyboard_arrow_down:", None, on, go, f"{key}_later")
        return st.toggle("All passages", key=f"{WHOLE}_{key}", persist_state="session")


def _around(of_one: range, document: int) -> range:
    """At most `MOST_PARTS` passages of a document, the one that is read in the middle where it can be."""
    start = min(max(of_one.start, document - MOST_PARTS // 2), max(of_one.start, of_one.stop - MOST_PARTS))
    return range(start, min(of_one.stop, start + MOST_PARTS))


def _document_html(
    corpus: Corpus, reading: Reading, shown: range, document: int, only: int | None, sought: Sought
) -> str:
    """The legend, and the text beside it."""
    belonging = reading.passages.belonging
    lengths = belonging.lengths[shown.start : shown.stop]
    shares = lengths @ belonging.shares[shown.start : shown.stop] / lengths.sum()
    topics = _coloured(reading, shares, only)
    slots = {topic: slot for slot, topic in enumerate(topics)}
    styles = "".join(f"--c{slot}:{topic_colour(topic)};--l{slot}:{topic_line(topic)};" for topic, slot in slots.items())
    coloured = {only: slots[only]} if only is not None else slots
    texts = []
    for number in shown:
        hits = _hits(corpus, corpus.documents.texts[number], sought)
        text = _text_html(reading, reading.passages.pieces(number), hits, coloured, only)
        mark = ' aria-current="true"' if number == document and len(shown) > 1 else ""
        label = f"<small>Passage {number - parts(corpus, number)[0] + 1:,}</small>" if len(shown) > 1 else ""
        texts.append(f'<div class="px-text" dir="auto"{mark}>{label}{text}</div>')
    legend = _legend_html(reading, shares, topics, only)
    return f'<div class="px-document" style="{styles}">{legend}<div class="px-texts">{"".join(texts)}</div></div>'


def _coloured(reading: Reading, shares: NDArray[np.float64], only: int | None) -> list[int]:
    """The topics that have a colour here, the one with the largest share first."""
    order = sorted(reading.shown, key=lambda topic: (-shares[topic], topic))
    topics = [topic for topic in order if shares[topic] >= LEAST_SHARE][:MOST_TOPICS] or order[:1]
    return topics if only is None or only in topics else [*topics, only]


def _legend_html(reading: Reading, shares: NDArray[np.float64], topics: Sequence[int], only: int | None) -> str:
    largest = max(float(shares[list(topics)].max()), 1e-12) if topics else 1.0
    rows = [
        topic_button_html(reading, topic, float(shares[topic]), largest, ALONE, f"px-t px-t{slot}", topic == only)
        for slot, topic in enumerate(topics)
    ]
    rest = 1.0 - float(shares[list(topics)].sum())
    other = f'<small class="px-quiet">Other topics {percent(max(0.0, rest))}</small>' if rest >= 0.005 else ""
    head = f'<small><span class="px-hint" title="{SHARE}.">Topics of this document</span></small>'
    return (
        f'<div class="px-topics" role="group" aria-label="Topics of this document">{head}{"".join(rows)}{other}</div>'
    )


def topic_button_html(
    reading: Reading, topic: int, share: float, largest: float, hint: str, kind: str = "", pressed: bool | None = None
) -> str:
    """A topic with its share as a bar, to be clicked.

    Args:
        reading: the topics.
        topic: its number, which is also what is picked.
        share: of whatever is shown.
        largest: the share whose bar has the whole width.
        hint: what a click does, for those who point at it.
        kind: a class of the name.
        pressed: whether it is chosen; None where it is not one of a choice.
    """
    state = "" if pressed is None else f' aria-pressed="{str(pressed).lower()}"'
    title = f"{reading.name(topic)}: {reading.topics.label(topic, 8)}. {hint}"
    return (
        f'<button type="button" data-pick="{topic}"{state} style="--group:{topic_colour(topic)}" title="{escaped(title)}">'
        f'<span class="{kind}"><span aria-hidden="true">{topic_mark(topic)}</span> {escaped(reading.name(topic))}</span> '
        f'<em>{percent(share)}</em><div class="px-bar" style="width:{100 * share / largest:.1f}%"></div>'
        f"<small>{escaped(reading.topics.label(topic, 3))}</small></button>"
    )


def _text_html(
    reading: Reading, pieces: Sequence[Piece], hits: Sequence[tuple[int, int]], slots: dict[int, int], only: int | None
) -> str:
    """The text, words of topics with their colour and line, and what was searched for marked."""
    html = []
    kind = "px-t px-only" if only is not None else "px-t"
    for piece, inside in _with_hits(pieces, hits):
        slot = slots.get(piece.topic) if piece.topic is not None and piece.probability > BELONGS else None
        text = escaped(piece.text)
        if slot is not None and piece.topic is not None:
            hint = escaped(f"{reading.name(piece.topic)}, {piece.probability:.0%}")
            text = f'<span class="{kind} px-t{slot}" title="{hint}">{text}</span>'
        html.append(f"<mark>{text}</mark>" if inside else text)
    return "".join(html)


def _with_hits(pieces: Iterable[Piece], hits: Sequence[tuple[int, int]]) -> Iterator[tuple[Piece, bool]]:
    """The pieces cut where hits begin and end, each with whether it lies in one."""
    bounds = sorted({bound for hit in hits for bound in hit})
    reached = next_bound = 0
    for piece in pieces:
        start, stop = reached, reached + len(piece.text)
        while next_bound < len(bounds) and bounds[next_bound] < stop:
            cut = bounds[next_bound]
            next_bound += 1
            if cut > start:
                yield _part(piece, start - reached, cut - reached), _inside(start, hits)
                start = cut
        yield _part(piece, start - reached, stop - reached), _inside(start, hits)
        reached = stop


def _part(piece: Piece, start: int, stop: int) -> Piece:
    return Piece(piece.text[start:stop], piece.topic, piece.probability)


def _inside(place: int, hits: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in hits)


def _hits(corpus: Corpus, text: str, sought: Sought) -> list[tuple[int, int]]:
    """Where that stands which was looked for."""
    if sought is None:
        return []
    if isinstance(sought, str):
        return [(start, end) for start, end, word in corpus.tokeniser.spans(text) if word == sought]
    return [place[:2] for place in term_places(text, sought)]


def _plain_html(corpus: Corpus, shown: range, sought: Sought) -> str:
    """The text without topics."""
    html = []
    for number in shown:
        text = corpus.documents.texts[number]
        for piece, inside in _with_hits([Piece(text)], _hits(corpus, text, sought)):
            html.append(f"<mark>{escaped(piece.text)}</mark>" if inside else escaped(piece.text))
        html.append("<br><br>")
    return "".join(html)
