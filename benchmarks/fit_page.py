"""The page of `python -m benchmarks fit`: Parallax beside the best peer, verdicts, and every peer."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from benchmarks.fit_peers import ALPHA, AVERAGE_EVERY, ETAS, OPTIMISE_EVERY, OPTIMISE_FROM
from benchmarks.report import counted, table

SINGLE, AVERAGED = "single", "averaged"

ALL = 6
"""Corpora that the claims are about."""

TextRows = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Claim:
    """That Parallax's averaged perplexity is at most `limit` of the best peer's on `corpora` of the six.

    Attributes:
        of: the peer's figure that is meant, `SINGLE` or `AVERAGED`.
        limit: of the ratio.
        corpora: on how many it must hold, at least.
    """

    of: str
    limit: float
    corpora: int


CLAIMS = (Claim(SINGLE, 0.90, 5), Claim(AVERAGED, 1.00, 6), Claim(AVERAGED, 0.97, 3))

ONE_GROUP_LIMIT = 1.00
"""SPDP over LDA where all documents are one group, both averaged."""


@dataclass(frozen=True)
class Contestant:
    """A tool on one corpus.

    Attributes:
        name: what the page calls it.
        single: perplexity of the last sample, by seed.
        averaged: perplexity of averaged probabilities, by seed.
    """

    name: str
    single: tuple[float, ...]
    averaged: tuple[float, ...]

    def mean(self, of: str) -> float:
        """Over seeds; `of` is `SINGLE` or `AVERAGED`."""
        return statistics.fmean(self.values(of))

    def values(self, of: str) -> tuple[float, ...]:
        """By seed."""
        return self.single if of == SINGLE else self.averaged


@dataclass(frozen=True)
class Ratio:
    """One tool's perplexity over another's: of the means, with the standard error of the seeds' ratios (None: one seed)."""

    value: float
    error: float | None

    @classmethod
    def of(cls, ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
        """By seed, each."""
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        error = statistics.stdev(ratios) / sqrt(len(ratios)) if len(ratios) > 1 else None
        return cls(statistics.fmean(ours) / statistics.fmean(theirs), error)

    def __str__(self) -> str:
        return f"{self.value:.3f}" + (f" ± {self.error:.3f}" if self.error is not None else "")


def contestants(rows: TextRows, corpus: str, *name: str) -> list[Contestant]:
    """The tools on a corpus, told apart by the columns `name`, each with its seeds in order."""
    found: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in rows:
        if row["corpus"] == corpus:
            found.setdefault(tuple(row[column] for column in name), []).append(row)
    made = []
    for names, own in found.items():
        ordered = sorted(own, key=lambda row: int(row["seed"]))
        single, averaged = (tuple(float(row[of]) for row in ordered) for of in (SINGLE, AVERAGED))
        made.append(Contestant(", ".join(names), single, averaged))
    return made


def peers_of(rows: TextRows, corpus: str) -> list[Contestant]:
    """Each peer with each prior, as "tomotopy LDA, η 0.1"."""
    return contestants([{**row, "prior": f"η {row['eta']}"} for row in rows], corpus, "peer", "prior")


def best(peers: Sequence[Contestant], of: str) -> Contestant:
    """The one with the lowest mean over seeds."""
    return min(peers, key=lambda peer: peer.mean(of))


def verdict(claim: Claim, ratios: Mapping[str, Ratio]) -> str:
    """Whether a claim holds, with the corpora on which the ratio is within its limit."""
    within = [corpus for corpus, ratio in ratios.items() if ratio.value <= claim.limit]
    peer = "single sample" if claim.of == SINGLE else "average"
    what = f"Averaged at most {claim.limit:.2f} of the best peer's {peer} on {claim.corpora} of {ALL} corpora"
    if len(ratios) < ALL:
        return f"{what}: not judged, since {len(ratios)} of the {ALL} were measured."
    holds = "holds" if len(within) >= claim.corpora else "**does not hold**"
    where = f" ({', '.join(within)})" if within else ""
    return f"{what}: {holds}, on {len(within)}{where}."


def one_group_verdict(ratios: Mapping[str, Ratio]) -> str:
    """Whether SPDP is no worse than LDA on one group, and where it is not."""
    worse = [corpus for corpus, ratio in ratios.items() if ratio.value > ONE_GROUP_LIMIT]
    what = "With one group SPDP fits no worse than LDA, both averaged"
    return f"{what}: **does not hold** on {', '.join(worse)}." if worse else f"{what}: holds on all."


def describe(peers: TextRows, ours: TextRows, iterations: int, quick: bool) -> list[str]:
    """The page's paragraphs.

    Args:
        peers: rows of the peers.
        ours: rows of Parallax, with grouping and model.
        iterations: of each run.
        quick: whether runs were shortened.
    """
    corpora = list(dict.fromkeys(row["corpus"] for row in ours))
    grouped = [row for row in ours if row["grouping"] == "grouped"]
    over: dict[str, dict[str, Ratio]] = {SINGLE: {}, AVERAGED: {}}
    body = []
    for corpus in corpora:
        candidates = peers_of(peers, corpus)
        (parallax,) = contestants(grouped, corpus, "model")
        cells = [corpus]
        for of in (SINGLE, AVERAGED):
            peer = best(candidates, of)
            over[of][corpus] = Ratio.of(parallax.averaged, peer.values(of))
            cells += [peer.name, f"{peer.mean(of):.1f}"]
        body.append([
            *cells, f"{parallax.mean(SINGLE):.1f}", f"{parallax.mean(AVERAGED):.1f}", str(over[SINGLE][corpus]),
            str(over[AVERAGED][corpus]),
        ])  # fmt: skip
    header = [
        "corpus", "best peer, single sample", "perplexity", "best peer, averaged", "perplexity", "Parallax single", "averaged",
        "averaged / peer's single", "averaged / peer's averaged",
    ]  # fmt: skip
    if quick:
        verdicts = "This run was shortened: it says nothing about the claims."
    else:
        verdicts = "\n".join(f"- {verdict(claim, over[claim.of])}" for claim in CLAIMS)
    return [
        _introduction(peers, ours, iterations),
        table(header, body, left=(0, 1, 3)),
        "Means over seeds, each of which decides what is held out, too; the best peer is the one with the lowest mean. Ratios "
        "are of the means, with the standard error of the seeds' ratios.",
        verdicts,
        *_one_group(ours, corpora, quick),
        "## Every peer",
        f"{_version(peers)}, one thread. α begins at {ALPHA:g} and is learned, one value a topic, every {OPTIMISE_EVERY} "
        f"iterations after the first {OPTIMISE_FROM}; in DMR it depends on the document's group. η is not learned, so that the "
        "lowest of its columns is a choice in the peer's favour, made with the held-out words themselves.",
        peers_table(peers),
        "## What was trained on, and what scored",
        _splits(grouped, corpora),
        "Means over seeds. Left out for every tool: held-out tokens whose word is nowhere in training, "
        "and documents whose training words are those of an earlier one of their group.",
    ]


def peers_table(rows: TextRows) -> str:
    """Every peer and prior on every corpus: perplexity of a single sample and averaged, means over seeds."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    body = []
    for corpus in corpora:
        for peer in dict.fromkeys(row["peer"] for row in rows):
            own = [row for row in rows if row["peer"] == peer and row["corpus"] == corpus]
            by_eta = contestants(own, corpus, "eta")
            seconds = statistics.median(float(row["seconds"]) for row in own)
            cells = [f"{one.mean(of):.1f}" for of in (SINGLE, AVERAGED) for one in by_eta]
            body.append([corpus, peer, *cells, f"{seconds:.1f}"])
    header = [f"{of}, η {eta}" for of in (SINGLE, AVERAGED) for eta in ETAS]
    return table(["corpus", "peer", *header, "seconds"], body, left=(0, 1))


def _introduction(peers: TextRows, ours: TextRows, iterations: int) -> str:
    seeds = len({row["seed"] for row in ours})
    return (
        f"Held-out perplexity after {counted(iterations, 'iteration')}, {counted(seeds, 'seed')}; lower is better. Every tool is "
        "given the same split: of a tenth of the documents (or passages) half the tokens are scored, and everything else is "
        "trained on. Perplexity is exp(−mean log p) over the scored tokens, where p is what the tool's model says of the token "
        "given its document's training words, Σₖ θφ in the peers: of the last sample (single), and of p averaged over samples "
        f"(averaged), in the peers over every {AVERAGE_EVERY}th iteration of the second half, which tomotopy does not do by "
        "itself. Parallax is run through its command line, `fit TRAIN --score HELD --id id --pretokenised --no-passages --json`, "
        "with default settings but for the number of topics and iterations. Peers: "
        f"{' and '.join(dict.fromkeys(row['peer'] for row in peers))}."
    )


def _version(peers: TextRows) -> str:
    return " and ".join(f"tomotopy {version}" for version in dict.fromkeys(row["version"] for row in peers))


def _one_group(ours: TextRows, corpora: Sequence[str], quick: bool) -> list[str]:
    """The section about documents without groups."""
    rows = [row for row in ours if row["grouping"] == "one group"]
    ratios, body = {}, []
    for corpus in corpora:
        models = {one.name: one for one in contestants(rows, corpus, "model")}
        spdp, lda = models["spdp"], models["lda"]
        ratios[corpus] = Ratio.of(spdp.averaged, lda.averaged)
        figures = [f"{one.mean(of):.1f}" for one in (lda, spdp) for of in (SINGLE, AVERAGED)]
        body.append([corpus, *figures, str(ratios[corpus])])
    return [
        "## One group",
        "The same corpora with all documents in one group: what SPDP costs, or gains, where there is nothing to compare. LDA is "
        "Parallax's own (`--model lda`).",
        table(["corpus", "LDA single", "averaged", "SPDP single", "averaged", "averaged SPDP / LDA"], body),
        *([] if quick else [one_group_verdict(ratios)]),
    ]


def _splits(rows: TextRows, corpora: Sequence[str]) -> str:
    """Sizes of the splits."""
    columns = {
        "documents": "documents", "groups": "groups", "words": "words", "training_tokens": "training tokens",
        "scored_documents": "scored documents", "scored_tokens": "scored tokens", "unseen": "tokens left out",
        "repeated": "documents left out",
    }  # fmt: skip
    body = []
    for corpus in corpora:
        own = [row for row in rows if row["corpus"] == corpus]
        body.append([corpus, *(f"{statistics.fmean(float(row[column]) for row in own):,.0f}" for column in columns)])
    return table(["corpus", *columns.values()], body)
