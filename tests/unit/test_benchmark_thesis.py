"""`python -m benchmarks thesis`: it measures every schedule, can be resumed, and its sentences follow from the values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from benchmarks import figures, machine, thesis_runs, thesis_speed
from benchmarks.__main__ import main
from benchmarks.data import generated_corpus
from benchmarks.figures import shown, styled, write_figure
from benchmarks.report import read_rows
from benchmarks.running_app import find_browser
from benchmarks.schedules import NamedSchedule, all_schedules
from benchmarks.speed import THESIS, Turn
from benchmarks.thesis_findings import Speed, distance_findings, endings, perplexity_findings, speed_findings
from benchmarks.thesis_runs import Samples, forget_without_sample, marks
from benchmarks.thesis_speed import Bounds, take_turns, times_as_fast
from benchmarks.thesis_topics import Matched
from spdp_engine.corpus import Corpus
from spdp_engine.errors import ParallaxError
from spdp_engine.models.spdp import Counts, SpdpPriors, SpdpSample
from spdp_engine.types import Iteration

TOPICS = 5
ITERATIONS = 6


def no_browser() -> None:
    raise ParallaxError("No Chromium was found.")


def stand_still(patch: pytest.MonkeyPatch) -> None:
    """No browser, which takes seconds for each figure and is tested by itself; and an engine nobody changes meanwhile."""
    patch.setattr(figures, "headless_browser", no_browser)
    patch.setattr(machine, "_fingerprint", lambda: "unchanged")


def command(folder: Path) -> list[str]:
    return ["thesis", "--corpus", str(folder / "tiny.csv"), "--quick", "--topics", str(TOPICS), "--iterations",
            str(ITERATIONS), "--turns", "2", "--seconds", "0", "--output", str(folder / "out")]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the command has run once."""
    folder = tmp_path_factory.mktemp("thesis")
    corpus = generated_corpus(documents=60, length=30, words=120).arrays
    assert isinstance(corpus, Corpus)
    rows = [f"{group},{text}" for group, text in zip(corpus.documents.groups, corpus.documents.texts, strict=True)]
    (folder / "tiny.csv").write_text("\n".join(["group,text", *rows]), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        stand_still(patch)
        assert main(command(folder)) == 0
    return folder


def page_of(folder: Path) -> str:
    return (folder / "out" / "thesis-tiny-quick.md").read_text(encoding="utf-8")


def test_the_page_has_every_part_and_the_thesis_beside_it(folder: Path) -> None:
    page = page_of(folder)
    for schedule in all_schedules("spdp", first="sequential"):
        assert page.count(f"| {schedule.name} ") >= 2 + (schedule.name != "sequential")
    for heading in (
        "Seconds an iteration",
        "Perplexity against iteration",
        "Topics that the groups",
        "Distance between",
    ):
        assert f"## {heading}" in page
    for printed in ("3514", "0.014364", "Table 14", "Figure 14.14", "shortened", "Date: "):
        assert printed in page
    for target in re.findall(r"\]\(([^)]+)\)", page):
        assert (folder / "out" / target).exists(), target
    assert "nan" not in page.casefold()


def test_rows_say_what_they_were_measured_on(folder: Path) -> None:
    speed, runs = (read_rows(folder / "out" / f"thesis-tiny-quick-{part}.csv") for part in ("speed", "runs"))
    schedules = all_schedules("spdp", first="sequential")
    assert [row["contestant"] for row in speed] == [*(one.name for one in schedules), THESIS]
    assert len(runs) == 2 * len(schedules)  # two seeds of each
    assert all(row["device"] and row["date"] and row["engine"] for row in (*speed, *runs))
    assert all(int(row["done"]) == ITERATIONS for row in runs)
    assert float(next(row["times_thesis"] for row in speed if row["contestant"] == THESIS)) == 1.0
    traces = read_rows(folder / "out" / "thesis-tiny-quick-runs-traces.csv")
    assert [int(row["iteration"]) for row in traces if row["run"] == runs[0]["run"]] == marks(ITERATIONS)


def test_topics_and_distances_are_kept_in_full(folder: Path) -> None:
    topics = read_rows(folder / "out" / "thesis-tiny-quick-topics.csv")
    assert len(topics) == TOPICS * 2
    assert all(len(set(row["words"].split(", "))) == 50 for row in topics)
    distances = read_rows(folder / "out" / "thesis-tiny-quick-distances.csv")
    pairs = {(row["contestant"], row["seed"], row["reference_seed"]) for row in distances}
    others = [one.name for one in all_schedules("spdp", first="sequential")[1:]]
    assert pairs == {("sequential", "2", "1")} | {(name, *seeds) for name in others for seeds in ("21", "12")}
    for pair in pairs:
        own = [row for row in distances if (row["contestant"], row["seed"], row["reference_seed"]) == pair]
        assert sorted(int(row["match"]) for row in own) == list(range(1, TOPICS + 1))
        assert all(0 <= float(row["distance"]) <= 1 for row in own)


def test_a_second_run_measures_nothing_but_what_was_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = page_of(folder)
    made = []

    class Watched(thesis_runs.Sampler):
        def __init__(self, *arguments: object) -> None:
            made.append(arguments)
            super().__init__(*arguments)  # type: ignore[arg-type]

    stand_still(monkeypatch)
    monkeypatch.setattr(thesis_runs, "Sampler", Watched)
    monkeypatch.setattr(thesis_speed, "Sampler", None)
    assert main(command(folder)) == 0
    assert not made
    without_machine = [page.partition("- Date:")[0] for page in (before, page_of(folder))]
    assert without_machine[0] == without_machine[1]
    (folder / "out" / "thesis-tiny-quick-samples" / f"blocks-k{TOPICS}-seed1.npz").unlink()
    assert main(command(folder)) == 0
    assert len(made) == 1
    assert page_of(folder).partition("- Date:")[0] == before.partition("- Date:")[0]


def test_without_a_corpus_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["thesis", "--corpus", "nowhere.csv"]) == 2
    assert "--corpus" in capsys.readouterr().err


def some_sample(base: bool) -> SpdpSample:
    rng = np.random.default_rng(0)
    n, m = (rng.integers(0, 5, shape, dtype=np.int32) for shape in ((4, 3), (2, 6, 3)))
    counts = Counts(document_topics=n, customers=m, tables=np.minimum(m, 1).astype(np.int32))
    return SpdpSample(7, SpdpPriors(), counts, base=rng.dirichlet(np.ones(6), 3).T if base else None)


@pytest.mark.parametrize("base", [False, True])
def test_samples_are_found_again_for_the_same_settings_alone(tmp_path: Path, base: bool) -> None:
    samples, wanted = (
        Samples(tmp_path),
        {"contestant": "token_parallel, document", "topics": 3, "seed": 1, "engine": "a"},
    )
    assert samples.find(wanted) is None
    sample = some_sample(base)
    samples.keep(wanted, sample)
    found = samples.get(wanted)
    assert found.iteration == 7
    np.testing.assert_array_equal(found.counts.tables, sample.counts.tables)
    np.testing.assert_array_equal(found.group_wordings(), sample.group_wordings())
    np.testing.assert_array_equal(found.document_shares(), sample.document_shares())
    assert samples.find({**wanted, "engine": "b"}) is None


def test_only_runs_without_their_sample_are_forgotten(tmp_path: Path) -> None:
    samples, path = Samples(tmp_path / "samples"), tmp_path / "runs.csv"
    wanted = [{"contestant": "blocks", "topics": 3, "seed": seed} for seed in (1, 2)]
    path.write_text("contestant,topics,seed,done\nblocks,3,1,9\nblocks,3,2,9\nblocks,4,1,9\n", encoding="utf-8")
    samples.keep(wanted[1], some_sample(base=False))
    forget_without_sample(path, wanted, samples)
    assert [(row["topics"], row["seed"]) for row in read_rows(path)] == [("3", "2"), ("4", "1")]


class Steady:
    """A contestant whose iterations take `seconds`, by its own account."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.steps = seconds, 0

    def step(self) -> Iteration:
        self.steps += 1
        return Iteration(self.steps, self.seconds, self.steps * self.seconds, 1 / self.seconds, None)

    def perplexity(self) -> None:
        return None


def test_slow_contestants_leave_the_rounds_after_their_second_turn() -> None:
    contestants = {"slow": Steady(100.0), "middling": Steady(4.0), "fast": Steady(0.25)}
    told: list[Iteration] = []
    turns = take_turns(contestants, Bounds(turns=6, seconds=10.0, turn_seconds=1.0), told.append)
    rounds = {name: [turn.round for turn in turns if turn.contestant == name] for name in contestants}
    assert rounds == {"slow": [1, 2], "middling": [1, 2, 3], "fast": [1, 2, 3, 4, 5, 6]}
    assert all(turn.iterations == (4 if turn.contestant == "fast" else 1) for turn in turns)
    assert contestants["slow"].steps == 2 + 2  # of the warm-up, and of the turns
    assert len(told) == len(turns)
    assert times_as_fast(turns, "fast", "slow") == pytest.approx(400)


def test_ratios_are_taken_within_a_round() -> None:
    """A machine that slows down to a tenth after the first round slows down both."""
    seconds = {("a", 1): 1.0, ("b", 1): 2.0, ("a", 2): 10.0, ("b", 2): 20.0, ("a", 3): 10.0}
    turns = [Turn(name, number, 1, one, 0.0, 1.0) for (name, number), one in seconds.items()]
    assert times_as_fast(turns, "a", "b") == pytest.approx(2.0)


def test_marks_end_with_the_last_iteration() -> None:
    assert marks(60) == [1, 2, 5, 10, 25, 50, 60]
    assert marks(50) == [1, 2, 5, 10, 25, 50]
    assert marks(1) == [1]


SCHEDULES = (
    NamedSchedule("spdp", "sequential", "", True),
    NamedSchedule("spdp", "topic_parallel", "", True),
    NamedSchedule("spdp", "token_parallel", "interleaved", False),
    NamedSchedule("spdp", "token_parallel", "document", False),
    NamedSchedule("spdp", "hybrid", "", False),
)


def speeds_of(seconds: Mapping[str, float]) -> dict[str, dict[int, Speed]]:
    """Contestants at K = 32 and 128, which take four times as long, and Algorithm 1, which takes 10 s."""
    every = {THESIS: 10.0, **seconds}
    return {
        name: {
            topics: Speed(times * one, times * one, times * one, 3, 10.0 / one, every["sequential"] / one)
            for topics, times in ((32, 1), (128, 4))
        }
        for name, one in every.items()
    }  # fmt: skip


def test_sentences_on_speed_follow_the_values() -> None:
    usual = {
        "sequential": 1.0,
        "topic_parallel": 3.0,
        "token_parallel, interleaved": 0.5,
        "token_parallel, document": 0.1,
        "hybrid": 1.0,
    }
    text = "\n".join(speed_findings(speeds_of(usual), SCHEDULES, "a device"))
    assert "The fastest is `token_parallel, document` at K = 32 and 128 (100 times" in text
    assert "As in the thesis, sharing out the topics of one token does not pay." in text
    assert "by more here" in text and "by less here" in text
    assert "4.0 (`sequential`)" in text and "2.4 (GTX460M)" in text
    other = {**usual, "topic_parallel": 0.5, "token_parallel, interleaved": 20.0, "token_parallel, document": 0.25}
    text = "\n".join(speed_findings(speeds_of(other), SCHEDULES, "a device"))
    assert "Unlike in the thesis, sharing out the topics of one token pays here." in text
    assert "here it is slower, unlike in the thesis" in text and "by a like factor" in text


def curves_of(ends: Mapping[str, float]) -> dict[str, dict[int, dict[int, float]]]:
    """Curves that fall from 2000 to their end by iteration 25; two seeds of `sequential`, 1 % apart."""
    curves = {name: {1: {1: 2000.0, 25: end + 10, 50: end}} for name, end in ends.items()}
    curves["sequential"][2] = {1: 2000.0, 25: 1020.0, 50: 1010.0}
    return curves


def test_sentences_on_perplexity_follow_the_values() -> None:
    shares = dict.fromkeys((one.name for one in SCHEDULES), 0.05)
    like_the_thesis = {"sequential": 1000.0, "topic_parallel": 1001.0, "token_parallel, interleaved": 1005.0,
                       "token_parallel, document": 1100.0, "hybrid": 1200.0}  # fmt: skip
    large = {**shares, "token_parallel, document": 0.2}
    text = "\n".join(perplexity_findings(curves_of(like_the_thesis), large, SCHEDULES, 50))
    assert (
        "fits worse than exact sampling, as in the thesis" in text
        and "almost as good as exact sampling, as in the thesis" in text
    )
    assert "in the thesis's direction" in text and "the same is seen" in text and "which agrees" in text
    assert "`topic_parallel` ends 0.1% above `sequential` after 50 iterations: within the spread" in text
    assert "Here too most of the fall is early." in text and "used up" not in text
    not_at_all = {
        **like_the_thesis,
        "token_parallel, interleaved": 1100.0,
        "token_parallel, document": 900.0,
        "hybrid": 1000.0,
    }
    curves = curves_of(not_at_all)
    del curves["hybrid"][1][50]
    text = "\n".join(perplexity_findings(curves, shares, SCHEDULES, 50))
    assert "fits better than exact sampling, unlike in the thesis" in text and "still worse than exact sampling" in text
    assert (
        "against the thesis's direction" in text and "that is not seen" in text and "which this does not show" in text
    )
    assert "Some runs used up their time before 50 iterations: `hybrid` after 25." in text


def test_contestants_are_compared_over_the_seeds_that_both_have() -> None:
    ends = endings(curves_of({"sequential": 1000.0, "blocks": 1000.0}), "sequential")
    assert ends["blocks"].excess == 0.0 and ends["blocks"].iteration == 50
    assert ends["sequential"].perplexity == 1005.0


def pair(name: str, distance: float, seed: int = 1) -> Matched:
    return Matched(name, seed, 1, np.arange(3), np.full((3, 3), 1.0) - (1 - distance) * np.eye(3))


def test_sentences_on_distances_follow_the_values() -> None:
    seeds = [pair("sequential", 0.30, seed=2), pair("sequential", 0.40, seed=3)]
    near, over, far = (
        {name: [pair(name, distance) for distance in distances]}
        for name, distances in (("blocks", (0.34, 0.36)), ("token_parallel", (0.42,)), ("hybrid", (0.5, 0.7)))
    )
    text = "\n".join(distance_findings(seeds, {**near, **over, **far}, "sequential"))
    assert "does not exceed that between two seeds of `sequential` (0.300 to 0.400) for `blocks` (0.350)." in text
    assert "for `token_parallel` (0.420, +5.0%) and `hybrid` (0.600, +50.0%)." in text
    assert "that does not hold here for `hybrid`." in text
    assert "that holds here." in "\n".join(distance_findings(seeds, {**near, **over}, "sequential"))


def test_pairs_are_aligned_on_the_diagonal_nearest_first() -> None:
    distances = np.array([[0.9, 0.5, 0.8], [0.2, 0.9, 0.9], [0.9, 0.9, 0.4]])
    aligned = Matched("blocks", 1, 1, np.array([1, 0, 2]), distances).aligned()
    np.testing.assert_array_equal(np.diag(aligned), [0.2, 0.4, 0.5])


def a_figure() -> go.Figure:
    return styled(go.Figure(go.Scatter(x=[1, 2], y=[1, 2])), "Two points", height=300)


def test_a_figure_without_a_browser_is_a_page_that_stands_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "headless_browser", no_browser)
    (tmp_path / "two.points.png").write_bytes(b"an older one")
    path = write_figure(a_figure(), tmp_path / "two.points")
    assert path == tmp_path / "two.points.html" and list(tmp_path.iterdir()) == [path]
    text = path.read_text(encoding="utf-8")
    assert "Two points" in text and len(text) > 1_000_000 and 'src="http' not in text
    assert shown(path, "two points").startswith("[Figure: two points](two.points.html)")


@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_a_figure_is_drawn_by_the_browser(tmp_path: Path) -> None:
    pytest.importorskip("playwright")
    path = write_figure(a_figure(), tmp_path / "two")
    data = path.read_bytes()
    assert path.suffix == ".png" and data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[start : start + 4], "big") for start in (16, 20))
    assert (width, height) == (2 * figures.WIDTH, 2 * 300)
    assert shown(path, "two points") == "![two points](two.png)"
