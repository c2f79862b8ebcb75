"""What the measurement of LDA's samplers is made of: corpora, what is held out, averages, and local modes."""

from __future__ import annotations

import gzip
import math
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import pytest

from benchmarks import blocking
from benchmarks.blocking_findings import (
    chance,
    difference,
    find_gap,
    first_reaching,
    in_local_modes,
    read_traces,
)
from benchmarks.blocking_runs import AveragedPerplexity, HeldOut, bars_found, hold_out_last, is_traced, lone_share
from benchmarks.data import bars, bars_corpus, find_bag_of_words, read_bag_of_words
from benchmarks.report import read_rows
from spdp_engine.errors import InputError
from spdp_engine.models.lda import LdaCounts, LdaPriors, LdaSample
from spdp_engine.types import Tokens

ENTRIES = "3\n4\n5\n1 1 2\n1 3 1\n2 4 1\n3 1 1\n3 2 3\n"
WORDS = 'null\nb"c\nNA\nd\n'


def write_corpus(folder: Path, entries: str = ENTRIES, words: str = WORDS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "docword.small.txt.gz").write_bytes(gzip.compress(entries.encode()))
    (folder / "vocab.small.txt").write_text(words, encoding="utf-8")
    return folder


# --- corpora ----------------------------------------------------------------------------------------------------------------


def test_reads_a_bag_of_words(tmp_path: Path) -> None:
    corpus = read_bag_of_words(write_corpus(tmp_path / "small"))
    assert corpus.name == "small"
    assert corpus.arrays.token_document.tolist() == [0, 0, 0, 1, 2, 2, 2, 2]
    assert corpus.arrays.token_word.tolist() == [0, 0, 2, 3, 0, 1, 1, 1]
    assert corpus.arrays.document_group.tolist() == [0, 0, 0]
    assert (corpus.arrays.n_words, corpus.arrays.n_groups) == (4, 1)


def test_documents_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    corpus = read_bag_of_words(write_corpus(tmp_path, "2\n4\n3\n2 1 1\n1 3 1\n2 4 1\n"))
    assert corpus.arrays.token_document.tolist() == [0, 1, 1]
    assert corpus.arrays.token_word.tolist() == [2, 0, 3]


@pytest.mark.parametrize(
    ("entries", "words", "says"),
    [
        (ENTRIES, "a\nb\n", "announces 4 words"),
        (ENTRIES.replace("5\n", "6\n"), WORDS, "6 entries"),
        (ENTRIES.replace("1 3 1", "1 5 1"), WORDS, "a word of 1 to 4"),
        (ENTRIES.replace("1 3 1", "1 3 0"), WORDS, "1 or more"),
        (ENTRIES.replace("1 3 1", "1 x 1"), WORDS, "bag-of-words format"),
        ("", WORDS, "bag-of-words format"),
    ],
)
def test_says_what_is_wrong_with_a_bag_of_words(tmp_path: Path, entries: str, words: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_bag_of_words(write_corpus(tmp_path, entries, words))


def test_a_folder_without_a_bag_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"docword\.NAME\.txt"):
        read_bag_of_words(tmp_path)
    with pytest.raises(InputError, match="no folder"):
        find_bag_of_words(str(tmp_path / "nowhere"), "uci_kos")
    monkeypatch.delenv("PARALLAX_DATA", raising=False)
    assert find_bag_of_words(None, "uci_kos") is None
    monkeypatch.setenv("PARALLAX_DATA", str(tmp_path))
    assert find_bag_of_words(None, "uci_kos") is None
    (tmp_path / "uci_kos").mkdir()
    assert find_bag_of_words(None, "uci_kos") == tmp_path / "uci_kos"


def test_kos_is_the_papers(shared_data: Path) -> None:
    folder = find_bag_of_words(str(shared_data / "uci_kos"), "")
    assert folder is not None
    arrays = read_bag_of_words(folder).arrays
    assert (len(arrays.document_group), arrays.n_words, len(arrays.token_word)) == (3430, 6906, 467_714)
    assert lone_share(arrays) == pytest.approx(0.629, abs=0.01)


def test_bars_are_rows_and_columns_of_a_grid() -> None:
    topics = bars(5)
    assert topics.shape == (10, 25)
    assert topics.sum(axis=1) == pytest.approx(np.ones(10))
    assert (topics > 0).sum(axis=0).tolist() == [2] * 25  # every pixel is on a row and on a column
    assert topics[0].reshape(5, 5)[0].tolist() == [0.2] * 5 and topics[5].reshape(5, 5)[:, 0].tolist() == [0.2] * 5


def test_the_simulated_corpus_is_drawn_from_the_bars() -> None:
    """Pixel shares are within five standard errors of even; with Dirichlet(0.1), most documents have few topics."""
    arrays = bars_corpus(bars(), 2000, 100, 0.1).arrays
    assert len(arrays.token_word) == 200_000 and arrays.n_words == 25
    assert np.bincount(arrays.token_document).tolist() == [100] * 2000
    counts = np.zeros((2000, 25))
    np.add.at(counts, (arrays.token_document, arrays.token_word), 1)
    shares = counts / 100
    error = shares.std(axis=0) / np.sqrt(2000)
    assert np.all(np.abs(shares.mean(axis=0) - 1 / 25) < 5 * error)
    assert np.median((counts > 0).sum(axis=1)) < 20
    assert (
        np.linalg.matrix_rank(bars()) == 9
    )  # rows and columns have the same sum: of 9 directions, 8 are left in shares
    strength = np.linalg.svd(shares - shares.mean(axis=0), compute_uv=False)
    assert strength[8] < 0.3 * strength[7]


# --- what is held out -------------------------------------------------------------------------------------------------------


def test_half_the_words_of_the_last_documents_are_held_out() -> None:
    corpus = bars_corpus(bars(), 40, 7, 0.1).arrays
    training, held_out = hold_out_last(corpus, 10)
    assert np.bincount(training.token_document).tolist() == [7] * 30 + [4] * 10
    assert np.bincount(held_out.document, held_out.count, minlength=40).tolist() == [0] * 30 + [3] * 10
    together = np.zeros((40, 25), int)
    np.add.at(together, (training.token_document, training.token_word), 1)
    np.add.at(together, (held_out.document, held_out.word), held_out.count)
    whole = np.zeros((40, 25), int)
    np.add.at(whole, (corpus.token_document, corpus.token_word), 1)
    assert np.array_equal(together, whole)
    again = hold_out_last(corpus, 10)[1]
    other = hold_out_last(corpus, 10, seed=8)[1]
    assert np.array_equal(held_out.word, again.word) and not np.array_equal(held_out.word, other.word)


def test_lone_tokens() -> None:
    tokens = Tokens(np.array([0, 0, 2, 3, 0]), np.array([0, 0, 0, 1, 2]), np.zeros(3, int), 4, 1)
    assert lone_share(tokens) == 3 / 5


def random_sample(rng: np.random.Generator, documents: int, words: int, topics: int) -> LdaSample:
    counts = LdaCounts(
        rng.integers(20, size=(documents, topics), dtype=np.int32),
        rng.integers(20, size=(1, words, topics), dtype=np.int32),
    )
    return LdaSample(1, LdaPriors(alpha=0.1, beta=0.01), counts)


def test_averaged_perplexity_against_a_plain_loop() -> None:
    """Equation 13: for each held-out token the mean over sweeps of sum_k theta phi, then its logarithm."""
    rng = np.random.default_rng(3)
    tokens = [(0, 1), (0, 1), (0, 4), (2, 3), (2, 0), (1, 1)]
    pairs, count = np.unique(np.array(tokens).T, axis=1, return_counts=True)
    averaged = AveragedPerplexity(HeldOut(pairs[0], pairs[1], count), sweeps=3)
    for _ in range(2):  # the second round shows that the first leaves nothing behind
        samples = [random_sample(rng, 3, 5, 2) for _ in range(3)]
        told = [averaged.add(sample) for sample in samples]
        total = 0.0
        for document, word in tokens:
            mean = 0.0
            for sample in samples:
                n, s = sample.counts.document_topics, sample.counts.group_words[0]
                for k in range(2):
                    theta = (n[document, k] + 0.1) / (n[document].sum() + 0.2)
                    phi = (s[word, k] + 0.01) / (s[:, k].sum() + 0.05)
                    mean += theta * phi / 3
            total += math.log(mean)
        assert told[:2] == [None, None]
        assert told[2] == pytest.approx(math.exp(-total / len(tokens)), rel=1e-12)


# --- local modes ------------------------------------------------------------------------------------------------------------


def test_bars_are_found_where_a_topic_has_them_alone() -> None:
    topics = bars()
    assert bars_found(topics[::-1].T, topics) == 10
    merged = topics.copy()
    merged[0] = merged[1] = (topics[0] + topics[1]) / 2
    assert bars_found(merged.T, topics) == 8
    assert bars_found(0.8 * topics.T + 0.2 / 25, topics) == 10


def test_local_modes_are_below_the_first_wide_gap() -> None:
    """Two local modes at different depths: both count, and the deeper, wider gap does not hide the first."""
    rng = np.random.default_rng(5)
    best, worse, worst = (level + rng.normal(0, 10, 20) for level in (0.0, -300.0, -2000.0))
    final = np.concatenate([worse, best, worst])
    gap = find_gap(final, spread_within=10.0)
    assert gap is not None
    assert gap.upper == best.min() and gap.lower == worse.max()
    assert in_local_modes(final, final.max(), gap).tolist() == [True] * 20 + [False] * 20 + [True] * 20


def test_runs_of_one_mode_have_no_gap() -> None:
    final = np.random.default_rng(6).normal(0, 10, 90)
    assert find_gap(final, spread_within=10.0) is None
    assert not in_local_modes(final, final.max(), None).any()


def test_differences_and_chances() -> None:
    assert chance(5, 30, 10, 30) == pytest.approx(0.233, abs=0.001)
    clear = difference(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.1, 3.0]))
    assert clear.clear and clear.mean == pytest.approx(1.9667, abs=1e-4) and clear.pairs == 3
    assert not difference(np.array([3.0, 1.0]), np.array([1.0, 2.0])).clear
    assert not difference(np.array([3.0]), np.array([1.0])).clear
    assert first_reaching(np.array([0, 5, 10]), np.array([-9.0, -3.0, -1.0]), -3.5) == 5
    assert first_reaching(np.array([0, 5, 10]), np.array([-9.0, -3.0, -1.0]), 0.0) is None


def test_traces_of_each_sampler_from_points() -> None:
    points = [
        {"sampler": name, "seed": str(seed), "iteration": str(t), "log_posterior": f"{-100 / (t + seed)}",
         "perplexity": "9.5" if t == 10 else ""}
        for seed in (2, 1) for name in ("b", "a") for t in (0, 5, 10)
    ]  # fmt: skip
    traces = read_traces(points)
    assert list(traces) == ["b", "a"]
    assert traces["a"].seeds == (1, 2) and traces["a"].iterations.tolist() == [0, 5, 10]
    assert traces["a"].log_posterior[0].tolist() == pytest.approx([-100, -100 / 6, -100 / 11])
    assert traces["a"].measured.tolist() == [2] and traces["a"].final_perplexity.tolist() == [9.5, 9.5]


def test_a_trace_has_a_point_wherever_perplexity_is_measured() -> None:
    kept = [iteration for iteration in range(501) if is_traced(iteration)]
    assert set(range(10, 501, 10)) <= set(kept) and kept[:21] == list(range(21)) and len(kept) < 80


# --- the command -------------------------------------------------------------------------------------------------------------


def test_the_command_runs_on_small_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARALLAX_DATA", raising=False)
    monkeypatch.setattr(blocking, "QUICK_DOCUMENTS", 60)
    monkeypatch.setattr(blocking, "QUICK_HELD_OUT", 10)
    monkeypatch.setattr(blocking, "write_figure", lambda figure, path: path.with_suffix(".png"))
    rng = np.random.default_rng(1)
    entries = [(d, w, rng.integers(1, 5)) for d in range(1, 61) for w in sorted(rng.permutation(50)[:12] + 1)]
    lines = [f"{document} {word} {count}" for document, word, count in entries]
    kos = write_corpus(
        tmp_path / "kos", "\n".join(["60", "50", str(len(lines)), *lines]), "\n".join(f"w{word}" for word in range(50))
    )
    words = ["--quick", "--kos", str(kos), "--processes", "1", "--output", str(tmp_path)]
    parser = ArgumentParser()
    blocking.add_arguments(parser)
    blocking.run(parser.parse_args(words))
    text = (tmp_path / "blocking-quick.md").read_text(encoding="utf-8")
    assert "says nothing about the paper" in text and "Not measured: `uci_20news_train`" in text
    assert all(part in text for part in ("## 1. Simulated", "## 2a. kos", "## 3. Seconds", "5 of 30", "62.9%"))
    rows = read_rows(tmp_path / "blocking-bars-k10-quick.csv")
    assert len(rows) == 2 * 4 and all(row["device"] and row["date"] and row["engine"] for row in rows)
    starts = {
        point["log_posterior"] for point in read_rows(tmp_path / "blocking-bars-k10-quick-traces.csv")
        if point["iteration"] == "0" and point["seed"] == "1"
    }  # fmt: skip
    assert len(starts) == 1  # every sampler begins at the same topics
