"""The two figures of the thesis that are drawn anew: perplexity against iteration, and distances between runs' topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.figures import DISTANCE_SCALE, line_style, styled
from benchmarks.thesis_findings import Curve
from benchmarks.thesis_runs import MARKS, THINNED
from benchmarks.thesis_topics import Matched

COLUMNS = 3
ROW_HEIGHT = 300


def perplexity_figure(curves: Mapping[str, Curve], title: str, reference: str) -> go.Figure:
    """Perplexity against iteration, each contestant a line; iterations on a logarithmic axis, as the thesis draws them.

    Below it, by how much each is above the reference, where lines that end together can be told apart.
    """
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.62, 0.38])
    for number, (name, curve) in enumerate(curves.items()):
        style = line_style(number)
        figure.add_scatter(x=list(curve), y=list(curve.values()), name=name, row=1, col=1, **style)
        base = curves[reference]
        excess = {iteration: 100 * (one / base[iteration] - 1) for iteration, one in curve.items() if iteration in base}
        figure.add_scatter(x=list(excess), y=list(excess.values()), showlegend=False, row=2, col=1, **style)
    styled(figure, title, height=720)
    last = max(max(curve) for curve in curves.values())
    ticks = [mark for mark in MARKS if mark <= last and mark not in THINNED]
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[str(mark) for mark in ticks])
    figure.update_xaxes(title="iteration (logarithmic)", row=2)
    figure.update_yaxes(title="held-out perplexity", row=1)
    figure.update_yaxes(title=f"above {reference}, %", row=2)
    figure.update_layout(legend={"x": 0.99, "xanchor": "right", "y": 0.99, "yanchor": "top"})
    return figure


def distances_figure(pairs: Sequence[Matched], title: str, reference: str) -> go.Figure:
    """Heat maps of distances between each run's topics and the reference's, matched pairs on the diagonal.

    Above each stand the run's name, its seed and the reference's, and the mean distance of matched topics.
    """
    rows = -(-len(pairs) // COLUMNS)
    names = [f"{pair.name}<br>seeds {pair.seed} and {pair.reference_seed}: {pair.mean:.3f}" for pair in pairs]
    figure = make_subplots(rows, COLUMNS, subplot_titles=names, horizontal_spacing=0.06, vertical_spacing=0.32 / rows)
    for place, pair in enumerate(pairs):
        row, column = place // COLUMNS + 1, place % COLUMNS + 1
        topics = list(range(1, len(pair.permutation) + 1))
        figure.add_heatmap(z=pair.aligned(), x=topics, y=topics, coloraxis="coloraxis", row=row, col=column)
        figure.update_yaxes(autorange="reversed", row=row, col=column)
    styled(figure, title, height=90 + 26 * title.count("<br>") + ROW_HEIGHT * rows)
    figure.update_annotations(font_size=14)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    figure.update_xaxes(title="its topics", title_standoff=4, row=rows)
    figure.update_yaxes(title=reference, title_standoff=4, col=1)
    figure.update_layout(
        coloraxis={
            "colorscale": DISTANCE_SCALE,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {"title": "distance", "thickness": 14},
        },
        margin={"t": 90 + 26 * title.count("<br>")},
    )
    return figure
