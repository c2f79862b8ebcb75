"""How much each group talks about a topic: shares with their intervals, in a sentence and in bars, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from pages.parts.cards import html_pen, percent
from pages.parts.guard import guarded
from pages.parts.style import group_colour, group_name_html
from pages.parts.workspace import Reading, Workspace
from spdp_engine.topics import Topics
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.telling import (
    difference_intervals,
    excludes_nought,
    percents_if_known,
    points,
    says_little,
    shares_sentence,
)

ORDERS = ("As listed", "By share")
NOBODY = -1
"""Stands for the group that others are compared with, where none is."""


@st.fragment
def prevalence_section(workspace: Workspace, reading: Reading, topic: int) -> None:
    """Each group's share of its words on this topic, and on request how it differs from another group's."""
    with guarded():
        _section(reading, workspace.findings(), topic)


def _section(reading: Reading, findings: Findings, topic: int) -> None:
    topics = reading.topics
    st.subheader("How much they talk about it")
    st.html(f"<p>{shares_sentence(topics, findings, topic, reading.called(topic), html_pen(topics))}</p>")
    differences = difference_intervals(findings, topic)
    order, other = _choices(topics, topic, differences is not None)
    st.html(shares_html(topics, findings, topic, order))
    if differences is not None and other != NOBODY:
        st.html(_differences_html(topics, topic, differences, order, other))
    st.html(f'<p class="px-legend">{_legend(topics, findings)}</p>')
    if len(order) > 1:
        table = st.expander("Shares as a table", icon=":material/table:", on_change="rerun", key="prevalence_table")
        if table.open:
            with table:
                _table(topics, findings, topic, differences)


def shares_html(topics: Topics, findings: Findings, topic: int, order: Sequence[int]) -> str:
    """One bar to a group with the interval of its share as a whisker, and both in numbers behind it."""
    shares = topics.prevalence[:, topic]
    intervals = findings.prevalence_interval(topic)
    most = max(float(shares.max()), 1e-12)
    if intervals is not None:
        known = (
            float(high) for high, share in zip(intervals[:, 1], shares, strict=True) if not says_little(high, share)
        )
        most = max(most, *known, 0.0)
    rows = []
    for i in order:
        share, whisker, between, hint = float(shares[i]), "", "", "Share of the group’s words"
        if intervals is not None:
            low, high = (float(end) for end in intervals[i])
            whisker = "" if says_little(high, share) else whisker_html(low / most, high / most)
            between = f" <small>({percents_if_known(low, high, share)})</small>"
            hint += f", with its interval of {findings.level:.0%}"
        hint += f". The topic is its number {topics.group_rank[i, topic]} of {_n_topics(topics)}"
        said = (
            f'<span class="px-hint" title="{hint}.">{percent(share)}</span>{between}'
            if topics.tokens[i].any()
            else '<span class="px-quiet">no words</span>'
        )
        rows.append(
            f'{group_name_html(i, topics.group_names[i])}<div class="px-track" style="--group:{group_colour(i)}">'
            f'<div class="px-bar" style="width:{100 * share / most:.1f}%"></div>{whisker}</div><span>{said}</span>'
        )
    return f'<div class="px-sizes px-shares">{"".join(rows)}</div>'


def whisker_html(low: float, high: float) -> str:
    """An interval over a track, its ends as parts of the track's width."""
    low, high = (min(1.0, max(0.0, end)) for end in (low, high))
    return f'<div class="px-whisker" style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></div>'


def _choices(topics: Topics, topic: int, known: bool) -> tuple[list[int], int]:
    """The order of the groups, and which of them the others are compared with; of two groups there is nothing to choose."""
    groups = list(range(len(topics.group_names)))
    if len(groups) < 3:
        return groups, groups[-1] if known else NOBODY
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = st.segmented_control(
            "Order of the groups", ORDERS, default=ORDERS[0], required=True, key="prevalence_order", persist_state="session",
            label_visibility="collapsed",
        )  # fmt: skip
        other = NOBODY
        if known:
            other = st.selectbox(
                "Differences from", [NOBODY, *groups], key="prevalence_other", persist_state="session", width=260,
                format_func=lambda i: "No differences shown" if i == NOBODY else f"Differences from {topics.group_names[i]}",
                label_visibility="collapsed",
            )  # fmt: skip
    if by == ORDERS[1]:
        groups.sort(key=lambda i: -topics.prevalence[i, topic])
    return groups, other


def _differences_html(
    topics: Topics, topic: int, differences: NDArray[np.float64], order: Sequence[int], other: int
) -> str:
    """How much more or less each group talks about it than one of them, with intervals about a line at no difference."""
    others = [i for i in order if i != other]
    reach = max(float(np.abs(differences[others, other]).max()), 1e-12)
    rows = []
    for i in others:
        low, high = (float(end) for end in differences[i, other])
        difference = float(topics.prevalence[i, topic] - topics.prevalence[other, topic])
        sure = excludes_nought((low, high))
        least, most = sorted((abs(low), abs(high)))
        said = (
            f"{points(difference)} points {'more' if difference > 0 else 'less'} <small>({points(least)} to {points(most)})</small>"
            if sure
            else f'<span class="px-quiet">may be chance <small>({_signed(low)} to {_signed(high)})</small></span>'
        )
        rows.append(
            f'{group_name_html(i, topics.group_names[i])}<div class="px-track px-about" style="--group:{group_colour(i)}">'
            f"{whisker_html(_place(low, reach), _place(high, reach))}"
            f'<div class="px-dot{"" if sure else " px-hollow"}" style="left:{100 * _place(difference, reach):.1f}%"></div></div>'
            f"<span>{said}</span>"
        )
    return (
        f'<p class="px-legend">In percentage points, against {group_name_html(other, topics.group_names[other])}:</p>'
        f'<div class="px-sizes px-shares">{"".join(rows)}</div>'
    )


def _place(difference: float, reach: float) -> float:
    """Where a difference stands on a track whose middle is none."""
    return 0.5 + 0.5 * difference / reach


def _signed(difference: float) -> str:
    return f"{'−' if round(100 * difference, 1) < 0 else '+'}{points(difference)}"


def _legend(topics: Topics, findings: Findings) -> str:
    """What the figures are, and what is not known yet."""
    told = "Share of each group’s words. Groups of unequal size can be compared."
    if findings.prevalence_draws is None:
        return told
    many = " Intervals of differences hold for all pairs of groups at once." if len(topics.group_names) > 2 else ""
    return (
        f'{told} <span class="px-hint" title="Were other documents of the same kind at hand, shares would come out a little '
        f"otherwise, and so they would if the run were taken up again; {findings.level:.0%} of the outcomes lie within the "
        f'interval.">In brackets: the interval of {findings.level:.0%}.</span>{many}'
    )


def _table(topics: Topics, findings: Findings, topic: int, differences: NDArray[np.float64] | None) -> None:
    """Every group's share, and the differences between any two, to be sorted and copied."""
    number = st.column_config.NumberColumn
    per_cent = number(format="%.2f %%")
    intervals = findings.prevalence_interval(topic)
    table = pd.DataFrame({"Group": topics.group_names, "Share": 100 * topics.prevalence[:, topic]})
    if intervals is not None:
        table["From"], table["To"] = 100 * intervals[:, 0], 100 * intervals[:, 1]
    table["Rank"] = topics.group_rank[:, topic]
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "Share": per_cent,
            "From": per_cent,
            "To": per_cent,
            "Rank": number(help="Of the topic among the group's topics."),
        },
    )
    if differences is not None:
        st.dataframe(
            differences_table(topics, topic, differences), hide_index=True,
            column_config={name: number(format="%.2f") for name in ("Points more", "From", "To")},
        )  # fmt: skip


def differences_table(topics: Topics, topic: int, differences: NDArray[np.float64]) -> pd.DataFrame:
    """A row to each pair of groups, the one that talks about the topic more first; the largest differences first."""
    shares = topics.prevalence[:, topic]
    rows = [
        (topics.group_names[i], topics.group_names[j], 100 * (shares[i] - shares[j]), *(100 * differences[i, j]),
         excludes_nought(differences[i, j]))
        for i in range(len(shares)) for j in range(len(shares))
        if (shares[i], -i) > (shares[j], -j)
    ]  # fmt: skip
    rows.sort(key=lambda row: -row[2])
    return pd.DataFrame(rows, columns=["Group", "Other group", "Points more", "From", "To", "More than chance"])


def _n_topics(topics: Topics) -> int:
    """Topics that have words: those read as part of others have none."""
    return int(topics.tokens.any(axis=0).sum())
