"""The distances between the topics of two runs as a picture: pairs on the diagonal, the nearest first."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts import bare_figure, plain_label
from pages.parts.style import is_dark
from spdp_engine.topics.pairing import Pairing, Verdict

NEAR_TO_FAR = {
    False: ("#00224E", "#123570", "#3B496C", "#575D6D", "#707173", "#8A8678", "#A59C74", "#C9BD8F", "#E4DCC0", "#F6F2E6"),
    True: ("#FEE838", "#E1CC55", "#C3B369", "#A59C74", "#8A8678", "#707173", "#575D6D", "#3B496C", "#25344F", "#18212C"),
}  # fmt: skip
"""Colours from near to far, in the light theme and in the dark. It is cividis (Nunez, Anderton and Renslow 2018), whose lightness
rises evenly for readers of every kind of colour vision, turned so that what is near stands out, with its far end as pale as the
ground."""

INKS = {False: ("#FFFFFF", "#1D2733"), True: ("#12171D", "#E8ECF0")}
"""Inks that are seen on the near colours and on the far ones, in both themes."""

MARKS = {Verdict.SAME: "circle", Verdict.SIMILAR: "circle-open", Verdict.LOST: "x-thin-open"}
"""Plotly's symbols of what a pair is; `SIGNS` in text."""

SIGNS = {Verdict.SAME: "●", Verdict.SIMILAR: "○", Verdict.LOST: "×"}

NEAREST = 0.25
"""Where the colours begin, as a share of what unrelated topics are apart, where they end: no pair of real runs is much nearer."""

MOST_MARKED = 32
"""Topics of a run up to which pairs carry their signs; the cells of more are too small."""

MOST_WITH_WORDS = 4_000
"""Cells up to which each tells its words when it is pointed at; in larger pictures only the topics' names, for the sake of size."""


def has_marks(pairing: Pairing) -> bool:
    """Whether pairs carry their signs."""
    return max(pairing.distances.shape) <= MOST_MARKED


def pairing_figure(pairing: Pairing, names: tuple[str, str], chosen: tuple[int, int]) -> go.Figure:
    """A heat map: rows are topics of the first run, columns those of the second, in `Pairing.order`.

    Its last points, one to a cell and row by row, can be pointed at and clicked.

    Args:
        pairing: of K and L topics.
        names: of the two runs.
        chosen: places of the topics whose cell is framed.
    """
    rows, columns = pairing.order
    distances = pairing.distances[np.ix_(rows, columns)].round(3)
    size = max(len(rows), len(columns))
    figure = bare_figure(90 + min(660, max(260, 30 * len(rows))))
    down = [str(pairing.first.numbers[k] + 1) for k in rows]
    across = [str(pairing.second.numbers[k] + 1) for k in columns]
    colours = NEAR_TO_FAR[is_dark()]
    near, far = NEAREST * pairing.unrelated, max(pairing.unrelated, 1e-3)
    figure.add_heatmap(
        z=distances,
        x=across,
        y=down,
        zmin=near,
        zmax=far,
        colorscale=[[step / (len(colours) - 1), colour] for step, colour in enumerate(colours)],
        colorbar={"thickness": 9, "outlinewidth": 0, "tickfont": {"size": 12}, "nticks": 5},
        hoverinfo="skip",
        xgap=1 if size <= 60 else 0,
        ygap=1 if size <= 60 else 0,
    )
    if has_marks(pairing):
        _mark_pairs(figure, pairing, down, across, far)
    _point_at(figure, pairing, down, across)
    row, column = (int(np.flatnonzero(order == one)[0]) for order, one in zip((rows, columns), chosen, strict=True))
    for width, colour in zip((5, 2), INKS[is_dark()], strict=True):
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"width": width, "color": colour},
        )  # fmt: skip
    font = {"size": 11 if size <= MOST_MARKED else 9}
    figure.update_xaxes(type="category", title=_title(names[1]), showgrid=False, tickfont=font)
    figure.update_yaxes(type="category", title=_title(names[0]), showgrid=False, tickfont=font, autorange="reversed")
    figure.update_layout(clickmode="event+select", dragmode=False)
    return figure


def _mark_pairs(figure: go.Figure, pairing: Pairing, down: list[str], across: list[str], far: float) -> None:
    """The sign of each pair, on the diagonal, in an ink that its cell lets be seen."""
    inks = [INKS[is_dark()][pair.distance > 0.65 * far] for pair in pairing.pairs]
    figure.add_scatter(
        x=across[: len(inks)],
        y=down[: len(inks)],
        mode="markers",
        marker={
            "symbol": [MARKS[pair.verdict] for pair in pairing.pairs],
            "size": 8,
            "color": inks,
            "line": {"width": 1.6, "color": inks},
        },
        hoverinfo="skip",
    )


def _point_at(figure: go.Figure, pairing: Pairing, down: list[str], across: list[str]) -> None:
    """Points that nobody sees, since a heat map's own cells can be pointed at but not clicked."""
    rows, columns = pairing.order
    words = len(rows) * len(columns) <= MOST_WITH_WORDS

    def told(run: int, place: int) -> str:
        topics = (pairing.first, pairing.second)[run]
        name = f"<b>{plain_label(topics.names[place])}</b>"
        return f"{name} {plain_label(', '.join(topics.top_words(place, 5)))}" if words else name

    first, second = [told(0, int(k)) for k in rows], [told(1, int(k)) for k in columns]
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=across * len(down),
        y=[one for one in down for _ in across],
        mode="markers",
        marker={"size": 4, "opacity": 0},
        text=[
            f"{one}<br>{other}<br>{pairing.distances[k, j]:.2f} apart"
            for k, one in zip(rows, first, strict=True)
            for j, other in zip(columns, second, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
        selected=unseen,
        unselected=unseen,
    )


def _title(name: str) -> str:
    """What stands beside an axis."""
    name = plain_label(name)
    return name if len(name) <= 48 else f"{name[:47]}…"
