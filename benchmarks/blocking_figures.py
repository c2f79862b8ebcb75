"""Figures 1 to 3 of the blocking paper, of the runs measured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from benchmarks.blocking_findings import Traces
from benchmarks.figures import line_style, styled

CLIMB = 30
"""Iterations before this one may lie outside the frame: the first climb would leave nothing to see of the rest."""

LEGEND = {"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.16, "yanchor": "top"}


def traces_figure(title: str, traces: Mapping[str, Traces]) -> go.Figure:
    """Log posterior and perplexity against iterations: each run as a thin line, the mean of each sampler as a thick one."""
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.12)
    shown: tuple[list[float], list[float]] = ([], [])
    for number, (sampler, own) in enumerate(traces.items()):
        style = {**line_style(number), "mode": "lines"}
        measured = own.measured
        panels = ((own.iterations, own.log_posterior), (own.iterations[measured], own.perplexity[:, measured]))
        for column, (iterations, values) in enumerate(panels, start=1):
            thin = {"color": style["line"]["color"], "width": 0.8}
            for run in values:
                figure.add_scatter(
                    x=iterations, y=run, mode="lines", line=thin, opacity=0.3, showlegend=False, row=1, col=column
                )
            figure.add_scatter(
                x=iterations, y=values.mean(axis=0), name=sampler, showlegend=column == 1, row=1, col=column, **style
            )
            late = values[:, iterations >= min(CLIMB, iterations[-1] // 2)]
            shown[column - 1].extend((float(late.min()), float(late.max())))
    styled(figure, title)
    figure.update_xaxes(title="iteration")
    for column, text in ((1, "log posterior, unnormalised"), (2, "perplexity")):
        low, high = min(shown[column - 1]), max(shown[column - 1])
        margin = 0.04 * (high - low) or 1.0
        figure.update_yaxes(title=text, range=[low - margin, high + margin], row=1, col=column)
    figure.update_layout(legend=LEGEND)
    return figure


def timing_figure(times: Mapping[str, Mapping[int, Mapping[str, float]]], samplers: Sequence[str]) -> go.Figure:
    """Seconds a sweep against K, both on logarithmic axes: a panel to a corpus."""
    figure = make_subplots(rows=1, cols=len(times), subplot_titles=list(times), horizontal_spacing=0.12)
    for column, own in enumerate(times.values(), start=1):
        topics = np.array(sorted(own))
        for number, sampler in enumerate(samplers):
            seconds: NDArray[np.float64] = np.array([own[k].get(sampler, np.nan) for k in topics])
            figure.add_scatter(
                x=topics, y=seconds, name=sampler, showlegend=column == 1, row=1, col=column, **line_style(number)
            )
    styled(figure, "Seconds a sweep against the number of topics")
    ticks = sorted({k for own in times.values() for k in own})
    figure.update_xaxes(title="topics K", type="log", tickvals=ticks, ticktext=[str(k) for k in ticks])
    marks = [digit * 10.0**power for power in range(-5, 4) for digit in (1, 2, 5)]
    figure.update_yaxes(type="log", tickvals=marks, ticktext=[f"{mark:g}" for mark in marks])
    figure.update_yaxes(title="seconds", col=1)
    figure.update_layout(legend=LEGEND, margin_t=80)
    return figure
