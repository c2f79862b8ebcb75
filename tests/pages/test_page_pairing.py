"""Two runs side by side: which runs there are to compare, a further one in the background, and what is told of their topics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts.pairing_view import pairs_table
from pages.parts.workspace import Workspace
from spdp_engine.corpus import CorpusSettings
from spdp_engine.runs import FurtherRun
from spdp_engine.topics.pairing import Pairing, Verdict, pair_runs
from spdp_engine.topics.view import View

pytestmark = pytest.mark.timeout(60)

TALK = ("harbour and school.csv", as_csv(talk()))
FOREVER = 10**9
FIRST, SECOND = "First run", "Second run"
OF_FIRST, OF_SECOND = "Topic of the first run", "Topic of the second run"


@pytest.fixture(scope="module", autouse=True)
def nothing_is_checked() -> Iterator[None]:
    """Evidence is not gathered: it is not looked at here, and would keep runs waiting for their turns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workspace, "gather_evidence", lambda _: None)
        yield


def had_two() -> Visitor:
    """Somebody on Trust who has had a run of three topics, and one of four after it."""
    return Visitor().upload(TALK).run_topics(3, 60).run_topics(4, 60).go("trust")


@pytest.fixture(scope="module")
def key_of_two() -> str:
    return had_two().key


@pytest.fixture
def two(key_of_two: str) -> Visitor:
    """A session of its own in such a workspace, for tests that leave the workspace as it is."""
    return Visitor(key_of_two).go("trust")


@pytest.fixture
def own() -> Visitor:
    """Somebody with such a workspace of their own."""
    return had_two()


def squeezed(visitor: Visitor) -> str:
    return " ".join(visitor.text.split())


def options(visitor: Visitor, label: str) -> list[str]:
    return list(visitor.widget("selectbox", label).options)


def picture(visitor: Visitor) -> dict[str, Any]:
    """The heat map: its figure as it goes to the browser."""
    figures = [json.loads(one.proto.spec) for one in visitor.at.get("plotly_chart")]
    (figure,) = [figure for figure in figures if figure["data"] and figure["data"][0]["type"] == "heatmap"]
    return dict(figure)


def has_picture(visitor: Visitor) -> bool:
    return any('"heatmap"' in one.proto.spec for one in visitor.at.get("plotly_chart"))


def pairing_of(workspace: Workspace) -> Pairing:
    present = workspace.present()
    assert present is not None
    return workspace.pairing(present, workspace.earlier[0])


def finish(visitor: Visitor) -> Visitor:
    """Waits until the run beside the present one is over; it may be already, and then is shown."""
    if further := visitor.workspace.further:
        further.wait(PATIENCE)
    return visitor.reload()


# --- which runs there are


def test_with_one_run_another_is_offered() -> None:
    visitor = Visitor().upload(TALK).run_topics(3, 5).go("trust")
    assert "Every run begins from chance." in squeezed(visitor) and not has_picture(visitor)
    assert visitor.widget("number_input", "Topics").value == 3 and visitor.widget("number_input", "Seed").value == 2
    before = visitor.workspace.job
    visitor.press("Run beside this one")
    assert visitor.workspace.job is before, "the present run stays"
    finish(visitor)
    assert options(visitor, FIRST) == ["3 topics, seed 1 (this run)", "3 topics, seed 2"]
    assert visitor.widget("selectbox", SECOND).value == visitor.workspace.earlier[0].key
    assert "of 3 topics" in squeezed(visitor) and has_picture(visitor)
    assert visitor.workspace.job is before and visitor.workspace.further is None
    assert visitor.widget("number_input", "Seed").value == 3, "the next that is free"


def test_a_run_beside_takes_the_number_and_the_seed_that_are_given() -> None:
    visitor = Visitor().upload(TALK).run_topics(3, 5).go("trust")
    visitor.fill("number_input", "Topics", 5).fill("number_input", "Seed", 9).press("Run beside this one")
    finish(visitor)
    (run,) = visitor.workspace.earlier
    assert (run.settings.topics, run.settings.seed, run.iterations) == (5, 9, 5)
    assert "of the 3 topics of the first run" in squeezed(visitor)
    assert run.coherence is not None


def test_what_makes_no_sense_is_said_and_nothing_is_lost() -> None:
    visitor = Visitor().upload(TALK).run_topics(3, 5).go("trust")
    visitor.fill("number_input", "Topics", 900).press("Run beside this one")
    assert any("more topics (900)" in sentence for sentence in visitor.errors)
    assert visitor.workspace.further is None
    assert "Run beside this one" in visitor.reload().buttons


def test_a_run_beside_can_be_cancelled() -> None:
    visitor = Visitor().upload(TALK).run_topics(3, 5).go("trust")
    workspace = visitor.workspace
    assert workspace.job is not None
    further = FurtherRun(workspace.job.corpus, workspace.job.settings, FOREVER, workspace.job._queue)
    workspace.run_beside(further)
    assert "Beside this run, 3 topics, seed 1:" in squeezed(visitor.reload())
    assert "Run beside this one" not in visitor.buttons
    visitor.press("Cancel this run")
    further.wait(PATIENCE)
    assert workspace.further is None and workspace.earlier == () and "Run beside this one" in visitor.buttons


def test_a_run_beside_that_failed_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from spdp_engine import runs

    visitor = Visitor().upload(TALK).run_topics(3, 5).go("trust")
    monkeypatch.setattr(runs, "measure_quality", lambda *_: 1 / 0)
    finish(visitor.press("Run beside this one"))
    assert any("Start it again" in sentence for sentence in visitor.errors)
    assert "Run beside this one" in visitor.buttons


def test_a_new_run_keeps_the_one_before(own: Visitor) -> None:
    (run,) = own.workspace.earlier
    assert (run.settings.topics, run.iterations) == (3, 60) and run.coherence is not None
    assert options(own, FIRST) == ["4 topics (this run)", "3 topics"]
    assert "of the 3 topics of the second run" in squeezed(own)
    assert not hasattr(run, "sample") and not hasattr(run.topics, "sample"), "light: no sampler, no sample"
    own.run_topics(2, 5).go("trust")
    assert options(own, SECOND) == ["4 topics", "3 topics"]


def test_runs_are_laid_beside_one_another_both_ways_round(two: Visitor) -> None:
    cells = picture(two)["data"][0]
    assert (len(cells["y"]), len(cells["x"])) == (4, 3)
    two.choose(FIRST, "3 topics")
    assert options(two, SECOND) == ["4 topics (this run)"]
    assert "of the 3 topics of the first run" in squeezed(two)
    cells = picture(two)["data"][0]
    assert (len(cells["y"]), len(cells["x"])) == (3, 4)


def test_a_kept_run_can_be_deleted(own: Visitor) -> None:
    own.press("Delete")
    assert own.workspace.earlier == ()
    assert "Every run begins from chance." in squeezed(own) and not has_picture(own)


def test_runs_are_kept_when_other_documents_are_brought(own: Visitor) -> None:
    other = ("garden.csv", as_csv([(group, title, text.replace("ship", "rose")) for group, title, text in talk()]))
    own.go("documents").upload(other).run_topics(3, 10).go("trust")
    assert options(own, FIRST) == [
        "3 topics, garden (this run)", "4 topics, harbour and school", "3 topics, harbour and school",
    ]  # fmt: skip
    text = squeezed(own)
    assert "Only in the first: rose." in text and "Only in the second: ship." in text
    assert "Their vocabularies differ" in own.captions


# --- what is told of two runs


def test_the_sentence_counts_what_is_found_again(two: Visitor) -> None:
    pairing = pairing_of(two.workspace)
    text = squeezed(two)
    assert f"{pairing.found} of the 3 topics of the second run" in text and "among the 4 of the first" in text
    for verdict in Verdict:
        count = sum(pair.verdict is verdict for pair in pairing.pairs)
        assert not count or f"{count} {'is' if count == 1 else 'are'} {verdict}" in text
    held = sum(pairing.first.overall[pair.first] for pair in pairing.pairs if pair.verdict is not Verdict.LOST)
    assert f"{held:.0%} of the words in the first run" in text
    assert "means over the groups’ own wordings" in text


def test_two_topics_are_shown_and_a_topic_brings_its_partner(two: Visitor) -> None:
    pairing = pairing_of(two.workspace)
    nearest = pairing.pairs[0]
    assert two.widget("selectbox", OF_FIRST).value == nearest.first
    assert two.widget("selectbox", OF_SECOND).value == nearest.second
    assert f"{nearest.distance:.2f} apart" in squeezed(two)
    other = pairing.pairs[1]
    two.choose(OF_FIRST, other.first)
    assert two.widget("selectbox", OF_SECOND).value == other.second
    assert f"{other.distance:.2f} apart" in squeezed(two)
    two.choose(OF_SECOND, nearest.second)
    assert "They are not a pair." in squeezed(two)
    assert f"{pairing.distances[other.first, nearest.second]:.2f} apart" in squeezed(two)


def test_topics_looked_at_are_forgotten_with_their_run(two: Visitor) -> None:
    pairing = pairing_of(two.workspace)
    last = pairing.pairs[-1]
    two.choose(OF_FIRST, last.first).choose(FIRST, "3 topics")
    assert two.widget("selectbox", OF_FIRST).value == pairing.pairs[0].second
    assert two.widget("selectbox", OF_SECOND).value == pairing.pairs[0].first


def test_pairs_lie_on_the_diagonal_of_the_picture(two: Visitor) -> None:
    pairing = pairing_of(two.workspace)
    cells, marks, points = picture(two)["data"]
    order = [pairing.pairs[n] for n in range(3)]
    assert cells["y"][:3] == [str(pair.first + 1) for pair in order]
    assert cells["x"][:3] == [str(pair.second + 1) for pair in order]
    assert marks["x"] == cells["x"][:3] and marks["y"] == cells["y"][:3]
    assert len(points["text"]) == 12
    first = points["text"][0]
    assert f"Topic {order[0].first + 1}" in first and f"{order[0].distance:.2f} apart" in first
    assert pairing.first.top_words(order[0].first, 1)[0] in first


def test_the_table_has_a_row_for_each_pair(two: Visitor) -> None:
    pairing = pairing_of(two.workspace)
    table, columns = pairs_table(pairing)
    assert len(table) == 3 and set(columns) == set(table.columns)
    assert table["Apart"].tolist() == [pair.distance for pair in pairing.pairs]
    assert table["Topic, first"].tolist() == [f"Topic {pair.first + 1}" for pair in pairing.pairs]
    assert table["Share, second"].tolist() == [100 * pairing.second.overall[pair.second] for pair in pairing.pairs]
    assert "Gap, first" in table and "Gap, second" in table


def test_topics_that_only_one_has_are_told_of(two: Visitor) -> None:
    pairing = pairing_of(two.workspace)
    text = squeezed(two)
    for alone, run, which in (
        (pairing.alone_in_first, pairing.first, "first"), (pairing.alone_in_second, pairing.second, "second"),
    ):  # fmt: skip
        assert (f"Only in the {which} run" in "".join(one.value for one in two.at.markdown)) == bool(alone)
        for one in alone:
            assert re.search(rf"{run.names[one.topic]} \([^)]*\) is (nearest to|a part of) Topic", text)
    assert pairing.alone_in_first, "four topics against three leave one over"


def test_the_fit_of_both_is_told_with_what_cannot_be_compared(own: Visitor) -> None:
    text = squeezed(own)
    present = own.workspace.present()
    assert present is not None and present.coherence is not None
    (earlier,) = own.workspace.earlier
    assert present.perplexity and earlier.perplexity
    assert f"Perplexity {present.perplexity:,.0f} {earlier.perplexity:,.0f}" in text
    assert "Coherence tends to fall" in own.captions and "other held-out words" not in own.captions
    own.fill("number_input", "Topics", 4).fill("number_input", "Seed", 2).press("Run beside this one")
    assert "other held-out words" in finish(own).captions


def test_a_single_sample_is_called_one(own: Visitor) -> None:
    assert "is one sample" not in own.captions
    own.run_topics(3, 5).go("trust")
    assert "is one sample, which has chance in it" in own.captions


def test_lda_beside_spdp() -> None:
    visitor = Visitor().upload(TALK).run_topics(3, 10).choose_model("lda").run_topics(3, 10).go("trust")
    assert options(visitor, FIRST) == ["3 topics, LDA (this run)", "3 topics, SPDP"]
    text = squeezed(visitor)
    assert "between wordings over all groups together" in text
    assert "alike" in text, "LDA has no wording gap"


# --- how a person reads the present run


def test_names_merged_and_hidden_topics_are_respected(own: Visitor) -> None:
    workspace = own.workspace
    workspace.change_view(View(names={1: "Ships & quays"}, hidden=frozenset({0}), merged={3: 1}))
    own.reload()
    figure = picture(own)["data"]
    assert sorted(figure[0]["y"]) == ["2", "3"]
    assert options(own, OF_FIRST)[0].startswith("Ships & quays: ")
    assert "of the 2 topics of the first run" in squeezed(own)
    own.run_topics(2, 5)
    assert "Ships & quays" in workspace.earlier[0].topics.names, "kept as they were read"
    assert workspace.earlier[0].topics.numbers == (1, 2)


def test_a_run_whose_topics_are_all_hidden_is_answered_in_a_sentence(own: Visitor) -> None:
    own.workspace.change_view(View(hidden=frozenset(range(4))))
    assert any("no topics that are shown" in sentence for sentence in own.reload().errors)
    assert FIRST in [box.label for box in own.at.selectbox]


def test_runs_without_a_word_in_common_are_answered_in_a_sentence(own: Visitor) -> None:
    rows = [(group, title, re.sub(r"[a-z]+", lambda word: word[0][::-1] + "x", text)) for group, title, text in talk()]
    own.go("documents").upload(("reversed.csv", as_csv(rows)))
    own.workspace.words = CorpusSettings(language="none")
    own.run_topics(2, 5).go("trust")
    assert any("no word in common" in sentence for sentence in own.errors)
    assert "Delete" in own.buttons and options(own, SECOND)


def test_the_same_two_runs_are_paired_once(two: Visitor) -> None:
    workspace = two.workspace
    pairing = pairing_of(workspace)
    two.choose(OF_FIRST, 1)
    assert pairing_of(workspace) is pairing
    assert pair_runs(pairing.first, pairing.second).found == pairing.found


# --- markup


def test_words_and_names_are_shown_as_they_are_written() -> None:
    rows = [
        (group, title, f"{text} <b>loud</b> <b>loud</b> <b>loud</b> <img/src=x/onerror=alert(1)>")
        for group, title, text in talk(48, ("<b>left</b>", "**right** :red[x]"))
    ]
    visitor = Visitor().upload(("<img src=x> **talk**.csv", as_csv(rows)))
    visitor.fill("checkbox", "The text is prepared", True).press("Use these settings").run_topics(2, 10)
    visitor.workspace.change_view(View(names={0: "<script>alert(1)</script> **x**"}))
    visitor.run_topics(2, 10).go("trust")
    visitor.workspace.change_view(View(names={0: "<script>alert(2)</script> %{y} **x**"}))
    visitor.reload()
    assert "<b>loud</b>" in visitor.text
    assert any("<script>alert(2)</script> %{y} **x**" in option for option in options(visitor, OF_FIRST))
    for piece in visitor.markup:
        assert not re.search(r"<(script|img)|<b>loud|onerror=", piece)
    figure = picture(visitor)
    shown = [text for trace in figure["data"] for text in trace.get("text", [])]
    assert shown and not [text for text in shown if "<script" in text or "<b>loud" in text or "%{" in text]
    for kind in ("markdown", "caption", "error"):
        assert not [one.value for one in getattr(visitor.at, kind) if re.search(r"(?<!\\)(<img|\*\*talk)", one.value)]
