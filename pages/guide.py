"""What a topic is, what the model assumes, and how to be fooled."""

from __future__ import annotations

import streamlit as st

from pages.parts.guard import guarded


def page() -> None:
    """The page."""
    st.title("Guide")


with guarded():
    page()
