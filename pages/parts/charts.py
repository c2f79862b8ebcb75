"""Pictures: perplexity over iterations, and all topics at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.parts.cards import topic_name
from pages.parts.run_settings import hyperparameter_words
from pages.parts.style import chart_colour, is_dark
from spdp_engine.results import averaging_began
from spdp_engine.topics import Topics
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

SYMBOLS = ("circle", "square")
"""Marks of the two groups in the balance picture."""

HUNDREDTH_OF_A_POINT = 1e-4
"""Added to shares before their ratio is taken, so that a topic only one group has stays on the picture."""


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


def _measured(records: Sequence[Iteration]) -> list[Iteration]:
    """At most about `MOST_POINTS` of the records that have a perplexity, the last among them."""
    measured = [record for record in records if record.perplexity is not None]
    return measured[-1 :: -max(1, -(-len(measured) // MOST_POINTS))][::-1]


def perplexity_figure(records: Sequence[Iteration]) -> go.Figure:
    """Held-out perplexity against iterations: of each sample, and of their averages from where averaging began."""
    shown = _measured(records)
    averaged = [record for record in shown if record.averaged is not None]
    figure = _bare(PLOT_HEIGHT)
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


def balance_figure(topics: Topics, chosen: int) -> go.Figure:
    """Two groups: who talks about a topic more, against how far apart the wordings are. A click chooses a topic.

    Where the groups word topics alike, how much they talk about each takes the place of the wordings.

    The balance is the logarithm (base 2) of the ratio of the two shares, so that twice as much and half as much lie equally
    far from the middle.
    """
    first, second = topics.prevalence + HUNDREDTH_OF_A_POINT
    balance = np.log2(second / first)
    reach = max(1.15, 1.2 * float(np.abs(balance).max()))
    lean = (balance > 0).astype(int)
    ink = "#E8ECF0" if is_dark() else "#1D2733"
    height, what, told = topics.gap, "wording gap", "<br>wording gap %{y:.2f}"
    size = 17 + 22 * np.sqrt(topics.overall / max(float(topics.overall.max()), 1e-12))
    if topics.worded_alike:
        height, what, told, size = 100 * topics.overall, "% of the words", "", np.full(topics.n_topics, 24.0)
    figure = _bare(400)
    figure.add_scatter(
        x=balance,
        y=height,
        mode="markers+text",
        text=[str(topic + 1) for topic in range(topics.n_topics)],
        textfont={"size": 12, "color": ink},
        marker={
            "size": size,
            "color": [_see_through(chart_colour(side), 0.38) for side in lean],
            "opacity": 1,
            "symbol": [SYMBOLS[side] for side in lean],
            "line": {"width": [2.5 if topic == chosen else 0.5 for topic in range(topics.n_topics)], "color": ink},
        },
        customdata=[[topic_name(k), _plain(topics.label(k, 5)), first[k], second[k]] for k in range(topics.n_topics)],
        hovertemplate=(
            f"<b>%{{customdata[0]}}</b>: %{{customdata[1]}}<br>{_plain(topics.group_names[0])} %{{customdata[2]:.1%}}, "
            f"{_plain(topics.group_names[1])} %{{customdata[3]:.1%}}{told}<extra></extra>"
        ),
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    figure.add_vline(x=0, line_width=1, line_dash="dot", opacity=0.5)
    whole = range(-int(reach), int(reach) + 1, max(1, int(reach) // 3))
    figure.update_xaxes(
        range=[-reach, reach],
        tickvals=list(whole),
        ticktext=["equally" if v == 0 else f"{2 ** abs(v)}×" for v in whole],
    )
    left, right = (_short(name) for name in topics.group_names)
    for side, text in enumerate((f"← more {left}", f"more {right} →")):
        figure.add_annotation(
            x=side, y=1.02, xref="paper", yref="paper", xanchor=("left", "right")[side], yanchor="bottom",
            yshift=17 * (1 - side), showarrow=False, text=text, font={"color": chart_colour(side), "size": 13},
        )  # fmt: skip
    figure.update_yaxes(title=what)
    figure.update_layout(clickmode="event+select", dragmode=False, margin={"l": 8, "r": 8, "t": 46, "b": 8})
    return figure


def _see_through(colour: str, opacity: float) -> str:
    """#rrggbb as rgba(...), so that a marker lets through what is under it but its label stays strong."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _plain(text: str) -> str:
    """Words and names for a picture, with nothing in them that Plotly would read as markup or as a placeholder."""
    return text.replace("%", "％").replace("<", "‹").replace("{", "(").replace("}", ")")


def _short(name: str, length: int = 22) -> str:
    """A group's name short enough for half a chart."""
    name = _plain(name)
    return name if len(name) <= length else name[: length - 1] + "…"


def _short_names(names: Sequence[str]) -> list[str]:
    """Short names for the rows of a chart, no two alike: where they would be, their numbers tell them apart."""
    short = [_short(name) for name in names]
    return [f"{name} ({i + 1})" if short.count(name) > 1 else name for i, name in enumerate(short)]


def prevalence_figure(topics: Topics, order: Sequence[int]) -> go.Figure:
    """Any number of groups: a heat map of the topics' shares, groups below one another."""
    order = list(order)
    shares = topics.prevalence[:, order]
    figure = _bare(130 + 30 * len(topics.group_names))
    low, high = ("#1B232C", "#4DB8AF") if is_dark() else ("#F4F2EC", "#0B6E69")
    labels = [[f"{topic_name(k)}: {_plain(topics.label(k, 5))}" for k in order]] * len(topics.group_names)
    figure.add_heatmap(
        z=shares * 100,
        zmin=0,
        zmax=float(np.quantile(shares, 0.98)) * 100,  # one topic that is nearly all of a group must not pale the rest
        x=[str(k + 1) for k in order],
        y=_short_names(topics.group_names),
        colorscale=[[0, low], [1, high]],
        colorbar={"ticksuffix": " %", "thickness": 9, "outlinewidth": 0, "tickfont": {"size": 12}},
        customdata=labels,
        hovertemplate="<b>%{customdata}</b><br>%{y}: %{z:.1f} % of its words<extra></extra>",
        xgap=2,
        ygap=2,
    )
    figure.update_xaxes(title="topic", type="category", showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_layout(dragmode=False)
    return figure


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
    figure = _bare(NUMBERS_HEIGHT)
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
            y0=best, y1=(1 + close) * best, line_width=0, fillcolor=_see_through(chart_colour(0), 0.16), layer="below"
        )
    figure.add_scatter(
        x=[place for place in places for _ in single[place]],
        y=[value for values in single for value in values],
        mode="markers",
        marker={"size": 5, "color": _see_through(chart_colour(0), 0.5)},
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
