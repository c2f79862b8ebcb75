"""Where everything lies in the pictures of a report. What is drawn of it, in which colours, is in templates/pictures.html.

Lengths are units of a drawing `WIDTH` wide, about pixels on a desk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spdp_engine.topics import Topics

WIDTH = 760

HUNDREDTH_OF_A_POINT = 1e-4
"""Added to shares before their ratio is taken, so that a topic only one group has stays in the picture."""

LETTER = 6.6
"""Width of a letter of labels, about."""

ROW, ROWS_TOGETHER = 25, 28
"""Height of a row of a heat map, and rows of one drawing: as many as stay together on a printed page."""


@dataclass(frozen=True)
class Bubble:
    """A topic in the balance picture.

    Attributes:
        topic: its number.
        x: its middle.
        y: its middle.
        radius: as its share of all words.
        lean: 0 or 1, the group that talks about it more.
        sure: whether the wordings are further apart than by chance; None: not known.
        label: its name beside it; '' where there is no room.
        label_x: where the label begins, or ends where `anchor` says so.
        anchor: 'start' or 'end'.
        told: all of it in a sentence.
    """

    topic: int
    x: float
    y: float
    radius: float
    lean: int
    sure: bool | None
    label: str
    label_x: float
    anchor: str
    told: str


@dataclass(frozen=True)
class Balance:
    """Two groups: who talks about a topic more, from left to right, and how far apart the wordings are, upwards."""

    height: float
    left: float
    right: float
    top: float
    bottom: float
    middle: float
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    what: str
    bubbles: tuple[Bubble, ...]


@dataclass(frozen=True)
class Cell:
    """A share in the heat map: where it lies, how dark it is (0 to 1), and what it says."""

    x: float
    shade: float
    text: str
    told: str


@dataclass(frozen=True)
class Row:
    """A topic in the heat map."""

    topic: int
    y: float
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Heat:
    """Any number of groups: the topics' shares, a column to each group; tall ones come in several drawings."""

    width: float
    height: float
    head: float
    cell: float
    slanted: bool
    columns: tuple[tuple[float, int, str], ...] = field(repr=False)
    rows: tuple[Row, ...] = field(repr=False)


def balance(
    topics: Topics,
    order: Sequence[int],
    labels: Sequence[str],
    sure: Sequence[bool | None],
    percent: Callable[[float], str],
) -> Balance:
    """The picture of two groups.

    Where the groups word topics alike, how much they talk about each takes the place of the wordings.

    Args:
        topics: what was found.
        order: the topics that are drawn, those whose labels matter most first.
        labels: what each of them is called.
        sure: whether each of their gaps is more than chance.
        percent: how a share is written.
    """  # fmt: skip
    chosen = list(order)
    first, second = topics.prevalence[:, chosen] + HUNDREDTH_OF_A_POINT
    ratio = np.log2(second / first)
    alike = topics.worded_alike
    heights = 100 * topics.overall[chosen] if alike else topics.gap[chosen]
    reach = max(1.15, 1.2 * float(np.abs(ratio).max(initial=0.0)))
    steps = _steps(float(heights.min()), float(heights.max()))
    span = steps[-1] - steps[0]
    left, right, top, bottom, height = 58.0, WIDTH - 14.0, 40.0, 386.0, 440.0
    middle = (left + right) / 2
    xs = middle + ratio / reach * (right - left) / 2
    ys = bottom - (heights - steps[0]) / span * (bottom - top)
    radii = np.full(len(chosen), 11.0) if alike else 9 + 12 * np.sqrt(topics.overall[chosen] / topics.overall.max())
    places = _labels(xs, ys, radii, labels, left, right)
    bubbles = []
    for place, topic in enumerate(chosen):
        shown, x, anchor = places[place]
        shares = ", ".join(
            f"{name} {percent(share)}" for name, share in zip(topics.group_names, topics.prevalence[:, topic], strict=True)
        )  # fmt: skip
        told = f"{labels[place]}: {shares}" + ("" if alike else f", wording gap {topics.gap[topic]:.2f}")
        lean = int(ratio[place] > 0)
        bubbles.append(
            Bubble(topic, float(xs[place]), float(ys[place]), float(radii[place]), lean, sure[place], shown, x, anchor, told)
        )  # fmt: skip
    whole = range(-int(reach), int(reach) + 1, max(1, int(reach) // 3))
    across = tuple((middle + v / reach * (right - left) / 2, "equally" if v == 0 else f"{2 ** abs(v)}×") for v in whole)
    up = tuple((bottom - (value - steps[0]) / span * (bottom - top), f"{value:g}") for value in steps)
    what = "% of the words" if alike else "wording gap"
    bubbles.sort(key=lambda bubble: -bubble.radius)  # small ones lie on large ones
    return Balance(height, left, right, top, bottom, middle, across, up, what, tuple(bubbles))


def heat(
    topics: Topics, order: Sequence[int], labels: Sequence[str], percent: Callable[[float], str]
) -> tuple[Heat, ...]:
    """The picture of any number of groups. The arguments are those of `balance`."""
    shares = topics.prevalence
    darkest = (
        float(np.quantile(shares[:, list(order)], 0.98)) or 1.0
    )  # one topic that is most of a group must not pale the rest
    names = topics.group_names
    beside = 250.0
    cell = min(96.0, max(15.0, (WIDTH - beside) / len(names)))
    slanted = max(len(name) for name in names) * LETTER > cell
    head = 122.0 if slanted else 26.0
    columns = tuple((beside + (i + 0.5) * cell, i, _cut(name, 16 if slanted else 40)) for i, name in enumerate(names))
    rows = []
    for place, topic in enumerate(order):
        cells = tuple(
            Cell(
                beside + i * cell,
                min(1.0, float(shares[i, topic]) / darkest),
                percent(float(shares[i, topic])).rstrip("%") if cell >= 34 else "",
                f"{name}: {percent(float(shares[i, topic]))}",
            )
            for i, name in enumerate(names)
        )
        rows.append(Row(topic, head + place % ROWS_TOGETHER * ROW, _cut(labels[place], 36), cells))
    width = beside + len(names) * cell + (96 if slanted else 4)
    return tuple(
        Heat(width, head + len(some) * ROW + 4, head, cell, slanted, columns, tuple(some))
        for some in (rows[at : at + ROWS_TOGETHER] for at in range(0, len(rows), ROWS_TOGETHER))
    )


def _steps(lowest: float, highest: float) -> list[float]:
    """Round numbers from below the lowest value, but not below 0, to above the highest: from three to eight.

    They span a quarter of the highest at least, so that next to nothing does not look like much.
    """
    room = max(0.15 * (highest - lowest), (0.25 * highest - (highest - lowest)) / 2, 1e-3)
    low, high = max(0.0, lowest - room), highest + room
    rough = (high - low) / 5
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    return [round(step * i, 10) for i in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _labels(
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    radii: NDArray[np.float64],
    labels: Sequence[str],
    left: float,
    right: float,
) -> list[tuple[str, float, str]]:
    """For each bubble its label, where it stands and how it is anchored; '' where it would lie on another bubble or label."""
    taken = [(x - r, y - r, x + r, y + r) for x, y, r in zip(xs, ys, radii, strict=True)]
    placed = []
    for place, (x, y, radius) in enumerate(zip(xs, ys, radii, strict=True)):
        text = _cut(labels[place], 24)
        width = len(text) * LETTER
        sides = (("start", x + radius + 4, x + radius + 4, x + radius + 4 + width),
                 ("end", x - radius - 4, x - radius - 4 - width, x - radius - 4))  # fmt: skip
        others = [box for other, box in enumerate(taken) if other != place]
        for anchor, at, begin, end in sides:
            box = (begin, y - 8, end, y + 8)
            if begin >= left and end <= right and not any(_overlap(box, other) for other in others):
                taken.append(box)
                placed.append((text, float(at), anchor))
                break
        else:
            placed.append(("", float(x), "start"))
    return placed


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _cut(text: str, length: int) -> str:
    """A name short enough for a picture."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
