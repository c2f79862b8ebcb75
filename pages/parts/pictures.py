"""Pictures on pages, each of which can be saved: a camera in its corner makes a PNG or an SVG of it."""

from __future__ import annotations

import re
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.parts.style import is_dark
from pages.parts.workspace import current

FORMATS = ("PNG", "SVG")
FORMAT = "picture_format"
"""Where the session keeps which of them the camera makes."""

SCALE = 2
"""Pixels of a saved PNG to one on the page, so that it is sharp in print and on a slide."""

HOW = (
    "The camera in the upper right corner of a picture saves it. PNG suits slides and messages; an SVG can be enlarged, and "
    "its words edited, in drawing programs."
)


def draw(figure: go.Figure, name: str, key: str, *, choice: bool = True, **kwargs: Any) -> Any:
    """Shows a picture that can be saved.

    Args:
        figure: the picture. It gets the page's ground, since what is saved without one cannot be read on every other.
        name: what it shows, in a few words, for the name of the file.
        key: of the element on the page.
        choice: whether the choice of PNG or SVG stands below; once is enough for pictures that stand together.
        kwargs: for `st.plotly_chart`.

    Returns:
        What `st.plotly_chart` does: the selection, where `on_select` asks for it.
    """
    figure.update_layout(paper_bgcolor=st.get_option(f"theme.{'dark' if is_dark() else 'light'}.backgroundColor"))
    options = {"format": _format().lower(), "filename": file_name(name), "scale": SCALE}
    config = {"modeBarButtons": [["toImage"]], "displaylogo": False, "toImageButtonOptions": options}
    shown = st.plotly_chart(figure, key=key, config=config, **kwargs)
    if choice:
        with st.container(
            horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="xsmall", key=f"px-format-{key}"
        ):  # fmt: skip
            st.html(f'<span class="px-caption px-hint" title="{HOW}">Saved as</span>', width="content")
            choose_format(key)
    return shown


def choose_format(key: str) -> None:
    """The choice of PNG or SVG, the same for all pictures of the session.

    Args:
        key: tells it from other such choices on the page.
    """
    own = f"{key}_{FORMAT}"

    def take() -> None:
        st.session_state[FORMAT] = st.session_state[own]

    st.session_state[own] = _format()
    st.segmented_control(
        "Save pictures as", FORMATS, key=own, on_change=take, required=True, help=HOW, label_visibility="collapsed"
    )


def file_name(what: str) -> str:
    """A name for a file that tells the program, the collection and what is in it, without characters that systems dislike."""
    parts = ("parallax", current().job_name or current().name, what)
    return "-".join(part for part in (re.sub(r"\W+", "-", part).strip("-").lower()[:60] for part in parts) if part)


def _format() -> str:
    """The format in use."""
    return str(st.session_state.get(FORMAT, FORMATS[0]))
