"""The whole way through the app as a person goes it: bring documents, watch, compare, take away."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from person import Person, read_zip
from playwright.sync_api import expect
from taking import download

pytestmark = pytest.mark.timeout(120)

MANY = 8_000
"""Iterations that outlast what a test does meanwhile, and yet end by themselves should it fail before it stops them."""


def watch(person: Person, topics: int) -> None:
    """Starts, watches, pauses, goes on, stops, runs longer."""
    person.start(topics, MANY)
    page = person.page
    expect(page.locator(".px-card")).to_have_count(topics)
    person.wait_for_iterations(person.iterations + 2)
    page.locator(".px-plot polyline").first.wait_for()  # a plain drawing while it grows

    person.press("Pause").expect_state("Paused")
    paused = person.iterations
    person.button("Continue").wait_for()
    expect(page.locator(".px-card li").first).to_be_visible()
    person.press("Continue").wait_for_iterations(paused)

    person.press("Stop").expect_state("Stopped")
    stopped = person.iterations
    assert stopped > paused
    page.locator(".js-plotly-plot .scatterlayer .trace").last.wait_for()
    page.get_by_role("button", name=re.compile(r"Run \d+ longer")).click()
    person.wait_for_iterations(stopped).expect_state("Finished")
    person.button("Compare the groups").wait_for()


def compare(person: Person) -> None:
    """Reads the first topic, then another one, with its passages."""
    page = person.compare().page
    first = page.locator("table.px-words").all_inner_texts()
    assert len(first) == 2
    box = page.get_by_role("combobox", name=re.compile("Topic"))
    box.click()
    page.get_by_role("option").nth(1).click()
    expect(page.locator("table.px-words").first).not_to_have_text(first[0])
    person.settle()
    passages = page.locator(".px-passage")
    expect(passages.first).to_be_visible()
    assert passages.count() >= 4
    assert page.locator(".px-passage mark").count() > 0
    for mark in page.locator(".px-passage mark").all_text_contents()[:20]:
        assert re.fullmatch(r"\S+", mark), mark


def take_away(person: Person, source: Path, topics: int, to: Path) -> None:
    """Downloads, and opens what came."""
    person.go("Download")
    target = download(person, person.page.get_by_role("button", name="Download the CSV files"), to)
    assert target.suffix == ".zip"
    files, manifest = read_zip(target)
    assert {"topics.csv", "prevalence.csv", "documents.csv", "quality.csv", "manifest.json"} < set(files)
    (given,) = manifest["inputs"]
    assert given["sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
    assert manifest["settings"]["topics"] == topics
    for name, columns in (("topics.csv", "topic,name,group,rank,word,probability"),
                          ("prevalence.csv", "topic,name,group,tokens,share,rank,wording_gap"),
                          ("quality.csv", "topic,name,group,npmi,pmi")):  # fmt: skip
        assert files[name].splitlines()[0].startswith(columns)
    documents = list(csv.DictReader(io.StringIO(files["documents.csv"])))
    assert len(documents) == manifest["run"]["documents"]
    for row in documents:
        assert sum(float(row[f"topic_{topic}"]) for topic in range(1, topics + 1)) == pytest.approx(1, abs=1e-5)


def test_a_table_with_markup_in_it(visit: Callable[..., Person], table: Path, tmp_path: Path) -> None:
    person = visit().open().bring(table)
    page = person.page
    expect(page.locator(".px-notes")).to_contain_text("600 rows were read")
    expect(page.locator(".px-sizes")).to_contain_text("<b>left</b>")
    expect(page.locator(".px-sizes")).to_contain_text('<img src=x onerror="window.taken=1">right')
    expect(page.get_by_role("heading", level=1)).to_contain_text("talk of <u>two<u> groups")
    watch(person, 4)
    compare(person)
    expect(page.locator(".px-passage").first).to_contain_text("<script>window.taken=1</script>")
    expect(page.locator(".px-passage h6").first).to_contain_text(re.compile(r"<i>No\. \d+</i> \[link\]"))
    take_away(person, table, 4, tmp_path)
    # Markup from the file was shown on every page, and nowhere became part of it. (Requests are looked at for every visit.)
    for name in ("Documents", "Explore", "Compare"):
        person.go(name)
        assert page.evaluate("window.taken") is None
        assert page.locator("img[src=x], .stApp a[href*='bad.example']").count() == 0


def test_a_public_collection(visit: Callable[..., Person], shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "bitterlemons" / "documents.jsonl.gz"
    person = visit().open().bring(source)
    expect(person.page.locator(".px-notes")).to_contain_text("594")
    person.start(12, MANY)
    person.wait_for_iterations(person.iterations)
    person.press("Stop").expect_state("Stopped")
    compare(person)
    take_away(person, source, 12, tmp_path)
