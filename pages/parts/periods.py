"""How a topic rises and falls over time, in each group, and which of its words do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from pages.parts.guard import guarded
from pages.parts.library import Library, library
from pages.parts.pictures import draw
from pages.parts.style import escaped, group_colour
from pages.parts.time_charts import trend_figure
from pages.parts.workspace import Reading, Workspace
from spdp_engine.corpus import Corpus
from spdp_engine.corpus.wording import counted, listed
from spdp_engine.topics.dates import Dates
from spdp_engine.topics.periods import (
    FEW,
    LEVEL,
    ChangedWord,
    Trend,
    Unit,
    WordingChange,
    halfway,
    period_name,
    trend,
    usable_units,
    within,
    wording_change,
)

IN_ONE_PICTURE = 4
"""Groups whose lines can be told apart; more get a picture each."""

ABREAST = 3
MOST_PICTURES = 12

UNITS = {unit: f"{unit.value}s".capitalize() for unit in Unit}
ALL = -1
"""Stands for all groups together."""

HALVES, PERIODS = "First and second half", "Two periods"
DAY_FIRST = {True: "day/month/year", False: "month/day/year"}

PER_THOUSAND = "Of 1,000 words on this topic, so many are this one, as expected under the model"
Z = "Log-odds z-score: how many standard deviations the change is away from none; above 1.96 it is unlikely to be chance"


def periods_section(workspace: Workspace, reading: Reading, topic: int) -> None:
    """The section of the page Compare; nothing where documents have no dates, or one date all of them."""
    books = library(reading.corpus)
    dates = books.dates()
    if dates.unread or len(np.unique(dates.days[dates.known])) > 1:
        _guarded_section(reading, topic, books)


@st.fragment
def _guarded_section(reading: Reading, topic: int, books: Library) -> None:
    with guarded():
        _section(reading, topic, books)


def _section(reading: Reading, topic: int, books: Library) -> None:
    st.subheader("Over time")
    corpus = reading.corpus
    dates = _dates(books)
    units, suits = usable_units(corpus, dates)
    if suits is None:
        st.html(f'<p class="px-quiet">{_why_not(dates)}</p>')
        return
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    if st.session_state.get("periods_unit") not in units:
        st.session_state["periods_unit"] = suits
    unit = left.segmented_control(
        "Periods", units, format_func=UNITS.__getitem__, key="periods_unit", required=True, persist_state="session"
    )
    found = trend(reading.passages.belonging, dates, topic, unit or suits)
    _pictures(reading, topic, found, right)
    st.html(_about_html(corpus, dates, found))
    table = st.expander("Shares as a table", icon=":material/table:", on_change="rerun", key="periods_table")
    if table.open:
        with table:
            _table(reading, found)
    words = st.expander("How the wording changed", icon=":material/swap_vert:", on_change="rerun", key="periods_words")
    if words.open:
        with words:
            _change(reading, topic, dates, found)


def _dates(books: Library) -> Dates:
    """The dates, read as the person chooses where they can be read either way."""
    dates = books.dates()
    if not dates.either_way:
        return dates
    chosen = st.segmented_control(
        f"{counted(dates.either_way, 'date')} can be read in two ways", list(DAY_FIRST), default=dates.day_first, required=True,
        format_func=DAY_FIRST.__getitem__, key="periods_day_first", persist_state="session",
    )  # fmt: skip
    return books.dates(chosen)


def _why_not(dates: Dates) -> str:
    """Why there is nothing to show, in a sentence."""
    if not dates.known.any():
        return (
            f"The dates could not be read: {_quoted(dates)}. Dates such as 2031-01-16, 16 January 2031 or 2031 can be."
        )
    return "The dates are all in one period, so there is nothing to follow over time."


def _pictures(reading: Reading, topic: int, found: Trend, place: st.delta_generator.DeltaGenerator) -> None:
    """All groups in a picture; of many the few that talk about it most, and on request a small picture for each."""
    names, shares = reading.topics.group_names, reading.topics.prevalence[:, topic]
    groups = list(range(len(names)))
    most = sorted(np.argsort(-shares, kind="stable")[:IN_ONE_PICTURE].tolist())
    draw(trend_figure(found, names, most), "over time", "periods_all")
    if len(groups) > IN_ONE_PICTURE:
        each = st.expander(
            "A picture for each group", icon=":material/grid_view:", on_change="rerun", key="periods_pictures"
        )
        if each.open:
            with each:
                _small_pictures(found, names, groups, place)


def _small_pictures(
    found: Trend, names: Sequence[str], groups: list[int], place: st.delta_generator.DeltaGenerator
) -> None:
    """A picture for each group, of so many as are good to look at."""
    if len(groups) > MOST_PICTURES:
        largest = np.argsort(-found.documents.sum(axis=1), kind="stable")[:MOST_PICTURES].tolist()
        groups = place.multiselect(
            "Groups that are shown", groups, sorted(largest), format_func=names.__getitem__, key="periods_groups",
            max_selections=MOST_PICTURES, persist_state="session",
        ) or sorted(largest)  # fmt: skip
    for first in range(0, len(groups), ABREAST):
        for column, group in zip(st.columns(ABREAST), groups[first : first + ABREAST], strict=False):
            with column:
                last = group == groups[-1]
                draw(
                    trend_figure(found, names, [group], alone=True),
                    f"over time {names[group]}",
                    f"periods_{group}",
                    choice=last,
                )


def _about_html(corpus: Corpus, dates: Dates, found: Trend) -> str:
    """What the picture shows, and what it leaves out."""
    told = (
        f"Each group’s share of its own words, and its documents below. Bands: where {LEVEL:.0%} of shares lie when the documents "
        f"of a period are drawn anew. An open mark has fewer than {FEW} documents, and no band; where a line breaks there are none."
    )
    if corpus.n_groups > IN_ONE_PICTURE:
        told = f"The {IN_ONE_PICTURE} groups that talk about it most. {told} Dotted in pictures of one group: the mean of all."
    written = np.array([bool(date.strip()) for date in corpus.documents.dates])
    dated, known = (len(np.unique(corpus.origin[some])) for some in (written, written & dates.known))
    missing, unread = corpus.n_originals - dated, dated - known
    left_out = [
        f"{missing:,} without a date" if missing else "",
        f"{unread:,} whose date could not be read (such as {_quoted(dates)})" if unread else "",
        f"{rest:,} whose date is not exact enough" if (rest := found.outside - missing - unread) else "",
    ]
    if found.outside:
        told += f" Left out: {listed(part for part in left_out if part)}."
    return f'<p class="px-legend">{told}</p>'


def _quoted(dates: Dates) -> str:
    return escaped(listed(f"“{text}”" for text in dates.examples))


def _table(reading: Reading, found: Trend) -> None:
    """A row for each group and period in which there are documents."""
    rows = [
        {
            "Period": name,
            "Begins": start,
            "Group": group,
            "Share": 100 * found.share[i, p],
            "From": 100 * found.low[i, p],
            "To": 100 * found.high[i, p],
            "Documents": found.documents[i, p],
            "Words": found.tokens[i, p],
        }
        for p, (name, start) in enumerate(zip(found.names, found.starts, strict=True))
        for i, group in enumerate(reading.topics.group_names)
        if found.documents[i, p]
    ]
    share = st.column_config.NumberColumn
    columns = {
        "Begins": st.column_config.DateColumn(),
        "Share": share(format="%.2f %%", help="Of the group’s words in the period, those on this topic."),
        "From": share(format="%.2f %%", help=f"{LEVEL:.0%} of shares lie from here on when documents are drawn anew."),
        "To": share(format="%.2f %%", help="... and up to here."),
        "Words": share(help="Of the vocabulary, on whatever topic."),
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=columns)


def _change(reading: Reading, topic: int, dates: Dates, found: Trend) -> None:
    """Words of the topic that rose and fell between two times."""
    names = reading.topics.group_names
    who, when = st.columns(2, vertical_alignment="bottom")
    group = who.selectbox(
        "Whose words", [ALL, *range(len(names))] if len(names) > 1 else [0], key="periods_who", persist_state="session",
        format_func=lambda i: "All groups together" if i == ALL else names[i],
    )  # fmt: skip
    group = None if group == ALL else group
    kind = when.segmented_control(
        "Between", (HALVES, PERIODS), default=HALVES, required=True, key="periods_kind", persist_state="session"
    )
    corpus = reading.corpus
    ours = dates.known if group is None else dates.known & (corpus.document_group == group)
    times = _two_periods(found, dates, ours, group) if kind == PERIODS else _two_halves(dates, ours)
    if times is None:
        st.html('<p class="px-quiet">There is nothing to compare: all its documents are of one time.</p>')
        return
    before, after, told = times
    change = wording_change(reading.passages.belonging, topic, before, after)
    st.html(_change_html(change, told, group))
    rows = pd.DataFrame(
        [
            {
                "Word": word.word,
                "Change": "rose" if word.z > 0 else "fell",
                "z": word.z,
                "Before": 1000 * word.before,
                "After": 1000 * word.after,
                "Uses before": word.tokens_before,
                "Uses after": word.tokens_after,
            }
            for word in (*change.rose, *change.fell)
        ]
    )
    if len(rows):
        number = st.column_config.NumberColumn
        st.dataframe(
            rows,
            hide_index=True,
            column_config={
                "z": number(format="%.1f", help=f"{Z}."),
                "Before": number(format="%.1f", help=f"{PER_THOUSAND}."),
                "After": number(format="%.1f", help=f"{PER_THOUSAND}."),
                "Uses before": number(format="%.0f", help="On this topic, as expected under the model."),
                "Uses after": number(format="%.0f", help="On this topic, as expected under the model."),
            },
        )


Times = tuple[NDArray[np.bool_], NDArray[np.bool_], tuple[str, str]]
"""Which documents are earlier, which later, and what the two times are called."""


def _two_halves(dates: Dates, ours: NDArray[np.bool_]) -> Times | None:
    """As many documents before a day as after it, as nearly as can be."""
    day = halfway(dates.days[ours])
    if day is None:
        return None
    name = period_name(Unit.DAY, day)
    return ours & (dates.days < day), ours & (dates.days >= day), (f"before {name}", f"from {name} on")


def _two_periods(found: Trend, dates: Dates, ours: NDArray[np.bool_], group: int | None) -> Times | None:
    """Two periods that the person chooses; the first and the last that have documents to begin with."""
    documents = found.documents.sum(axis=0) if group is None else found.documents[group]
    there = np.flatnonzero(documents).tolist()
    if len(there) < 2:
        return None
    names = found.names
    chosen = []
    for place, label, key, first in zip(
        st.columns(2), ("Earlier", "Later"), ("periods_earlier", "periods_later"), (0, len(there) - 1), strict=True
    ):
        chosen.append(
            place.selectbox(label, there, first, format_func=names.__getitem__, key=f"{key}_{found.unit}_{group}")
        )
    earlier, later = (ours & within(dates, found.unit, found.starts[period]) for period in chosen)
    return None if chosen[0] == chosen[1] else (earlier, later, (names[chosen[0]], names[chosen[1]]))


def _change_html(change: WordingChange, told: tuple[str, str], group: int | None) -> str:
    """Two lists: words that rose, and words that fell."""
    colour = "currentColor" if group is None else group_colour(group)
    largest = max((max(word.before, word.after) for word in (*change.rose, *change.fell)), default=1.0)
    lists = "".join(
        f"<div><h6>{title}</h6>{_words_html(words, largest)}</div>"
        for title, words in (("Rose", change.rose), ("Fell", change.fell))
    )
    return (
        f'<div class="px-change" style="--group:{colour}"><p class="px-legend">About {change.tokens_before:,.0f} words on this '
        f'topic {escaped(told[0])}, {change.tokens_after:,.0f} {escaped(told[1])}. <span class="px-hint" title="{PER_THOUSAND}.">'
        f"Figures: out of 1,000</span>, before → after; pale bars before, solid bars after.</p>"
        f'<div class="px-columns">{lists}</div></div>'
    )


def _words_html(words: Sequence[ChangedWord], largest: float) -> str:
    if not words:
        return '<p class="px-quiet">No word clearly did.</p>'
    rows = "".join(
        f'<tr title="z = {word.z:.1f}. {Z}."><td>{escaped(word.word)}</td><td>'
        f'<div class="px-bar" style="width:{100 * word.before / largest:.1f}%"></div>'
        f'<div class="px-bar own" style="width:{100 * word.after / largest:.1f}%"></div></td>'
        f"<td>{1000 * word.before:.1f} → {1000 * word.after:.1f}</td></tr>"
        for word in words
    )
    return f'<table class="px-words">{rows}</table>'
