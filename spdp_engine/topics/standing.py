"""Which findings of a run stand, and which may be chance: topic by topic, in plain sentences and as rows of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spdp_engine.topics.findings import Findings, WordFinding
from spdp_engine.topics.reading import Topics, Word
from spdp_engine.topics.telling import (
    MOST_OWN_WORDS,
    Pen,
    difference_intervals,
    excludes_nought,
    plain,
    stands,
    times_as_much,
    words_are_known,
)

WORDS_TOLD = 6
"""Words of a group that a sentence names; a table has all."""


@dataclass(frozen=True)
class WordStanding:
    """A word that sets a group apart in a topic, by its counts.

    Attributes:
        word: the word.
        finding: what is known of it; None: too little to say.
        stands: whether it is a finding.
    """

    word: Word
    finding: WordFinding | None
    stands: bool


@dataclass(frozen=True)
class TopicStanding:
    """What stands of a topic.

    Attributes:
        topic: its number.
        found: runs with different seeds that have it, and runs in all; None where that is not known.
        gap_is_real: whether the groups' wordings differ by more than chance; None where that is not known.
        words: each group's words that set it apart, the strongest first: one tuple to a group, and none before they are measured.
    """

    topic: int
    found: tuple[int, int] | None
    gap_is_real: bool | None
    words: tuple[tuple[WordStanding, ...], ...]

    @property
    def lasts(self) -> bool | None:
        """Whether most runs have the topic; None where no others were made."""
        return None if self.found is None else 2 * self.found[0] > self.found[1]

    def own(self, group: int) -> list[WordStanding]:
        """The words of a group that stand."""
        return [word for word in self.words[group] if word.stands]

    def doubtful(self, group: int) -> list[WordStanding]:
        """The words of a group that do not."""
        return [word for word in self.words[group] if not word.stands]


def topic_standing(topics: Topics, findings: Findings, topic: int) -> TopicStanding:
    """What stands of one topic."""

    def standing(group: int, word: Word) -> WordStanding:
        finding = findings.word(topic, group, word.word)
        return WordStanding(word, finding, bool(stands(finding)))

    known = words_are_known(findings) and not topics.worded_alike
    own = topics.own_words(topic, MOST_OWN_WORDS) if known else ()
    words = tuple(tuple(standing(group, word) for word in one) for group, one in enumerate(own))
    real = None if topics.worded_alike else findings.gap_is_real(topic)
    return TopicStanding(topic, findings.topic_found(topic), real, words)


def sentences(
    topics: Topics, findings: Findings, standing: TopicStanding, pen: Pen | None = None
) -> tuple[list[str], list[str]]:
    """What stands of a topic and what may be chance, to be read below its name: a sentence each. What is not known is in neither.

    Args:
        topics: what was found.
        findings: how sure it is.
        standing: of the topic.
        pen: how names and words are written; None: as they are.
    """
    pen = pen or plain(topics)
    stand, fall = [], []
    if standing.found is not None:
        found, of = standing.found
        runs = f"Found in {found} of {of} runs with different seeds"
        if standing.lasts:
            stand.append(f"{runs}.")
        else:
            fall.append(f"{runs}: it may be a matter of the seed.")
    if standing.gap_is_real:
        stand.append("The groups word it differently, by more than chance.")
    elif standing.gap_is_real is False:
        singly = (
            " as a whole, whatever single words do"
            if any(standing.own(group) for group in range(len(standing.words)))
            else ""
        )
        fall.append(f"The groups’ wordings may differ by chance alone{singly}.")
    shares = _shares(topics, findings, standing.topic, pen)
    if shares:
        sure, sentence = shares
        (stand if sure else fall).append(sentence)
    for group in range(len(standing.words)):
        if own := standing.own(group):
            stand.append(f"Own words of {pen.group(group)}: {_told(own, pen)}.")
        if doubtful := standing.doubtful(group):
            fall.append(f"Not surely own words of {pen.group(group)}: {_told(doubtful, pen)}.")
    return stand, fall


def _shares(topics: Topics, findings: Findings, topic: int, pen: Pen) -> tuple[bool, str] | None:
    """The difference of the groups' shares, of the largest and the smallest where there are more than two: whether it is more than
    chance, and a sentence; None where nothing is known or to be told."""
    differences = difference_intervals(findings, topic)
    shares = topics.prevalence[:, topic]
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    if differences is None or most == least:
        return None
    more, less = pen.group(most), pen.group(least)
    if excludes_nought(differences[most, least]):
        how = times_as_much(float(shares[most]), float(shares[least]))
        return True, f"{more} talks more about it than {less}: {how}."
    return False, f"That {more} talks more about it than {less} may be chance."


def _told(words: Sequence[WordStanding], pen: Pen) -> str:
    """The strongest of the words, those found equally often together."""
    together: dict[str, list[str]] = defaultdict(list)
    for one in words[:WORDS_TOLD]:
        finding = one.finding
        runs = f" ({finding.found} of {finding.of} runs)" if finding and finding.of is not None else ""
        together[runs].append(pen.text(one.word.word))
    told = "; ".join(f"{', '.join(names)}{runs}" for runs, names in together.items())
    more = len(words) - WORDS_TOLD
    return f"{told} and {more} more" if more > 0 else told
