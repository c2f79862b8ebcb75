"""Whose documents these are: a workspace for each session, found again by the key in its address, and by nothing else."""

from __future__ import annotations

import time

import pytest
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts import workspace as workspaces
from pages.parts.workspace import PARAMETER, Registry, registry

pytestmark = pytest.mark.timeout(60)

TALK = ("harbour talk.csv", as_csv(talk()))


def test_two_sessions_do_not_share_a_workspace(finished: str) -> None:
    mine, theirs = Visitor(finished), Visitor()
    assert theirs.key != mine.key and theirs.workspace is not mine.workspace
    assert "Open this sample" in theirs.buttons and "Explore topics" not in theirs.buttons
    for page in ("documents", "explore", "compare", "download"):
        theirs.go(page)
        for trace in ("harbour", "left", "picket", "Topic 1"):
            assert trace not in theirs.text + theirs.title, page


def test_what_one_brings_the_other_does_not_see() -> None:
    one, other = Visitor().upload(TALK), Visitor().press("Open this sample")
    assert one.reload().title.startswith("harbour talk")
    assert not other.reload().title.startswith("harbour talk")


def test_the_key_in_the_address_finds_documents_and_run_again(finished: str) -> None:
    visitor = Visitor(finished)
    assert visitor.key == finished and visitor.title.startswith("harbour and school")
    assert "Explore topics" in visitor.buttons
    assert "Topic 3" in visitor.go("explore").text
    assert visitor.at.query_params[PARAMETER] == finished


def test_every_page_keeps_the_key_in_the_address() -> None:
    visitor = Visitor().upload(TALK)
    for page in ("explore", "compare", "download", "documents"):
        assert visitor.go(page).at.query_params[PARAMETER] == visitor.key
    visitor.press("Explore topics")
    assert visitor.at.query_params[PARAMETER] == visitor.key


@pytest.mark.parametrize("key", ["no-such-key", "", "<script>alert(1)</script>", "../../etc/passwd", "x" * 5000])
def test_an_unknown_key_gives_a_new_workspace_and_says_so(key: str) -> None:
    visitor = Visitor(key)
    assert visitor.key != key and visitor.workspace.collection is None
    assert visitor.at.query_params[PARAMETER] == visitor.key
    if key:
        assert "no longer here" in visitor.infos
        assert "script" not in visitor.infos
    assert "no longer here" not in visitor.reload().infos, "told once"


def test_keys_cannot_be_guessed() -> None:
    keys = [Registry().create().key for _ in range(50)]
    assert len(set(keys)) == 50 and min(map(len, keys)) >= 20


def test_two_tabs_of_one_workspace_see_the_same(finished: str) -> None:
    one = Visitor().upload(TALK)
    other = Visitor(one.key)
    one.run_topics(2, 4)
    assert "Topic 2" in other.go("explore").text
    assert other.workspace is one.workspace


def test_a_workspace_that_nobody_used_for_a_day_is_let_go_with_its_run() -> None:
    visitor = Visitor().upload(TALK).go("explore")
    visitor.fill("number_input", "Iterations", 100_000).press("Start")
    workspace = visitor.workspace
    assert workspace.job is not None
    workspace.used = time.time() - workspaces.LIFETIME - 1
    assert registry().find("another") is None
    workspace.job._thread.join(PATIENCE)
    assert not workspace.job._thread.is_alive()
    visitor.reload()
    assert visitor.workspace is not workspace and visitor.workspace.collection is None
    assert "no longer here" in visitor.infos


def test_a_workspace_in_use_is_kept() -> None:
    visitor = Visitor().upload(TALK)
    visitor.workspace.used = time.time() - workspaces.LIFETIME + 60
    assert visitor.reload().title.startswith("harbour talk")
    assert time.time() - visitor.workspace.used < 60
