"""All topics at a glance where there are two groups: a plane of how much each talks about a topic and how differently."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from pages.parts.charts import bare_figure, plain_label, see_through
from pages.parts.placing import GAP, beside
from pages.parts.style import chart_colour, is_dark
from pages.parts.workspace import Reading

SYMBOLS = ("circle", "square")
"""Marks of the two groups in the balance picture."""

BALANCE_HEIGHT = 400


class Screens(NamedTuple):
    """Names for some screens; the style sheet shows each on its own screens alone.

    Attributes:
        font: the first font of the names, which there is nowhere: the style sheet tells them by it.
        ink: how much of the ink they have without a style sheet, as in pictures that are saved.
        area: pixels of the ground of the picture, as wide as it is there at least: names must fit into it.
        words: of a name that is suggested.
        characters: of a name.
    """

    font: str
    ink: float
    area: tuple[float, float]
    words: int
    characters: int


SCREENS = (
    Screens("for-wide-screens", 1.0, (440.0, 300.0), 2, 22),
    Screens("for-narrow-screens", 0.0, (245.0, 300.0), 1, 14),
)
"""Desks, and phones."""

LABEL_SIZE = 11
"""Pixels of the names beside its marks."""

_SIDEWAYS = {"middle right": 1, "middle left": -1}
_UPWARDS = {"top center": 1, "bottom center": -1}

HUNDREDTH_OF_A_POINT = 1e-4
"""Added to shares before their ratio is taken, so that a topic only one group has stays on the picture."""


def balance_figure(reading: Reading, chosen: int) -> go.Figure:
    """Two groups: who talks about a topic more, against how far apart the wordings are. A click chooses a topic.

    The topics that are shown are the points of the first trace, in their order; those whose names fit have them beside. Where the
    groups word topics alike, how much they talk about each takes the place of the wordings.

    The balance is the logarithm (base 2) of the ratio of the two shares, so that twice as much and half as much lie equally
    far from the middle.
    """
    topics, shown = reading.topics, list(reading.shown)
    shares = topics.prevalence[:, shown] + HUNDREDTH_OF_A_POINT
    overall = topics.overall[shown]
    balance = np.log2(shares[1] / shares[0])
    reach = max(1.15, 1.2 * float(np.abs(balance).max()))
    height, what, told = topics.gap[shown], "wording gap", "<br>wording gap %{y:.2f}"
    size = 17 + 22 * np.sqrt(overall / max(float(overall.max()), 1e-12))
    if topics.worded_alike:
        height, what, told, size = 100 * overall, "% of the words", "", np.full(len(shown), 24.0)
    margin = max(0.12 * float(np.ptp(height)), 0.02)
    low, high = float(height.min()) - margin, float(height.max()) + margin
    lean = (balance > 0).astype(int)
    figure = bare_figure(BALANCE_HEIGHT)
    figure.add_scatter(
        x=balance,
        y=height,
        mode="markers+text",
        text=[str(topic + 1) for topic in shown],
        textfont={"size": 12, "color": _ink()},
        marker={
            "size": size,
            "color": [see_through(chart_colour(side), 0.38) for side in lean],
            "opacity": 1,
            "symbol": [SYMBOLS[side] for side in lean],
            "line": {"width": [2.5 if topic == chosen else 0.5 for topic in shown], "color": _ink()},
        },
        customdata=[
            [plain_label(reading.name(topic)), plain_label(topics.label(topic, 5)), *both]
            for topic, both in zip(shown, shares.T, strict=True)
        ],
        hovertemplate=(
            f"<b>%{{customdata[0]}}</b>: %{{customdata[1]}}<br>{plain_label(topics.group_names[0])} %{{customdata[2]:.1%}}, "
            f"{plain_label(topics.group_names[1])} %{{customdata[3]:.1%}}{told}<extra></extra>"
        ),
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    for screens in SCREENS:
        _write_names(
            figure, reading, chosen, screens, np.stack([balance, height], axis=1), size, (-reach, low, reach, high)
        )
    figure.add_vline(x=0, line_width=1, line_dash="dot", line_color=_ink(), opacity=0.5)
    whole = range(-int(reach), int(reach) + 1, max(1, int(reach) // 3))
    figure.update_xaxes(
        range=[-reach, reach],
        tickvals=list(whole),
        ticktext=["equally" if v == 0 else f"{2 ** abs(v)}×" for v in whole],
    )
    left, right = (short_name(name) for name in topics.group_names)
    for side, text in enumerate((f"← more {left}", f"more {right} →")):
        figure.add_annotation(
            x=side, y=1.02, xref="paper", yref="paper", xanchor=("left", "right")[side], yanchor="bottom",
            yshift=17 * (1 - side), showarrow=False, text=text, font={"color": chart_colour(side), "size": 13},
        )  # fmt: skip
    figure.update_yaxes(title=what, range=[low, high])
    figure.update_layout(clickmode="event+select", dragmode=False, margin={"l": 8, "r": 8, "t": 46, "b": 8})
    return figure


def _write_names(
    figure: go.Figure,
    reading: Reading,
    chosen: int,
    screens: Screens,
    points: NDArray[np.float64],
    size: NDArray[np.float64],
    limits: tuple[float, float, float, float],
) -> None:
    """Writes the names of topics beside their marks, where they fit.

    Args:
        figure: with the marks.
        reading: the topics.
        chosen: the topic that is read.
        screens: those on which the names are seen.
        points: float64 [topics shown, 2], their marks.
        size: float64 [topics shown], of the marks, in pixels.
        limits: the least x and y of the picture, and the largest.
    """
    shown = list(reading.shown)
    names = [plain_label(brief_name(reading, topic, screens.words, screens.characters)) for topic in shown]
    corner, ends = np.array(limits[:2]), np.array(limits[2:])
    unit = (ends - corner) / screens.area  # of the axes, to a pixel
    places = beside(
        np.abs((points - [corner[0], ends[1]]) / unit),
        size / 2,
        names,
        screens.area,
        sorted(range(len(shown)), key=lambda i: _importance(reading, shown[i], chosen)),
    )
    fit = [(i, place) for i, place in enumerate(places) if place]
    away = np.array([[_SIDEWAYS.get(place, 0), _UPWARDS.get(place, 0)] for _, place in fit]).reshape(-1, 2)
    which = [i for i, _ in fit]
    at = points[which] + away * (size[which, None] / 2 + GAP) * unit
    figure.add_scatter(
        x=at[:, 0],
        y=at[:, 1],
        mode="text",
        text=[names[i] for i in which],
        textposition=[place for _, place in fit],
        textfont={
            "size": LABEL_SIZE,
            "color": see_through(_ink(), screens.ink),
            "weight": [700 if shown[i] == chosen else 400 for i in which],
            "family": f"{screens.font}, {st.get_option('theme.font')}",
        },
        hoverinfo="skip",
    )


def _importance(reading: Reading, topic: int, chosen: int) -> tuple[bool, bool, bool, float]:
    """Sorts topics by how much their names matter: the chosen one, pinned ones, those that have a name, large ones."""
    view = reading.view
    return topic != chosen, topic not in view.pinned, topic not in view.names, -float(reading.topics.overall[topic])


def brief_name(reading: Reading, topic: int, words: int = 2, characters: int = 22) -> str:
    """A topic's own name, or some words that say what it is about, for places without much room."""
    name = reading.view.names.get(topic) or reading.labels.suggest(topic, words) or reading.name(topic)
    return short_name(name, characters)


def short_name(name: str, length: int = 22) -> str:
    """A name short enough for a chart."""
    name = plain_label(name)
    return name if len(name) <= length else name[: length - 1] + "…"


def _ink() -> str:
    """The colour of writing in the theme in use."""
    return "#E8ECF0" if is_dark() else "#1D2733"
