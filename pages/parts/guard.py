"""No traceback on a page: what goes wrong is said in a sentence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException, StopException

from spdp_engine.errors import ParallaxError

log = logging.getLogger(__name__)


@contextmanager
def guarded() -> Iterator[None]:
    """Shows errors meant for people as they are, and any other as a sentence, with the traceback in the log."""
    try:
        yield
    except (RerunException, StopException):
        raise
    except ParallaxError as error:
        st.error(str(error), icon=":material/error:")
    except MemoryError:
        log.exception("out of memory")
        st.error(
            "This machine ran out of memory. Bring a smaller collection, or take fewer topics.", icon=":material/error:"
        )
    except Exception:
        log.exception("a page failed")
        st.error(
            "Something went wrong on this page; the log of the app says what. Your documents and runs are kept: reload the page to go on.",
            icon=":material/error:",
        )
