"""Which findings of a run stand: all topics in a table and a picture, and what is found and what may be chance in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.parts.cards import COHERENCE, GAP, html_pen
from pages.parts.pictures import draw
from pages.parts.style import chart_colour, escaped, group_mark, is_dark, plain_markdown
from pages.parts.workspace import Reading, Workspace
from spdp_engine.corpus.wording import listed
from spdp_engine.topics import TopicQuality, Topics
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.standing import TopicStanding, sentences, topic_standing
from spdp_engine.topics.telling import words_are_known

TOPICS_IN_SENTENCES = 8
"""So many topics are told of at once; the others can be opened."""

WORDS_IN_TABLE = 3
"""Words of a topic in the table, of which the figures should be seen beside them."""

LONGEST_LABEL = 34
"""Characters of a topic's name in the picture."""

ROW, FRAME = 24, 90
"""Pixels of a topic in the picture, and of what is around all of them."""


def standing_sections(workspace: Workspace, reading: Reading) -> None:
    """The table of topics, the picture of gaps, and the findings, as far as they are known."""
    findings = workspace.findings()
    order = _order(reading, findings)
    standings = [topic_standing(reading.topics, findings, topic) for topic in order]
    st.subheader("Topic by topic")
    table, columns = topics_table(reading, findings, standings, reading.quality)
    st.dataframe(table, hide_index=True, column_config=columns)
    st.caption(_how_to_read(reading.topics, columns))
    if findings.gap_draws is not None and not reading.topics.worded_alike:
        st.subheader("Wording gaps against chance")
        st.html(f'<p class="px-lead">{_gaps_in_words(standings)}</p>')
        draw(gaps_figure(reading, findings, order), "wording gaps", "gaps")
    _findings(reading, findings, standings)


def topics_table(
    reading: Reading, findings: Findings, standings: Sequence[TopicStanding], quality: TopicQuality
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A row to each topic, columns of what was measured alone, and how they are shown."""
    number = st.column_config.NumberColumn
    topics = reading.topics
    order = [standing.topic for standing in standings]
    table: dict[str, Any] = {
        "Topic": [reading.name(topic) for topic in order],
        "Words": [topics.label(topic, WORDS_IN_TABLE) for topic in order],
        "Share": 100 * topics.overall[order],
        "Coherence": quality.npmi[order].round(2) + 0.0,
    }
    columns: dict[str, Any] = {
        "Topic": st.column_config.TextColumn(pinned=True),
        "Share": number(format="%.1f %%", help="Of the words, the mean over groups."),
        "Coherence": number(format="%.2f", help=f"{COHERENCE}."),
    }
    if findings.seeds is not None:
        found = [standing.found or (None, None) for standing in standings]
        table["Found in runs"] = [runs for runs, _ in found]
        columns["Found in runs"] = number(
            format=f"%d of {findings.seeds.of}", help="Runs with different seeds that have it."
        )
    if topics.worded_alike:
        return pd.DataFrame(table), columns
    table["Wording gap"] = topics.gap[order]
    columns["Wording gap"] = number(format="%.2f", help=f"{GAP}.")
    if findings.gap_draws is not None:
        unknown = (np.nan, np.nan)
        table["Without chance"] = [findings.gap(topic) for topic in order]
        table["From"], table["To"] = zip(*(findings.gap_interval(topic) or unknown for topic in order), strict=True)
        table["Chance up to"] = [(findings.gap_by_chance(topic) or unknown)[1] for topic in order]
        table["Real"] = [standing.gap_is_real for standing in standings]
        columns |= {
            "Without chance": number(
                format="%.2f", help="The gap without what chance adds to it; none where documents are too few."
            ),
            "From": number(format="%.2f", help=f"Lower end of its interval of {findings.level:.0%}."),
            "To": number(format="%.2f", help=f"Upper end of its interval of {findings.level:.0%}."),
            "Chance up to": number(
                format="%.2f", help="Where documents are dealt out to the groups at random, gaps stay below."
            ),
            "Real": st.column_config.CheckboxColumn(help="Whether the gap is larger than chance makes it."),
        }
    if words_are_known(findings):
        for group, name in enumerate(topics.group_names):
            column = f"Own: {name}"
            table[column] = [len(standing.own(group)) for standing in standings]
            columns[column] = number(
                f"{group_mark(group)} own", help=f"Words of {plain_markdown(name)} that are surely its own."
            )
    return pd.DataFrame(table), columns


def _how_to_read(topics: Topics, columns: Mapping[str, Any]) -> str:
    """What is done with the table, and whose the signs at the heads of its columns are."""
    marks = [
        f"{group_mark(group)} {plain_markdown(name)}"
        for group, name in enumerate(topics.group_names)
        if f"Own: {name}" in columns
    ]
    signs = (
        f" Own words that are sure, of {listed(marks, len(marks))}, are counted in the last columns." if marks else ""
    )
    return f"A click on a column’s head sorts by it; cells can be selected and copied, and a narrow table is swept sideways.{signs}"


def gaps_figure(reading: Reading, findings: Findings, order: Sequence[int]) -> go.Figure:
    """Every topic's wording gap with its interval, and how far gaps go by chance: the largest gap at the top."""
    known = [topic for topic in order if findings.gap_by_chance(topic)]
    names = [_short(f"{reading.name(topic)}: {reading.topics.label(topic)}") for topic in known]
    gaps = np.array([findings.gap(topic) for topic in known], float)
    intervals = np.array([findings.gap_interval(topic) for topic in known], float).reshape(-1, 2)
    limits = np.array([(findings.gap_by_chance(topic) or (0.0, 0.0))[1] for topic in known], float)
    rows = np.arange(len(known))
    ink, faint = ("#E8ECF0", "rgba(232,236,240,.28)") if is_dark() else ("#1D2733", "rgba(29,39,51,.2)")
    figure = go.Figure()
    figure.add_bar(
        x=limits, y=rows, orientation="h", width=0.62, name="as far as chance goes", hoverinfo="skip",
        marker={"color": faint, "line": {"width": 0}},
    )  # fmt: skip
    for real, name, symbol in ((True, "more than chance", "circle"), (False, "may be chance", "circle-open")):
        at = [row for row, topic in enumerate(known) if bool(findings.gap_is_real(topic)) is real]
        figure.add_scatter(
            x=gaps[at], y=rows[at], mode="markers", name=name,
            marker={"size": 10, "symbol": symbol, "color": chart_colour(0), "line": {"width": 2, "color": chart_colour(0)}},
            error_x={"type": "data", "symmetric": False, "array": intervals[at, 1] - gaps[at],
                     "arrayminus": gaps[at] - intervals[at, 0], "color": ink, "thickness": 1.4, "width": 4},
            customdata=[[names[row], *intervals[row], limits[row]] for row in at],
            hovertemplate="<b>%{customdata[0]}</b><br>gap %{x:.2f} (%{customdata[1]:.2f} to %{customdata[2]:.2f})<br>"
                          "by chance up to %{customdata[3]:.2f}<extra></extra>",
        )  # fmt: skip
    grid = "rgba(255,255,255,.10)" if is_dark() else "rgba(0,0,0,.08)"
    figure.update_layout(
        height=FRAME + ROW * len(known), margin={"l": 8, "r": 8, "t": 30, "b": 8}, plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)", font={"size": 13}, dragmode=False, barmode="overlay",
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)", "itemclick": False,
                "itemdoubleclick": False},
    )  # fmt: skip
    figure.update_xaxes(
        title="gap without chance",
        rangemode="tozero",
        gridcolor=grid,
        zeroline=False,
        automargin=True,
    )
    figure.update_yaxes(
        tickvals=rows, ticktext=names, range=[len(known) - 0.4, -0.6], showgrid=False, zeroline=False, automargin=True
    )
    return figure


def _order(reading: Reading, findings: Findings) -> list[int]:
    """The topics that are shown: the most differently worded first, by what is known best; by share where all are worded alike."""
    if reading.topics.worded_alike:
        return reading.order("prevalence")
    gaps = {topic: findings.gap(topic) for topic in reading.shown}
    return sorted(reading.order("gap"), key=lambda topic: -(gaps[topic] or 0.0))


def _gaps_in_words(standings: Sequence[TopicStanding]) -> str:
    """What the comparison with chance is, and what came of it."""
    what = (
        "Two piles of documents never use quite the same words, even if one pen wrote them all. So documents were dealt out to "
        "the groups at random, again and again, and the gaps measured each time: what is within the grey bar may be chance."
    )
    judged = [standing.gap_is_real for standing in standings if standing.gap_is_real is not None]
    left = len(standings) - len(judged)
    came = f"{sum(judged)} of {len(judged)} topics are worded more differently than that."
    others = "other one" if left == 1 else f"other {left}"
    few = f" Of the {others}, too few documents of some group speak, or topics are read as one." if left else ""
    return f"{what} {came}{few}"


def _findings(reading: Reading, findings: Findings, standings: Sequence[TopicStanding]) -> None:
    """What stands and what does not, topic by topic."""
    told = [_told(reading, findings, standing) for standing in standings]
    stand, fall = st.columns(2, gap="large")
    for place, title, which, none in (
        (stand, "What stands", 0, "Nothing is sure yet."),
        (fall, "What may be chance", 1, "Nothing that was looked at."),
    ):
        lists = [lines[which] for lines in told if lines[which]]
        place.subheader(title)
        place.html(_lists_html(lists) if lists else f'<p class="px-quiet">{none}</p>')


def _told(reading: Reading, findings: Findings, standing: TopicStanding) -> tuple[str, str]:
    """A topic's findings that stand and those that do not, as a list each; '' where there are none."""
    name = reading.name(standing.topic)
    found = sentences(reading.topics, findings, standing, html_pen(reading.topics))
    head = f"<b>{escaped(name)}</b> <span class='px-quiet'>{escaped(reading.topics.label(standing.topic))}</span>"
    stand, fall = (
        f"{head}<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if lines else "" for lines in found
    )
    return stand, fall


def _lists_html(lists: Sequence[str]) -> str:
    first, rest = lists[:TOPICS_IN_SENTENCES], lists[TOPICS_IN_SENTENCES:]
    more = (
        f"<details><summary>{len(rest)} more {'topic' if len(rest) == 1 else 'topics'}</summary>{''.join(rest)}</details>"
        if rest
        else ""
    )
    return f'<div class="px-told">{"".join(first)}{more}</div>'


def _short(text: str) -> str:
    """Short enough for the side of the picture, with nothing in it that Plotly would read as markup or as a placeholder."""
    text = text.replace("%", "％").replace("<", "‹").replace("{", "(").replace("}", ")")
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
