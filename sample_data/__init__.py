"""Collections that come with Parallax, each with what is worth looking for in it.

`generator` beside them draws collections from the model itself, with their truth known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Sample:
    """A collection to begin with.

    Attributes:
        key: what names it in addresses and settings.
        name: what names it on the screen.
        description: one sentence on what is in it.
        path: its file, a table in CSV.
        text: column of the documents.
        group: column of the groups that are compared.
        title: column of the titles.
        date: column of the dates, YYYY-MM-DD.
        subject: column of what each document is about, given by its editors; no model sees it.
        suggested_topics: number of topics that suits it.
        look_for: one sentence on what an analyst should find.
    """

    key: str
    name: str
    description: str
    path: Path
    text: str
    group: str
    title: str
    date: str
    subject: str
    suggested_topics: int
    look_for: str

    @property
    def columns(self) -> dict[str, str]:
        """Which column plays which part, as `spdp_engine.corpus.Columns(**columns)` takes it."""
        return {"text": self.text, "group": self.group, "title": self.title, "date": self.date}


SAMPLES: tuple[Sample, ...] = (
    Sample(
        key="two_newspapers",
        name="Two newspapers of one city",
        description=(
            "A year of news from an imagined port city, as told in 224 short articles by a newspaper close to "
            "business and by one close to labour."
        ),
        path=_FOLDER / "two_newspapers.csv",
        text="text",
        group="newspaper",
        title="title",
        date="date",
        subject="section",
        suggested_topics=15,
        look_for=(
            "Open the topic of the port: the Ledger writes of a stoppage, of flexible rosters and of employees, the "
            "Lantern of a strike, of the picket and of dockers."
        ),
    ),
    Sample(
        key="hotel_reviews",
        name="Hotel reviews by three kinds of travellers",
        description=(
            "What people who travel for business, with children or on little money wrote about imagined hotels, in "
            "210 short reviews."
        ),
        path=_FOLDER / "hotel_reviews.csv",
        text="text",
        group="traveller",
        title="title",
        date="date",
        subject="aspect",
        suggested_topics=12,
        look_for=(
            "Open the topic of sleep: business travellers mind the curtains and the light, families the cot and "
            "bedtime, and those on a budget bring earplugs to the dorm."
        ),
    ),
)


def sample(key: str) -> Sample:
    """The sample of that key; `KeyError` where there is none."""
    for one in SAMPLES:
        if one.key == key:
            return one
    raise KeyError(key)
