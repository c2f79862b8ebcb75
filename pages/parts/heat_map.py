"""All topics at a glance for any number of groups: a row to each topic, a column to each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages.parts.charts import bare_figure, plain_label
from pages.parts.overview import brief_name, short_name
from pages.parts.style import escaped, group_mark, group_name_html, is_dark
from pages.parts.workspace import Reading
from spdp_engine.topics import Topics

STRONGEST = 62
"""Per cent of the colour in the darkest cell: its figure is still read."""

QUANTILE = 0.98
"""Of the values, what is as dark as can be: one topic that is nearly all of a group pales no other."""

TOP, ROW = 125, 23
"""Pixels of the picture for the groups' names and of each of its rows."""

NAME, GROUP = 30, 14
"""Characters of a topic's and of a group's name in the picture."""

LEVEL_GROUPS = 4
"""So many groups have their names written level above it; more have them written upwards."""


@dataclass(frozen=True)
class Cells:
    """What a heat map shows.

    Attributes:
        order: topics, the first at the top.
        values: float64 [I, topics], NaN where there is nothing to tell.
        largest: what is as dark as can be.
        gaps: whether they are wording gaps; else shares in per cent.
    """

    order: tuple[int, ...]
    values: NDArray[np.float64]
    largest: float
    gaps: bool

    @classmethod
    def of(cls, topics: Topics, order: Sequence[int], gaps: bool) -> Cells:
        """Shares of each group's words in per cent, or how far its wording is from the others'."""
        there = list(order)
        values = group_gaps(topics)[:, there] if gaps else 100 * topics.prevalence[:, there]
        largest = max(float(np.quantile(values, QUANTILE)), 1e-9)
        if gaps:
            values = np.where(topics.tokens[:, there] > 0, values, np.nan)
        return cls(tuple(there), values, largest, gaps)

    def figure(self, value: float) -> str:
        """A value in its cell."""
        if np.isnan(value):
            return ""
        return f"{value:.2f}".removeprefix("0") if self.gaps else f"{value:.0f}"

    def told(self, value: float) -> str:
        """A value in words."""
        if np.isnan(value):
            return "says nothing on it"
        return f"{value:.2f} from the others’ wordings" if self.gaps else f"{value:.1f} % of its words"


def heat_map_html(reading: Reading, cells: Cells, chosen: int) -> str:
    """The heat map as a table; a click on a row, or its button, picks the topic.

    Args:
        reading: the topics.
        cells: what is shown.
        chosen: the topic that is read.
    """
    topics = reading.topics
    names = topics.group_names
    upwards = " px-upwards" if len(names) > LEVEL_GROUPS else ""
    heads = "".join(
        f'<th scope="col" title="{escaped(name)}"><div>{group_name_html(i, name)}</div></th>'
        for i, name in enumerate(names)
    )
    rows = "".join(_row_html(reading, cells, row, topic, chosen) for row, topic in enumerate(cells.order))
    return (
        f'<div class="px-heat{upwards}" tabindex="0" role="group" aria-label="Topics by groups"><table><thead><tr><td></td>{heads}'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row_html(reading: Reading, cells: Cells, row: int, topic: int, chosen: int) -> str:
    names = reading.topics.group_names
    told = escaped(f"{reading.name(topic)}: {reading.topics.label(topic, 5)}")
    current = ' aria-current="true"' if topic == chosen else ""
    figures = "".join(
        f'<td style="--part:{_strength(cells, value)}%" title="{escaped(names[i])}: {cells.told(value)}">{cells.figure(value)}</td>'
        for i, value in enumerate(cells.values[:, row].tolist())
    )
    return (
        f'<tr data-pick="{topic}"{current}><th scope="row"><button type="button" title="{told}"><i>{topic + 1}</i> '
        f"{escaped(brief_name(reading, topic))}</button></th>{figures}</tr>"
    )


def _strength(cells: Cells, value: float) -> int:
    """Per cent of the colour in a cell."""
    return 0 if np.isnan(value) else round(STRONGEST * min(1.0, value / cells.largest))


def heat_map_figure(reading: Reading, cells: Cells) -> go.Figure:
    """The same as a picture, to be saved."""
    topics, groups = reading.topics, len(reading.topics.group_names)
    figure = bare_figure(TOP + ROW * len(cells.order))
    low, high = ("#12171D", "#4DB8AF") if is_dark() else ("#FCFBF8", "#0B6E69")
    rows, columns = np.arange(len(cells.order)), np.arange(groups)
    figure.add_heatmap(
        z=cells.values.T,
        zmin=0,
        zmax=cells.largest * 100 / STRONGEST,
        x=columns,
        y=rows,
        colorscale=[[0, low], [1, high]],
        showscale=False,
        text=[[cells.figure(value) for value in line] for line in cells.values.T.tolist()],
        texttemplate="%{text}",
        textfont={"size": 10},
        hoverinfo="skip",
        xgap=2,
        ygap=2,
    )
    heads = [f"{group_mark(i)} {name}" for i, name in enumerate(_short_names(topics.group_names, GROUP))]
    figure.update_xaxes(
        side="top", tickvals=columns, ticktext=heads, tickangle=-90 if groups > LEVEL_GROUPS else 0, ticklabeloverflow="allow",
        showgrid=False, range=[-0.5, groups - 0.5],
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=rows, showgrid=False, range=[len(rows) - 0.5, -0.5], tickfont={"size": 12},
        ticktext=[plain_label(short_name(f"{topic + 1} {brief_name(reading, topic)}", NAME)) for topic in cells.order],
    )  # fmt: skip
    figure.update_layout(dragmode=False)
    return figure


def group_gaps(topics: Topics) -> NDArray[np.float64]:
    """How far each group's wording of each topic is from the others': the mean of its distances from them, float64 [I, K]."""
    groups = len(topics.group_names)
    mean: NDArray[np.float64] = topics.distances.sum(axis=2).T / max(1, groups - 1)
    return mean


def _short_names(names: Sequence[str], length: int) -> list[str]:
    """Short names, no two alike: where they would be, their numbers tell them apart."""
    short = [short_name(name, length) for name in names]
    return [f"{name} ({i + 1})" if short.count(name) > 1 else name for i, name in enumerate(short)]
