"""The report as a file: what a colleague's browser makes of it, what it tells, and what it keeps to itself."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from talking import GROUPS, OWN, made_up_findings, talk_corpus, talk_result

from spdp_engine.corpus import Columns, Corpus, CorpusSettings, InputFile, build_corpus, make_documents, read_collection
from spdp_engine.errors import InputError, SettingsError
from spdp_engine.palette import GROUP_MARKS
from spdp_engine.report import MOST_TOPICS, make_report, report_bytes, write_report
from spdp_engine.report.excerpts import excerpt
from spdp_engine.results import Result
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.telling import gap_sentence, percents_if_known, shares_sentence
from spdp_engine.topics.view import View

pytestmark = pytest.mark.timeout(60)

DAY = datetime.date(2031, 2, 3)
LARGEST = 6 * 2**20
VOID = {"meta", "link", "img", "br", "hr", "input", "rect", "circle", "path", "line"}


class Opened(HTMLParser):
    """A page as a browser reads it: elements with their attributes, text by heading, everything that is fetched or can act."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.hints: list[str] = []
        self._open: list[str] = []
        source = data.decode("utf-8")
        assert source.lstrip().startswith("<!DOCTYPE html>")
        self.feed(source)
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.hints += [value or "" for name, value in attrs if name in ("title", "aria-label")]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"</{tag}> closes nothing"
        self.text += " " if tag in ("td", "th", "p", "h2", "h3", "h4", "li", "text", "title") else ""

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.text += data

    def of(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        """Attributes of the elements of a kind."""
        return [given for name, given in self.elements if name == tag and kind in (given.get("class") or "")]

    @property
    def words(self) -> str:
        """The text with single blanks."""
        return " ".join(self.text.split())

    @property
    def plain(self) -> str:
        """The same without the marks before names of groups."""
        return re.sub(f"[{GROUP_MARKS}]\\s", "", self.words)


@pytest.fixture(scope="module")
def result() -> Result:
    return talk_result()


@pytest.fixture(scope="module")
def known(result: Result) -> Result:
    return replace(result, findings=made_up_findings(result))


def opened(result: Result, title: str = "Two papers", **options: object) -> Opened:
    return Opened(report_bytes(result, title, date=DAY, **options))  # type: ignore[arg-type]


def assert_self_contained(page: Opened) -> None:
    """Nothing acts, nothing is fetched, and no link leads out of it but those of the sources."""
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "img",
        "form",
        "base",
        "foreignobject",
        "image",
        "use",
    }
    for tag, given in page.elements:
        assert not [
            name for name in given if name.startswith("on") or name in ("src", "srcset", "srcdoc", "xlink:href")
        ], tag
        target = given.get("href") or "#"
        assert target.startswith(("#", "https://doi.org/10.")), target
        assert "url(" not in (given.get("style") or "")
    (policy,) = [given["content"] for given in page.of("meta") if given.get("http-equiv")]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'", "and the browser is told so"


def test_a_report_is_one_file_that_needs_nothing(known: Result) -> None:
    data = report_bytes(known, "Two papers", date=DAY)
    page = Opened(data)
    assert_self_contained(page)
    assert len(data) < 200_000
    assert page.of("html") == [{"lang": "en"}] and {"charset": "utf-8"} in page.of("meta")
    assert "@media print" in data.decode() and "prefers-color-scheme" not in data.decode(), (
        "light-dark() follows the reader"
    )
    targets = {given["id"] for _, given in page.elements if given.get("id")}
    assert {given["href"] for given in page.of("a") if (given["href"] or "").startswith("#")} == {
        f"#{name}" for name in targets
    }


def test_it_tells_each_shown_topic_in_both_readings(result: Result) -> None:
    page, topics = opened(result), result.topics()
    assert "Two papers" in page.words and "3 February 2031" in page.words
    assert page.words.count("How much they talk about it") == page.words.count("How they word it") == 3
    for topic in range(3):
        assert shares_sentence(topics, result.findings, topic, "this topic") in page.plain
        assert gap_sentence(topics, result.findings, topic) in page.words
        for i in range(2):
            for word in topics.own_words(topic, 3)[i]:
                assert re.search(rf"{word.word} {1000 * word.probability:.1f} \d", page.words), (
                    "a word, its uses, those of others"
                )
    assert {word for words in OWN[:2] for word in words} <= set(page.words.split())
    assert len(page.of("mark")) > 20 and len(page.of("blockquote")) == 3 * 2 * 2
    assert "was not measured for this report" in page.words
    assert "Found in" not in page.words and "More than chance" not in page.words


def test_what_is_known_of_chance_is_told(known: Result) -> None:
    page, topics, findings = opened(known), known.topics(), known.findings
    for topic in range(3):
        interval = findings.prevalence_interval(topic)
        assert interval is not None
        for share, (low, high) in zip(topics.prevalence[:, topic], interval, strict=True):
            assert f"({percents_if_known(low, high, share)})" in page.words
    assert len(page.of("svg", "bar")) >= 6
    assert page.words.count("found in 5 of 5 runs") == 3 and "4 of 5" in page.words
    unsure = page.of("tr", "unsure")
    assert len(unsure) == 6 and all("log-odds" in (row["title"] or "") for row in unsure), (
        "the last own word of each group and topic"
    )
    assert page.words.count("~ ") >= 6, "and not by colour alone"
    assert all(gap_sentence(topics, findings, topic) in page.words for topic in range(3))
    assert len(page.of("g", "unsure")) == 1, "of the last topic the wordings are no further apart than by chance"
    assert "was not measured" not in page.words
    seldom = replace(findings, seeds=replace(findings.seeds, topics=np.array([5, 2, 5], np.int32)))  # type: ignore[type-var]
    page = opened(replace(known, findings=seldom))
    assert "found in only 2 of 5 runs" in page.words and len(page.of("td", "unsure")) == 1
    assert f"dealing out groups to documents at random, {len(findings.gap_baseline):,} times" in page.words  # type: ignore[arg-type]
    assert topics.n_topics == 3


def test_names_pins_hidden_and_merged_topics(known: Result) -> None:
    view = View(names={0: "Classes", 2: "Gardens"}, hidden=frozenset({1}), pinned=(2,))
    viewed = replace(known, view=view)
    page, hidden = opened(viewed), known.topics().label(1, 8).split(", ")
    headings = re.findall(r"(Gardens|Classes|Topic \d) topic (\d):", page.words)
    assert headings == [("Gardens", "3"), ("Classes", "1")], "pinned first; the hidden one nowhere"
    assert not set(hidden[:3]) & set(re.findall(r"\w+", page.words.split("Passages")[0]))
    assert "#topic-2" not in {given["href"] for given in page.of("a")}
    assert "One topic was hidden" in page.words and "those on hidden topics included" in page.words
    assert shares_sentence(known.topics(), known.findings, 2, "“Gardens”") in page.plain
    merged = opened(replace(known, view=View(merged={1: 0}), findings=known.findings.merged({1: 0})))
    assert "Read as one with topic 2" in merged.words and merged.words.count("How they word it") == 2
    assert "One topic is read as part of another" in merged.words


def test_a_choice_of_topics(result: Result) -> None:
    page = opened(result, topics=[2, 0])
    assert {given["id"] for given in page.of("section") if given.get("id")} == {"topic-1", "topic-3"}
    assert "2 of 3 topics were chosen" in page.words
    for nothing in ([], [7]):
        with pytest.raises(SettingsError, match="at least one topic"):
            report_bytes(result, "Nothing", topics=nothing)
    with pytest.raises(SettingsError, match="at least one topic"):
        report_bytes(replace(result, view=View(hidden=frozenset(range(3)))), "Nothing")


def test_the_author_has_a_word(result: Result) -> None:
    page = opened(result, title="  Mine & <b>yours</b> ", note="One.\nStill one.\n\n\n Two <script>x</script>. ")
    assert "Mine & <b>yours</b>" in page.words and "<script>x</script>" in page.words
    assert make_report(result, "t", "One.\nStill one.\n\n\n Two. ").note == ("One.\nStill one.", "Two.")
    assert opened(result, title="  ").words.count("Topics") >= 1


HOSTILE = '<img src=x onerror="window.taken=1">'


def hostile_corpus() -> Corpus:
    """Markup in names, titles, dates, file names and, since prepared text keeps it, in words."""
    plain = talk_corpus()
    import csv
    import io

    buffer = io.StringIO()
    rows = csv.writer(buffer)
    rows.writerow(["group", "title", "day", "text"])
    documents = plain.documents
    for group, title, text in zip(documents.groups, documents.titles, documents.texts, strict=True):
        said = f"{text} <script>alert(1)</script> {{{{evil}}}} <b>loud</b> <b>loud</b>"
        rows.writerow([f"{HOSTILE}{group}", f"</style><script>{title}</script>", '"><svg/onload=alert(1)>', said])
    collection = read_collection([InputFile(f"{HOSTILE.replace('/', '')}.csv", data=buffer.getvalue().encode())])
    columns = Columns("text", "group", "title", "day")
    return build_corpus(make_documents(collection, columns), CorpusSettings(pretokenised=True))


def test_nothing_from_documents_becomes_markup() -> None:
    hostile = talk_result(hostile_corpus())
    view = View(names={0: f"</h2>{HOSTILE}", 1: "{{ 7 * 7 }}"}, pinned=(0,))
    viewed = replace(hostile, view=view, findings=made_up_findings(hostile))
    page = opened(viewed, title=f"</title><script>1</script>{HOSTILE}", note=f"{HOSTILE}\n\n{{% raw %}}")
    assert_self_contained(page)
    assert not page.of("b", "loud") and not page.of("svg", "onload")
    for told in (
        HOSTILE,
        "</style><script>Document",
        "<b>loud</b>",
        '"><svg/onload=alert(1)>',
        "{{ 7 * 7 }}",
        "{% raw %}",
        "{{evil}}",
    ):
        assert told in page.text + " ".join(page.hints), f"{told} is shown as it is written"
    assert "49" not in re.findall(r"“(\S+)”", page.words)


def test_one_group_many_groups_and_a_model_that_words_alike() -> None:
    alone = opened(talk_result(talk_corpus(("Only",))))
    assert "on this topic" in alone.words and "one group" in alone.words
    assert not alone.of("svg", "balance") and "Others" not in alone.words.split("How it was made")[0]
    names = tuple(f"Region {number:02} with a long name" for number in range(15))
    many = opened(talk_result(talk_corpus(names, documents=180)))
    assert_self_contained(many)
    assert "of the 12 groups that talk about it most" in many.words and "Share, mean over groups" in many.words
    assert "the largest part of its words" in many.words
    alike = opened(talk_result(model="lda"))
    assert "Latent Dirichlet allocation" in alike.words and "Differential topic models" not in alike.words
    assert (
        "The words of this topic" in alike.words
        and "How they word it" not in alike.words
        and "Wording gap" not in alike.words
    )
    assert "Monroe" not in alike.words


def test_methods_tell_every_setting_and_whom_to_cite(known: Result) -> None:
    page = opened(known)
    for told in ("90 documents (The Lantern: 45, The Ledger: 45)", f"{known.corpus.n_tokens:,} words", "talk.jsonl", "seed 2",
                 "60 iterations", "Held-out perplexity is", "half the words of 20% of the documents", "Mean coherence (NPMI)",
                 "settings.priors.gamma", "words.passage_words", "versions.numpy", "Chen", "Monroe", "Sato", "Hutter",
                 "6 of the first 150 iterations were tempered", "Zhang"):  # fmt: skip
        assert told in page.words, told
    for note in known.corpus.notes:
        assert note.text in page.words
    links = [given["href"] for given in page.of("a") if not (given["href"] or "").startswith("#")]
    assert {"https://doi.org/10.1109/TPAMI.2014.2313127", "https://doi.org/10.1093/pan/mpn018",
            "https://doi.org/10.1145/1835804.1835890", "https://doi.org/10.48550/arXiv.1007.0296"} <= set(links)  # fmt: skip
    plain = opened(talk_result(repeats=False)).words
    assert "Sato" not in plain and "Rubin" not in plain and all(name in page.words for name in ("Rubin", "Storey"))
    even = opened(talk_result(tempering=False)).words
    assert "tempered" not in even and "Zhang" not in even
    assert "tempered" not in opened(talk_result(iterations=20)).words, "a run that ended before"


def test_many_topics_and_groups_stay_small() -> None:
    """The most that a report tells: as many topics as it takes, twelve groups, long passages."""
    names = tuple(f"Group number {number}" for number in range(12))
    large = talk_result(talk_corpus(names, documents=120, words=150), topics=MOST_TOPICS + 5, iterations=3)
    data = report_bytes(replace(large, findings=made_up_findings(large)), "Large")
    assert len(data) < LARGEST
    page = Opened(data)
    assert len(page.of("section", "topic")) == MOST_TOPICS and "5 more topics were left out" in page.words


def test_a_report_is_written_to_a_file(result: Result, tmp_path: Path) -> None:
    write_report(result, tmp_path / "report.html", "Mine")
    assert "Mine" in Opened((tmp_path / "report.html").read_bytes()).words
    with pytest.raises(InputError, match="could not be written"):
        write_report(result, tmp_path / "no such folder" / "report.html", "Mine")


# --- excerpts


def test_an_excerpt_is_where_the_marked_words_are() -> None:
    filler = "It was a day like any other in the town. "
    pieces = [
        (filler * 30, False),
        ("Then the ", False),
        ("ship", True),
        (" met the ", False),
        ("quay", True),
        (". ", False),
        (filler * 30, False),
    ]
    found = excerpt(pieces, 200)
    text = "".join(part for part, _ in found.pieces)
    assert [part for part, marked in found.pieces if marked] == ["ship", "quay"]
    assert 150 < len(text) < 260 and not found.begins and not found.ends
    assert text.startswith("It was"), "at a sentence"
    assert not text.endswith(" th"), "between words"


def test_excerpts_keep_the_text_and_its_marks() -> None:
    """Whatever the text: a part of it, with the marks that were there, and about as long as was asked for."""
    draw = np.random.default_rng(3)
    for _ in range(300):
        size = int(draw.integers(1, 60))
        pieces = [
            ("".join(draw.choice(list("ab .\n漢"), int(draw.integers(1, 30)))), bool(draw.random() < 0.3))
            for _ in range(size)
        ]
        text = "".join(part for part, _ in pieces)
        marks = [bool(marked) for part, marked in pieces for _ in part]
        length = int(draw.integers(90, 300))
        found = excerpt(pieces, length)
        part = "".join(piece for piece, _ in found.pieces)
        assert part and len(part) <= 1.3 * length + 40
        places = [at for at in range(len(text)) if text.startswith(part, at)]
        told = [marked for piece, marked in found.pieces for _ in piece]
        assert any(marks[at : at + len(part)] == told for at in places)
        assert found.begins == (0 in places) or len(places) > 1
        if any(marks):
            assert any(told), "there is a marked word to be seen"


def test_findings_that_know_nothing_are_the_default(result: Result) -> None:
    assert report_bytes(result, "x", date=DAY) == report_bytes(replace(result, findings=Findings()), "x", date=DAY)
    assert GROUPS[0] in opened(result).plain
