"""HTML that is drawn again and again."""

from __future__ import annotations

from pathlib import Path

import streamlit as st


def live_html(body: str, key: str) -> str | None:
    """Shows HTML that changes in place when it is drawn again under the same key.

    `st.html` takes the old nodes away and cleans every new one, a thousand at a refresh of all topics; this changes the texts
    that differ. In exchange it cleans nothing: whatever comes from documents must be escaped in `body` already.

    Args:
        body: the HTML. Elements with an attribute data-pick can be clicked; let them be buttons, so that keys reach them.
        key: of the element on the page.

    Returns:
        The data-pick of the element that was clicked just now; None in every other run of the script.
    """
    picked: str | None = _component()(data=body, key=key, on_picked_change=lambda: None).picked
    return picked


@st.cache_resource(show_spinner=False)
def _component() -> st.components.v2.types.ComponentRenderer:
    script = Path(__file__).with_name("live_html.js").read_text(encoding="utf-8")
    return st.components.v2.component("parallax_live_html", js=script, isolate_styles=False)
