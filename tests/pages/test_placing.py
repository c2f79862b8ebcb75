"""Names of marks stand beside them, and over nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from pages.parts.placing import CHARACTER, GAP, LINE, PLACES, beside

AREA = 400.0, 300.0


def boxes(points: np.ndarray, radii: np.ndarray, names: list[str], places: list[str | None]) -> list[tuple[float, ...]]:
    """Where the names stand, worked out anew."""
    found = []
    for (x, y), r, name, place in zip(points, radii, names, places, strict=True):
        if place is None:
            continue
        width = CHARACTER * len(name)
        left = {"middle right": x + r + GAP, "middle left": x - r - GAP - width}.get(place, x - width / 2)
        top = {"top center": y - r - GAP - LINE, "bottom center": y + r + GAP}.get(place, y - LINE / 2)
        found.append((left, top, left + width, top + LINE))
    return found


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("seed", range(5))
def test_no_name_is_over_another_or_over_a_mark_or_outside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, radii = rng.uniform(0, AREA, (50, 2)), rng.uniform(8, 20, 50)
    names = ["x" * rng.integers(1, 24) for _ in range(50)]
    places = beside(points, radii, names, AREA, range(50))
    found = boxes(points, radii, names, places)
    marks = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(points, radii, strict=True)]
    assert 5 < len(found) < 50, "some fit, and in such a crowd not all"
    for number, box in enumerate(found):
        assert box[0] >= 0 and box[1] >= 0 and box[2] <= AREA[0] and box[3] <= AREA[1]
        assert not any(overlap(box, other) for other in [*found[:number], *marks])


def test_those_that_matter_most_have_their_place_first() -> None:
    points, radii = np.array([[200.0, 150.0], [205.0, 168.0]]), np.array([8.0, 8.0])
    wide = "x" * 40
    for order in ((0, 1), (1, 0)):
        places = beside(points, radii, [wide, wide], AREA, order)
        assert places[order[0]] is not None


def test_alone_it_stands_at_the_right_and_at_the_edge_elsewhere() -> None:
    for x, place in ((50.0, PLACES[0]), (390.0, PLACES[1])):
        assert beside(np.array([[x, 150.0]]), np.array([9.0]), ["harbour"], AREA, [0]) == [place]
    assert beside(np.array([[200.0, 150.0]]), np.array([9.0]), ["x" * 100], AREA, [0]) == [None]
    assert beside(np.empty((0, 2)), np.empty(0), [], AREA, []) == []
