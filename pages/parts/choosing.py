"""How many topics? Several numbers are compared in the background, and one of them can be taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from pages.parts.charts import numbers_figure
from pages.parts.guard import guarded, show_problem
from pages.parts.live_html import live_html
from pages.parts.pictures import draw
from pages.parts.run_settings import RunSettings
from pages.parts.style import plain_markdown
from pages.parts.workspace import REFRESH_SECONDS, Workspace, registry
from spdp_engine.choosing import CLOSE, Candidate, Choosing, ChoosingStatus, Fit, Plan, levelled, plan_for, recommend
from spdp_engine.errors import ParallaxError, SettingsError
from spdp_engine.jobs import ACTIVE, JobState
from spdp_engine.sampling import SamplerSettings

CHOSEN_SETTINGS = "chosen_settings"
"""Where the session keeps what was last chosen for a run: its `RunSettings`, or why it cannot be had."""

TAKEN_TOPICS = "taken_topics"
"""Where the session keeps a number that was taken, until the field of the form has it."""


@dataclass(frozen=True)
class _Measure:
    """What is shown of every number of topics.

    Attributes:
        name: what people call it.
        better: which direction is.
        about: what it is, in a sentence.
        mean: reads it off a number of topics.
        single: reads the single fits' off all of them; none where it is not a fit's own.
        form: of its values in charts, in d3's notation.
        column: the same in tables, in printf's.
        limits: of the vertical axis.
        close: the share above the smallest value within which others are as good.
    """

    name: str
    better: str
    about: str
    mean: Callable[[Candidate], float | None]
    single: Callable[[Sequence[Candidate]], Sequence[Sequence[float]]]
    form: str
    column: str
    limits: tuple[float, float] | None = None
    close: float | None = None


def _of_fits(read: Callable[[Fit], float | None]) -> Callable[[Sequence[Candidate]], Sequence[Sequence[float]]]:
    """Reads a measure off the single fits of every candidate, where it was measured."""
    return lambda candidates: [
        [value for fit in candidate.fits if (value := read(fit)) is not None] for candidate in candidates
    ]


MEASURES = (
    _Measure(
        "Perplexity", "lower is better",
        f"How surprising unseen words are. Shaded: within {100 * CLOSE:g} % of the best.",
        lambda candidate: candidate.perplexity, levelled, ",.0f", "%.0f", close=CLOSE,
    ),
    _Measure(
        "Coherence", "higher is better",
        "Whether a topic's main words keep company in the texts (NPMI).",
        lambda candidate: candidate.coherence, _of_fits(lambda fit: fit.coherence), ".2f", "%.3f",
    ),
    _Measure(
        "Diversity", "higher is better",
        "How many main words belong to one topic alone (0 to 1).",
        lambda candidate: candidate.diversity, _of_fits(lambda fit: fit.diversity), ".1f", "%.2f", limits=(0, 1.06),
    ),
    _Measure(
        "Stability", "higher is better",
        "Whether another seed finds the same gaps in wording (0 to 1).",
        lambda candidate: candidate.stability, _of_fits(lambda _: None), ".1f", "%.2f", limits=(0, 1.06),
    ),
)  # fmt: skip


def choosing_section(workspace: Workspace) -> None:
    """The section: what it offers, how far a comparison is, or what it has found."""
    if workspace.corpus is None:
        return
    choosing = workspace.choosing
    state = choosing.status().state if choosing else JobState.STOPPED
    if choosing is None or (state is JobState.STOPPED and not choosing.candidates()):
        st.html(
            '<p class="px-quiet">Several numbers can be tried: each is fitted with two seeds, on a sample where there are many '
            "documents, and measured. That takes about a minute, and may be cancelled.</p>"
        )
        _offer(workspace)
    elif state in ACTIVE:
        _going_on(choosing)
        if st.button("Cancel", icon=":material/close:", key="choosing_cancel"):
            choosing.cancel()
            st.rerun()
    else:
        _found(workspace, choosing)


# --- before


def _offer(workspace: Workspace) -> None:
    """Which numbers, and the button that begins."""
    corpus = workspace.corpus
    assert corpus is not None
    plan = plan_for(corpus, workspace.suggested_topics)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Numbers to compare", ", ".join(map(str, plan.numbers)), key=f"choosing_numbers_{plan.numbers}", width=260
        )
        begin = st.button("Compare numbers of topics", icon=":material/query_stats:")
    if begin:
        with guarded():
            _begin(workspace, replace(plan, numbers=_read_numbers(text)))


def _read_numbers(text: str) -> tuple[int, ...]:
    """Whole numbers in rising order from what a person wrote.

    Raises:
        SettingsError: something in it is none.
    """
    parts = [part for part in re.split(r"[\s,;]+", text) if part]
    for part in parts:
        if not re.fullmatch(r"[0-9]{1,6}", part):
            raise SettingsError(
                f"“{part[:40]}” is not a number of topics. Give whole numbers with commas between them, such as 5, 10, 20."
            )
    return tuple(sorted({int(part) for part in parts}))


def _begin(workspace: Workspace, plan: Plan) -> None:
    """Starts a comparison with what is chosen for a run.

    Raises:
        ParallaxError: that cannot be had, or there is nothing to compare.
    """
    corpus = workspace.corpus
    assert corpus is not None
    chosen: RunSettings | ParallaxError | None = st.session_state.get(CHOSEN_SETTINGS)
    if isinstance(chosen, ParallaxError):
        raise chosen
    settings = chosen.sampler if chosen else SamplerSettings()
    workspace.compare_numbers(Choosing(corpus, settings, registry().queue, plan))
    st.rerun()


# --- while it goes on


@st.fragment(run_every=REFRESH_SECONDS)
def _going_on(choosing: Choosing) -> None:
    """How far it is, and what is measured already, again and again until it is over."""
    with guarded():
        status = choosing.status()
        live_html(_progress_html(status) + _rows_html(choosing.candidates()), key="choosing")
        if status.state not in ACTIVE:
            st.rerun()


def _progress_html(status: ChoosingStatus) -> str:
    words = f"Fitting {status.topics} topics" if status.topics else "Getting ready"
    if status.state is JobState.WAITING:
        before = status.waiting_before
        words = (
            f"Waiting: {before} run{'s' if before > 1 else ''} before this one" if before else "Waiting for its turn"
        )
    elif status.seconds_left is not None and status.fits_done:
        left = status.seconds_left
        words += f", {left:.0f} s left" if left < 90 else f", {left / 60:.0f} min left"
    return (
        f'<div role="group" aria-label="Comparison"><div class="px-quiet">{words}</div>'
        f'<div class="px-progress"><div style="width:{100 * status.share:.1f}%"></div></div>'
        f'<p class="px-caption">{status.fits_done} of {status.fits} fits are measured.</p></div>'
    )


def _rows_html(candidates: Sequence[Candidate]) -> str:
    """What is measured so far as a plain table."""
    if not candidates:
        return ""
    head = "".join(f"<th>{measure.name}</th>" for measure in MEASURES)
    rows = "".join(
        f"<tr><td>{candidate.topics}</td>{''.join(f'<td>{_value(measure, candidate)}</td>' for measure in MEASURES)}</tr>"
        for candidate in candidates
    )
    return f'<table class="px-table"><thead><tr><th>Topics</th>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _value(measure: _Measure, candidate: Candidate) -> str:
    value = measure.mean(candidate)
    return "–" if value is None else measure.column % value


# --- when it is over


def _found(workspace: Workspace, choosing: Choosing) -> None:
    """The recommendation, the pictures and the table of what was measured."""
    status, candidates = choosing.status(), choosing.candidates()
    if status.state is JobState.FAILED:
        show_problem(status.error)
    elif status.state is JobState.STOPPED:
        st.caption("The comparison was cancelled. This was measured before.")
    advice = recommend(candidates)
    with st.container(border=True) if advice else st.container():
        if advice:
            st.markdown(f"**{advice.topics} topics are recommended.** {plain_markdown(advice.reason)}")
        with st.container(horizontal=True):
            if advice and st.button(
                f"Take {advice.topics} topics", type="primary", icon=":material/check:", key="choosing_take"
            ):
                workspace.suggested_topics = st.session_state[TAKEN_TOPICS] = advice.topics
                st.rerun()
            with st.popover("Compare again", icon=":material/restart_alt:"):
                _offer(workspace)
    if advice:
        _pictures(candidates, advice.topics)
    if candidates:
        _table(candidates)
        st.caption(_measured_on(choosing))


def _pictures(candidates: Sequence[Candidate], recommended: int) -> None:
    """A picture of each measure, two beside one another."""
    numbers = [candidate.topics for candidate in candidates]
    places = [place for _ in range(0, len(MEASURES), 2) for place in st.columns(2, gap="medium")]
    for place, measure in zip(places, MEASURES, strict=True):
        means = [measure.mean(candidate) for candidate in candidates]
        with place:
            st.html(
                f'<div><b>{measure.name}</b> <span class="px-quiet">{measure.better}</span></div>'
                f'<div class="px-caption">{measure.about}</div>'
            )
            if all(mean is None for mean in means):
                st.caption("Not measured: the groups word all topics alike.")
                continue
            figure = numbers_figure(
                numbers, means, measure.single(candidates), recommended, measure.form, measure.limits, measure.close
            )
            draw(
                figure,
                f"{measure.name} by number of topics",
                f"choosing_{measure.name}",
                choice=measure is MEASURES[-1],
            )


def _table(candidates: Sequence[Candidate]) -> None:
    """The same in numbers; a click on a column's head sorts it."""
    table = pd.DataFrame(
        {
            "Topics": [candidate.topics for candidate in candidates],
            **{measure.name: [measure.mean(candidate) for candidate in candidates] for measure in MEASURES},
            "Seconds": [candidate.seconds for candidate in candidates],
        }
    )
    columns = {
        measure.name: st.column_config.NumberColumn(
            format=measure.column, help=f"{measure.about} {measure.better.capitalize()}."
        )
        for measure in MEASURES
    }
    seconds = st.column_config.NumberColumn(format="%.1f", help="What one fit took.")
    st.dataframe(table, hide_index=True, column_config={**columns, "Seconds": seconds})


def _measured_on(choosing: Choosing) -> str:
    """What was fitted, and how often."""
    corpus, plan = choosing.corpus, choosing.plan
    documents, tokens = choosing.sampled or (corpus.n_documents, corpus.n_tokens)
    whole = documents == corpus.n_documents
    on = "all" if whole else f"a sample of {documents:,} of the"
    return (
        f"Measured on {on} {corpus.n_documents:,} {corpus.things} ({tokens:,} words), with {plan.seeds} runs of {plan.iterations} "
        "iterations for each number. Small dots: single runs; in perplexity brought to one level, since each is tested on other "
        f"words.{'' if whole else ' All {corpus.things} together may carry more topics than the sample.'}"
    )
