"""What is found of a topic, in plain sentences: how much each group talks about it, how far apart their wordings are, in which
words, and whether that may be chance. Pages and reports say the same, each with markup of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.measures.simultaneous import simultaneous_intervals
from spdp_engine.topics.findings import Findings, WordFinding
from spdp_engine.topics.reading import Topics, Word
from spdp_engine.topics.view import View

MOST_TIMES = 20
"""A share more than so many times another's is only called that: the other is too small to say how many times."""

MOST_OWN_WORDS = 40
"""So many of a group's own words in a topic are looked at, the strongest first."""

FEWEST_RUNS = 3
"""Runs that must have a topic for its words to be found again: one in one run is no news."""

GAP_SCALE = "0 alike, 1 no word in common"


@dataclass(frozen=True)
class Pen:
    """How names and words from documents are written into a sentence.

    Attributes:
        group: a group's name, by its number.
        text: words of the documents and names that people gave.
    """

    group: Callable[[int], str]
    text: Callable[[str], str] = str


def plain(topics: Topics) -> Pen:
    """Writes everything as it is, for places that take plain text."""
    return Pen(topics.group_names.__getitem__)


def called(view: View, topic: int, words: Sequence[str]) -> str:
    """What a sentence calls a topic: the name that a person gave it, else its number and words that say what it is about."""
    name = view.names.get(topic)
    if name:
        return name
    about = f" ({', '.join(words)})" if words else ""
    return f"topic {view.numbers(topic)}{about}"


# --- how much


def percent(share: float) -> str:
    """A share in per cent, with one decimal where it is small."""
    return f"{100 * share:.{_decimals(share)}f}%"


def percents(low: float, high: float, share: float) -> str:
    """An interval in per cent, with as many decimals as the share it belongs to."""
    decimals = _decimals(share)
    return f"{100 * max(0.0, low):.{decimals}f} to {100 * min(1.0, high):.{decimals}f}%"


TOO_FEW = "too few documents to say how far it may be off"


def says_little(high: float, share: float) -> bool:
    """Whether the interval of a share is so wide that its ends would only mislead: the share hangs on two or three documents."""
    return high - share > max(0.1, 4 * share)


def percents_if_known(low: float, high: float, share: float) -> str:
    """An interval in per cent, or that there are too few documents for one."""
    return TOO_FEW if says_little(high, share) else percents(low, high, share)


def points(difference: float) -> str:
    """The size of a difference of shares, in percentage points."""
    return f"{abs(100 * difference):.1f}"


def difference_intervals(findings: Findings, topic: int) -> NDArray[np.float64] | None:
    """Intervals of the differences of the groups' shares of a topic, which hold for all pairs at once.

    Returns:
        float64 [I, I, 2]: [i, j] of group i's share less group j's; None where they are not known, or there is one group.
    """
    if findings.prevalence_draws is None:
        return None
    shares = findings.prevalence_draws[:, :, topic].astype(np.float64)
    groups = shares.shape[1]
    if groups < 2:
        return None
    first, second = np.triu_indices(groups, 1)
    found = simultaneous_intervals(shares[:, first] - shares[:, second], findings.level)
    intervals = np.zeros((groups, groups, 2))
    intervals[first, second] = found
    intervals[second, first] = -found[:, ::-1]
    return intervals


def excludes_nought(interval: Sequence[float] | NDArray[np.float64]) -> bool:
    """Whether a difference with this interval is more than chance."""
    low, high = interval
    return bool(low > 0 or high < 0)


def shares_sentence(topics: Topics, findings: Findings, topic: int, label: str, pen: Pen | None = None) -> str:
    """How much each group talks about a topic: both of two, the most and the least of more, with what is known of chance.

    Args:
        topics: what was found.
        findings: how sure it is, as far as that is known.
        topic: its number.
        label: what the topic is called.
        pen: how names are written; None: as they are.
    """
    pen = pen or plain(topics)
    shares = topics.prevalence[:, topic]
    intervals = findings.prevalence_interval(topic)

    def told(group: int) -> str:
        share = float(shares[group])
        if intervals is None:
            return percent(share)
        low, high = intervals[group]
        return f"{percent(share)} ({percents_if_known(low, high, share)})"

    most, least = int(np.argmax(shares)), int(len(shares) - 1 - np.argmin(shares[::-1]))
    about = pen.text(label)
    if len(shares) == 1:
        return f"{pen.group(most)} spends {told(most)} of its words on {about}."
    if most == least:  # all alike
        least = 1
    if len(shares) == 2:
        sentence = f"{pen.group(most)} spends {told(most)} of its words on {about}, {pen.group(least)} {told(least)}"
    else:
        sentence = (
            f"{pen.group(most)} spends the largest part of its words on {about}, {told(most)}, and {pen.group(least)} the "
            f"smallest, {told(least)}"
        )
    differences = difference_intervals(findings, topic)
    if differences is None:
        return f"{sentence}."
    if not excludes_nought(differences[most, least]):
        return f"{sentence}; the difference may be chance."
    return f"{sentence}: {times_as_much(float(shares[most]), float(shares[least]))}."


def times_as_much(larger: float, smaller: float) -> str:
    """How a share compares with a smaller one."""
    ratio = larger / max(smaller, 1e-12)
    if ratio > MOST_TIMES:
        return f"more than {MOST_TIMES} times as much"
    if ratio < 1.05:
        return "slightly more, and more than by chance"
    return "twice as much" if 1.95 <= ratio < 2.05 else f"{ratio:.1f} times as much"


# --- how


def gap_sentence(topics: Topics, findings: Findings, topic: int) -> str:
    """How far apart the groups' wordings of a topic are, and whether groups dealt out to documents at random would be as far."""
    pairs = "" if len(topics.group_names) == 2 else " on average over pairs of groups"
    model = f"Their wordings are {topics.gap[topic]:.2f} apart{pairs}"
    gap, interval, chance = findings.gap(topic), findings.gap_interval(topic), findings.gap_by_chance(topic)
    if gap is None or interval is None or chance is None:
        known = "" if findings.gap_baseline is None else "; what of that may be chance is not known"
        return f"{model} ({GAP_SCALE}){known}."
    told = (
        f"{model} in the model; by the documents alone, without what chance adds, {gap:.2f} ({interval[0]:.2f} to "
        f"{interval[1]:.2f})"
    )
    if findings.gap_is_real(topic):
        return f"{told}. Documents dealt out at random would stay below {chance[1]:.2f}: the difference is real."
    if gap > chance[1]:
        return (
            f"{told}. Documents dealt out at random would stay below {chance[1]:.2f}, but the interval reaches 0, since few "
            "documents decide: it may be chance."
        )
    return f"{told}. Documents dealt out at random can come to {chance[1]:.2f}: it may be chance."


def stands(finding: WordFinding | None) -> bool | None:
    """Whether a group's own word is a finding: more than chance, and so in most runs that have the topic where others were tried.

    None where it is not known.
    """
    if finding is None or finding.sure is None:
        return None
    again = (
        finding.found is None or finding.of is None or (2 * finding.found > finding.of and finding.of >= FEWEST_RUNS)
    )
    return finding.sure and again


def words_are_known(findings: Findings) -> bool:
    """Whether it is known of words that they are more than chance, and of others that they are not: once groups have been dealt out
    at random, or, where they cannot be, once other seeds have been tried."""
    measured = findings.words is not None and findings.words.sure is not None
    return measured and (findings.gap_baseline is not None or findings.seeds is not None)


def is_own(word: Word, finding: WordFinding | None, findings: Findings) -> bool:
    """Whether a word is called a group's own: where it stands, and before that is known, where it sets the group apart."""
    return bool(stands(finding)) if words_are_known(findings) else word.own


def words_that_stand(topics: Topics, findings: Findings, topic: int, count: int) -> tuple[tuple[Word, ...], ...]:
    """Each group's own words of a topic, the strongest first: those that stand, and before that is known, all that set it apart."""
    return tuple(
        tuple(word for word in words if is_own(word, findings.word(topic, group, word.word), findings))[:count]
        for group, words in enumerate(topics.own_words(topic, MOST_OWN_WORDS))
    )


def own_words_sentence(
    topics: Topics,
    findings: Findings,
    topic: int,
    label: str,
    groups: Sequence[int],
    pen: Pen | None = None,
    count: int = 5,
) -> str:
    """Which words the groups have for themselves, those of `groups` that have any, and what the others lean to; '' where there are
    none.

    The other arguments are those of `shares_sentence`; `count` is how many words of each are told.
    """
    pen = pen or plain(topics)
    stand, leaning = words_that_stand(topics, findings, topic, count), topics.own_words(topic, count)

    def told(words: Sequence[Word]) -> str:
        return pen.text(", ".join(word.word for word in words))

    said = [f"{pen.group(group)} says {told(stand[group])}" for group in groups if stand[group]]
    chance = [group for group in groups if leaning[group] and not stand[group]]
    said += [f"{pen.group(group)} leans to {told(leaning[group])}" for group in chance]
    if not said:
        return ""
    return f"Of {pen.text(label)}, {'; '.join(said)}{', which may be chance' if chance else ''}."


def _decimals(share: float) -> int:
    return 0 if share >= 0.0995 else 1
