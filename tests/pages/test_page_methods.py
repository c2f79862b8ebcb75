"""The advanced settings: every model and schedule by its name, priors, associations; and all pages under each model."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from visitor import Visitor, as_csv, talk

from spdp_engine.jobs import Job, JobState
from spdp_engine.results import prevalence_table
from spdp_engine.sampling import METHODS, MODELS, Method, methods_of
from spdp_engine.topics import Topics

pytestmark = pytest.mark.timeout(60)

TALK = ("talk.csv", as_csv(talk()))
COLUMNS = ("group", "word", "base word", "weight")
LINKS = [
    ("*", "strike", "strike", "1"),
    ("*", "stoppage", "strike", "1"),
    ("right", "stoppage", "stoppage", "1"),
    ("left", "stoppage", "stoppage", "3"),
    ("*", "zebra", "strike", "1"),
]
"""One word is in no text."""


@pytest.fixture
def ready() -> Visitor:
    return Visitor().upload(TALK).go("explore")


@pytest.fixture(scope="module")
def lda() -> str:
    """Key of a workspace whose run of LDA is finished."""
    return Visitor().upload(TALK).go("explore").choose_model("lda").run_topics(3, 30).key


def job_of(visitor: Visitor) -> Job:
    job = visitor.workspace.job
    assert job is not None
    return job


def topics_of(visitor: Visitor) -> Topics:
    reading = visitor.workspace.reading()
    assert reading is not None
    return reading.topics


def labels(visitor: Visitor, kind: str) -> list[str]:
    return [one.label for one in getattr(visitor.at, kind)]


def links(rows: list[tuple[str, str, str, str]] = LINKS, name: str = "links.csv") -> tuple[str, bytes]:
    return name, as_csv(rows, COLUMNS)


# --- models and schedules


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.model}-{method.schedule}")
def test_every_schedule_of_every_model_runs(method: Method, ready: Visitor) -> None:
    ready.choose_model(method.model, method.schedule)
    claim = method.exactness
    assert f"`{method.schedule}`, {claim}: {method.source}." in ready.captions
    ready.run_topics(3, 4)
    settings, status = job_of(ready).settings, job_of(ready).status()
    assert (settings.model, settings.schedule) == (method.model, method.schedule)
    assert status.state is JobState.FINISHED and status.last is not None and status.last.perplexity
    usual = method is METHODS[0]
    assert (f"{MODELS[method.model].title} · schedule {method.schedule}" in squeezed(ready)) is not usual


def squeezed(visitor: Visitor) -> str:
    return " ".join(visitor.text.split())


@pytest.mark.parametrize("model", MODELS)
def test_what_can_be_chosen_is_what_the_model_has(model: str, ready: Visitor) -> None:
    ready.choose_model(model)
    box = ready.widget("selectbox", "Schedule")
    assert box.options == ["Automatic", *(one.schedule.replace("_", " ").capitalize() for one in methods_of(model))]
    for method in methods_of(model):
        assert f"`{method.schedule}`, {method.exactness}: " in box.help
    if methods_of(model)[0].runner.takes_repeats:
        ready.step(ready.widget("toggle", "Words may repeat").set_value(True).run)
    priors = dataclasses.fields(MODELS[model].priors)
    assert {name for pills in ready.at.pills for name in pills.options} == {title(prior.name) for prior in priors}
    assert not [label for label in labels(ready, "number_input") if "fixed" in label], "all of them are learned"
    for prior in priors:
        (pills,) = [one for one in ready.at.pills if title(prior.name) in one.options]
        assert prior.name in pills.value
        ready.step(pills.unselect(prior.name).run)
        widget = ready.widget("number_input", f"{title(prior.name)}, fixed at")
        assert widget.value == prior.default
        (about,) = [line for line in plain(pills.help).splitlines() if line.startswith(f"- {title(prior.name)}: ")]
        for told in (plain(widget.help), about.removeprefix(f"- {title(prior.name)}: ")):
            assert told[1:] == f"{prior.metadata['help'][1:]}."


def title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def plain(source: str) -> str:
    """Markdown as a person reads it."""
    return re.sub(r"\\(.)", r"\1", source)


def test_models_are_told_in_a_sentence_each(ready: Visitor) -> None:
    captions = ready.widget("radio", "Model").proto.captions
    assert [caption.rstrip(".").lower() for caption in captions] == [one.about for one in MODELS.values()]


def test_an_order_where_there_is_a_choice(ready: Visitor) -> None:
    assert "Order" not in labels(ready, "selectbox")
    ready.choose_model("spdp", "token_parallel").choose("Order", "document").run_topics(2, 3)
    assert (job_of(ready).settings.schedule, job_of(ready).settings.order) == ("token_parallel", "document")
    assert "order document" in squeezed(ready)
    assert "Order" not in labels(ready.choose_model("spdp", "sequential"), "selectbox")


def test_priors_of_the_chosen_model_reach_the_run(ready: Visitor) -> None:
    ready.choose_model("lda").fix("Beta", 0.5).run_topics(2, 8)
    settings, status = job_of(ready).settings, job_of(ready).status()
    assert settings.priors.beta == 0.5 and settings.learn and settings.fixed == ("beta",)
    assert status.last is not None and status.last.hyperparameters["beta"] == pytest.approx(0.5)
    assert status.last.hyperparameters["alpha"] != pytest.approx(settings.priors.alpha), "the rest is learned"
    assert "fixed: beta 0.5" in squeezed(ready) and "Learned : mean alpha" in squeezed(ready)


def test_where_every_prior_is_fixed_nothing_is_learned(ready: Visitor) -> None:
    ready.choose_model("lda").fix("Beta", 0.5).fix("Alpha", 0.25).run_topics(2, 8)
    settings, status = job_of(ready).settings, job_of(ready).status()
    assert not settings.learn and set(settings.fixed) == {"alpha", "beta"}
    assert status.last is not None
    assert status.last.hyperparameters == pytest.approx({"alpha": 0.25, "beta": 0.5})
    assert "fixed: alpha 0.25, beta 0.5" in squeezed(ready) and "Learned" not in squeezed(ready)


def test_repeats_where_the_method_has_them(ready: Visitor) -> None:
    for method in METHODS:
        ready.choose_model(method.model, method.schedule)
        found = [toggle for toggle in ready.at.toggle if toggle.label.startswith("Words may repeat")]
        assert [toggle.value for toggle in found] == ([method.repeats] if method.runner.takes_repeats else [])
        those = {name for pills in ready.at.pills for name in pills.options if name.startswith("Repeat")}
        assert those == ({"Repeat discount", "Repeat concentration"} if method.repeats else set())


@pytest.mark.parametrize(("model", "usual"), [("spdp", True), ("lda", False)])
def test_repeats_the_other_way_reach_the_run(model: str, usual: bool, ready: Visitor) -> None:
    ready.choose_model(model)
    toggle = ready.widget("toggle", "Words may repeat")
    assert toggle.value is usual and "likelier" in toggle.help
    ready.step(toggle.set_value(not usual).run).run_topics(2, 8)
    settings, status = job_of(ready).settings, job_of(ready).status()
    assert settings.repeats is not usual and settings.learn and not settings.fixed
    assert ("no repeats" if usual else "documents may repeat words") in squeezed(ready)
    assert status.last is not None
    assert any(name.startswith("repeat_") for name in status.last.hyperparameters) is not usual


def test_tempering_where_the_method_has_it(ready: Visitor) -> None:
    for method in METHODS:
        ready.choose_model(method.model, method.schedule)
        found = [toggle for toggle in ready.at.toggle if toggle.label == "Temper the beginning"]
        assert [toggle.value for toggle in found] == ([method.tempering] if method.runner.takes_tempering else [])


def test_tempering_left_out_reaches_the_run_and_is_told(ready: Visitor) -> None:
    toggle = ready.widget("toggle", "Temper the beginning")
    assert toggle.value is True and "more freely" in toggle.help
    ready.run_topics(2, 8)
    assert job_of(ready).settings.tempering is True and "tempered" not in squeezed(ready)
    ready.step(ready.widget("toggle", "Temper the beginning").set_value(False).run).run_topics(2, 8)
    assert job_of(ready).settings.tempering is False and "beginning not tempered" in squeezed(ready)


def test_a_prior_out_of_range_is_answered_in_a_sentence(ready: Visitor) -> None:
    ready.fix("Discount", 1.0).press("Start")
    (sentence,) = ready.errors
    assert "discount" in sentence and ready.workspace.job is None


def test_what_was_chosen_is_kept_when_the_page_changes_and_no_run_is_lost(lda: str) -> None:
    visitor = Visitor(lda).go("explore")
    job = job_of(visitor)
    for method in METHODS[::4]:
        visitor.choose_model(method.model, method.schedule)
    visitor.choose_model("spdp", "hybrid").fill("number_input", "Seed", 5).upload(links())
    visitor.go("compare").go("explore")
    assert (
        visitor.widget("radio", "Model").value == "spdp" and visitor.widget("selectbox", "Schedule").value == "hybrid"
    )
    assert visitor.widget("number_input", "Seed").value == 5
    assert job_of(visitor) is job and job.status().state is JobState.FINISHED
    assert job.settings.model == "lda" and "LDA · schedule blocks" in squeezed(visitor)
    visitor.workspace.take_associations(None)


# --- a model that words topics alike for all groups


def cards(visitor: Visitor) -> str:
    (html,) = [piece for piece in visitor.markup if "px-cards" in piece]
    return html


def test_explore_shows_one_list_of_words_and_every_groups_share(lda: str) -> None:
    visitor = Visitor(lda).go("explore")
    topics, html = topics_of(visitor), cards(visitor)
    assert "LDA words each topic alike for all groups" in visitor.text
    assert html.count("<article") == 3 == html.count("<ol") and "gap" not in html and "px-own" not in html
    for topic in range(3):
        assert all(
            f'data-pick="{topic} {word.word}">{word.word}</button></li>' in html
            for word in topics.top_words(topic, 12)[0]
        )
        for share in topics.prevalence[:, topic]:
            assert f"{share:.0%}" in html or f"{share:.1%}" in html
    assert visitor.at.segmented_control(key="card_order_alike").options == ["By number", "Most talked about"]
    visitor.step(visitor.at.segmented_control(key="card_order_alike").set_value("prevalence").run)
    numbers = [int(number) - 1 for number in re.findall(r"<b>(?:<button[^>]*>)?Topic (\d+)<", cards(visitor))]
    assert numbers == topics.order("prevalence").tolist()


def test_compare_is_about_how_much(lda: str) -> None:
    visitor = Visitor(lda).go("compare")
    topics = topics_of(visitor)
    assert topics.worded_alike and not topics.gap.any()
    assert "LDA words each topic alike for all groups" in visitor.text
    box = visitor.widget("selectbox", "Topic")
    assert box.value == topics.order("prevalence")[0] and "gap" not in " ".join(box.options)
    assert [option.split()[1] for option in box.options] == [str(topic + 1) for topic in topics.order("prevalence")]
    (table,) = [piece for piece in visitor.markup if "<table" in piece]
    words = re.findall(r"<td><button[^>]*>([^<]+)</button></td>", table)
    assert words == [word.word for word in topics.top_words(int(box.value), 20)[0]]
    assert not any(word in visitor.text for word in ("apart", "own word", "wording gap"))
    (picture,) = visitor.at.get("plotly_chart")
    figure = json.loads(picture.proto.spec)
    assert figure["layout"]["yaxis"]["title"]["text"] == "% of the words"
    assert sum("px-passage" in piece for piece in visitor.markup) == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", ["explore", "compare", "download", "documents"])
def test_every_page_in_both_themes(page: str, theme: str, lda: str) -> None:
    visitor = Visitor(lda, theme).go(page)
    assert visitor.title and not visitor.errors


@pytest.mark.parametrize("groups", [("everyone",), tuple(f"group {number}" for number in range(7))], ids=len)
def test_one_and_many_groups(groups: tuple[str, ...]) -> None:
    visitor = (
        Visitor().upload(("talk.csv", as_csv(talk(84, groups)))).go("explore").choose_model("lda").run_topics(3, 5)
    )
    assert ("words each topic alike" in visitor.text) is (len(groups) > 1)
    for page in ("compare", "download"):
        assert not visitor.go(page).errors


def test_a_run_of_another_model_afterwards_has_its_own_views(ready: Visitor) -> None:
    ready.choose_model("lda").run_topics(2, 4).go("compare").go("explore")
    ready.choose_model("spdp").run_topics(2, 4)
    assert "words each topic alike" not in ready.text
    assert len(ready.at.segmented_control(key="card_order").options) == 3
    assert ready.go("compare").at.selectbox(key="compare_order").value == "gap"


def test_download_tells_the_method(lda: str) -> None:
    visitor = Visitor(lda).go("download")
    result = visitor.workspace.result()
    assert result is not None and result.summary()["model"] == "lda"
    assert visitor.at.get("download_button") and not prevalence_table(result)["wording_gap"].any()


# --- associations


def test_associations_are_reported_and_used(ready: Visitor) -> None:
    ready.upload(links())
    assert "5 associations were read from links.csv" in ready.text
    assert "not in the vocabulary" in ready.text and "zebra" in ready.text
    assert "4 of 5 associations of links.csv were used" in ready.text
    assert not ready.errors and "Leave them out" in ready.buttons
    ready.choose_model("spdp", "sequential").run_topics(2, 4)
    matrices = job_of(ready).settings.associations
    corpus = ready.workspace.corpus
    assert matrices is not None and corpus is not None
    word = {word: index for index, word in enumerate(corpus.vocabulary)}
    assert matrices.dense(1)[word["stoppage"], word["strike"]] == 0.5
    assert "associations of links.csv" in ready.text
    result = ready.workspace.result()
    assert result is not None and result.associations is not None and result.associations.rows_used == 4
    ready.press("Leave them out").run_topics(2, 4)
    assert job_of(ready).settings.associations is None and "associations of links.csv" not in ready.text
    again = ready.workspace.result()
    assert again is not None and again.associations is None


def test_associations_are_matched_anew_when_the_words_change(ready: Visitor) -> None:
    ready.upload(links())
    ready.go("documents").fill("text_area", "More words", "tide, stoppage").press("Use these settings").go("explore")
    assert "1 of 5 associations of links.csv was used" in ready.text
    ready.run_topics(2, 3)
    corpus, matrices = job_of(ready).corpus, job_of(ready).settings.associations
    assert matrices is not None and matrices.n_words == corpus.n_words and "stoppage" not in corpus.vocabulary


def test_other_documents_come_without_associations(ready: Visitor) -> None:
    ready.upload(links()).go("documents").upload(("other.csv", TALK[1])).go("explore")
    assert ready.workspace.associations is None and "Leave them out" not in ready.buttons


WRONG: dict[str, tuple[str, bytes]] = {
    "no table": ("links.csv", b""),
    "no weight": links([("*", "strike", "strike", "")]),
    "no such column": ("links.csv", b"group,word,weight\n*,strike,1\n"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_holds_no_associations_is_answered_in_a_sentence(name: str, ready: Visitor) -> None:
    ready.upload(WRONG[name])
    (sentence,) = ready.errors
    assert "links.csv" in sentence and sentence.endswith(".")
    assert ready.workspace.associations is None and not ready.reload().errors, "told once"


@pytest.mark.parametrize(
    "rows",
    [[("middle", "strike", "strike", "1")], [("*", "zebra", "strike", "1")], [("*", "strike", "stoppage", "1")]],
    ids=["unknown group", "unknown words", "words that nothing leads to"],
)
def test_associations_that_do_not_suit_the_documents(rows: list[tuple[str, str, str, str]], ready: Visitor) -> None:
    """The file says why where it was brought, and no run starts until it is left out."""
    ready.upload(links(rows)).press("Start")
    assert len(ready.errors) == 2 and ready.workspace.job is None
    assert sum("links.csv" in sentence for sentence in ready.errors) == 1
    assert any("do not go with these documents" in sentence for sentence in ready.errors)
    ready.press("Leave them out").run_topics(2, 3)
    assert not ready.errors and job_of(ready).status().state is JobState.FINISHED


@pytest.mark.parametrize("method", [method for method in METHODS if not method.associations][:2], ids=str)
def test_where_they_have_no_use_they_are_left_out_and_kept(method: Method, ready: Visitor) -> None:
    ready.upload(links()).choose_model(method.model, method.schedule)
    assert "links.csv are left out" in ready.captions
    ready.run_topics(2, 3)
    assert job_of(ready).settings.associations is None and not ready.errors
    ready.choose_model("spdp")
    assert "4 of 5 associations of links.csv were used" in ready.text


def test_without_use_for_associations_they_are_not_asked_for(ready: Visitor) -> None:
    assert labels(ready, "file_uploader") == ["Associations (optional)"]
    assert not labels(ready.choose_model("lda"), "file_uploader")
