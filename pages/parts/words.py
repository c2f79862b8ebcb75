"""Words of a topic as lists with bars, a column to each group; every word is a button."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp

from pages.parts.style import escaped, group_colour
from spdp_engine.topics import Topics, Word
from spdp_engine.topics.findings import Findings, WordFinding
from spdp_engine.topics.telling import is_own, words_are_known

WORDS = 18
"""Words of a group that are shown."""

LEANING_Z = 1.0
"""Words that lean to a group are shown among its own from here on, pale until they are clearly its own."""

PER_THOUSAND = "Of 1,000 words that the group says on this topic, so many are this one"
RUNS = "Runs in which the word is this group’s own, of those, each with another seed, that have the topic"

ONE_OF_MANY = "by itself more than chance, but of the words that are used about as much some look like this by chance"
"""Said of words whose interval leaves out no difference and that are not sure all the same,"""

OF_THIS_RUN = "more than chance in this run, but most runs with other seeds do not find it, or too few have the topic"
"""... and of those that are sure, and do not stand all the same."""

Pick = tuple[int, str]
"""A group and a word."""


@dataclass(frozen=True)
class Shown:
    """A word in a group's list.

    Attributes:
        word: the word.
        kind: 'own' of the group, 'shared' by all groups, 'unsure' where it looks like the group's own but may not be, or ''.
        finding: what is known of it.
    """

    word: Word
    kind: str
    finding: WordFinding | None


def words_shown(
    topics: Topics, findings: Findings, topic: int, own: bool, count: int = WORDS
) -> tuple[tuple[Shown, ...], ...]:
    """Each group's words: its most frequent; or those that lean to it, the strongest first, those that stand before the others."""
    lists = topics.own_words(topic, count, LEANING_Z) if own else topics.top_words(topic, count)
    shared = set(topics.shared_words(topic, WORDS))

    def shown(group: int, word: Word) -> Shown:
        finding = findings.word(topic, group, word.word)
        kind = "shared" if word.word in shared else ""
        if is_own(word, finding, findings):
            kind = "own"
        elif word.own or own:
            kind = "unsure"
        return Shown(word, kind, finding)

    found = (tuple(shown(group, word) for word in words) for group, words in enumerate(lists))
    if not (own and words_are_known(findings)):
        return tuple(found)
    return tuple(tuple(sorted(words, key=lambda one: one.kind != "own")) for words in found)


def word_table_html(words: Iterable[Shown], group: int, largest: float, colour: str | None = None) -> str:
    """A group's words with bars, the longest as wide as there is room for `largest`, and in how many runs own words are found."""
    words = list(words)
    runs = any(one.kind in ("own", "unsure") and one.finding and one.finding.of for one in words)
    head = f'<th>Word</th><th></th><th><span class="px-hint" title="{PER_THOUSAND}.">per 1,000</span></th>'
    head += f'<th><span class="px-hint" title="{RUNS}.">runs</span></th>' if runs else ""
    rows = "".join(_row_html(one, group, largest, runs) for one in words)
    return (
        f'<table class="px-words" style="--group:{colour or group_colour(group)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def pick_of(group: int, word: str) -> str:
    """What the button of a word says when it is clicked."""
    return f"{group} {word}"


def read_pick(picked: str | None) -> Pick | None:
    """The group and the word of the button that was clicked."""
    if picked is None:
        return None
    group, word = picked.split(" ", 1)
    return int(group), word


def hint(one: Shown) -> str:
    """What there is to know of a word, for those who point at it."""
    word, finding = one.word, one.finding
    told = [f"{1000 * word.probability:.1f} of 1,000 words"]
    if finding:
        told.append(
            f"log-odds against the other groups {_signed(finding.log_odds)} ({_signed(finding.low)} to {_signed(finding.high)}), "
            f"{exp(finding.log_odds):.1f} times their odds"
        )
        if finding.found is not None:
            told.append(f"this group’s own in {finding.found} of {finding.of} runs that have the topic")
    elif word.z:
        told.append(f"z = {_signed(word.z)} against the other groups")
    if one.kind == "unsure":
        told.append(_why_unsure(finding))
    return "; ".join(told)


def _why_unsure(finding: WordFinding | None) -> str:
    if finding and finding.sure:
        return OF_THIS_RUN
    return ONE_OF_MANY if finding and finding.low > 0 else "this may be chance"


def _row_html(one: Shown, group: int, largest: float, runs: bool) -> str:
    word, finding = one.word, one.finding
    found = f"{finding.found} of {finding.of}" if one.kind in ("own", "unsure") and finding and finding.of else ""
    width = min(100.0, 100 * word.probability / max(largest, 1e-12))
    return (
        f'<tr title="{hint(one)}."><td><button type="button" class="px-word{f" px-{one.kind}" if one.kind else ""}" '
        f'data-pick="{escaped(pick_of(group, word.word))}">{escaped(word.word)}</button></td>'
        f'<td><div class="px-bar {one.kind}" style="width:{width:.1f}%"></div></td>'
        f"<td>{1000 * word.probability:.1f}</td>{f'<td>{found}</td>' if runs else ''}</tr>"
    )


def _signed(value: float) -> str:
    """With two decimals and a real minus."""
    return f"{value:.2f}".replace("-", "−")
