"""What a report says, as plain values; how it looks is in templates/. Text of documents stays as it is: the templates escape it."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from spdp_engine.report.excerpts import Excerpt
from spdp_engine.report.methods import Citation
from spdp_engine.report.pictures import Balance, Heat


@dataclass(frozen=True)
class Group:
    """A group of documents: its name, mark and colour (in CSS)."""

    name: str
    mark: str
    colour: str


@dataclass(frozen=True)
class Line:
    """A topic in the table of all topics.

    Attributes:
        topic: its number from 0.
        name: as people call it.
        words: that all groups share.
        shares: of each group, or of all where there are too many, in per cent.
        gap: the wording gap; '' where groups word topics alike.
        sure: whether it is more than chance; None: not known.
        found: "5 of 5", '' where it is not known.
        rare: whether at most half the runs found it.
    """

    topic: int
    name: str
    words: str
    shares: tuple[str, ...]
    gap: str
    sure: bool | None
    found: str
    rare: bool


@dataclass(frozen=True)
class Share:
    """How much a group talks about a topic; lengths are per cent of the longest bar's room."""

    group: int
    text: str
    interval: str
    length: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class WordLine:
    """A word of a group, or of all, with its figures.

    Attributes:
        word: as in the vocabulary.
        uses: out of 1,000 words on the topic.
        others: the same of the other groups, their mean; '' where there are none.
        stands: whether it is more than chance and found again; None: not known.
        found: "5 of 5", '' where it is not known.
        told: its log-odds with interval, for those who want to know.
        length: of its bar, in per cent.
    """

    word: str
    uses: str
    others: str
    stands: bool | None
    found: str
    told: str
    length: float


@dataclass(frozen=True)
class Quoted:
    """A passage of a document."""

    head: str
    share: str
    excerpt: Excerpt


@dataclass(frozen=True)
class Section:
    """All that is told of one topic.

    Attributes:
        topic: its number from 0.
        name: as people call it.
        words: that all groups share, as a subtitle.
        status: what the analyst made of it, in a sentence; ''.
        figures: short facts.
        sentence: how much each group talks about it.
        shares: the same as bars.
        shared: words that all groups use much.
        gap: how far apart the wordings are, in a sentence; '' where they are alike.
        own: of each shown group, its own words.
        together: the words of a topic that all groups word alike, in place of the last three.
        passages: of each shown group.
        some: says that not all groups are shown; ''.
    """

    topic: int
    name: str
    words: str
    status: str
    figures: tuple[str, ...]
    sentence: Markup
    shares: tuple[Share, ...]
    shared: tuple[str, ...]
    gap: str
    own: tuple[tuple[int, tuple[WordLine, ...]], ...]
    together: tuple[WordLine, ...]
    passages: tuple[tuple[int, tuple[Quoted, ...]], ...]
    some: str


@dataclass(frozen=True)
class Report:
    """A whole report. `known` says which kinds of certainty were measured: 'shares', 'words', 'seeds', 'gaps'."""

    title: str
    date: str
    note: tuple[str, ...]
    facts: str
    groups: tuple[Group, ...]
    how_to_read: tuple[str, ...]
    left_out: tuple[str, ...]
    alike: bool
    known: frozenset[str]
    balance: Balance | None
    heats: tuple[Heat, ...]
    share_heads: tuple[int, ...]
    lines: tuple[Line, ...] = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    methods: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    citations: tuple[Citation, ...] = field(repr=False)
