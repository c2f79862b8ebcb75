"""What lists have chosen, where their labels may change."""

from __future__ import annotations

import numpy as np
import streamlit as st


def chosen_number(key: str) -> int | None:
    """The option of a list of numbers, such as topics, that is chosen under this key of the session.

    A browser names an option by its label. Where the label has changed since the browser drew it, as that of a topic does when it
    is named, Streamlit has the old label in the place of the option.

    Returns:
        None where nothing is chosen, or an option that is called otherwise now.
    """
    value = st.session_state.get(key)
    return int(value) if isinstance(value, int | np.integer) else None
