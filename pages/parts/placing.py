"""Where names of marks fit in a picture: each beside its mark, none over another name or mark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CHARACTER, LINE = 6.2, 14.0
"""Pixels of a character of small print, about, and of a line of it."""

GAP = 3.0
"""Pixels between a mark and its name."""

PLACES = ("middle right", "middle left", "top center", "bottom center")
"""Where a name may stand, the best first, as Plotly calls it."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def beside(
    points: NDArray[np.float64],
    radii: NDArray[np.float64],
    names: Sequence[str],
    area: tuple[float, float],
    order: Sequence[int],
) -> list[str | None]:
    """A place for each name, where one is free.

    Args:
        points: float64 [n, 2], the middles of marks, in pixels from the left and from the top.
        radii: float64 [n], of the marks, in pixels.
        names: n names.
        area: width and height of the picture in pixels.
        order: the n numbers of the marks, those first whose names matter most.

    Returns:
        For each mark one of `PLACES`; None where its name fits nowhere.
    """
    taken: list[Box] = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(points.tolist(), radii.tolist(), strict=True)]
    places: list[str | None] = [None] * len(names)
    for i in order:
        if not names[i]:
            continue
        others = [box for j, box in enumerate(taken) if j != i]
        for place in PLACES:
            box = _box(place, points[i], float(radii[i]), CHARACTER * len(names[i]))
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= area[0] and box[3] <= area[1]
            if inside and not any(_overlap(box, other) for other in others):
                places[i] = place
                taken.append(box)
                break
    return places


def _box(place: str, point: NDArray[np.float64], radius: float, width: float) -> Box:
    x, y = float(point[0]), float(point[1])
    away = radius + GAP
    if place == "middle right":
        return x + away, y - LINE / 2, x + away + width, y + LINE / 2
    if place == "middle left":
        return x - away - width, y - LINE / 2, x - away, y + LINE / 2
    top = y - away - LINE if place == "top center" else y + away
    return x - width / 2, top, x + width / 2, top + LINE


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
