"""Watch topics form: start a run, see perplexity fall and every topic fill with words, pause, stop, run longer."""

from __future__ import annotations

import threading

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.cards import cards_html
from pages.parts.charts import perplexity_figure, perplexity_svg
from pages.parts.guard import guarded, show_problem
from pages.parts.live_html import live_html
from pages.parts.style import escaped, plain_markdown
from pages.parts.workspace import REFRESH_SECONDS, Workspace, current, registry
from spdp_engine.corpus import Corpus
from spdp_engine.errors import ParallaxError
from spdp_engine.jobs import ACTIVE, Job, JobState, JobStatus
from spdp_engine.models import Priors
from spdp_engine.sampling import SCHEDULES, SamplerSettings, list_devices, memory_for, warm_up
from spdp_engine.types import Iteration

DEFAULT_ITERATIONS = 300
MORE_ITERATIONS = 200
FIRST_WORDS_SECONDS = 1.5
"""So long Start waits for the first words before it draws the page without them."""
ORDERS = {"number": "By number", "prevalence": "Most talked about", "gap": "Most differently worded"}

PERPLEXITY = "Perplexity: how surprised the model is by words it has not seen. Lower is better; flat means done."
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
    _warm_up(workspace.suggested_topics, f"{workspace.key} {id(corpus)}", corpus)
    groups = ", ".join(corpus.group_names[:6]) + (" …" if corpus.n_groups > 6 else "")
    st.html(
        f'<p class="px-lead">{corpus.n_documents:,} documents are ready: {escaped(groups)}. Press Start, and topics appear '
        "here within seconds: a card for each, with a column of words for every group. They get better while the run goes "
        "on, and you may stop whenever they are good enough.</p>"
    )
    memory = memory_for(corpus, workspace.suggested_topics)
    st.caption(f"{workspace.suggested_topics} topics will take about {max(1, memory / 2**20):,.0f} MB of memory.")


@st.cache_resource(show_spinner=False, max_entries=16)
def _warm_up(topics: int, key: str, _corpus: Corpus) -> threading.Thread:
    """Does what a run begins with in the background, while the person reads the page."""
    thread = threading.Thread(target=warm_up, args=(SamplerSettings(topics=topics), _corpus), daemon=True)
    thread.start()
    return thread


def _start_form(workspace: Workspace) -> None:
    corpus = workspace.corpus
    assert corpus is not None
    with st.form("start"):
        topics = st.number_input(
            "How many topics?",
            1,
            1000,
            workspace.suggested_topics,
            help="20 is a good start; more topics are narrower.",
        )
        start = st.form_submit_button("Start", type="primary", icon=":material/play_arrow:", width="stretch")
        with st.expander("Advanced settings"):
            settings, iterations = _advanced(int(topics))
    if start:
        _start(workspace, settings, iterations)


def _advanced(topics: int) -> tuple[dict[str, object], int]:
    """Everything that has a good default."""
    defaults = Priors()
    iterations = st.number_input(
        "Iterations", 1, 100_000, DEFAULT_ITERATIONS, help="Sweeps over all words. A run can be made longer later."
    )
    seed = st.number_input("Seed", 0, 2**32 - 1, 1, help="The same seed and settings give the same topics again.")
    held_out = st.slider(
        "Documents that measure the fit",
        0,
        50,
        10,
        format="%d %%",
        help="Half the words of these are not learned from.",
    )
    schedule = st.selectbox("Schedule", list(SCHEDULES), help="How the work is cut up: blocks uses every core.")
    devices = [device.name for device in list_devices()]
    device = st.selectbox("Device", devices, help="What computes.") if devices else None
    concentration = st.number_input(
        "Concentration b",
        0.001,
        1e6,
        defaults.concentration,
        help="The larger, the closer the groups' wordings of a topic.",
    )
    discount = st.number_input(
        "Discount a", 0.0, 0.99, defaults.discount, step=0.05, help="The larger, the more room for rare words."
    )
    alpha = st.number_input(
        "Alpha", 0.0001, 100.0, defaults.alpha, format="%.4f", help="The smaller, the fewer topics in a document."
    )
    gamma = st.number_input(
        "Gamma", 0.0001, 100.0, defaults.gamma, format="%.4f", help="The smaller, the fewer words in a topic."
    )
    settings = {
        "topics": topics,
        "priors": Priors(float(alpha), float(gamma), float(discount), float(concentration)),
        "schedule": schedule,
        "device": device,
        "seed": int(seed),
        "held_out": held_out / 100,
    }
    return settings, int(iterations)


def _start(workspace: Workspace, settings: dict[str, object], iterations: int) -> None:
    assert workspace.corpus is not None
    try:
        chosen = SamplerSettings(**settings)  # type: ignore[arg-type]
        chosen.check_makes_sense_for(workspace.corpus)
        job = Job(workspace.corpus, chosen, iterations, registry().queue)
    except ParallaxError as error:
        show_problem(str(error))
        return
    workspace.suggested_topics = chosen.topics
    workspace.start(job)
    job.wait_for_sample(FIRST_WORDS_SECONDS)
    st.rerun()


# --- while it runs


def _run(workspace: Workspace, job: Job) -> None:
    """The cards and figures of a run. While it is active they are drawn again and again, and nothing else is: what a refresh costs
    is time that the sampler would like to have."""
    bar = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    order = _order(bar)
    _buttons(bar, workspace, job)
    if job.status().state in ACTIVE:
        _refreshing(workspace, job, order)
    else:
        _resting(workspace, job, order)


@st.fragment(run_every=REFRESH_SECONDS)
def _refreshing(workspace: Workspace, job: Job, order: str) -> None:
    """The run as it is now, in one piece of HTML, again and again until it rests."""
    with guarded():
        status, records = job.status(), job.records()
        figures = _progress_html(status)
        if _measured(records):
            figures += f'{perplexity_svg(records)}<p class="px-caption">{PERPLEXITY}</p>'
        live_html(
            f'<div class="px-run"><div>{figures}</div><div>{_cards_html(workspace, status, order)}</div></div>',
            key="run",
        )
        if status.state not in ACTIVE:
            st.rerun()  # the whole page, so that the refreshing ends and the buttons change


def _resting(workspace: Workspace, job: Job, order: str) -> None:
    """The same of a run that has ended or paused, with a plot that can be pointed at."""
    status, records = job.status(), job.records()
    figures, rest = _layout()
    rest.html(_cards_html(workspace, status, order))
    with figures:
        st.html(_progress_html(status))
        if status.state is JobState.FAILED:
            show_problem(status.error)
        if _measured(records):
            st.plotly_chart(perplexity_figure(records), key="perplexity", config={"displayModeBar": False})
        if records:
            st.caption(PERPLEXITY if _measured(records) else NOT_MEASURED)


def _measured(records: tuple[Iteration, ...]) -> bool:
    return any(record.perplexity is not None for record in records)


def _order(place: DeltaGenerator) -> str:
    """The order of the cards, of the person's choice."""
    by = place.segmented_control(
        "Order of the topics", list(ORDERS), default="number", required=True, format_func=ORDERS.__getitem__,
        key="card_order", label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    return str(by or "number")


def _cards_html(workspace: Workspace, status: JobStatus, order: str) -> str:
    """The topics as they are now."""
    reading = workspace.reading()
    if reading is None:
        soon = "The first words will be here in a moment …" if status.state in ACTIVE else "There were no topics yet."
        return f'<p class="px-lead">{soon}</p>'
    topics = reading.topics
    legend = (
        '<p class="px-legend"><span class="px-own">word</span>: '
        "used clearly more by this group than by the others on this topic</p>"
        if topics.gap.any()
        else ""
    )
    return legend + cards_html(topics, range(topics.n_topics) if order == "number" else topics.order(order))


def _progress_html(status: JobStatus) -> str:
    """How far the run is, and its figures."""
    last = status.last
    left = status.seconds_left
    words = STATE_WORDS[status.state]
    if status.state is JobState.WAITING and status.waiting_before:
        words = f"waiting: {status.waiting_before} run{'s' if status.waiting_before > 1 else ''} before this one"
    elif status.state is JobState.RUNNING and left is not None:
        words = f"running, {left:.0f} s left" if left < 90 else f"running, {left / 60:.0f} min left"
    figures = [(f"{status.iteration:,}", f"of {status.target:,} iterations")]
    if last and last.perplexity is not None:
        figures.append((f"{last.perplexity:,.0f}", "perplexity"))
    if last:
        figures.append((f"{last.tokens_per_second / 1e6:.1f} M", "words a second"))
    done = 100 * status.iteration / max(1, status.target)
    cells = "".join(f"<div><b>{value}</b><span>{label}</span></div>" for value, label in figures)
    return (
        f'<div role="group" aria-label="Progress"><div class="px-quiet">{words[:1].upper() + words[1:]}</div>'
        f'<div class="px-progress"><div style="width:{min(100.0, done):.1f}%"></div></div>'
        f'<div class="px-stats">{cells}</div></div>'
    )


def _buttons(place: DeltaGenerator, workspace: Workspace, job: Job) -> None:
    """What can be done with the run as it stands."""
    state = job.status().state
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
