"""A browser with report.html of a small record. test_browser.py is skipped without Playwright or a
browser that it can drive."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import EXPERIMENTS
from recheck_report.claims.measured import Measured, read
from recheck_report.commands.render import render
from records import h100, keep, probes_of, spoil

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, BROWSERS)), None)
NEEDED = pytest.mark.skipif(PROGRAM is None, reason=f"none of {', '.join(BROWSERS)} was found")

READY_IS = "document.documentElement.dataset.ready"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    name = "playwright.sync_api"
    playwright = pytest.importorskip(name, reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=PROGRAM)
        yield started
        started.close()


@pytest.fixture(scope="module")
def record() -> Json:
    """A record of an H100 in which one row fails."""
    return spoil(h100(), "/tile8_depth8/4096x", "failed", "launch: a | b <c>")


@pytest.fixture(scope="module")
def measured(record: Json, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return read(keep(tmp_path_factory.mktemp("measured"), record, probes_of()), EXPERIMENTS)


@pytest.fixture(scope="module")
def report(measured: Measured, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(render(measured, [])["report.html"])
    return path


Opened = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Opened]:
    """Opens the page, or another one, offline. At the end it must have requested only itself, and
    reported no error."""
    contexts, asked, said = [], [], []

    def open_at(address: str = "", path: Path = report, **options: Any) -> Page:
        context = browser.new_context(offline=True, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"{path.as_uri()}#{address}" if address else path.as_uri())
        until(page, READY_IS)
        return page

    yield open_at
    for context in contexts:
        context.close()
    elsewhere = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    assert not elsewhere and not said
    assert len([url for url in asked if url.startswith("file:")]) == len(contexts)


def until(page: Page, expression: str) -> None:
    """Waits until it is true; the page's security policy blocks Playwright's own polling."""
    for _ in range(500):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(10)
    raise AssertionError(expression)


def move(page: Page, address: str) -> str:
    """Goes to an address within the page; returns the text shown."""
    page.evaluate("to => { history.replaceState(null, '', `#${to}`); show(); }", address)
    text: str = page.inner_text("main")
    assert "could not be shown" not in text
    return text
