"""No traceback on a page: what goes wrong is said in a sentence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException, StopException

from pages.parts.style import plain_markdown
from spdp_engine.errors import ParallaxError

log = logging.getLogger(__name__)


def show_problem(sentence: str) -> None:
    """A sentence about what went wrong. It may quote names from files, so nothing in it is taken for markup."""
    st.error(plain_markdown(sentence), icon=":material/error:")


@contextmanager
def guarded() -> Iterator[None]:
    """Shows errors meant for people as they are, and any other as a sentence, with the traceback in the log."""
    try:
        yield
    except (RerunException, StopException):
        raise
    except ParallaxError as error:
        show_problem(str(error))
    except MemoryError:
        log.exception("out of memory")
        show_problem("This machine ran out of memory. Bring a smaller collection, or take fewer topics.")
    except Exception:
        log.exception("a page failed")
        show_problem(
            "Something went wrong on this page; the log of the app says what. "
            "Your documents and runs are kept: reload the page to go on."
        )
