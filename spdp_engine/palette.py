"""Colours and marks of groups, on pages and in reports. Each group has both, so that nothing is told by colour alone."""

from __future__ import annotations

# Light and dark variants of twelve hues that stay apart for colour-blind readers, alternating in lightness.
GROUP_COLOURS = (
    ("#00716B", "#54C4BA"), ("#B4501B", "#F39A63"), ("#5646A3", "#AFA1F0"), ("#876A00", "#DCBE4E"),
    ("#A12C60", "#EE8DB5"), ("#24629F", "#84B9F2"), ("#4E6B16", "#A9CB6A"), ("#8C3B2E", "#F0A397"),
    ("#3D5A6C", "#A3C0D2"), ("#7A3E8E", "#D19FE3"), ("#6B5A45", "#CDB99F"), ("#2D6B4B", "#86CFA8"),
)  # fmt: skip
GROUP_MARKS = "●▲■◆★⬟✚▼⬢◗♠♣"


def group_colour(group: int) -> str:
    """CSS colour of a group, for both themes."""
    light, dark = GROUP_COLOURS[group % len(GROUP_COLOURS)]
    return f"light-dark({light}, {dark})"


def group_mark(group: int) -> str:
    """The sign that stands for a group beside its name."""
    return GROUP_MARKS[group % len(GROUP_MARKS)]
