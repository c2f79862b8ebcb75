"""What decides a run and has a good default: iterations, model, schedule, priors, repeats, tempering, associations. And a run's
method and hyperparameters in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields

import streamlit as st

from pages.parts.cards import notes_html
from pages.parts.guard import guarded, show_problem
from pages.parts.style import escaped, plain_markdown
from pages.parts.workspace import Workspace
from spdp_engine.corpus import InputFile, read_associations
from spdp_engine.errors import InputError, ParallaxError
from spdp_engine.models import make_priors
from spdp_engine.results import Associations
from spdp_engine.sampling import (
    MODELS,
    Method,
    Model,
    SamplerSettings,
    list_devices,
    method_named,
    methods_of,
    model_named,
)
from spdp_engine.sampling.tempering import EVERY, LAST, SWEEPS

DEFAULT_ITERATIONS = 300
ASSOCIATION_TYPES = ["csv", "tsv", "gz"]
MOST_MEGABYTES = 100
"""Of a file of associations."""

AUTOMATIC = ""
"""The schedule of those who choose none."""

OF_REPEATS = "repeat_"
"""What names of priors begin with that say how documents repeat words."""


@dataclass(frozen=True, eq=False)
class RunSettings:
    """What was chosen.

    Attributes:
        sampler: settings of the sampler, associations included.
        iterations: how many.
        associations: where those of the sampler come from, None without.
    """

    sampler: SamplerSettings
    iterations: int
    associations: Associations | None


def choose_settings(workspace: Workspace, topics: int) -> RunSettings | ParallaxError:
    """Draws the widgets; returns what was chosen, or why it cannot be had."""
    iterations = st.number_input(
        "Iterations", 1, 100_000, DEFAULT_ITERATIONS, key="iterations", persist_state="session",
        help="Sweeps over all words. A run can be made longer later.",
    )  # fmt: skip
    seed = st.number_input(
        "Seed", 0, 2**32 - 1, 1, key="seed", persist_state="session",
        help="The same seed and settings give the same topics again.",
    )  # fmt: skip
    held_out = st.slider(
        "Documents that measure the fit", 0, 50, 10, format="%d %%", key="held_out", persist_state="session",
        help="Half the words of these are not learned from.",
    )  # fmt: skip
    devices = [device.name for device in list_devices()]
    device = (
        st.selectbox("Device", devices, key="device", persist_state="session", help="What computes.")
        if devices
        else None
    )
    model = _choose_model()
    method = _choose_schedule(model)
    order = _choose_order(method)
    likely = method or methods_of(model.name)[0]
    priors = [one for one in fields(model.priors) if not one.name.startswith(OF_REPEATS)]
    fixed = _choose_priors(model, priors, "Learned from the documents")
    repeats = _choose_repeats(likely)
    if repeats:
        those = [one for one in fields(model.priors) if one.name.startswith(OF_REPEATS)]
        fixed |= _choose_priors(model, those, "Learned from the repeats")
        priors += those
    tempering = _choose_tempering(likely)
    try:
        associations = _bring_associations(workspace, likely.associations)
        sampler = SamplerSettings(
            topics=topics,
            priors=make_priors(model.priors, fixed, model.name),
            schedule=method.schedule if method else None,
            device=device,
            seed=int(seed),
            held_out=held_out / 100,
            model=model.name,
            order=order,
            associations=associations.matrices if associations else None,
            learn=len(fixed) < len(priors),
            fixed=tuple(fixed),
            repeats=None if repeats == likely.repeats else repeats,
            tempering=None if tempering == likely.tempering else tempering,
        )
        if workspace.corpus:
            sampler.check_makes_sense_for(workspace.corpus)
    except ParallaxError as error:
        return error
    return RunSettings(sampler, int(iterations), associations)


def method_html(settings: SamplerSettings, associations: Associations | None) -> str:
    """A run's model, schedule, order, repeats, tempering, fixed priors and associations; '' where all are the usual ones."""
    model, *_ = MODELS
    usual = settings.model == model and settings.schedule in (None, methods_of(model)[0].schedule)
    parts = []
    if not usual:
        parts.append(escaped(model_named(settings.model).title))
        if settings.schedule:
            order = f", order <code>{escaped(settings.order)}</code>" if settings.order else ""
            parts.append(f"schedule <code>{escaped(settings.schedule)}</code>{order}")
    method = method_named(settings.model, settings.schedule) if settings.schedule else methods_of(settings.model)[0]
    if settings.repeats not in (None, method.repeats):
        parts.append("documents may repeat words" if settings.repeats else "no repeats")
    if settings.tempering not in (None, method.tempering):
        parts.append("tempered beginning" if settings.tempering else "beginning not tempered")
    if settings.fixed or not settings.learn:
        held = settings.fixed or [one.name for one in fields(settings.priors)]
        values = [f"{_plain_name(name)} {number(getattr(settings.priors, name))}" for name in held]
        parts.append(f"fixed: {escaped(', '.join(values))}")
    if associations:
        parts.append(f"associations of {escaped(associations.table.name)}")
    return f'<div class="px-method">{" · ".join(parts)}</div>' if parts else ""


def hyperparameter_words(hyperparameters: Mapping[str, float]) -> list[str]:
    """Each in plain words, such as "discount 0.62"; those of the repeats at the end."""
    names = sorted(hyperparameters, key=lambda name: name.startswith(OF_REPEATS))
    return [
        f"{'mean alpha' if name == 'alpha' else _plain_name(name)} {number(hyperparameters[name])}" for name in names
    ]


def number(value: float) -> str:
    """A number with three figures that count: 0.0823, 5.21, 318, 12,000."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _choose_model() -> Model:
    name = st.radio(
        "Model", list(MODELS), format_func=lambda one: MODELS[one].title, key="model", persist_state="session",
        captions=[_sentence(model.about) for model in MODELS.values()],
    )  # fmt: skip
    return model_named(name)


def _choose_schedule(model: Model) -> Method | None:
    """One of the model's schedules, or None: what suits the device."""
    methods = {method.schedule: method for method in methods_of(model.name)}
    name = st.selectbox(
        "Schedule", [AUTOMATIC, *methods], format_func=_title, key=f"schedule_{model.name}", persist_state="session",
        help="Which words get their topics when. Exact schedules draw from the model's posterior in the long run; approximate "
        "ones do not quite.\n\n" + "\n".join(f"- `{one.schedule}`, {one.exactness}: {plain_markdown(one.source)}"
                                       for one in methods.values()),
    )  # fmt: skip
    method = methods.get(name)
    if method:
        st.caption(f"`{method.schedule}`, {method.exactness}: {plain_markdown(method.source)}.")
    else:
        st.caption(f"What suits the device: on a CPU `{next(iter(methods))}`.")
    return method


def _choose_order(method: Method | None) -> str | None:
    """The order in which a schedule visits the words, where it has more than one."""
    if method is None or not method.orders:
        return None
    return st.selectbox(
        "Order", method.orders, format_func=_title, key=f"order_{method.model}_{method.schedule}",
        persist_state="session", help="In which the words are visited.",
    )  # fmt: skip


def _choose_priors(model: Model, priors: Sequence[Field[float]], label: str) -> dict[str, float]:
    """Which of the priors are learned, and a field for each that is not; returns the values of these."""
    about = {prior.name: plain_markdown(_sentence(prior.metadata["help"])) for prior in priors}
    names = list(about)
    learned = st.pills(
        label, names, selection_mode="multi", default=names, format_func=_title,
        key=f"learned_{model.name}_{names[0]}", persist_state="session",
        help="Leave one out to fix it at a value of yours.\n\n"
        + "\n".join(f"- {_title(name)}: {text}" for name, text in about.items()),
    )  # fmt: skip
    fixed = {}
    for prior in priors:
        if prior.name not in learned:
            default = float(prior.default)  # type: ignore[arg-type]  # priors are numbers, all with a default
            value = st.number_input(
                f"{_title(prior.name)}, fixed at", 0.0, None, default, step=_tenth(default), format="%g",
                key=f"prior_{model.name}_{prior.name}", persist_state="session", help=about[prior.name],
            )  # fmt: skip
            fixed[prior.name] = float(value)
    return fixed


def _choose_repeats(method: Method) -> bool:
    """Whether documents may repeat words, where the method lets them."""
    if not method.runner.takes_repeats:
        return False
    return st.toggle(
        "Words may repeat within a document", method.repeats, key=f"repeats_{method.model}_{method.repeats}",
        persist_state="session",
        help="A word that a document has used once is likelier to come again there, whatever its topics: so a name repeated ten "
        "times is not ten times the evidence.",
    )  # fmt: skip


def _choose_tempering(method: Method) -> bool:
    """Whether the beginning is tempered, where the method can."""
    if not method.runner.takes_tempering:
        return False
    return st.toggle(
        "Temper the beginning", method.tempering, key=f"tempering_{method.model}_{method.tempering}", persist_state="session",
        help=f"In {SWEEPS} of every {EVERY} of the first {LAST} iterations words move between topics more freely, so that topics "
        "do not stay as they first happened to form. Perplexity dips there for a moment.",
    )  # fmt: skip


def _bring_associations(workspace: Workspace, takes: bool) -> Associations | None:
    """The uploader, or what was brought and what is told of it.

    Raises:
        InputError: what was brought does not go with the corpus; why is told on the spot.
    """
    table = workspace.associations
    if not takes:
        if table:
            st.caption(f"This schedule takes no associations; those of {plain_markdown(table.name)} are left out.")
        return None
    if table is None:
        turn = st.session_state.setdefault("associations_turn", 0)
        key = f"associations_{turn}"
        st.file_uploader(
            "Associations (optional)", ASSOCIATION_TYPES, max_upload_size=MOST_MEGABYTES, key=key,
            on_change=_take_associations, args=(workspace, key),
            help="A table with the columns group (or \\* for every group), word, base word and weight: which words a group says "
            "where all of them share the base word, and how much each weighs.",
        )  # fmt: skip
        problem = st.session_state.pop("associations_problem", None)
        if problem:
            show_problem(problem)
        return None
    st.markdown(f"Associations: {plain_markdown(table.name)}")
    report = st.container()
    st.button("Leave them out", icon=":material/close:", on_click=workspace.take_associations, args=(None,))
    with report:
        try:
            associations = workspace.matched_associations()
        except ParallaxError as error:
            show_problem(str(error))
            raise InputError(
                "The associations do not go with these documents: bring others, or leave them out (advanced settings)."
            ) from error
        st.html(notes_html(associations.notes if associations else table.notes))
    return associations


def _take_associations(workspace: Workspace, key: str) -> None:
    """Reads what was uploaded and empties the uploader."""
    with guarded():
        file = st.session_state[key]
        if file is None:
            return
        st.session_state["associations_turn"] += 1
        try:
            workspace.take_associations(read_associations(InputFile(file.name, data=file.getvalue())))
        except ParallaxError as error:
            st.session_state["associations_problem"] = str(error)


def _title(name: str) -> str:
    """A name as people write it, as they read it."""
    return _plain_name(name).capitalize() if name else "Automatic"


def _plain_name(name: str) -> str:
    return name.replace("_", " ")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _tenth(value: float) -> float:
    """A step for a number of this size: 10 for 100, 0.01 for 0.7."""
    return float(10.0 ** (math.floor(math.log10(value)) - 1)) if value > 0 else 0.1
