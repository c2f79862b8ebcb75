"""Colours, marks and style sheet. Each group has a colour AND a mark, so that nothing is told by colour alone."""

from __future__ import annotations

import html
import re
from pathlib import Path

import streamlit as st

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


def chart_colour(group: int) -> str:
    """Colour of a group in a chart, for the theme in use."""
    return GROUP_COLOURS[group % len(GROUP_COLOURS)][1 if is_dark() else 0]


def group_mark(group: int) -> str:
    """The sign that stands for a group beside its name."""
    return GROUP_MARKS[group % len(GROUP_MARKS)]


def is_dark() -> bool:
    """Whether the page is shown in the dark theme."""
    return getattr(st.context.theme, "type", None) == "dark"


def escaped(text: str) -> str:
    """Text of documents is data: it reaches the page escaped, always."""
    return html.escape(text, quote=True)


def plain_markdown(text: str) -> str:
    """Text for places that take Markdown, such as titles and messages, with nothing in it read as Markdown."""
    return re.sub(r"([\\`*_{}\[\]()#+!|<>~$:.-])", r"\\\1", text)


def group_name_html(group: int, name: str) -> str:
    """A group's mark and name, in its colour."""
    return (
        f'<span class="px-group" style="--group:{group_colour(group)}" title="{escaped(name)}">'
        f'<span aria-hidden="true">{group_mark(group)}</span> {escaped(name)}</span>'
    )


def logo() -> str:
    """The name with its sign, as SVG in the ink of the theme: one thing seen from two places."""
    ink, left, right = (
        ("#E8ECF0", *(GROUP_COLOURS[i][1] for i in (0, 1)))
        if is_dark()
        else ("#1D2733", *(GROUP_COLOURS[i][0] for i in (0, 1)))
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="32" viewBox="0 0 150 32">'
        f'<circle cx="13" cy="16" r="10" fill="{left}" fill-opacity=".85"/>'
        f'<circle cx="22" cy="16" r="10" fill="{right}" fill-opacity=".62"/>'
        f'<text x="40" y="23" font-family="Charter, Iowan Old Style, Noto Serif, Georgia, serif" font-size="21" '
        f'font-weight="600" fill="{ink}">Parallax</text></svg>'
    )


def apply_style() -> None:
    """Puts the style sheet on the page."""
    st.html(Path(__file__).with_name("style.css"))
