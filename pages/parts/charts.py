"""Pictures: perplexity over iterations, and what was measured at several numbers of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.parts.run_settings import hyperparameter_words
from pages.parts.style import chart_colour, is_dark
from spdp_engine.results import averaging_began
from spdp_engine.types import Iteration

MOST_POINTS = 240
"""Points of the perplexity plot; more would only be sent, not seen."""

PLOT_HEIGHT = 210
"""Pixels of the perplexity plot."""

NOW, AVERAGED, AVERAGING_BEGINS = "now", "averaged", "averaging begins"
"""What its lines are called."""

LEGEND = {"x": 1, "y": 1, "xanchor": "right", "yanchor": "top", "bgcolor": "rgba(0,0,0,0)", "traceorder": "reversed"}
"""Where their names stand: perplexity falls, so that there is room at the top."""

NUMBERS_HEIGHT = 200
"""Pixels of a picture of what was measured at several numbers of topics."""


def bare_figure(height: int) -> go.Figure:
    """A picture with nothing in it, so many pixels high."""
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


def _measured(records: Sequence[Iteration]) -> list[Iteration]:
    """At most about `MOST_POINTS` of the records that have a perplexity, the last among them."""
    measured = [record for record in records if record.perplexity is not None]
    return measured[-1 :: -max(1, -(-len(measured) // MOST_POINTS))][::-1]


def perplexity_figure(records: Sequence[Iteration]) -> go.Figure:
    """Held-out perplexity against iterations: of each sample, and of their averages from where averaging began."""
    shown = _measured(records)
    averaged = [record for record in shown if record.averaged is not None]
    figure = bare_figure(PLOT_HEIGHT)
    if averaged:
        began, values = averaging_began(records), [one.averaged or 0.0 for one in averaged]
        low, high = min(values), max(one.perplexity or 0.0 for one in shown)
        if began and began > 0.4 * shown[-1].iteration:  # below the names of the lines
            high = low + 0.6 * (high - low)
        figure.add_scatter(
            x=[began, began], y=[low, high], name=AVERAGING_BEGINS, mode="lines", hoverinfo="skip",
            line={"color": _faint(), "width": 1, "dash": "dot"},
        )  # fmt: skip
    figure.add_scatter(
        x=[record.iteration for record in shown],
        y=[record.perplexity for record in shown],
        name=NOW,
        mode="lines",
        line={"color": _faint(), "width": 1.4} if averaged else {"color": chart_colour(0), "width": 2.4},
        customdata=["<br>".join(_in_force(record)) for record in shown],
        hovertemplate=f"{NOW if averaged else 'perplexity'} %{{y:,.1f}}<br>%{{customdata}}<extra></extra>",
    )
    if averaged:
        figure.add_scatter(
            x=[record.iteration for record in averaged],
            y=values,
            name=AVERAGED,
            mode="lines",
            line={"color": chart_colour(0), "width": 2.6, "simplify": False},
            hovertemplate=f"<b>{AVERAGED} %{{y:,.1f}}</b><extra></extra>",
        )
    figure.update_xaxes(
        title="iteration",
        hoverformat=",.0f",
        unifiedhovertitle={"text": "after %{x} iterations"},
        showspikes=False,
    )
    figure.update_layout(
        yaxis_title="perplexity", hovermode="x unified", hoverlabel={"font": {"size": 11}}, showlegend=bool(averaged),
        legend=LEGEND,
    )  # fmt: skip
    return figure


def _in_force(record: Iteration) -> list[str]:
    """What else there is to tell of an iteration: its speed, and the hyperparameters in force."""
    return [f"{record.tokens_per_second / 1e6:.1f} M words a second", *hyperparameter_words(record.hyperparameters)]


def perplexity_svg(records: Sequence[Iteration]) -> str:
    """The same lines as a plain drawing, for while they grow.

    Plotly takes a browser a tenth of a second and more to draw again, at every refresh, on the cores that the sampler uses; this
    takes next to nothing. When the run rests, `perplexity_figure` takes its place and can be pointed at.
    """
    shown = _measured(records)
    iterations = np.array([record.iteration for record in shown], float)
    now = np.array([record.perplexity for record in shown], float)
    averaged = np.array([record.averaged for record in shown], float)  # None: not a number
    there = ~np.isnan(averaged)
    low, high = float(np.fmin(now, averaged).min()), float(np.fmax(now, averaged).max())
    width, height, left, bottom, top = 300, PLOT_HEIGHT, 44, 34, 12

    def x(iteration: Any) -> Any:
        return left + (iteration - iterations[0]) / max(1.0, iterations[-1] - iterations[0]) * (width - left - 6)

    def line(at: NDArray[np.bool_], values: NDArray[np.float64], style: str) -> str:
        y = top + (high - values[at]) / max(1e-9, high - low) * (height - top - bottom)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(iterations[at]), y, strict=True))
        return f'<polyline points="{points}" fill="none" stroke-linejoin="round" {style}/>'

    ticks = "".join(
        f'<line x1="{left}" x2="{width}" y1="{at:.0f}" y2="{at:.0f}" stroke="currentColor" stroke-opacity=".1"/>'
        f'<text x="{left - 6}" y="{at + 4:.0f}" text-anchor="end">{value:,.0f}</text>'
        for value, at in ((high, top), ((high + low) / 2, (top + height - bottom) / 2), (low, height - bottom))
    )
    strong, faint = f'stroke="{chart_colour(0)}" stroke-width="2.4"', 'stroke="currentColor" stroke-opacity=".5"'
    lines = line(np.ones_like(there), now, faint if there.any() else strong)
    told = f"now {now[-1]:,.0f}"
    if there.any():
        told += f", averaged {averaged[there][-1]:,.0f}"
        began = x(max(averaging_began(records) or 0, iterations[0]))
        dots = f'{faint} stroke-dasharray="2 3"'
        names = width - 130  # from here on at the top they stand
        above = top + 54 if began > names - 6 else top
        lines += f'<line x1="{began:.1f}" x2="{began:.1f}" y1="{above}" y2="{height - bottom}" {dots}/>'
        lines += line(there, averaged, strong)
        for row, (name, style) in enumerate(((AVERAGED, strong), (NOW, faint), (AVERAGING_BEGINS, dots))):
            y = top + 14 + 16 * row
            lines += f'<line x1="{names}" x2="{names + 20}" y1="{y - 4}" y2="{y - 4}" {style}/>'
            lines += f'<text x="{names + 26}" y="{y}">{name}</text>'
    hint = "&#10;".join(hyperparameter_words(shown[-1].hyperparameters))
    return (
        f'<svg class="px-plot" viewBox="0 0 {width} {height}" role="img" aria-label="Held-out perplexity, {told}">'
        f"<title>{hint}</title>{ticks}{lines}"
        f'<text x="{left}" y="{height - 14}">{iterations[0]:,.0f}</text>'
        f'<text x="{width}" y="{height - 14}" text-anchor="end">{iterations[-1]:,.0f}</text>'
        f'<text x="{(left + width) / 2:.0f}" y="{height - 14}" text-anchor="middle">perplexity by iteration</text></svg>'
    )


def _faint() -> str:
    """Ink that steps back."""
    return "rgba(232,236,240,.5)" if is_dark() else "rgba(29,39,51,.5)"


def see_through(colour: str, opacity: float) -> str:
    """#rrggbb as rgba(...), so that a marker lets through what is under it but its label stays strong."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def plain_label(text: str) -> str:
    """Words and names for a picture, with nothing in them that Plotly would read as markup or as a placeholder."""
    return text.replace("%", "％").replace("<", "‹").replace("{", "(").replace("}", ")")


def numbers_figure(
    numbers: Sequence[int],
    means: Sequence[float | None],
    single: Sequence[Sequence[float]],
    recommended: int | None,
    form: str,
    limits: tuple[float, float] | None = None,
    close: float | None = None,
) -> go.Figure:
    """A measure of runs against their number of topics, the recommended number marked.

    Args:
        numbers: numbers of topics, rising; they stand at equal distances.
        means: the measure at each; None where it was not measured.
        single: the measure of the single runs at each, shown as small marks.
        recommended: one of the numbers.
        form: of the values, in d3's notation.
        limits: of the vertical axis; None: what the values need.
        close: the share of the smallest mean within which values are as good as it, shaded.
    """
    figure = bare_figure(NUMBERS_HEIGHT)
    places = range(len(numbers))
    ink = "#E8ECF0" if is_dark() else "#1D2733"
    marked = [number == recommended for number in numbers]
    if any(marked):
        figure.add_vline(
            x=marked.index(True), line_width=1, line_dash="dot", line_color=ink, opacity=0.5, layer="below"
        )
    if close is not None:
        best = min(mean for mean in means if mean is not None)
        figure.add_hrect(
            y0=best, y1=(1 + close) * best, line_width=0, fillcolor=see_through(chart_colour(0), 0.16), layer="below"
        )
    figure.add_scatter(
        x=[place for place in places for _ in single[place]],
        y=[value for values in single for value in values],
        mode="markers",
        marker={"size": 5, "color": see_through(chart_colour(0), 0.5)},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=list(places),
        y=list(means),
        mode="lines+markers",
        line={"color": chart_colour(0), "width": 2.2},
        marker={
            "size": [13 if mark else 8 for mark in marked],
            "symbol": ["diamond" if mark else "circle" for mark in marked],
            "color": [chart_colour(1) if mark else chart_colour(0) for mark in marked],
            "line": {"width": [1.5 if mark else 0 for mark in marked], "color": ink},
            "opacity": 1,
        },
        customdata=list(numbers),
        hovertemplate=f"%{{customdata}} topics: %{{y:{form}}}<extra></extra>",
    )
    figure.update_xaxes(
        title="topics", tickvals=list(places), ticktext=[f"{number:,}" for number in numbers], showgrid=False,
        range=[-0.35, len(numbers) - 0.65], fixedrange=True,
    )  # fmt: skip
    figure.update_yaxes(tickformat=form, nticks=5, range=limits, fixedrange=True)
    figure.update_layout(dragmode=False)
    return figure
