"""Topics as HTML: a card with a column for each group. One element of page for all cards, so that a refresh costs little and
nothing flickers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from pages.parts.style import escaped, group_colour, group_name_html
from pages.parts.workspace import Reading
from spdp_engine.corpus import Note
from spdp_engine.results import averaged_in, averaging_began
from spdp_engine.topics import TopicQuality, Topics, Word
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.telling import GAP_SCALE, Pen, is_own, percent
from spdp_engine.types import Iteration, Sample

WORDS_ON_CARD = 8
WORDS_FOR_ALL = 12
"""... where one list serves all groups."""

COHERENCE = "Coherence (NPMI): whether a topic’s main words stand near one another in the texts; 1 always, 0 as by chance, −1 never"
GAP = f"Wording gap: how far apart the groups’ wordings of the topic are (Hellinger distance; {GAP_SCALE})"
WHY_AVERAGES = (
    "One sample of the sampler has chance in it; the average of many is what the model believes, and fits better. A topic keeps "
    "its number for the life of a run, so that its samples can be averaged. Where the fit improves much, averaging begins anew."
)


def html_pen(topics: Topics) -> Pen:
    """Writes sentences as HTML: groups with mark and colour, text from documents escaped."""
    return Pen(lambda group: group_name_html(group, topics.group_names[group]), escaped)


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


def cards_html(
    reading: Reading,
    order: Iterable[int],
    findings: Findings,
    quality: TopicQuality | None = None,
    clickable: bool = False,
) -> str:
    """The topics that are shown as cards, in the given order, with coherence and certainty where they were measured.

    Where they are `clickable`, for `live_html`, names and words are buttons; `read_card_pick` reads which was clicked.
    """
    largest = float(reading.topics.prevalence.max()) or 1.0
    shown = set(reading.shown)
    cards = (_card(reading, int(topic), largest, findings, quality, clickable) for topic in order if topic in shown)
    return f'<div class="px-cards">{"".join(cards)}</div>'


def read_card_pick(picked: str) -> tuple[int, str | None]:
    """The topic that was clicked on its card, and the word; None where it was the name."""
    topic, _, word = picked.partition(" ")
    return int(topic), word or None


def _card(
    reading: Reading, topic: int, largest: float, findings: Findings, quality: TopicQuality | None, clickable: bool
) -> str:
    topics = reading.topics

    def button(text: str, pick: str) -> str:
        text = escaped(text)
        return f'<button class="px-word" data-pick="{escaped(pick)}">{text}</button>' if clickable else text

    heads = [
        f"<h6>{group_name_html(i, name)}<em>{percent(topics.prevalence[i, topic])}</em></h6>"
        f'<div class="px-share"><div style="width:{100 * topics.prevalence[i, topic] / largest:.1f}%"></div></div>'
        for i, name in enumerate(topics.group_names)
    ]
    if topics.worded_alike:
        lists, figures = [""] * len(heads), ""
        found = topics.top_words(topic, WORDS_FOR_ALL)[0]
        words = "".join(f"<li>{button(word.word, f'{topic} {word.word}')}</li>" for word in found)
        together = f'<ol class="px-together">{words}</ol>'
    else:
        lists = [
            f"<ol>{''.join(_card_word(word, topic, i, findings, button) for word in words)}</ol>"
            for i, words in enumerate(topics.top_words(topic, WORDS_ON_CARD))
        ]
        chance = findings.gap_is_real(topic) is False
        figures = f'<i title="{GAP}.">gap {topics.gap[topic]:.2f}{", may be chance" if chance else ""}</i>'
        together = ""
    if quality:
        figures = f'<i title="{COHERENCE}.">coherence {coherence(quality.npmi[topic])}</i>{figures}'
    columns = "".join(
        f'<div style="--group:{group_colour(i)}">{head}{words}</div>'
        for i, (head, words) in enumerate(zip(heads, lists, strict=True))
    )
    return (
        f'<article class="px-card"><header><b>{button(reading.name(topic), str(topic))}</b>'
        f"<span>{escaped(topics.label(topic))}</span>{figures}</header>"
        f'<div class="px-columns">{columns}</div>{together}</article>'
    )


def _card_word(word: Word, topic: int, group: int, findings: Findings, button: Callable[[str, str], str]) -> str:
    """Marked where it is the group's own, pale where it looks so and may be chance."""
    finding = findings.word(topic, group, word.word) if word.own else None
    kind = "" if not word.own else "px-own" if is_own(word, finding, findings) else "px-unsure"
    text = button(word.word, f"{topic} {word.word}")
    return f'<li class="{kind}">{text}</li>' if kind else f"<li>{text}</li>"


def group_bars_html(names: Sequence[str], values: Sequence[float], labels: Sequence[str]) -> str:
    """One bar to a group, the longest as wide as there is room, with a label behind it."""
    largest = max(*values, 1e-12)
    rows = "".join(
        f'{group_name_html(i, name)}<div style="--group:{group_colour(i)}"><div class="px-bar" '
        f'style="width:{100 * value / largest:.1f}%"></div></div><span>{escaped(label)}</span>'
        for i, (name, value, label) in enumerate(zip(names, values, labels, strict=True))
    )
    return f'<div class="px-sizes">{rows}</div>'
