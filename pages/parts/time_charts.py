"""Pictures of a topic over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.parts.charts import bare_figure, plain_label, see_through
from pages.parts.style import chart_colour, group_mark, is_dark
from spdp_engine.corpus.wording import counted
from spdp_engine.topics.periods import FEW, Trend, Unit
from spdp_engine.topics.telling import percents

HEIGHT, SMALL_HEIGHT = 380, 190
"""Pixels of a picture of all groups, and of one of several small ones."""

SYMBOLS = (
    "circle", "triangle-up", "square", "diamond", "star", "pentagon", "cross", "triangle-down", "hexagon", "hourglass", "bowtie",
    "octagon",
)  # fmt: skip
"""Marks of the groups: those beside their names as far as Plotly has them."""

TRUSTED = 3
"""The bands of periods with fewer documents do not stretch the axis."""


def trend_figure(trend: Trend, names: Sequence[str], groups: Sequence[int], alone: bool = False) -> go.Figure:
    """Each group's share in each period with its band, and below it how many documents there are.

    Args:
        trend: what is shown.
        names: of all groups.
        groups: those that are shown.
        alone: one group in a small picture among others: with the mean of all groups as a thin line.
    """
    figure = bare_figure(SMALL_HEIGHT if alone else HEIGHT)
    if alone:
        figure.add_scatter(
            x=trend.starts, y=_mean(trend), mode="lines", name="mean of the groups", hoverinfo="skip", connectgaps=True,
            line={"color": _faint(0.45), "width": 1.2, "dash": "dot"},
        )  # fmt: skip
    for group in groups:
        _add_group(figure, trend, group, plain_label(names[group]), alone)
    grid, top = _faint(0.12), _top(trend)
    figure.update_layout(
        barmode="stack",
        bargap=0.15,
        hovermode="x unified",
        hoverlabel={"font": {"size": 12}},
        dragmode=False,
        showlegend=not alone and len(groups) > 1,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "traceorder": "normal",
            "bgcolor": "rgba(0,0,0,0)",
        },
        margin={"l": 8, "r": 12, "t": 30 if alone else 8, "b": 8},
        yaxis={
            "domain": [0.3, 1],
            "range": [-0.02 * top, top],
            "tickformat": ".0%" if top > 0.05 else ".1%",
            "nticks": 5,
        },
        yaxis2={
            "domain": [0, 0.2],
            "nticks": 3,
            "gridcolor": grid,
            "zeroline": False,
            "automargin": True,
            "rangemode": "tozero",
        },
        xaxis={
            "anchor": "y2",
            "showgrid": False,
            "hoverformat": _hover_format(trend.unit),
            **_ticks(trend, 4 if alone else 8),
        },
    )
    if not alone:
        for text, y in (("share of the group’s words", 1), ("documents", 0.2)):
            figure.add_annotation(
                x=0, y=y, xref="paper", yref="paper", xanchor="left", yanchor="bottom" if y < 1 else "top", text=text,
                showarrow=False, font={"size": 11, "color": _faint(0.7)},
            )  # fmt: skip
    else:
        (group,) = groups
        figure.update_layout(title={
            "text": f"{group_mark(group)} {_short(names[group])}", "font": {"size": 13, "color": chart_colour(group)},
            "x": 0, "y": 0.98, "yanchor": "top", "pad": {"l": 4},
        })  # fmt: skip
    return figure


def _add_group(figure: go.Figure, trend: Trend, group: int, name: str, alone: bool) -> None:
    share, low, high = trend.share[group], trend.low[group], trend.high[group]
    documents = trend.documents[group]
    colour, symbol = chart_colour(group), SYMBOLS[group % len(SYMBOLS)]
    x, y = _band(trend.starts, low, high)
    figure.add_scatter(
        x=x, y=y, mode="lines", fill="toself", fillcolor=see_through(colour, 0.13), line={"width": 0}, hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip
    known = ~np.isnan(share)
    neighbours = np.convolve(known & ~np.isnan(low), [1, 0, 1], "same") > 0
    apart = known & ~neighbours & ~np.isnan(low)
    figure.add_scatter(
        x=trend.starts,
        y=[None if np.isnan(value) else value for value in share],
        name=name,
        mode="lines+markers",
        line={"color": colour, "width": 2.2},
        marker={
            "color": colour,
            "size": 5 if alone or len(trend.starts) > 40 else 8,
            "symbol": [symbol if n >= FEW else f"{symbol}-open" for n in documents],
        },
        error_y={
            "type": "data", "symmetric": False, "color": see_through(colour, 0.6), "thickness": 1.2, "width": 0,
            "array": np.where(apart, high - share, 0.0), "arrayminus": np.where(apart, share - low, 0.0),
        },
        customdata=[_told(*values) for values in zip(share, low, high, documents.tolist(), strict=True)],
        hovertemplate="%{y:.1%}%{customdata}",
    )  # fmt: skip
    figure.add_bar(
        x=trend.starts, y=documents, yaxis="y2", marker={"color": see_through(colour, 0.75)}, showlegend=False, hoverinfo="skip",
        name=name,
    )  # fmt: skip


def _told(share: float, low: float, high: float, documents: int) -> str:
    """What is said behind a share."""
    if not documents:
        return ""
    band = "" if np.isnan(low) else f" ({percents(low, high, share)})"
    return f"{band}, {counted(documents, 'document')}"


def _band(
    starts: NDArray[np.datetime64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[list[Any], list[float | None]]:
    """The outline of the band, stretch by stretch, None between them."""
    x: list[Any] = []
    y: list[float | None] = []
    there = np.flatnonzero(~np.isnan(low))
    for run in np.split(there, np.flatnonzero(np.diff(there) > 1) + 1):
        if len(run) > 1:
            if x:
                x.append(None)
                y.append(None)
            x += [*starts[run], *starts[run][::-1]]
            y += [*high[run].tolist(), *low[run][::-1].tolist()]
    return x, y


def _mean(trend: Trend) -> list[float | None]:
    """The mean over groups of the shares that there are."""
    known = ~np.isnan(trend.share)
    total = np.where(known, trend.share, 0.0).sum(axis=0)
    return [float(value / n) if n else None for value, n in zip(total, known.sum(axis=0), strict=True)]


def _top(trend: Trend) -> float:
    """Where the axis of shares ends: above all shares, and the bands of periods with some documents."""
    bands = trend.high[trend.documents >= TRUSTED]
    return min(1.02, 1.08 * max(float(np.nanmax(trend.share)), float(bands.max(initial=0.0)), 1e-3))


def _hover_format(unit: Unit) -> str:
    return {Unit.DECADE: "%Ys", Unit.YEAR: "%Y", Unit.QUARTER: "%Y Q%q", Unit.MONTH: "%B %Y", Unit.WEEK: "week of %-d %B %Y",
            Unit.DAY: "%-d %B %Y"}[unit]  # fmt: skip


def _ticks(trend: Trend, most: int) -> dict[str, Any]:
    """Marks of the time axis, each at the beginning of a period."""
    if trend.unit in (Unit.DECADE, Unit.YEAR, Unit.QUARTER):
        step = -(-len(trend.starts) // most)
        values = trend.starts[::step]
        names = trend.names[::step]
        return {"tickvals": values, "ticktext": names}
    return {"nticks": most}


def _faint(opacity: float) -> str:
    """Ink that steps back."""
    return f"rgba(232,236,240,{opacity})" if is_dark() else f"rgba(29,39,51,{opacity})"


def _short(name: str, length: int = 34) -> str:
    name = plain_label(name)
    return name if len(name) <= length else name[: length - 1] + "…"
