"""How a person reads topics: every change is a new view, nothing of the model is lost, and files bring it back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spdp_engine.errors import InputError
from spdp_engine.topics.view import LONGEST_NAME, View


def test_a_view_is_never_changed() -> None:
    view = View()
    changed = view.named(1, "Taxes").hide(2).merge([3, 4], into=0).pin(1)
    assert view == View()
    assert (changed.names, changed.hidden, changed.merged, changed.pinned) == ({1: "Taxes"}, {2}, {3: 0, 4: 0}, (1,))
    assert changed.split(0).show(2).unpin(1).named(1, "") == view


@pytest.mark.parametrize(
    ("typed", "kept"), [("  Taxes ", "Taxes"), ("The  new\ttaxes\n", "The new taxes"), ("x" * 200, "x" * LONGEST_NAME)]
)
def test_names_are_tidied(typed: str, kept: str) -> None:
    assert View().named(0, typed).names == {0: kept}


@pytest.mark.parametrize("typed", ["", "   ", "\n"])
def test_an_empty_name_gives_the_number_back(typed: str) -> None:
    assert View().named(2, "Taxes").named(2, typed) == View()
    assert View().name(2) == "Topic 3"


def test_topics_without_a_name_are_called_by_the_numbers_of_all_that_is_read_as_them() -> None:
    view = View().merge([7, 2], into=4)
    assert view.name(4) == "Topic 5 + 3 + 8"
    assert view.named(4, "Taxes").name(4) == "Taxes"


class TestMerging:
    def test_a_whole_is_never_a_part(self) -> None:
        chain = View().merge([1], into=0).merge([0], into=2)
        assert chain.merged == {0: 2, 1: 2}
        assert View().merge([1], into=0).merge([2], into=1).merged == {1: 0, 2: 0}, "into a part is into its whole"

    @pytest.mark.parametrize("topics", [[], [0], [0, 0]])
    def test_with_itself_or_nothing_it_changes_nothing(self, topics: list[int]) -> None:
        assert View().merge(topics, into=0) == View()

    def test_two_wholes_bring_their_parts_along(self) -> None:
        view = View().merge([1], into=0).merge([3], into=2).merge([3], into=1)
        assert view.merged == {1: 0, 2: 0, 3: 0}
        assert view.parts(0) == (1, 2, 3) and view.parts(2) == () and view.whole(3) == 0

    def test_what_is_merged_is_shown_and_its_parts_are_not(self) -> None:
        view = View().hide(1).hide(0).merge([1], into=0)
        assert view.shown(3) == (0, 2)
        assert view.split(0).shown(3) == (0, 1, 2)

    def test_names_and_pins_of_parts_come_back_when_they_are_split(self) -> None:
        before = View().named(1, "Ports").pin(1).pin(0)
        merged = before.merge([1], into=0)
        assert merged.arranged(merged.shown(3)) == [0, 2]
        assert merged.split(0) == before


class TestPinning:
    def test_pinned_topics_come_first_as_they_were_pinned(self) -> None:
        view = View().pin(3).pin(1).pin(3)
        assert view.arranged([0, 1, 2, 3]) == [3, 1, 0, 2]
        assert view.arranged([0, 1, 2]) == [1, 0, 2], "those that are not shown are passed over"
        assert view.unpin(3).arranged([0, 1, 2, 3]) == [1, 0, 2, 3]

    @pytest.mark.parametrize(("place", "order"), [(0, (2, 0, 1)), (1, (0, 2, 1)), (9, (0, 1, 2)), (-3, (2, 0, 1))])
    def test_they_can_be_moved(self, place: int, order: tuple[int, ...]) -> None:
        assert View().pin(0).pin(1).pin(2).move(2, place).pinned == order


class TestFiles:
    view = View().named(0, "“Häfen” & 港").hide(1).merge([3, 4], into=0).hide(0).pin(2).pin(0)

    def test_a_file_brings_it_back(self) -> None:
        plain = self.view.to_plain()
        assert View.from_plain(json.loads(json.dumps(plain)), 5) == self.view
        assert plain["hidden"] == [1, 2] and plain["merged"] == {"4": 1, "5": 1} and plain["pinned"] == [3, 1]
        assert View.from_plain(View().to_plain(), 1) == View()

    @pytest.mark.parametrize("topics", [3, 4])
    def test_a_view_of_more_topics_is_refused(self, topics: int) -> None:
        with pytest.raises(InputError, match=f"the run has {topics} topics"):
            View.from_plain(self.view.to_plain(), topics)

    @pytest.mark.parametrize(
        "change",
        [
            {"merged": {"1": 2, "2": 3}},
            {"merged": {"2": 2}},
            {"merged": [1, 2]},
            {"hidden": ["one"]},
            {"hidden": None},
            {"names": {"x": "y"}},
            {"pinned": 3},
        ],
    )
    def test_what_is_no_view_is_refused(self, change: dict[str, Any]) -> None:
        with pytest.raises(InputError, match="not as Parallax writes it"):
            View.from_plain({**View().to_plain(), **change}, 5)

    @pytest.mark.parametrize("part", ["names", "hidden", "merged", "pinned"])
    def test_a_part_that_lacks_is_told(self, part: str) -> None:
        plain = View().to_plain()
        del plain[part]
        with pytest.raises(InputError, match="not as Parallax writes it"):
            View.from_plain(plain, 5)
