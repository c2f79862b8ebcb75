"""The figure of `python -m benchmarks learning`: averaged perplexity against seconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from benchmarks.figures import line_style, styled
from benchmarks.learning_findings import WITHIN, Run, Runs
from benchmarks.learning_runs import DEFAULT

COLUMNS = 2
ROW_HEIGHT = 330

CLIMB = 20
"""Iterations before this one may lie outside the frame: the first fall would leave nothing to see of the rest."""

ROOM = 0.05
"""Above and below the lines, as a share of the frame."""


def fit_figure(title: str, runs: Runs) -> go.Figure:
    """Perplexity against seconds, both means over seeds at the same iteration: a panel to a corpus, a line to a variant.

    A dotted line is where the default's last perplexity is reached within `WITHIN`.
    """
    lines = -(-len(runs) // COLUMNS)
    figure = make_subplots(
        lines,
        min(COLUMNS, len(runs)),
        subplot_titles=list(runs),
        horizontal_spacing=0.11,
        vertical_spacing=0.24 / lines,
    )
    styled(figure, title, height=175 + ROW_HEIGHT * lines)
    for place, variants in enumerate(runs.values()):
        panel = {"row": place // COLUMNS + 1, "col": place % COLUMNS + 1}
        seen: list[float] = []
        for number, (name, own) in enumerate(variants.items()):
            iterations, seconds, fit = mean_trace(own)
            style = {**line_style(number), "mode": "lines"}
            figure.add_scatter(x=seconds, y=fit, name=name, showlegend=place == 0, **style, **panel)
            seen += fit[iterations >= min(CLIMB, iterations[-1] // 2)].tolist()
        goal = (1 + WITHIN) * float(np.mean([run.fit[-1] for run in variants[DEFAULT.name]]))
        figure.add_hline(goal, line={"color": "#7F7F7F", "width": 1.5, "dash": "dot"}, **panel)
        room = ROOM * (max(seen) - min(seen)) or 1.0
        figure.update_yaxes(range=[min(seen) - room, max(seen) + room], **panel)
    marks = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 3)]
    figure.update_xaxes(type="log", tickvals=marks, ticktext=[f"{mark:g}" for mark in marks], tickangle=0)
    figure.update_xaxes(title="seconds", row=lines)
    figure.update_yaxes(title="perplexity", col=1)
    legend = {"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0, "yref": "container", "yanchor": "bottom"}
    figure.update_layout(legend=legend, margin={"t": 80 + 26 * title.count("<br>"), "b": 115})
    return figure


def mean_trace(runs: Sequence[Run]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Iterations, seconds and fit of a variant's seeds, whose traces have the same points: [P] each, the latter two means."""
    seconds, fit = np.mean([run.seconds for run in runs], axis=0), np.mean([run.fit for run in runs], axis=0)
    return runs[0].iteration, seconds, fit
