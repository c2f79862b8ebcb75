"""Colours, marks and style sheet. Each group has a colour AND a mark, so that nothing is told by colour alone."""

from __future__ import annotations

import html
import re
from pathlib import Path

import streamlit as st

from spdp_engine.palette import GROUP_COLOURS, group_colour, group_mark

TOPIC_MARKS = "○△□◇☆⬠▽◁▷⬡♤♧"
TOPIC_LINES = ("solid", "dashed", "dotted", "double", "wavy")


def chart_colour(group: int) -> str:
    """Colour of a group in a chart, for the theme in use."""
    return GROUP_COLOURS[group % len(GROUP_COLOURS)][1 if is_dark() else 0]


def topic_colour(topic: int) -> str:
    """CSS colour of a topic, for both themes. It follows the topic's number, and so stays for the life of a run.

    After twelve topics colours come again, with another `topic_mark` and `topic_line`: no two of the first 60 topics share all.
    """
    return group_colour(topic)


def topic_mark(topic: int) -> str:
    """The sign that stands for a topic beside its name: an outline, where the signs of groups are filled."""
    return TOPIC_MARKS[(topic + topic // len(GROUP_COLOURS)) % len(TOPIC_MARKS)]


def topic_line(topic: int) -> str:
    """How words of a topic are underlined where a text is coloured by topics: a CSS text-decoration-style."""
    return TOPIC_LINES[topic % len(TOPIC_LINES)]


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
    """Puts the style sheet on the page, and the theme on what Streamlit draws outside of it, drawers and menus."""
    st.html(Path(__file__).with_name("style.css"))
    st.html(f"<style>body {{ color-scheme: {'dark' if is_dark() else 'light'}; }}</style>")
