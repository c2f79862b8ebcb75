"""Somebody at the app, without a browser: presses buttons by their names and reads what is on the page."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.parts.workspace import PARAMETER, Reading, Workspace, registry

APP = Path(__file__).resolve().parents[2] / "app.py"
PATIENCE = 60.0
UNEXPECTED = "Something went wrong"


class Visitor:
    """A session of the app. After every step it makes sure that no error was shown that is not meant for people."""

    def __init__(self, key: str | None = None, theme: str = "light") -> None:
        self.at = AppTest.from_file(APP, default_timeout=PATIENCE)
        self.at.context["theme"] = theme
        if key is not None:
            self.at.query_params[PARAMETER] = key
        self.step(self.at.run)

    def step(self, action: Callable[[], object]) -> Visitor:
        action()
        # The page that switch_page() asked for would be asked for again, even after a button has led to another.
        self.at._page_hash = ""
        assert not self.at.exception, [error.value for error in self.at.exception]
        assert not any(UNEXPECTED in sentence for sentence in self.errors), self.errors
        return self

    # --- what is done

    def press(self, label: str, number: int = 0) -> Visitor:
        """Presses the button of that label; in a form this sends what was filled in."""
        found = [button for button in self.at.button if button.label == label]
        assert found, f"there is no button “{label}” among {self.buttons}"
        return self.step(found[number].click().run)

    def go(self, page: str) -> Visitor:
        return self.step(self.at.switch_page(f"pages/{page}.py").run)

    def reload(self) -> Visitor:
        """Draws the page again, in the same session."""
        return self.step(self.at.run)

    def unfold(self, *keys: str) -> Visitor:
        """Opens what is folded away under these keys and is drawn only when it is open."""
        for key in keys:
            self.at.session_state[key] = True
        return self.reload()

    def upload(self, *files: tuple[str, bytes], label: str = "") -> Visitor:
        """Gives files to the uploader whose label begins so; to the first of the page."""
        uploader = self.widget("file_uploader", label).set_value(
            [(name, data, "application/octet-stream") for name, data in files]
        )
        return self.step(uploader.run)

    def choose_model(self, name: str, schedule: str = "") -> Visitor:
        """Chooses in the advanced settings on Explore; no schedule: the device's."""
        self.step(self.widget("radio", "Model").set_value(name).run)
        return self.step(self.widget("selectbox", "Schedule").set_value(schedule).run)

    def fix(self, prior: str, value: float) -> Visitor:
        """Fixes a prior at a value in the advanced settings."""
        (pills,) = [one for one in self.at.pills if prior in one.options]
        name = prior.lower().replace(" ", "_")
        self.step(pills.unselect(name).run)
        return self.step(self.widget("number_input", f"{prior}, fixed at").set_value(value).run)

    def choose(self, label: str, option: object) -> Visitor:
        """Chooses in a list; by the option's place where `option` is a number."""
        box = self.widget("selectbox", label)
        return self.step((box.select_index(option) if isinstance(option, int) else box.select(option)).run)

    def fill(self, kind: str, label: str, value: object) -> Visitor:
        """Fills in a field of a form, to be sent by `press`."""
        self.widget(kind, label).set_value(value)
        return self

    def run_topics(self, topics: int = 3, iterations: int = 5) -> Visitor:
        """Starts a run on Explore, with whatever else was filled in there, and waits for its end."""
        if "Start" not in self.buttons:
            self.go("explore")
        self.fill("number_input", "How many topics?", topics).fill("number_input", "Iterations", iterations)
        self.press("Start")
        job = self.workspace.job
        assert job is not None
        job.wait(PATIENCE)
        return self.reload()

    # --- what is seen

    def widget(self, kind: str, label: str) -> Any:
        """The first field of that kind whose label begins so."""
        found = [one for one in getattr(self.at, kind) if one.label.startswith(label)]
        assert found, f"there is no {kind} “{label}” among {[one.label for one in getattr(self.at, kind)]}"
        return found[0]

    @property
    def reading(self) -> Reading:
        found = self.workspace.reading()
        assert found is not None
        return found

    @property
    def topic(self) -> int:
        """That is read on Compare."""
        return int(self.widget("selectbox", "Topic").value)

    @property
    def key(self) -> str:
        return str(self.at.session_state[PARAMETER])

    @property
    def workspace(self) -> Workspace:
        workspace = registry().find(self.key)
        assert workspace is not None
        return workspace

    @property
    def title(self) -> str:
        """The title as a person reads it."""
        (title,) = self.at.title
        return re.sub(r"\\(.)", r"\1", str(title.value))

    @property
    def buttons(self) -> list[str]:
        return [button.label for button in self.at.button]

    @property
    def errors(self) -> list[str]:
        return [re.sub(r"\\(.)", r"\1", str(error.value)) for error in self.at.error]

    @property
    def captions(self) -> str:
        return "\n".join(re.sub(r"\\(.)", r"\1", str(caption.value)) for caption in self.at.caption)

    @property
    def infos(self) -> str:
        return "\n".join(str(info.value) for info in self.at.info)

    @property
    def markup(self) -> list[str]:
        """Every piece of HTML on the page, but for the style sheet."""
        plain = [str(one.value) for one in self.at.get("html")]
        live = [json.loads(one.proto.json) for one in self.at.get("bidi_component")]
        return [piece for piece in plain + live if not piece.lstrip().startswith(("/*", "<style"))]

    @property
    def text(self) -> str:
        """What the pieces of HTML say."""
        return html.unescape(re.sub(r"<[^>]*>", " ", "\n".join(self.markup)))


def talk(documents: int = 48, groups: tuple[str, ...] = ("left", "right")) -> list[tuple[str, str, str]]:
    """(group, title, text): groups that speak of two things, the harbour and the school, in partly different words."""
    draw = random.Random(11)
    things = (
        ["harbour", "ship", "crane", "cargo", "quay", "sailor", "anchor", "deck"],
        ["school", "teacher", "lesson", "pupil", "class", "desk", "book", "exam"],
    )
    own = (["strike", "union", "picket"], ["stoppage", "employer", "roster"], ["weather", "tide", "storm"])
    rows = []
    for number in range(documents):
        group = number % len(groups)
        words = things[number // len(groups) % 2] + own[group % len(own)]
        rows.append((groups[group], f"Document {number}", " ".join(draw.choices(words, k=20))))
    return rows


def as_csv(rows: Sequence[tuple[str, ...]], names: tuple[str, ...] = ("group", "title", "text")) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue().encode()
