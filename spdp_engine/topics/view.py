"""How a person reads the topics of a run: names, topics hidden or read as one, pinned ones. The model knows nothing of it.

    view = View().named(2, "Taxes").merge([4, 7], into=2).pin(2)
    view = view.split(2)

Topics keep their numbers whatever is done here; people see number + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spdp_engine.errors import InputError

LONGEST_NAME = 80
"""Characters of a name; longer ones are cut."""


@dataclass(frozen=True)
class View:
    """What a person made of the topics; every change is a new view, so that each can be taken back.

    Names and pins of topics that are hidden or read as part of another are kept, so that they are there again when the topic is.

    Attributes:
        names: own names, by topic.
        hidden: topics that are not shown; shares still include them.
        merged: topics that are read as part of another, and which: {part: whole}. A whole is never a part.
        pinned: topics that come first, in this order.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    merged: Mapping[int, int] = field(default_factory=dict)
    pinned: tuple[int, ...] = ()

    def name(self, topic: int) -> str:
        """What people call a topic: the name that they gave it, else its number from 1 with those of its parts."""
        return self.names.get(topic) or f"Topic {self.numbers(topic)}"

    def numbers(self, topic: int) -> str:
        """A topic's number from 1, with those of its parts: "3 + 5"."""
        return " + ".join(str(number + 1) for number in (topic, *self.parts(topic)))

    def shown(self, topics: int) -> tuple[int, ...]:
        """Which of so many topics are shown, rising: those neither hidden nor read as part of another."""
        return tuple(topic for topic in range(topics) if topic not in self.hidden and topic not in self.merged)

    def parts(self, whole: int) -> tuple[int, ...]:
        """Topics that are read as part of this one, rising; it is not among them."""
        return tuple(sorted(part for part, other in self.merged.items() if other == whole))

    def whole(self, topic: int) -> int:
        """The topic as part of which this one is read: itself where it is no part."""
        return self.merged.get(topic, topic)

    def arranged(self, order: Iterable[int]) -> list[int]:
        """The same topics, pinned ones first as they are pinned, the others in the order they have."""
        order = list(order)
        first = [topic for topic in self.pinned if topic in order]
        return first + [topic for topic in order if topic not in first]

    # --- changes, each of which gives a new view

    def named(self, topic: int, name: str) -> View:
        """With another name for a topic; with none where it is empty. White space around it and repeated within goes."""
        names = {other: known for other, known in self.names.items() if other != topic}
        name = " ".join(name.split())[:LONGEST_NAME].strip()
        return replace(self, names={**names, topic: name} if name else names)

    def hide(self, topic: int) -> View:
        """Without showing a topic."""
        return replace(self, hidden=self.hidden | {topic})

    def show(self, topic: int) -> View:
        """Showing a topic again."""
        return replace(self, hidden=self.hidden - {topic})

    def merge(self, topics: Iterable[int], into: int) -> View:
        """Reads topics as part of another, which is shown from then on.

        Args:
            topics: those that are read as part of it; a topic that has parts itself brings them along.
            into: the topic under whose number they are read; where it is a part itself, the whole it belongs to.
        """
        into = self.whole(into)
        wholes = {self.whole(topic) for topic in topics} - {into}
        moved = {*wholes, *(part for whole in wholes for part in self.parts(whole))}
        return replace(
            self, merged={**self.merged, **dict.fromkeys(sorted(moved), into)}, hidden=self.hidden - {into, *moved}
        )

    def split(self, whole: int) -> View:
        """Reads every part of a topic as a topic of its own again."""
        return replace(self, merged={part: other for part, other in self.merged.items() if other != whole})

    def pin(self, topic: int) -> View:
        """With a topic among those that come first, as the last of them."""
        return self if topic in self.pinned else replace(self, pinned=(*self.pinned, topic))

    def unpin(self, topic: int) -> View:
        """With a topic in its place among the others."""
        return replace(self, pinned=tuple(other for other in self.pinned if other != topic))

    def move(self, topic: int, place: int) -> View:
        """With a pinned topic at another place among the pinned, 0 the first; places beyond the ends are the ends."""
        others = [other for other in self.pinned if other != topic]
        place = max(0, min(place, len(others)))
        return replace(self, pinned=(*others[:place], topic, *others[place:]))

    # --- for files

    def to_plain(self) -> dict[str, Any]:
        """The view as plain values for a file; topics count from 1, as people see them."""
        return {
            "names": {str(topic + 1): name for topic, name in sorted(self.names.items())},
            "hidden": [topic + 1 for topic in sorted(self.hidden)],
            "merged": {str(part + 1): whole + 1 for part, whole in sorted(self.merged.items())},
            "pinned": [topic + 1 for topic in self.pinned],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], topics: int) -> View:
        """The view that `to_plain` wrote, for a run of so many topics.

        Raises:
            InputError: it is not such a view, or not of so many topics.
        """
        try:
            view = cls(
                hidden=frozenset(int(topic) - 1 for topic in plain["hidden"]),
                merged={int(part) - 1: int(whole) - 1 for part, whole in plain["merged"].items()},
                pinned=tuple(dict.fromkeys(int(topic) - 1 for topic in plain["pinned"])),
            )
            for topic, name in plain["names"].items():
                view = view.named(int(topic) - 1, str(name))
            if set(view.merged) & set(view.merged.values()):
                raise ValueError("a topic with parts is a part itself")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                "What was named, hidden and merged could not be read; the file is not as Parallax writes it."
            ) from error
        strange = {*view.names, *view.hidden, *view.merged, *view.merged.values(), *view.pinned} - set(range(topics))
        if strange:
            raise InputError(
                f"The file speaks of topic {min(strange) + 1}, but the run has {topics:,} topics, counted from 1; it belongs to "
                "another run."
            )
        return view
