"""From a result to what a report says of it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup, escape

from spdp_engine.corpus import Note
from spdp_engine.errors import SettingsError
from spdp_engine.palette import group_colour, group_mark
from spdp_engine.report.content import Group, Line, Quoted, Report, Section, Share, WordLine
from spdp_engine.report.excerpts import excerpt
from spdp_engine.report.methods import citations_of, methods_of, setting_rows
from spdp_engine.report.pictures import balance, heat
from spdp_engine.results import Result
from spdp_engine.topics import PassageReader, TopicQuality, Topics, Word
from spdp_engine.topics.telling import (
    Pen,
    gap_sentence,
    percent,
    percents_if_known,
    says_little,
    shares_sentence,
    stands,
    words_are_known,
)

MOST_TOPICS = 100
"""Topics of a report; more would be a book, and not be read."""

MOST_GROUPS = 12
"""Groups whose words and passages are shown of a topic: those that talk about it most."""

COLUMNS_OF_SHARES = 6
"""So many groups have a column in the table of all topics."""

SHARED_WORDS, OWN_WORDS, TOP_WORDS = 12, 10, 16
"""Words of a topic: those all groups share, each group's own, and of one list for all."""

MOST_PASSAGES = 2
"""Passages of a group on a topic; one where there are many groups."""

PASSAGE_LENGTH = 480
"""Characters of a passage, about."""


def make_report(
    result: Result, title: str, note: str = "", topics: Sequence[int] | None = None, date: datetime.date | None = None
) -> Report:
    """Gathers what a report says.

    Args:
        result: the run, as its view reads it and with the findings that there are.
        title: of the report.
        note: the author's own words; an empty line begins a paragraph.
        topics: numbers from 0 of those that go in, in any order; None: all. Hidden topics and parts of others never do.
        date: of the report; None: today.

    Raises:
        SettingsError: no topic is left to tell of.
    """
    read, known = result.topics(), result.findings
    shown = result.view.shown(read.n_topics)
    order = result.view.arranged(int(topic) for topic in read.order("prevalence" if read.worded_alike else "gap"))
    order = [topic for topic in order if topic in shown and (topics is None or topic in topics)]
    if not order:
        raise SettingsError("A report needs at least one topic that is shown; choose one, or show a hidden one again.")
    told, beyond = order[:MOST_TOPICS], len(order) - MOST_TOPICS
    writer = _Writer(result)
    labels = [writer.label(topic) for topic in told]
    sure = [known.gap_is_real(topic) for topic in told]
    two = len(read.group_names) == 2
    many = len(read.group_names) > COLUMNS_OF_SHARES
    date = date or datetime.date.today()
    left_out = writer.left_out(len(order))
    if beyond > 0:
        left_out.append(f"{beyond:,} more topics were left out, since a report tells of at most {MOST_TOPICS}.")
    certainties = {
        "shares": known.prevalence_draws is not None,
        "words": words_are_known(known),
        "seeds": known.seeds is not None,
        "gaps": known.gap_baseline is not None,
    }
    measured = frozenset(name for name, there in certainties.items() if there)
    return Report(
        title=title.strip() or "Topics",
        date=f"{date.day} {date:%B %Y}",
        note=tuple(part.strip() for part in re.split(r"\n\s*\n", note) if part.strip()),
        facts=_facts(result),
        groups=tuple(Group(name, group_mark(i), group_colour(i)) for i, name in enumerate(read.group_names)),
        how_to_read=_how_to_read(read, measured, f"{known.level:.0%}"),
        left_out=tuple(left_out),
        alike=read.worded_alike,
        known=measured,
        balance=balance(read, told, labels, sure, percent) if two else None,
        heats=() if two else heat(read, told, labels, percent),
        share_heads=() if many else tuple(range(len(read.group_names))),
        lines=tuple(writer.line(topic, many) for topic in told),
        sections=tuple(writer.section(topic) for topic in told),
        methods=methods_of(result),
        notes=tuple(note.text for note in _notes(result)),
        settings=setting_rows(result),
        citations=citations_of(result),
    )


def _notes(result: Result) -> list[Note]:
    """Everything that reading the documents, and whatever else was read, had to tell."""
    sources = (result.corpus, result.associations, result.reference, result.scored)
    return [note for one in sources if one for note in one.notes]


def _facts(result: Result) -> str:
    """How much was read, in a line."""
    corpus = result.corpus
    groups = "one group" if corpus.n_groups == 1 else f"{corpus.n_groups:,} groups"
    return f"{corpus.told} in {groups}, {corpus.n_tokens:,} words; {result.settings.topics:,} topics were found"


def _how_to_read(topics: Topics, measured: frozenset[str], level: str) -> tuple[str, ...]:
    """Three sentences."""
    what = (
        "A topic is a set of words that keep company in the same documents; its number tells it apart, and its name, where it has "
        "one, was given by a person who read it."
    )
    if len(topics.group_names) == 1:
        readings = "For every topic you see its share of all words, its main words, and passages that show it."
    elif topics.worded_alike:
        readings = (
            "All groups word a topic alike in this model, so what can be compared is how much each group talks about it: its share "
            "of that group’s words, which makes groups of unequal size comparable."
        )
    else:
        readings = (
            "For every topic there are two readings: how much each group talks about it (the share of that group’s words, so that "
            "groups of unequal size can be compared) and, apart from that, how each group words it."
        )
    certain = (
        f"With other documents of the same kind figures would come out a little otherwise, {level} of the time within the ranges "
        "in brackets, and what may be chance is grey; even so, read the passages before you quote a figure."
        if measured
        else "How far chance alone could explain a difference was not measured for this report, so take small differences for "
        "none, and read the passages before you quote a figure."
    )
    return what, readings, certain


class _Writer:
    """Tells of the topics of one result."""

    def __init__(self, result: Result) -> None:
        self._result, self._topics, self._known = result, result.topics(), result.findings
        self._passages = PassageReader(result.corpus, self._topics)
        self._number = {word: number for number, word in enumerate(self._topics.vocabulary)}
        self._quality: TopicQuality = result.quality
        names = self._topics.group_names
        self._pen = Pen(lambda group: str(_name(names[group], group)), lambda text: str(escape(text)))

    def label(self, topic: int) -> str:
        """A name for pictures: the given one, or the topic's main words."""
        return self._result.view.names.get(topic) or self._topics.label(topic, 2)

    def left_out(self, told: int) -> list[str]:
        """What became of the topics that are not told of, in sentences."""
        view, sentences = self._result.view, []
        hidden = sorted(topic for topic in view.hidden if topic not in view.merged)
        if hidden:
            sentences.append(
                f"{_counted(len(hidden), 'topic was', 'topics were')} hidden by the author and not shown; shares are of all words, "
                "those on hidden topics included."
            )
        if view.merged:
            sentences.append(
                f"{_counted(len(view.merged), 'topic is', 'topics are')} read as part of another, as is told there."
            )
        chosen_from = len(view.shown(self._topics.n_topics))
        if told < chosen_from:
            sentences.append(
                f"{told:,} of {chosen_from:,} topics were chosen for this report; shares are of all words."
            )
        return sentences

    def line(self, topic: int, many: bool) -> Line:
        """A row of the table of all topics."""
        topics = self._topics
        shares = [float(topics.overall[topic])] if many else topics.prevalence[:, topic].tolist()
        return Line(
            topic,
            self._result.name(topic),
            ", ".join(topics.shared_words(topic, 5)),
            tuple(map(percent, shares)),
            "" if topics.worded_alike else f"{topics.gap[topic]:.2f}",
            self._known.gap_is_real(topic),
            _times(self._known.topic_found(topic)),
            self._rare(topic),
        )

    def section(self, topic: int) -> Section:
        """All that is told of a topic."""
        topics, view = self._topics, self._result.view
        groups = self._groups(topic)
        parts = view.parts(topic)
        status = ""
        if parts:
            others = ", ".join(str(part + 1) for part in parts)
            which = "topic" if len(parts) == 1 else "topics"
            status = f"Read as one with {which} {others}: their words and shares are in these figures."
        alike = topics.worded_alike
        some = (
            f"Words and passages are of the {len(groups)} groups that talk about it most."
            if len(groups) < len(topics.group_names)
            else ""
        )
        return Section(
            topic=topic,
            name=self._result.name(topic),
            words=", ".join(topics.shared_words(topic, 5)),
            status=status,
            figures=self._figures(topic),
            sentence=Markup(shares_sentence(topics, self._known, topic, self._called(topic), self._pen)),
            shares=self._shares(topic),
            shared=() if alike else topics.shared_words(topic, SHARED_WORDS),
            gap="" if alike else gap_sentence(topics, self._known, topic),
            own=() if alike else self._own_words(topic, groups),
            together=self._together(topic) if alike else (),
            passages=tuple((group, self._quotes(topic, group, len(groups))) for group in groups),
            some=some,
        )

    def _called(self, topic: int) -> str:
        """What a sentence calls a topic."""
        name = self._result.view.names.get(topic)
        return f"“{name}”" if name else "this topic"

    def _groups(self, topic: int) -> list[int]:
        """The groups whose words and passages are shown, in their order."""
        shares = self._topics.prevalence[:, topic]
        return sorted(np.argsort(-shares, kind="stable")[:MOST_GROUPS].tolist())

    def _figures(self, topic: int) -> tuple[str, ...]:
        """Short facts beneath the heading."""
        topics = self._topics
        figures = []
        if len(topics.group_names) > 1:
            figures.append(f"{percent(float(topics.overall[topic]))} of the words, mean over groups")
        if not np.isnan(self._quality.npmi[topic]):
            figures.append(f"coherence {_signed(float(self._quality.npmi[topic]))}")
        if found := _times(self._known.topic_found(topic)):
            figures.append(f"found in {'only ' if self._rare(topic) else ''}{found} runs with different seeds")
        return tuple(figures)

    def _rare(self, topic: int) -> bool:
        """Whether at most half the runs found a topic, this one included."""
        found = self._known.topic_found(topic)
        return found is not None and 2 * found[0] <= found[1]

    def _shares(self, topic: int) -> tuple[Share, ...]:
        """A bar for each group."""
        shares = self._topics.prevalence[:, topic]
        intervals = self._known.prevalence_interval(topic)
        longest = max(float(shares.max()), 1e-12)
        if intervals is not None:
            known = (
                float(high) for high, share in zip(intervals[:, 1], shares, strict=True) if not says_little(high, share)
            )
            longest = max(longest, *known, 0.0)

        def bar(group: int) -> Share:
            share = float(shares[group])
            if intervals is None:
                return Share(group, percent(share), "", 100 * share / longest, None, None)
            low, high = (float(end) for end in intervals[group])
            told = percents_if_known(low, high, share)
            if says_little(high, share):
                return Share(group, percent(share), told, 100 * share / longest, None, None)
            ends = 100 * max(0.0, low) / longest, 100 * high / longest
            return Share(group, percent(share), told, 100 * share / longest, *ends)

        return tuple(map(bar, range(len(shares))))

    def _own_words(self, topic: int, groups: Sequence[int]) -> tuple[tuple[int, tuple[WordLine, ...]], ...]:
        """Of each group its own words: what is more than chance first, then what may be."""
        own = self._topics.own_words(topic, OWN_WORDS)
        told = []
        for group in groups:
            largest = max((word.probability for word in own[group]), default=1.0)
            lines = [self._own_word(topic, group, word, largest) for word in own[group]]
            told.append((group, tuple(sorted(lines, key=lambda line: line.stands is False))))
        return tuple(told)

    def _own_word(self, topic: int, group: int, word: Word, largest: float) -> WordLine:
        """A word that sets a group apart."""
        number = self._number[word.word]
        others = np.delete(self._topics.wordings[:, number, topic], group)
        finding = self._known.word(topic, group, word.word)
        told = f"z = {word.z:.1f} against the other groups"
        found = ""
        if finding:
            ends = f"{_signed(finding.low)} to {_signed(finding.high)}"
            told = f"log-odds {_signed(finding.log_odds)} ({ends}) against the other groups"
            if finding.found is not None and finding.of is not None:
                found = _times((finding.found, finding.of))
        return WordLine(
            word.word, _thousandths(word.probability), _thousandths(float(others.mean())), stands(finding), found, told,
            100 * word.probability / largest,
        )  # fmt: skip

    def _together(self, topic: int) -> tuple[WordLine, ...]:
        """The main words of a topic that all groups word alike."""
        words = self._topics.top_words(topic, TOP_WORDS)[0]
        largest = max((word.probability for word in words), default=1.0)
        return tuple(
            WordLine(word.word, _thousandths(word.probability), "", None, "", "", 100 * word.probability / largest)
            for word in words
        )

    def _quotes(self, topic: int, group: int, groups: int) -> tuple[Quoted, ...]:
        """Passages of a group in which the topic is strong."""
        count = max(1, min(MOST_PASSAGES, 12 // groups))
        quotes = []
        for passage in self._passages.strongest(topic, group, count):
            head = " · ".join(part for part in (passage.title, passage.date) if part)
            share = f"{percent(passage.share)} of its words are on this topic"
            quotes.append(
                Quoted(head or f"Document {passage.document + 1}", share, excerpt(passage.pieces, PASSAGE_LENGTH))
            )
        return tuple(quotes)


def _name(name: str, group: int) -> Markup:
    """A group's name with its mark and colour, in a sentence."""
    return Markup('<b class="group g{}"><i aria-hidden="true">{}</i>&nbsp;{}</b>').format(
        group, group_mark(group), name
    )


def _times(found: tuple[int, int] | None) -> str:
    return "" if found is None else f"{found[0]} of {found[1]}"


def _thousandths(probability: float) -> str:
    return f"{1000 * probability:.1f}"


def _signed(value: float) -> str:
    """Two decimals, with a minus as it is printed."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _counted(number: int, one: str, more: str) -> str:
    return f"One {one}" if number == 1 else f"{number:,} {more}"
