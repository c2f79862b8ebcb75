"""Figures of the results: one style, and Plotly's figures as pictures that a page of Markdown can show.

A PNG is drawn by a headless Chromium through Playwright. Where either is missing, the figure becomes a page of HTML that stands
alone, with plotly.js in it, and the Markdown links to it instead of showing it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from benchmarks.running_app import headless_browser
from spdp_engine.errors import ParallaxError

WIDTH = 900
HEIGHT = 520
SHARPNESS = 2
"""Pixels of the picture to a pixel of the page, so that it stays sharp on a dense screen."""

# Okabe and Ito's colours without yellow, which is too light for a line on white, and with black first for what the others
# are compared with.
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
DASHES = ("solid", "solid", "dash", "dashdot", "dot", "longdash", "longdashdot", "dash")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "star", "cross")

DISTANCE_SCALE = "Cividis"
"""A colour scale that colour-blind and other readers see alike, dark for small values."""

_INK, _GRID = "#1D2733", "#E3E3E3"


def styled(figure: go.Figure, title: str, height: int = HEIGHT) -> go.Figure:
    """Gives a figure the size, the type and the white ground that all figures of the results share.

    Args:
        figure: changed in place.
        title: what the figure is about; “<br>” breaks a line, and 80 letters fit on one.
        height: pixels; the width is `WIDTH`.

    Returns:
        The same figure.
    """
    figure.update_layout(
        width=WIDTH,
        height=height,
        template="plotly_white",
        title={
            "text": title,
            "x": 0.01,
            "xanchor": "left",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 14 + 12 * title.count("<br>")},
        },
        title_font_size=19,
        font={"family": "DejaVu Sans, Noto Sans, Arial, sans-serif", "size": 15, "color": _INK},
        margin={"l": 80, "r": 25, "t": 50 + 26 * title.count("<br>"), "b": 70},
        legend={"bgcolor": "rgba(255,255,255,0.8)", "font": {"size": 14}, "itemwidth": 50},
    )
    lines = {"gridcolor": _GRID, "linecolor": _INK, "ticks": "outside", "zeroline": False, "automargin": True}
    figure.update_xaxes(**lines)
    figure.update_yaxes(**lines)
    return figure


def line_style(number: int) -> dict[str, Any]:
    """Arguments of a scatter trace: a line that differs from the other numbers' in colour, dashes and mark."""
    colour = COLOURS[number % len(COLOURS)]
    return {
        "mode": "lines+markers",
        "line": {"color": colour, "width": 2.2, "dash": DASHES[number % len(DASHES)]},
        "marker": {"color": colour, "size": 8, "symbol": SYMBOLS[number % len(SYMBOLS)]},
    }


def write_figure(figure: go.Figure, path_without_ending: Path) -> Path:
    """Writes a figure as PNG where a Chromium and Playwright are there, else as a page of HTML that stands alone.

    A figure of the same name in the other form is removed, since it would be an older one.

    Args:
        figure: with its size in its layout, as `styled` leaves it.
        path_without_ending: “.png” or “.html” is added.

    Returns:
        The path written.
    """
    png, html = (path_without_ending.with_name(path_without_ending.name + ending) for ending in (".png", ".html"))
    png.parent.mkdir(parents=True, exist_ok=True)
    try:
        with ThreadPoolExecutor(1) as thread:  # Playwright refuses to start beside another in one thread
            thread.submit(_write_png, figure, png).result()
    except ParallaxError:  # no Chromium, or no Playwright
        html.write_text(figure.to_html(include_plotlyjs=True), encoding="utf-8")
        png.unlink(missing_ok=True)
        return html
    html.unlink(missing_ok=True)
    return png


def shown(path: Path, text: str) -> str:
    """Markdown that shows the figure at `path` on a page of the same folder, or links to it where it is HTML.

    Args:
        path: as `write_figure` returns it.
        text: what the figure shows, for who cannot see it.
    """
    if path.suffix == ".png":
        return f"![{text}]({path.name})"
    return (
        f"[Figure: {text}]({path.name}) (a page of HTML, since no Chromium with Playwright was found to draw a picture)"
    )


def _write_png(figure: go.Figure, path: Path) -> None:
    drawn = "document.body.dataset.drawn = 'yes';"
    html = figure.to_html(include_plotlyjs=True, config={"staticPlot": True}, post_script=drawn)
    with headless_browser() as browser:
        width, height = int(figure.layout.width or WIDTH), int(figure.layout.height or HEIGHT)
        page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=SHARPNESS)
        page.set_content(html)
        page.wait_for_function("document.body.dataset.drawn === 'yes'")
        page.locator(".js-plotly-plot").screenshot(path=path)
