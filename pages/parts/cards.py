"""Topics as HTML: a card with a column for each group, and word lists with bars. One element of page for all cards, so that a
refresh costs little and nothing flickers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from pages.parts.style import escaped, group_colour, group_name_html
from spdp_engine.corpus import Note
from spdp_engine.results import averaged_in, averaging_began
from spdp_engine.topics import Passage, TopicQuality, Topics, Word
from spdp_engine.types import Iteration, Sample

WORDS_ON_CARD = 8
WORDS_FOR_ALL = 12
"""... where one list serves all groups."""

SHORT_PASSAGE = 420
"""Characters of a passage that are shown before it is opened."""

COHERENCE = "Coherence (NPMI): whether a topic’s main words stand near one another in the texts; 1 always, 0 as by chance, −1 never"
WHY_AVERAGES = (
    "One sample of the sampler has chance in it; the average of many is what the model believes, and fits better. A topic keeps "
    "its number for the life of a run, so that its samples can be averaged. Where the fit improves much, averaging begins anew."
)


def topic_name(topic: int) -> str:
    """What people call a topic: it keeps its number for the life of a run."""
    return f"Topic {topic + 1}"


def percent(share: float) -> str:
    """A share in per cent, with one decimal where it is small."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def alike_sentence(model: str, topics: Topics) -> str:
    """What to know of a model that words topics alike for all groups; '' of others, and where there is one group."""
    if not topics.worded_alike or len(topics.group_names) == 1:
        return ""
    return f"{model} words each topic alike for all groups, so what differs is how much each of them talks about it."


def coherence(value: float) -> str:
    """A coherence with two decimals; a dash where a topic has too few words for one."""
    return "–" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def averaging_html(sample: Sample, records: Sequence[Iteration]) -> str:
    """Whether topics are averages, over how many samples and since when; why, to those who point at it."""
    samples, since = averaged_in(sample)
    if since:
        over = f"{samples:,} samples" if samples > 1 else "one sample"
        told = f"are averaged over {over} since iteration {since:,}."
    elif averaging_began(records):
        told = f"as of iteration {sample.iteration:,}; their averages are about to follow."
    else:
        told = f"as of iteration {sample.iteration:,}; averaging begins when the fit has settled."
    return f'<span class="px-hint" title="{WHY_AVERAGES}">Topics {told}</span>'


def notes_html(notes: Iterable[Note]) -> str:
    """What was read, left out and made, line by line."""
    lines = "".join(f'<li class="{escaped(note.kind)}">{escaped(note.text)}</li>' for note in notes)
    return f'<ul class="px-notes">{lines}</ul>'


def cards_html(topics: Topics, order: Iterable[int], quality: TopicQuality | None = None) -> str:
    """All topics as cards, in the given order, with their coherence where it was measured."""
    largest = float(topics.prevalence.max()) or 1.0
    return f'<div class="px-cards">{"".join(_card(topics, int(topic), largest, quality) for topic in order)}</div>'


def _card(topics: Topics, topic: int, largest: float, quality: TopicQuality | None) -> str:
    heads = [
        f"<h6>{group_name_html(i, name)}<em>{percent(topics.prevalence[i, topic])}</em></h6>"
        f'<div class="px-share"><div style="width:{100 * topics.prevalence[i, topic] / largest:.1f}%"></div></div>'
        for i, name in enumerate(topics.group_names)
    ]
    if topics.worded_alike:
        lists, figures = [""] * len(heads), ""
        words = "".join(f"<li>{escaped(word.word)}</li>" for word in topics.top_words(topic, WORDS_FOR_ALL)[0])
        together = f'<ol class="px-together">{words}</ol>'
    else:
        lists = [f"<ol>{''.join(map(_card_word, words))}</ol>" for words in topics.top_words(topic, WORDS_ON_CARD)]
        figures = f"<i title='Wording gap: 0 alike, 1 no word in common'>gap {topics.gap[topic]:.2f}</i>"
        together = ""
    if quality:
        figures = f'<i title="{COHERENCE}">coherence {coherence(quality.npmi[topic])}</i>{figures}'
    columns = "".join(
        f'<div style="--group:{group_colour(i)}">{head}{words}</div>'
        for i, (head, words) in enumerate(zip(heads, lists, strict=True))
    )
    return (
        f'<article class="px-card"><header><b>{topic_name(topic)}</b><span>{escaped(topics.label(topic))}</span>{figures}</header>'
        f'<div class="px-columns">{columns}</div>{together}</article>'
    )


def _card_word(word: Word) -> str:
    return f'<li class="px-own">{escaped(word.word)}</li>' if word.own else f"<li>{escaped(word.word)}</li>"


def words_html(words: Iterable[Word], group: int, shared: set[str], largest: float) -> str:
    """A group's words of a topic with bars: own words solid and marked ▸, shared words hatched and marked ○."""
    rows = []
    for word in words:
        kind = "own" if word.own else "shared" if word.word in shared else ""
        rows.append(_word_row(word, largest, kind, f"z = {word.z:.1f} against the other groups"))
    return f'<table class="px-words" style="--group:{group_colour(group)}">{"".join(rows)}</table>'


def words_of_all_html(words: Sequence[Word]) -> str:
    """The words of a topic that all groups word alike, with bars in no group's colour."""
    largest = max((word.probability for word in words), default=1.0)
    rows = "".join(_word_row(word, largest) for word in words)
    return f'<table class="px-words px-for-all" style="--group:currentColor">{rows}</table>'


def _word_row(word: Word, largest: float, kind: str = "", hint: str = "") -> str:
    title = f' title="{hint}"' if hint else ""
    return (
        f'<tr{title}><td class="{f"px-{kind}" if kind else ""}">{escaped(word.word)}</td>'
        f"<td>{_bar(word.probability / max(largest, 1e-12), kind)}</td>"
        f"<td>{1000 * word.probability:.1f}</td></tr>"
    )


def passage_html(passage: Passage, group: int) -> str:
    """A passage with the topic's words marked; a long one opens."""
    head = (
        " · ".join(escaped(part) for part in (passage.title, passage.date) if part)
        or f"Document {passage.document + 1}"
    )
    short, rest = _split(passage.pieces, SHORT_PASSAGE)
    more = f"<details><summary>Read on</summary><p>{_marked(rest)}</p></details>" if rest else ""
    return (
        f'<div class="px-passage" style="--group:{group_colour(group)}"><h6>{head}</h6>'
        f"<small>{percent(passage.share)} of its words are on this topic</small>"
        f"<p>{_marked(short)}{'…' if rest else ''}</p>{more}</div>"
    )


def _marked(pieces: Iterable[tuple[str, bool]]) -> str:
    return "".join(f"<mark>{escaped(text)}</mark>" if marked else escaped(text) for text, marked in pieces)


def _split(pieces: tuple[tuple[str, bool], ...], length: int) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Pieces up to about `length` characters, cut at a space, and what follows."""
    sizes = np.cumsum([len(text) for text, _ in pieces])
    if not len(sizes) or sizes[-1] <= 1.3 * length:
        return list(pieces), []
    at = int(np.searchsorted(sizes, length))
    text, marked = pieces[at]
    if marked:
        return list(pieces[: at + 1]), list(pieces[at + 1 :])
    begin = int(sizes[at]) - len(text)
    cut = text.find(" ", max(0, length - begin))
    cut = len(text) if cut < 0 else cut
    return [*pieces[:at], (text[:cut], False)], [(text[cut:], False), *pieces[at + 1 :]]


def group_bars_html(names: Sequence[str], values: Sequence[float], labels: Sequence[str]) -> str:
    """One bar to a group, the longest as wide as there is room, with a label behind it."""
    largest = max(*values, 1e-12)
    rows = "".join(
        f'{group_name_html(i, name)}<div style="--group:{group_colour(i)}">{_bar(value / largest)}</div>'
        f"<span>{escaped(label)}</span>"
        for i, (name, value, label) in enumerate(zip(names, values, labels, strict=True))
    )
    return f'<div class="px-sizes">{rows}</div>'


def _bar(share: float, kind: str = "") -> str:
    """A bar over this share of its room, in the colour of the group around it."""
    return f'<div class="px-bar {kind}" style="width:{min(100.0, 100 * share):.1f}%"></div>'
