"""Watch topics form: start a run, see perplexity fall and every topic fill with words, pause, stop, run longer."""

from __future__ import annotations

import threading

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.cards import alike_sentence, averaging_html, cards_html, read_card_pick
from pages.parts.charts import perplexity_figure, perplexity_svg
from pages.parts.choosing import CHOSEN_SETTINGS, TAKEN_TOPICS, choosing_section
from pages.parts.evidence import evidence_line
from pages.parts.guard import guarded, show_problem
from pages.parts.live_html import live_html
from pages.parts.pictures import draw
from pages.parts.quality import quality_html, quality_section
from pages.parts.run_settings import RunSettings, choose_settings, hyperparameter_words, method_html
from pages.parts.style import escaped, plain_markdown
from pages.parts.topic_list import lead_to
from pages.parts.workspace import REFRESH_SECONDS, Reading, Workspace, current, registry
from spdp_engine.corpus import Corpus
from spdp_engine.errors import ParallaxError
from spdp_engine.jobs import ACTIVE, Job, JobState, JobStatus
from spdp_engine.sampling import SamplerSettings, memory_for, model_named, warm_up
from spdp_engine.topics.telling import words_are_known
from spdp_engine.types import Iteration

MORE_ITERATIONS = 200
FIRST_WORDS_SECONDS = 1.5
"""So long Start waits for the first words before it draws the page without them."""
ORDERS = {"number": "By number", "prevalence": "Most talked about", "gap": "Most differently worded"}

PERPLEXITY = "Perplexity: how surprised the model is by words it has not seen. Lower is better; flat means done."
LEARNED = (
    "The model’s hyperparameters. They are drawn anew between sweeps, given the topics as they stand, unless they are fixed in the "
    "advanced settings."
)
NOT_MEASURED = "Perplexity is not measured, since no documents were held out for it."

STATE_WORDS = {
    JobState.WAITING: "waiting for its turn",
    JobState.PREPARING: "getting ready",
    JobState.RUNNING: "running",
    JobState.PAUSED: "paused",
    JobState.FINISHED: "finished",
    JobState.STOPPED: "stopped",
    JobState.FAILED: "failed",
}


def page() -> None:
    """The page."""
    workspace = current()
    if workspace.corpus is None and workspace.job is None:
        st.title("Explore")
        st.html(
            '<p class="px-lead">There are no documents yet. Bring some, or open a sample; then topics can be found.</p>'
        )
        if st.button("Choose documents", type="primary", icon=":material/library_books:"):
            st.switch_page("pages/documents.py")
        return
    st.title(plain_markdown(workspace.job_name if workspace.job else workspace.name))
    if workspace.job is None:
        control, rest = _layout()
        with control:
            _start_form(workspace)
        with rest:
            _before(workspace)
    else:
        _run(workspace, workspace.job)


def _layout() -> tuple[DeltaGenerator, DeltaGenerator]:
    """A narrow column of controls, and the rest."""
    control, rest = st.columns([1, 3], gap="large")
    return control, rest


# --- before a run


def _before(workspace: Workspace) -> None:
    corpus = workspace.corpus
    assert corpus is not None
    groups = ", ".join(corpus.group_names[:6]) + (" …" if corpus.n_groups > 6 else "")
    st.html(
        f'<p class="px-lead">{corpus.told} are ready: {escaped(groups)}. Press Start, and topics appear '
        "here within seconds: a card for each, with a column of words for every group. They get better while the run goes "
        "on, and you may stop whenever they are good enough.</p>"
    )
    st.subheader("How many topics?")
    choosing_section(workspace)


@st.fragment
def _start_form(workspace: Workspace) -> None:
    """What a run begins with. Drawn by itself when a setting changes, since settings decide which others there are."""
    with guarded():
        corpus = workspace.corpus
        assert corpus is not None
        topics = _topics_field(workspace)
        start = st.button("Start", type="primary", icon=":material/play_arrow:", width="stretch")
        answer = st.container()
        with st.expander("Advanced settings"):
            chosen = st.session_state[CHOSEN_SETTINGS] = choose_settings(workspace, topics)
        with answer:
            if isinstance(chosen, ParallaxError):
                show_problem(str(chosen))
                return
            memory = memory_for(corpus, chosen.sampler)
            st.caption(
                f"{topics} {'topic' if topics == 1 else 'topics'} will take about {max(1, memory / 2**20):,.0f} MB of memory."
            )
            if method := method_html(chosen.sampler, chosen.associations):
                st.html(method)
            if start:
                _start(workspace, corpus, chosen)
        if workspace.job is None:
            new = chosen.sampler
            associated = new.associations is not None
            key = (
                f"{workspace.key} {id(corpus)} {associated} {new.model} {new.schedule} {new.repeats} {new.topics} {new.priors} "
                f"{new.device}"
            )
            _warm_up(new, corpus, key)


def _topics_field(workspace: Workspace) -> int:
    """How many topics: as suggested, until another number is given here or taken from a comparison."""
    if TAKEN_TOPICS in st.session_state:
        taken = st.session_state["topics"] = st.session_state.pop(TAKEN_TOPICS)
        st.toast(f"{taken} topics are taken for the next run.", icon=":material/check:")
    st.session_state.setdefault("topics", workspace.suggested_topics)
    return int(
        st.number_input("How many topics?", 1, 1000, key="topics", help="20 is a good start; more topics are narrower.")
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _warm_up(_settings: SamplerSettings, _corpus: Corpus, key: str) -> threading.Thread:
    """Does what a run begins with in the background, while the person reads the page; once for each key."""
    thread = threading.Thread(target=warm_up, args=(_settings, _corpus), daemon=True)
    thread.start()
    return thread


def _start(workspace: Workspace, corpus: Corpus, chosen: RunSettings) -> None:
    job = Job(corpus, chosen.sampler, chosen.iterations, registry().queue)
    workspace.suggested_topics = chosen.sampler.topics
    workspace.start(job, chosen.associations)
    job.wait_for_sample(FIRST_WORDS_SECONDS)
    st.rerun()


# --- while it runs


def _run(workspace: Workspace, job: Job) -> None:
    """The cards and figures of a run. While it is active they are drawn again and again, and nothing else is: what a refresh costs
    is time that the sampler would like to have."""
    bar = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    reading = workspace.reading()
    order = _order(bar, reading)
    state = (
        job.status().state
    )  # once, since a run that ended between two looks would leave its buttons and its refreshing at odds
    _buttons(bar, workspace, job, state)
    if state in ACTIVE:
        _refreshing(workspace, job, order, reading is not None)
    else:
        _resting(workspace, job, order)
        if rested := workspace.resting():
            with st.expander(
                "How good are the topics?", icon=":material/verified:", expanded=bool(workspace.reference)
            ):
                quality_section(workspace, rested)
        if workspace.corpus is not None:
            with st.expander(
                "How many topics?", icon=":material/query_stats:", expanded=workspace.choosing is not None
            ):
                choosing_section(workspace)


@st.fragment(run_every=REFRESH_SECONDS)
def _refreshing(workspace: Workspace, job: Job, order: str, had_topics: bool) -> None:
    """The run as it is now, in one piece of HTML, again and again until it rests."""
    with guarded():
        status, records = job.status(), job.records()
        figures = _progress_html(workspace, job, status)
        if _measured(records):
            figures += f'{perplexity_svg(records)}<p class="px-caption">{PERPLEXITY}</p>'
        live_html(
            f'<div class="px-run"><div>{figures}</div><div>{_cards_html(workspace, job, status, order)}</div></div>',
            key="run",
        )
        if status.state not in ACTIVE or (not had_topics and workspace.reading()):
            st.rerun()  # the whole page, so that the refreshing ends and the buttons change, or the orders suit the topics


def _resting(workspace: Workspace, job: Job, order: str) -> None:
    """The same of a run that has ended or paused, with a plot that can be pointed at."""
    status, records = job.status(), job.records()
    figures, rest = _layout()
    with rest:
        picked = live_html(_cards_html(workspace, job, status, order), key="cards")
    if picked:
        lead_to(*read_card_pick(picked))
        st.switch_page("pages/compare.py")
    with figures:
        st.html(_progress_html(workspace, job, status))
        evidence_line(workspace)
        if status.state is JobState.FAILED:
            show_problem(status.error)
        if reading := workspace.resting():
            st.html(quality_html(workspace, reading))
        if _measured(records):
            draw(perplexity_figure(records), "perplexity", "perplexity")
        if records:
            st.caption(PERPLEXITY if _measured(records) else NOT_MEASURED)


def _measured(records: tuple[Iteration, ...]) -> bool:
    return any(record.perplexity is not None for record in records)


def _order(place: DeltaGenerator, reading: Reading | None) -> str:
    """The order of the cards, of the person's choice; by wording only where groups word topics differently."""
    alike = reading is not None and reading.topics.worded_alike
    by = place.segmented_control(
        "Order of the topics", [order for order in ORDERS if order != "gap" or not alike], default="number", required=True,
        format_func=ORDERS.__getitem__, key="card_order_alike" if alike else "card_order", label_visibility="collapsed",
        persist_state="session",
    )  # fmt: skip
    return str(by or "number")


def _cards_html(workspace: Workspace, job: Job, status: JobStatus, order: str) -> str:
    """The topics as they are now."""
    reading = workspace.reading()
    if reading is None:
        soon = "The first words will be here in a moment …" if status.state in ACTIVE else "There were no topics yet."
        return f'<p class="px-lead">{soon}</p>'
    topics = reading.topics
    legend = '<span class="px-own">word</span>: used clearly more by this group than by the others on this topic.'
    if topics.worded_alike:
        legend = escaped(alike_sentence(model_named(job.settings.model).title, topics))
    elif words_are_known(workspace.findings()):
        legend += ' <span class="px-unsure">word</span>: so it seems, but that may be chance.'
    resting = status.state not in ACTIVE
    if hidden := len(workspace.view.hidden - workspace.view.merged.keys()):
        legend += f" {hidden} {'topic is' if hidden == 1 else 'topics are'} hidden; the page Compare shows them again."
    cards = cards_html(
        reading, reading.order(order), workspace.findings(), reading.quality if resting else None, clickable=resting
    )
    averaging = averaging_html(reading.model.sample, job.records())
    click = " Click a name or a word to compare the groups on it." if resting else ""
    return f'<p class="px-legend">{legend} {averaging}{click}</p>{cards}'


def _progress_html(workspace: Workspace, job: Job, status: JobStatus) -> str:
    """How far the run is, its figures, and its model and schedule where they are not the usual ones."""
    last = status.last
    left = status.seconds_left
    words = STATE_WORDS[status.state]
    if status.state is JobState.WAITING and status.waiting_before:
        words = f"waiting: {status.waiting_before} run{'s' if status.waiting_before > 1 else ''} before this one"
    elif status.state is JobState.RUNNING and left is not None:
        words = f"running, {left:.0f} s left" if left < 90 else f"running, {left / 60:.0f} min left"
    figures = [(f"{status.iteration:,}", f"of {status.target:,} iterations")]
    if last and last.averaged is not None:
        figures.append((f"{last.averaged:,.0f}", "averaged perplexity"))
    elif last and last.perplexity is not None:
        figures.append((f"{last.perplexity:,.0f}", "perplexity"))
    if last:
        figures.append((f"{last.tokens_per_second / 1e6:.1f} M", "words a second"))
    done = 100 * status.iteration / max(1, status.target)
    cells = "".join(f"<div><b>{value}</b><span>{label}</span></div>" for value, label in figures)
    return (
        f'<div role="group" aria-label="Progress"><div class="px-quiet">{words[:1].upper() + words[1:]}</div>'
        f'<div class="px-progress"><div style="width:{min(100.0, done):.1f}%"></div></div>'
        f'<div class="px-stats">{cells}</div>{method_html(job.settings, workspace.job_associations)}'
        f"{_hyperparameters_html(job, last)}</div>"
    )


def _hyperparameters_html(job: Job, last: Iteration | None) -> str:
    """What is learned, as it is after the newest iteration; '' where all of it was given."""
    if last is None or not job.settings.learn:
        return ""
    learned = {name: value for name, value in last.hyperparameters.items() if name not in job.settings.fixed}
    told = " · ".join(hyperparameter_words(learned))
    return f'<div class="px-method"><span class="px-hint" title="{LEARNED}">Learned</span>: {told}</div>'


def _buttons(place: DeltaGenerator, workspace: Workspace, job: Job, state: JobState) -> None:
    """What can be done with the run in that state."""
    row = place.container(horizontal=True, width="content")
    if state in ACTIVE:
        if row.button("Pause", icon=":material/pause:"):
            job.pause()
            job.wait(2)
            st.rerun()
        if row.button("Stop", icon=":material/stop:"):
            job.stop()
            job.wait(2)
            st.rerun()
        return
    with row.popover("New run", icon=":material/restart_alt:"):
        st.caption("Takes the place of this run. Download it first if you want to keep it.")
        if workspace.corpus is None:
            workspace.corpus = job.corpus
        _start_form(workspace)
    if state is JobState.PAUSED and row.button("Continue", icon=":material/play_arrow:"):
        job.resume()
        st.rerun()
    if state in (JobState.FINISHED, JobState.STOPPED) and row.button(
        f"Run {MORE_ITERATIONS} longer", icon=":material/update:"
    ):
        job.extend(MORE_ITERATIONS)
        st.rerun()
    if state is not JobState.FAILED and row.button(
        "Compare the groups", type="primary", icon=":material/compare_arrows:"
    ):
        st.switch_page("pages/compare.py")
    if workspace.corpus is not None and job.corpus is not workspace.corpus:
        st.info(
            "This run is on other documents or words than those now on the Documents page. “New run” takes the new ones."
        )


with guarded():
    page()
