"""The page of `python -m benchmarks evidence`: what intervals hold, which words and topics are called sure, and in which order."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.evidence_corpora import KINDS, STRONGEST, TOPICS, WORDS
from benchmarks.evidence_runs import ENOUGH, INTERVALS, WAYS
from benchmarks.learning_findings import FAILS, HOLDS
from benchmarks.report import table

TextRows = Sequence[Mapping[str, str]]

LEAST, MOST = 0.85, 0.95
"""Claimed of the share of intervals of 90 % that hold the truth."""

FALSE = 0.05
"""Claimed of the share of false words, at most."""

ORDER = 0.8
"""Claimed of Spearman's correlation of topics by gap with their true gaps, at least."""

SHORTENED = "This run was shortened: it says nothing about the claims."

COLUMNS = {
    "share": "shares", "difference": "differences of shares", "gap": "wording gaps", "no gap": "gaps of 0", "word": "log-odds",
    "planted word": "log-odds of words that differ",
}  # fmt: skip
"""Of kinds of intervals."""

JUDGED = tuple(name for name in INTERVALS if name != "no gap")
"""Those of which two ends are claimed: an interval of a gap that is 0 has but one end that can miss it."""

SAYINGS = {
    "as it is": "as in the app",
    "tokens apart": "every token taken for a document of its own, so that ten uses in one document are ten pieces of evidence",
    "topics held": "topics kept as they are where groups are dealt out at random, instead of letting them follow",
}


@dataclass(frozen=True)
class Share:
    """A share over corpora, with the standard error that corpora give it."""

    value: float
    error: float

    @classmethod
    def of(cls, rows: TextRows, part: str, whole: str) -> Share | None:
        """The sum of a column over that of another; None where that is 0."""
        pairs = [(float(row[part]), float(row[whole])) for row in rows]
        total = sum(n for _, n in pairs)
        if not total:
            return None
        value, corpora = sum(x for x, _ in pairs) / total, len(pairs)
        spread = sum((x - value * n) ** 2 for x, n in pairs) * corpora / max(corpora - 1, 1)
        return cls(value, math.sqrt(spread) / total)

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} ± {100 * self.error:.1f} %"


def describe(rows: TextRows, quick: bool) -> list[str]:
    """The page's paragraphs.

    Args:
        rows: of `evidence_runs.EvidenceRun`.
        quick: whether runs were shortened.
    """
    numbers = {int(str(row["seed"])) for row in rows}
    seeds = len(numbers)
    fewer = len({row["seed"] for row in rows if row["way"] != "as it is"})
    return [
        f"Corpora whose truth is known, {seeds} of each kind ({fewer} where measured otherwise than in the app), with {TOPICS} "
        f"topics, {WORDS} words and about 37,000 tokens, drawn with the seeds {min(numbers)} to {max(numbers)}. Fits begin at the "
        "planted topics, since the question is what is said of topics that are there, not whether they are found. What is "
        "compared:",
        "\n".join(f"- `{kind.name}`: {kind.what}." for kind in KINDS.values()),
        *_intervals(rows, quick),
        *_words(rows, quick),
        *_topics(rows, quick),
    ]


def _intervals(rows: TextRows, quick: bool) -> list[str]:
    body, verdicts = [], []
    for way in WAYS:
        for kind in KINDS:
            own = _of(rows, kind, way)
            if not own:
                continue
            shares = {name: Share.of(own, f"{name}, held", f"{name}, all") for name in INTERVALS}
            body.append([kind, way, *("" if share is None else str(share) for share in shares.values())])
            if way == "as it is":
                failing = [COLUMNS[name] for name in JUDGED if (one := shares[name]) and not LEAST <= one.value <= MOST]
                verdicts.append(
                    f"- `{kind}`: {HOLDS}." if not failing else f"- `{kind}`: **{FAILS}** of {', '.join(failing)}."
                )
    return [
        "## Intervals",
        "Share of intervals of 90 % that hold the truth, with the standard error over corpora. A share is that of one group in one "
        "topic, a difference that of two groups' shares. Log-odds are looked at where the group, and all others together, use the "
        f"word {ENOUGH} times in the topic or oftener; the truth is that of the wordings the tokens were drawn from.",
        table(["corpora", "measured", *COLUMNS.values()], body, left=(0, 1)),
        "\n".join(f"- `{way}`: {SAYINGS[way]}." for way in WAYS),
        SHORTENED
        if quick
        else f"Intervals of 90 % hold the truth in {LEAST:.0%} to {MOST:.0%} of cases. (An interval that begins at 0, as those of "
        "small gaps do, misses it at one end alone, and so holds it oftener; those of gaps of 0 are not judged.)\n\n"
        + "\n".join(verdicts),
    ]


def _words(rows: TextRows, quick: bool) -> list[str]:
    body = []
    for way in WAYS:
        for kind in KINDS:
            own = _of(rows, kind, way)
            if own:
                body.append([
                    kind, way, *(f"{_sum(own, name):,}" for name in ("tested", "shown")), _percent(own, "false shown", "shown"),
                    f"{_sum(own, 'sure'):,}", _percent(own, "false sure", "sure"), _percent(own, "false sure", "shown"),
                    _percent(own, "false sure", "tested"),
                ])  # fmt: skip
    alike = Share.of(_of(rows, "alike", "as it is"), "false sure", "shown")
    others = [row for row in rows if row["way"] == "as it is" and row["kind"] != "alike"]
    false = Share.of(others, "false sure", "sure")
    verdicts = [
        f"- Where groups do not differ, words called sure are at most {FALSE:.0%} of those shown as own: {_verdict(alike, FALSE)}.",
        f"- Where they do, at most {FALSE:.0%} of the words called sure are false: {_verdict(false, FALSE)}.",
    ]
    false_of = "false of these", "sure", "false of sure", "false of shown", "false of tested"
    return [
        "## Words",
        "Tested: words in groups, the most probable of a topic and those that lean to a group. Shown as own: a z-score of the "
        "log-odds above 1.96 and three uses, which is all that can be said before there is evidence. Sure: those of them that "
        "evidence calls sure. False: words that do not differ (by less than an odds ratio of 1.05), or differ the other way round.",
        table(["corpora", "measured", "tested", "shown as own", *false_of], body, left=(0, 1)),
        SHORTENED if quick else "\n".join(verdicts),
    ]


def _topics(rows: TextRows, quick: bool) -> list[str]:
    body = []
    for way in WAYS:
        for kind in KINDS:
            own = _of(rows, kind, way)
            if own:
                counts = _out_of(own, "real", "differing"), _out_of(own, "false real", "same"), _with_false(own)
                body.append([kind, way, *counts, _mean(own, "order"), _mean(own, "plain order")])
    found = Share.of([row for row in rows if float(row["topics"])], "found", "topics")
    orders = [float(_mean(own, "order")) for kind in ("planted", "bursty") if (own := _of(rows, kind, "as it is"))]
    verdict = HOLDS if orders and min(orders) >= ORDER else f"**{FAILS}**"
    differ = [row for row in rows if row["way"] == "as it is" and row["kind"] != "alike"]
    wrong = _sum(differ, "false real")
    false = wrong / max(wrong + _sum(differ, "real"), 1)
    header = [
        "corpora",
        "measured",
        "real of those that differ",
        "real of the others",
        "corpora with a false one",
        "order",
    ]
    return [
        "## Topics",
        "Real: the wording gap is larger than groups dealt out at random make it, and its interval leaves out none; of the gaps "
        f"that are called so, chance would give one in 20 at most. In `planted` and `bursty` topics have log-odds of 0 to "
        f"{STRONGEST:g} in equal steps, so that the smaller gaps are hardly more than chance in so few documents. Order: "
        "Spearman's correlation of topics by gap with the "
        "true gaps, the mean over corpora, of the gap that evidence gives and of the distance of the mean wordings.",
        table([*header, "order of mean wordings"], body, left=(0, 1)),
        f"Other seeds, which begin from nothing, have a planted topic in {found} of runs, the run itself counted.",
        SHORTENED
        if quick
        else f"- In order of their gaps, topics agree with the truth by {ORDER} or more: {verdict}.\n"
        f"- Where groups differ, at most {FALSE:.0%} of the gaps that are called real are false: "
        f"{HOLDS if false <= FALSE else f'**{FAILS}**'} ({100 * false:.1f} %).\n"
        "- Where they do not, any gap is called real in about one corpus of 20: seen in "
        f"{_with_false(_of(rows, 'alike', 'as it is'))}.",
    ]


def _of(rows: TextRows, kind: str, way: str) -> TextRows:
    return [row for row in rows if (row["kind"], row["way"]) == (kind, way)]


def _sum(rows: TextRows, name: str) -> int:
    return round(sum(float(row[name]) for row in rows))


def _percent(rows: TextRows, part: str, whole: str) -> str:
    total = _sum(rows, whole)
    return f"{100 * _sum(rows, part) / total:.1f} %" if total else ""


def _out_of(rows: TextRows, part: str, whole: str) -> str:
    total = _sum(rows, whole)
    return f"{_sum(rows, part)} of {total}" if total else ""


def _with_false(rows: TextRows) -> str:
    return f"{sum(float(row['false real']) > 0 for row in rows)} of {len(rows)}"


def _mean(rows: TextRows, name: str) -> str:
    known = [value for row in rows if not math.isnan(value := float(row[name]))]
    return f"{statistics.fmean(known):.2f}" if known else ""


def _verdict(share: Share | None, limit: float) -> str:
    if share is None:
        return "there are none"
    return f"{HOLDS} ({share})" if share.value <= limit else f"**{FAILS}** ({share})"
