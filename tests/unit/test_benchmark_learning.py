"""What learning gives and costs: seconds to a fit, verdicts that follow from them, and parts timed without changing a run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import MagicMock, patch

import numpy as np
import pytest

from benchmarks import learning
from benchmarks.data import NamedCorpus, generated_corpus
from benchmarks.learning_figures import fit_figure
from benchmarks.learning_findings import (
    LEARNING_LIMIT,
    Run,
    Saving,
    Wait,
    read_runs,
    saving_verdict,
    share_verdict,
    sorted_runs,
)
from benchmarks.learning_page import describe
from benchmarks.learning_runs import ABLATIONS, DEFAULT, FIXED, PLAIN, RANDOM_FIXED, VARIANTS, is_traced
from benchmarks.learning_shares import timed_parts
from benchmarks.options import Options
from benchmarks.report import read_rows
from spdp_engine.sampling.sampler import AVERAGE_EVERY, Sampler, SamplerSettings, plain_settings

WANTED = {"topics": 4, "seed": 3, "device": ""}


@pytest.fixture(scope="module")
def corpus() -> NamedCorpus:
    return generated_corpus(documents=60, length=30, words=120)


# --- runs


def test_variants_are_default_and_plain_settings_and_what_lies_between() -> None:
    assert DEFAULT.settings(9, 3, None) == SamplerSettings(topics=9, seed=3, schedule="blocks")
    assert PLAIN.settings(9, 3, None) == plain_settings(topics=9, seed=3, schedule="blocks")
    learning = [name for name, one in VARIANTS.items() if one.settings(9, 3, None).learn]
    assert learning == ["default", "not tempered", "no repeats"]
    tempered = [name for name, one in VARIANTS.items() if one.settings(9, 3, None).tempering is None]
    assert tempered == ["default", "fixed", "no repeats"]
    assert [name for name, one in VARIANTS.items() if one.random_start] == ["random, fixed", "random, plain"]
    assert all(one.settings(9, 3, None).fixed == (name,) for name, one in ABLATIONS.items()) and len(ABLATIONS) == 6


def test_a_random_start_is_the_first_iteration(corpus: NamedCorpus) -> None:
    sampler = RANDOM_FIXED.begin(corpus.arrays, WANTED)
    assert sampler.iteration == 1 and len(set(sampler.topics().tolist())) == 4
    assert FIXED.begin(corpus.arrays, WANTED).iteration == 0


def looks_of(sampler: Sampler) -> AbstractContextManager[MagicMock]:
    """Counts how often it looks whether topics have changed their numbers."""
    return patch.object(sampler._averages, "renumbered", wraps=sampler._averages.renumbered)


def test_timing_parts_changes_nothing_that_a_run_finds(corpus: NamedCorpus) -> None:
    plain, timed = (DEFAULT.begin(corpus.arrays, WANTED) for _ in range(2))
    with looks_of(plain) as looks:
        records = plain.run(410)  # looks are after 200 and 400, unless means begin anew there
    with looks_of(timed) as timed_looks, timed_parts(timed) as seconds:
        found = timed.run(410)
    assert 0 < looks.call_count == timed_looks.call_count < records[-1].samples // AVERAGE_EVERY
    samples = records[-1].samples
    assert samples > 0
    assert [(one.perplexity, one.averaged) for one in found] == [(one.perplexity, one.averaged) for one in records]
    assert (found[-1].samples, found[-1].hyperparameters) == (samples, records[-1].hyperparameters)
    assert len(seconds.longer) == samples
    assert 0 < seconds.learning + seconds.topics + seconds.extra < found[-1].elapsed
    assert min(seconds.learning, seconds.topics, seconds.extra) > 0


# --- findings


def run(variant: str, seed: int, fit: Sequence[float], step: float = 1.0, corpus: str = "one") -> Run:
    """A run with a point each `step` seconds."""
    n = np.arange(1, len(fit) + 1)
    learned = dict.fromkeys(ABLATIONS, 0.25)
    return Run(corpus, variant, seed, 1.5 * fit[-1], fit[-1], learned, n, step * n, np.array(fit, float))


def test_a_fit_is_reached_within_one_percent_and_kept() -> None:
    one = run("default", 1, [100, 102, 101.5, 101, 100])
    assert one.reaching(100) == 4.0
    assert one.reaching(95) is None
    assert one.reaching(300) == 1.0
    assert run("default", 1, [100, 99, 102]).reaching(100) is None


def test_a_wait_that_does_not_end_counts_with_the_whole_run() -> None:
    runs = [run("fixed", 1, [200, 100, 99]), run("fixed", 2, [200, 150, 120])]
    ends, some, never = (Wait.of(runs, fits) for fits in ([100, 150], [100, 100], [50, 60]))
    assert (ends, str(ends)) == (Wait(2.0, 2, 2, 3), "2.00") and ends.ends
    assert (some, str(some)) == (Wait(2.5, 1, 2, 3), "over 2.50 (1 of 2 seeds)")
    assert (never, str(never)) == (Wait(3.0, 0, 2, 3), "not within 3 iterations (3.00 seconds)") and not never.ends


def test_a_ratio_to_a_wait_that_does_not_end_is_a_bound() -> None:
    assert str(Saving.of(Wait(1, 3, 3, 500), Wait(4, 3, 3, 1000))) == "0.25"
    assert str(Saving.of(Wait(1, 3, 3, 500), Wait(4, 2, 3, 1000))) == "below 0.25"


def test_a_run_that_goes_on_is_compared_where_others_end() -> None:
    row = {"run": "a", "corpus": "one", "variant": "random, fixed", "seed": "1", "single": "80", "averaged": "70"}
    points = [
        {"run": "a", "iteration": str(n), "seconds": str(n), "perplexity": single, "averaged": averaged}
        for n, single, averaged in ((2, "100", ""), (3, "95", "90"), (6, "80", "70"))
    ]
    (one,) = read_runs([{**dict.fromkeys(ABLATIONS, ""), **row}], points, 3)
    assert (one.single, one.averaged, one.fit.tolist()) == (95, 90, [100, 90, 70])
    assert one.reaching(70) == 6.0


@pytest.mark.parametrize(
    ("savings", "sentence"),
    [
        ({"one": Saving(0.5, False), "two": Saving(0.1, True)}, "take: holds on 2 of 2."),
        ({"one": Saving(0.51, False), "two": Saving(0.1, True)}, "take: holds on 1 of 2; **does not hold** on one."),
        (
            {"one": Saving(0.9, True), "two": Saving(0.1, True)},
            "holds on 1 of 2; not known on one, where the other run",
        ),
        ({"one": Saving(0.9, True)}, "take: holds on 0 of 1; not known on one"),
    ],
)
def test_verdicts_on_seconds(savings: dict[str, Saving], sentence: str) -> None:
    assert sentence in saving_verdict("random, fixed", savings)


def test_verdicts_on_shares() -> None:
    shares = {"one": 0.049, "two": 0.05, "three": 0.07}
    assert share_verdict("Learning takes", LEARNING_LIMIT, shares).endswith(
        "5% of a run: **does not hold** on two, three."
    )
    assert share_verdict("Learning takes", 0.08, shares).endswith("under 8% of a run: holds on one, two, three.")


def test_traces_are_close_together_where_much_happens() -> None:
    kept = [iteration for iteration in range(1, 501) if is_traced(iteration)]
    assert kept[:50] == list(range(1, 51)) and kept[-1] == 500 and len(kept) == 140


# --- the page


def described(quick: bool) -> str:
    """Two seeds; the default is at its fit after 2 s, `random, fixed` after 6 in one seed, others never."""
    last = dict.fromkeys(VARIANTS, 120.0) | {"default": 100.0}
    runs = [run(name, seed, [200, fit, fit], step=1.0) for name, fit in last.items() for seed in (2, 1)]
    runs = [one for one in runs if one.variant != "random, fixed"]
    runs += [run("random, fixed", 1, [200, 120, 100], step=2.0), run("random, fixed", 2, [200, 150, 110], step=2.0)]
    ablated = [run(name, seed, [90 + 10 * (name == "alpha")]) for name in ABLATIONS for seed in (1, 2)]
    costs = {"corpus": "one", "seconds": 10, "learning": 0.4, "topics_averaged": 0.5, "scores_averaged": 0.2}
    rows = [{name: str(value) for name, value in costs.items()}]
    return "\n".join(describe(sorted_runs(runs), sorted_runs(ablated), rows, ["one: 9 tokens"], 500, "FIGURE", quick))


def cells(text: str, *beginning: str) -> list[str]:
    """The rest of the only row that begins so."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    (found,) = [line[len(beginning) :] for line in lines if tuple(line[: len(beginning)]) == beginning]
    return found


def test_the_page_follows_from_the_runs() -> None:
    text = described(quick=False)
    fits, seconds = text.split("## Seconds")
    assert cells(fits, "one", "plain") == ["180.0", "120.0", "1.200 ± 0.000", "1.200 ± 0.000"]
    assert cells(fits, "one", "default") == ["150.0", "100.0", "", ""]
    assert cells(seconds, "one", "default") == ["3.00", "2.00", "2.00", "2.00"]
    assert cells(seconds, "one", "fixed") == ["3.00", "not within 3 iterations (3.00 seconds)", "2.00", "2.00"]
    assert cells(seconds, "one", "random, fixed") == ["6.00", "over 6.00 (1 of 2 seeds)", "6.00", "2.00"]
    beside = seconds.split("beside `random, fixed`")[1]
    assert cells(beside, "one", "2.00") == ["over 6.00 (1 of 2 seeds)", "below 0.33", "holds"]
    assert "take: holds on 1 of 1." in seconds and "random first topics runs for 1,000 iterations" in seconds
    assert cells(seconds, "alpha") == ["100.0", "1.000 ± 0.000"] and cells(seconds, "gamma")[0] == "90.0"
    assert cells(seconds, "everything") == ["120.0", "1.200 ± 0.000"]
    assert cells(seconds, "one", "10.00") == ["4.0 %", "5.0 %", "2.0 %", "11.0 %"]
    assert "Learning takes under 5% of a run: holds on one." in seconds
    assert "Learning and averages take under 10% of a run: **does not hold** on one." in seconds


def test_a_shortened_run_judges_nothing() -> None:
    text = described(quick=True)
    assert "says nothing about the claims" in text and "holds" not in text and "not hold" not in text


def test_the_figure_has_a_panel_to_a_corpus_and_a_line_to_a_variant() -> None:
    runs = [run(name, 1, [200, 120, 110], corpus=corpus) for corpus in ("a", "b", "c") for name in VARIANTS]
    figure = fit_figure("title", sorted_runs(runs))
    assert len(figure.data) == 3 * len(VARIANTS) and sum(line.showlegend for line in figure.data) == len(VARIANTS)
    assert [note.text for note in figure.layout.annotations] == ["a", "b", "c"]


def test_the_command_runs_and_is_resumed(
    corpus: NamedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(learning, "write_figure", lambda figure, path: path.with_suffix(".png"))
    options = Options(topics=4, iterations=6, output=tmp_path, quick=True)
    learning.measure([corpus], options, ablated=["generated"])
    text = (tmp_path / "learning-quick.md").read_text(encoding="utf-8")
    assert (
        text in capsys.readouterr().out
        and "learning-seconds-k4-quick.png" in text
        and "generated: 1,800 tokens" in text
    )
    rows = read_rows(tmp_path / "learning-runs-k4-quick.csv")
    points = read_rows(tmp_path / "learning-runs-k4-quick-traces.csv")
    assert [row["variant"] for row in rows] == list(VARIANTS) and all(row["device"] and row["date"] for row in rows)
    assert [len(one.iteration) for one in read_runs(rows, points, 6)] == [6, 6, 6, 6, 6, 11, 11]
    assert {row["repeat_discount"] != "" for row in rows if row["variant"] in ("plain", "no repeats")} == {False}
    assert float(rows[0]["gamma"]) != 0.1 and rows[1]["gamma"] == "0.1"
    assert len(read_rows(tmp_path / "learning-ablations-k4-quick.csv")) == len(ABLATIONS)

    def again(*_: object) -> None:
        raise AssertionError("A run that the files hold was run again.")

    monkeypatch.setattr("benchmarks.learning_runs.Variant.begin", again)
    learning.measure([corpus], options, ablated=["generated"])
    assert (tmp_path / "learning-quick.md").read_text(encoding="utf-8").split("- Date")[0] == text.split("- Date")[0]
