"""Document text is data. Whatever stands in texts, titles, names of groups, columns and files, it is shown and never done."""

from __future__ import annotations

import io
import json
import re
import zipfile
from html.parser import HTMLParser

import pytest
from streamlit.delta_generator import DeltaGenerator
from visitor import Visitor, as_csv, talk

from spdp_engine.corpus.changes import WordChange

pytestmark = pytest.mark.timeout(60)

SCRIPT = "<script>window.taken=1</script>"
IMAGE = '<img src=x onerror="window.taken=1">'
MARKDOWN = "**bold** [link](http://bad.example) ![pixel](http://bad.example/p.png) :red[red] $x^2$ `code`"
FILE = "<img src=x onerror=alert(1)> **bold** [link](http:bad) $x^2$"
OURS = {
    "article", "b", "button", "code", "details", "div", "em", "h2", "h6", "header", "i", "li", "mark", "ol", "p", "small", "span",
    "summary", "table", "td", "th", "thead", "tbody", "tr", "ul", "a", "strong", "br",
}  # fmt: skip
"""The elements that the pages themselves write."""


class Elements(HTMLParser):
    """Every element, with its attributes, that a browser would make of a piece of HTML, and the text between."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_only_our_elements(visitor: Visitor) -> None:
    for piece in visitor.markup:
        for tag, attributes in Elements(piece).found:
            assert tag in OURS, f"<{tag}> in {piece[:300]}"
            assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcdoc")], piece[:300]
            assert not str(attributes.get("href", "#")).casefold().startswith(("javascript", "data"))
            assert "url(" not in str(attributes.get("style", "")), piece[:300]


def assert_no_markdown_of_others(visitor: Visitor) -> None:
    """In what Streamlit reads as Markdown, none of the marks above is left as it was."""
    kinds = ("title", "subheader", "header", "markdown", "caption", "error", "info", "warning", "success")
    for kind in kinds:
        for one in getattr(visitor.at, kind):
            source = str(one.value)
            for mark in ("**bold**", "](http", ":red[", "$x^2$", "`code`", "<img", "<script"):
                assert not re.search(r"(?<!\\)" + re.escape(mark), source), f"{kind}: {source[:300]}"
    labels = [
        one.label for kind in ("button", "expander", "checkbox", "selectbox") for one in getattr(visitor.at, kind)
    ]
    assert not [label for label in labels if "bad.example" in label or "taken" in label]


def pages_of(visitor: Visitor, *pages: str) -> None:
    for page in pages:
        visitor.go(page)
        assert_only_our_elements(visitor)
        assert_no_markdown_of_others(visitor)


@pytest.fixture(scope="module")
def hostile() -> str:
    """A workspace in which everything that can be named carries markup."""
    rows = [
        (group, f"{IMAGE} {title} {MARKDOWN}", f"{SCRIPT} {text} {IMAGE} {MARKDOWN}")
        for group, title, text in talk(48, (f"{IMAGE}left", f"{SCRIPT}right {MARKDOWN}"))
    ]
    data = as_csv(rows, ("group", f"title {SCRIPT}", "text"))
    visitor = Visitor().upload((f"{FILE}.csv", data))
    visitor.choose("Title", f"title {SCRIPT}").choose("Group", "group")
    return visitor.run_topics(2, 10).key


def test_every_page_shows_markup_as_it_is_written(hostile: str) -> None:
    pages_of(Visitor(hostile), "documents", "explore", "compare", "download")


def test_nothing_of_the_markup_is_lost(hostile: str) -> None:
    """Escaping, not deleting: the person sees what is in the file."""
    visitor = Visitor(hostile)
    assert visitor.title.startswith(FILE)
    shown = "".join(Elements(piece).text for piece in visitor.markup)
    assert f"{IMAGE}left" in shown and f"{SCRIPT}right {MARKDOWN}" in shown
    passages = "".join(Elements(piece).text for piece in visitor.go("compare").markup if "px-passage" in piece)
    assert f"{IMAGE} Document" in passages and SCRIPT in passages and MARKDOWN in passages


def test_words_of_prepared_text_are_escaped_too() -> None:
    """White space alone separates prepared words, so that a word may be a piece of markup."""
    rows = [
        (group, title, f"{text} <b>loud</b> <b>loud</b> <b>loud</b> <img/src=x/onerror=alert(1)> **bold** :red[x]")
        for group, title, text in talk()
    ]
    visitor = Visitor().upload(("talk.csv", as_csv(rows)))
    visitor.fill("checkbox", "The text is prepared", True).press("Use these settings").run_topics(2, 10)
    assert "<b>loud</b>" in visitor.text
    pages_of(visitor, "explore", "compare", "download")


@pytest.mark.parametrize(
    "name",
    [
        f"{IMAGE}.csv",
        "**bold** [link](http:bad.example).csv",
        ":red[red] $x^2$ `code`.csv",
        "<script>window.taken=1<script>.csv",
    ],
)
def test_a_message_about_a_file_quotes_its_name_as_it_is(name: str) -> None:
    visitor = Visitor().upload((name, b""))
    assert_no_markdown_of_others(visitor)
    assert_only_our_elements(visitor)
    (sentence,) = visitor.errors
    assert name in sentence


def test_a_message_about_a_column_quotes_its_name_as_it_is() -> None:
    rows = [(f"{number}", title, text) for number, (_, title, text) in enumerate(talk(120))]
    visitor = Visitor().upload(("talk.csv", as_csv(rows, (f"id {MARKDOWN} {IMAGE}", "title", "text"))))
    visitor.choose("Group", f"id {MARKDOWN} {IMAGE}")
    assert len(visitor.errors) == 1 and MARKDOWN in visitor.errors[0]
    assert_no_markdown_of_others(visitor)


def test_associations_are_named_as_they_are_written() -> None:
    visitor = Visitor().upload(("talk.csv", as_csv(talk()))).go("explore")
    rows = [("*", "harbour", "harbour", "1"), ("*", f"{IMAGE} {MARKDOWN}", "harbour", "1")]
    visitor.upload((f"{FILE}.csv", as_csv(rows, ("group", "word", "base word", "weight"))))
    told = Elements("".join(visitor.markup)).text
    assert f"{IMAGE} {MARKDOWN}"[:50] in told and FILE in told
    assert any(FILE in re.sub(r"\\(.)", r"\1", str(one.value)) for one in visitor.at.markdown)
    pages_of(visitor, "explore")
    pages_of(visitor.run_topics(2, 3), "explore", "compare", "download")
    visitor.go("explore").press("Leave them out")
    visitor.upload((f"{FILE}.csv", as_csv([(SCRIPT, *rows[0][1:])], ("group", "word", "base word", "weight"))))
    assert_only_our_elements(visitor)
    assert_no_markdown_of_others(visitor)


def test_a_reference_is_named_as_it_is_written(hostile: str) -> None:
    visitor = Visitor(hostile).go("explore")
    text = f"{SCRIPT} harbour ship crane {MARKDOWN} school teacher lesson".encode() * 20
    visitor.upload((f"{FILE}.txt", text), label="A reference text")
    assert visitor.workspace.reference is not None and not visitor.errors
    told = Elements("".join(visitor.markup)).text
    name = visitor.workspace.reference.name  # long ones are shortened
    assert FILE[:50] in name and f"Coherence in {name}" in told
    pages_of(visitor, "explore", "compare")
    assert f"in {name}" in Elements("".join(visitor.markup)).text
    visitor.go("explore").press("Leave the reference out")
    visitor.upload((f"{FILE}.txt", b""), label="A reference text")
    assert FILE in visitor.errors[0]
    assert_no_markdown_of_others(visitor)
    assert_only_our_elements(visitor)


def test_progress_tells_names_of_files_without_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a progress bar is Markdown: an image named in an archive would be fetched from wherever it is."""
    told: list[str] = []
    plain = DeltaGenerator.progress

    def progress(self: DeltaGenerator, value: float, text: str | None = None, **rest: object) -> object:
        told.append(text or "")
        return plain(self, value, text, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(DeltaGenerator, "progress", progress)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number, (group, _, text) in enumerate(talk()):
            archive.writestr(f"{group}/![pixel](http:bad.example) **bold** {number}.txt", text)
    visitor = Visitor().upload(("talk.zip", buffer.getvalue()))
    assert visitor.workspace.corpus is not None and visitor.workspace.corpus.n_groups == 2
    assert any("pixel" in text for text in told)
    assert not [text for text in told if "![pixel](" in text or "**bold**" in text]


def test_pictures_show_names_of_groups_as_they_are_written() -> None:
    """Plotly reads <b>, <i>, <a href> and others in its labels."""
    names = ('<a href="http://bad.example">left</a>', "<b>right</b>", "middle")
    visitor = Visitor().upload(("talk.csv", as_csv(talk(72, names)))).run_topics(2, 6).go("compare")
    assert_no_markup_in_pictures(visitor.unfold("heat_map_to_save"))


def test_pictures_show_words_as_they_are_written() -> None:
    rows = [(group, title, f"{text} {'<b>loud</b> <i>soft</i> ' * 8}") for group, title, text in talk()]
    visitor = Visitor().upload(("talk.csv", as_csv(rows)))
    visitor.fill("checkbox", "The text is prepared", True).press("Use these settings").run_topics(2, 10).go("compare")
    assert_no_markup_in_pictures(visitor)


def assert_no_markup_in_pictures(visitor: Visitor) -> None:
    (picture,) = visitor.at.get("plotly_chart")
    figure = json.loads(picture.proto.spec)
    # Templates are the page's own, and may hold markup; labels and custom data come from documents.
    data = [{key: value for key, value in trace.items() if key != "hovertemplate"} for trace in figure["data"]]
    assert not re.findall(r"<(?:a|b|i)[ >][^\"]*", json.dumps(data))


def test_names_of_topics_and_changed_words_are_shown_as_they_are_written(hostile: str) -> None:
    """Names are somebody's text as much as documents are, and so are words that are typed."""
    visitor = Visitor(hostile).go("compare")
    name = f"{IMAGE} {MARKDOWN}"[:80]
    visitor.step(visitor.widget("text_input", "Name of topic").set_value(name).run)
    pages_of(visitor, "compare", "explore", "read", "trust", "download", "compare")
    assert name in visitor.widget("selectbox", "Topic").options[0]
    visitor.press("Hide")
    pages_of(visitor, "compare", "explore")
    word = "**bold**:red[x]$x^2$`code`<img/src=x>"
    visitor.workspace.pending = (WordChange(word), WordChange("<script>x</script>", word))
    pages_of(visitor, "compare")
    visitor.press("Continue with these changes")
    assert word in visitor.errors[0]
    assert_no_markdown_of_others(visitor)
    visitor.workspace.pending = ()
