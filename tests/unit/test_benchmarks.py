"""The benchmarks run, and the thesis's Algorithm 1, which the engine is compared with, is a correct sampler."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from benchmarks import table_limit, thesis_algorithm1
from benchmarks.data import generated_corpus
from benchmarks.report import read_rows, table
from benchmarks.runs import complete
from benchmarks.smoke import MEASUREMENTS as SMOKE
from benchmarks.thesis_algorithm1 import NEVER, ThesisAlgorithm1, held_out_perplexity, log_ratios
from spdp_engine.models.stirling import seating
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import TokenArrays

ROOT = Path(__file__).resolve().parents[2]
TOPICS = 5


def run_command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PARALLAX_DATA"}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=ROOT, env={**kept, **environment}, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def test_smoke_runs_every_measurement() -> None:
    """`learning`, `evidence` and `blocking` take longer, and are tested by themselves."""
    assert {*SMOKE} == {*BRIEF, "learning", "evidence", "blocking"}
    done = run_command("smoke", "speed", "tea")
    assert done.returncode == 2 and "There is no “tea”" in done.stderr


def test_a_measurement_leaves_a_page_and_rows_that_say_where_they_are_from(tmp_path: Path) -> None:
    done = run_command("smoke", *BRIEF, "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for command in BRIEF:
        assert (tmp_path / f"{command}-generated-k8-quick.md").read_text(encoding="utf-8") in done.stdout
        rows = read_rows(tmp_path / f"{command}-generated-k8-quick.csv")
        assert rows and rows[0]["device"] and int(rows[0]["cores"]) >= 1 and rows[0]["date"]
    assert "times as fast as the thesis's Algorithm 1" in done.stdout


BRIEF = ("speed", "fit-quality", "associations", "table-limit")


@pytest.mark.parametrize("words", [(), ("--corpus", "nowhere.csv")])
def test_without_a_corpus_a_sentence_and_status_2(words: tuple[str, ...]) -> None:
    done = run_command("fit-quality", *words)
    assert done.returncode == 2
    assert "--corpus" in done.stderr and "PARALLAX_DATA" in done.stderr and "Traceback" not in done.stderr


def test_reads_a_corpus_from_the_data_folder(tmp_path: Path) -> None:
    fruits = ["apple", "pear", "plum", "fig", "nut"]
    orders = list(permutations(fruits))[:60]
    rows = [f"{('left', 'right')[number % 2]},{' '.join(order)} apple" for number, order in enumerate(orders)]
    (tmp_path / "fruit.csv").write_text("\n".join(["group,text", *rows]), encoding="utf-8")
    done = run_command("fit-quality", "--corpus", "fruit.csv", "--quick", "--topics", "2", "--output", str(tmp_path / "out"),
                       PARALLAX_DATA=str(tmp_path))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fruit: 360 tokens, 60 documents in 2 groups, 5 words" in done.stdout


def test_help_names_every_command() -> None:
    done = run_command("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("speed", "fit-quality", "table-limit", "smoke"))


def test_a_measurement_is_not_run_again(tmp_path: Path) -> None:
    path, measured = tmp_path / "runs.csv", []

    def measure(settings: dict[str, object], _: object) -> dict[str, object]:
        measured.append(settings["seed"])
        return {"perplexity": 100}

    complete("test", path, [{"iterations": 1, "seed": 1}], measure)
    rows = complete("test", path, [{"iterations": 1, "seed": seed} for seed in (1, 2)], measure)
    complete("test", path, [{"iterations": 2, "seed": 1}], measure)
    assert measured == [1, 2, 1]
    assert [row["seed"] for row in rows] == ["1", "2"]


def test_tables_line_up() -> None:
    assert table(["a", "bb"], [["long", "1"]]) == "| a    | bb |\n|------|---:|\n| long |  1 |"


def test_thesis_kernel_keeps_its_counts() -> None:
    corpus = generated_corpus(documents=60, length=40, words=150).arrays
    thesis = ThesisAlgorithm1(corpus, TOPICS)
    for _ in range(20):
        thesis.step()
    kept = ~thesis.held_out
    counts = thesis.inspect().counts
    counts.check(corpus.token_word[kept], corpus.token_document[kept], corpus.document_group, thesis.topics())
    q, customers, tables, base = thesis.sums()
    assert np.array_equal(q, counts.tables.sum(axis=0))
    assert np.array_equal(customers, counts.customers.sum(axis=1))
    assert np.array_equal(tables, counts.tables.sum(axis=1))
    assert np.array_equal(base, q.sum(axis=0))
    held_out = Sampler(corpus, plain_settings(topics=TOPICS)).held_out
    assert np.array_equal(thesis.held_out, held_out)


CHAINS = 8


def means(make: Callable[[int], ThesisAlgorithm1 | Sampler]) -> tuple[float, float, float]:
    """Means over `CHAINS` chains: perplexity after one iteration and after 61, and tables after 61."""
    found = []
    for seed in range(CHAINS):
        sampler = make(seed)
        sampler.step()
        first = sampler.perplexity()
        for _ in range(60):
            sampler.step()
        found.append((first, sampler.perplexity(), sampler.inspect().counts.tables.sum()))
    first, last, tables = np.mean(found, axis=0)
    return first, last, tables


@pytest.fixture(scope="module")
def chains_corpus() -> TokenArrays:
    return generated_corpus(documents=120, length=50, words=200).arrays


@pytest.fixture(scope="module")
def sequential_means(chains_corpus: TokenArrays) -> tuple[float, float, float]:
    def make(seed: int) -> Sampler:
        settings = plain_settings(topics=TOPICS, schedule="sequential", seed=seed, measure_every=0)
        return Sampler(chains_corpus, settings)

    return means(make)


def test_thesis_kernel_agrees_with_sequential(
    chains_corpus: TokenArrays, sequential_means: tuple[float, float, float]
) -> None:
    """The same model: perplexity falls to the same level, and as many tables open.

    One standard error of the ratio is 2.9 % for perplexity and 0.43 % for tables, so that of 1000 seeds about one would fail.
    """
    first, last, tables = means(lambda seed: ThesisAlgorithm1(chains_corpus, TOPICS, seed=seed))
    assert last < 0.85 * first
    assert last == pytest.approx(sequential_means[1], rel=0.1)
    assert tables == pytest.approx(sequential_means[2], rel=0.015)


def test_a_wrong_kernel_does_not_agree(
    chains_corpus: TokenArrays,
    sequential_means: tuple[float, float, float],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    source = thesis_algorithm1.KERNEL.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.cl"
    wrong.write_text(source.replace("discount * (float)T_i[k]", "0.0f"), encoding="utf-8")
    assert wrong.read_text(encoding="utf-8") != source
    monkeypatch.setattr(thesis_algorithm1, "KERNEL", wrong)
    _, _, tables = means(lambda seed: ThesisAlgorithm1(chains_corpus, TOPICS, seed=seed))
    assert tables != pytest.approx(sequential_means[2], rel=0.1)


def test_thesis_kernel_is_reproducible() -> None:
    corpus = generated_corpus(documents=40, length=30, words=100).arrays
    runs = [ThesisAlgorithm1(corpus, TOPICS, seed=seed) for seed in (3, 3, 4)]
    for _ in range(3):
        for run in runs:
            run.step()
    assert np.array_equal(runs[0].topics(), runs[1].topics())
    assert not np.array_equal(runs[0].topics(), runs[2].topics())


def test_plain_perplexity_agrees_with_the_kernel() -> None:
    corpus = generated_corpus(documents=60, length=40, words=150).arrays
    sampler = Sampler(corpus, plain_settings(topics=TOPICS))
    sampler.run(5)
    assert held_out_perplexity(sampler.inspect(), corpus, sampler.held_out) == pytest.approx(
        sampler.perplexity(), rel=1e-5
    )


@pytest.mark.parametrize("limit", [3, 50])
def test_log_ratios_are_those_of_stirling_numbers(limit: int) -> None:
    a, most = 0.7, 12
    number = np.zeros((most + 2, most + 3))
    number[0, 0] = 1.0
    for n in range(most + 1):
        for t in range(n + 2):
            number[n + 1, t] = (number[n, t - 1] if t else 0.0) + (n - t * a) * number[n, t]
    table = seating(a, most + 1, limit)
    logs = log_ratios(table)
    for m in range(1, most + 1):
        for t in range(1, min(m, limit) + 1):
            old, new = logs[table.index(np.array(m), np.array(t))]
            assert old == pytest.approx(np.log(number[m + 1, t] / number[m, t]), abs=1e-4)
            at_limit = t == table.table_limit
            assert new == (NEVER if at_limit else pytest.approx(np.log(number[m + 1, t + 1] / number[m, t]), abs=1e-4))
    assert tuple(logs[0]) == (np.float32(NEVER), 0.0)


def test_table_limits_reach_the_engine_and_leave_it_as_it_was() -> None:
    corpus = generated_corpus(documents=60, length=40, words=50).arrays
    settings = plain_settings(topics=2, measure_every=0)
    with table_limit.tables_bounded(3):
        bounded = Sampler(corpus, settings)
    free = Sampler(corpus, settings)
    bounded.run(5)
    free.run(5)
    assert bounded.inspect().counts.tables.max() == 3
    assert free.inspect().counts.tables.max() > 3
