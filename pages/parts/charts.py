"""Pictures: perplexity over iterations, and all topics at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.cards import topic_name
from pages.parts.style import chart_colour, is_dark
from spdp_engine.topics import Topics
from spdp_engine.types import Iteration

MOST_POINTS = 240
"""Points of the perplexity plot; more would only be sent, not seen."""

SYMBOLS = ("circle", "triangle-up", "square", "diamond")


def _bare(height: int) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 13},
    )
    grid = "rgba(255,255,255,.10)" if is_dark() else "rgba(0,0,0,.08)"
    figure.update_xaxes(gridcolor=grid, zeroline=False, automargin=True)
    figure.update_yaxes(gridcolor=grid, zeroline=False, automargin=True)
    return figure


def perplexity_figure(records: Sequence[Iteration]) -> go.Figure:
    """Held-out perplexity against iterations."""
    measured = [(r.iteration, r.perplexity, r.tokens_per_second) for r in records if r.perplexity is not None]
    step = max(1, -(-len(measured) // MOST_POINTS))
    shown = measured[::step]
    if measured and shown[-1] is not measured[-1]:
        shown.append(measured[-1])
    figure = _bare(210)
    figure.add_scatter(
        x=[iteration for iteration, _, _ in shown],
        y=[perplexity for _, perplexity, _ in shown],
        mode="lines",
        line={"color": chart_colour(0), "width": 2.2},
        customdata=[speed / 1e6 for _, _, speed in shown],
        hovertemplate="after %{x} iterations<br>perplexity %{y:,.1f}<br>%{customdata:.1f} million words/s<extra></extra>",
    )
    figure.update_layout(uirevision="perplexity", xaxis_title="iteration", yaxis_title="perplexity")
    return figure


def balance_figure(topics: Topics, chosen: int) -> go.Figure:
    """Two groups: how the topics' prevalence leans against how far apart the wordings are. A click chooses a topic."""
    first, second = topics.prevalence
    lean = (second - first) * 100
    figure = _bare(380)
    colours = [chart_colour(0) if value < 0 else chart_colour(1) for value in lean]
    size = 12 + 34 * np.sqrt(topics.overall / max(float(topics.overall.max()), 1e-12))
    figure.add_scatter(
        x=lean,
        y=topics.gap,
        mode="markers+text",
        text=[str(topic + 1) for topic in range(topics.n_topics)],
        textfont={"size": 12},
        marker={
            "size": size,
            "color": colours,
            "opacity": 0.5,
            "symbol": [SYMBOLS[0] if value < 0 else SYMBOLS[2] for value in lean],
            "line": {
                "width": [3 if topic == chosen else 0 for topic in range(topics.n_topics)],
                "color": "#FFFFFF" if is_dark() else "#1D2733",
            },
        },
        customdata=[[topic_name(k), topics.label(k, 5), first[k], second[k]] for k in range(topics.n_topics)],
        hovertemplate=(
            "<b>%{customdata[0]}</b>: %{customdata[1]}<br>"
            + topics.group_names[0].replace("%", "")
            + " %{customdata[2]:.1%}, "
            + topics.group_names[1].replace("%", "")
            + " %{customdata[3]:.1%}<br>wording gap %{y:.2f}<extra></extra>"
        ),
    )
    reach = 1.25 * float(np.abs(lean).max()) or 1.0
    figure.add_vline(x=0, line_width=1, line_dash="dot", opacity=0.5)
    figure.update_xaxes(
        range=[-reach, reach],
        title=f"← more {topics.group_names[0]}  ·  points of share  ·  more {topics.group_names[1]} →",
    )
    figure.update_yaxes(title="wording gap", rangemode="normal")
    figure.update_layout(clickmode="event+select", dragmode=False)
    return figure


def prevalence_figure(topics: Topics, order: Sequence[int]) -> go.Figure:
    """Any number of groups: a heat map of the topics' shares, groups below one another."""
    order = list(order)
    shares = topics.prevalence[:, order]
    figure = _bare(130 + 30 * len(topics.group_names))
    low, high = ("#1B232C", "#4DB8AF") if is_dark() else ("#F4F2EC", "#0B6E69")
    labels = [[topic_name(k) + ": " + topics.label(k, 5) for k in order]] * len(topics.group_names)
    figure.add_heatmap(
        z=shares * 100,
        x=[str(k + 1) for k in order],
        y=list(topics.group_names),
        colorscale=[[0, low], [1, high]],
        colorbar={"title": {"text": "% of words", "side": "right"}, "thickness": 10, "outlinewidth": 0},
        customdata=labels,
        hovertemplate="<b>%{customdata}</b><br>%{y}: %{z:.1f} % of its words<extra></extra>",
        xgap=2,
        ygap=2,
    )
    figure.update_xaxes(title="topic", type="category", showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_layout(dragmode=False)
    return figure
