"""report.html in a real browser: answers in few actions, and no input breaks the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import NEEDED, Json, Opened, browser, measured, move, opened, record, report, until
from conftest import EXPERIMENTS, OUTSIDE, REPORTS
from recheck_report.claims.measured import Measured, read
from recheck_report.commands.render import render
from recheck_report.formatting import duration, shape_label, significant, spread, times
from recheck_report.say.nodes import Paragraph
from recheck_report.say.pages import compare
from records import copied, few, keep, no_gpu, scale, spoil

__all__ = ["browser", "measured", "opened", "record", "report"]
pytestmark = NEEDED
VIEWS = ["summary", "claims", "matmul", "matvec", "transpose", "cases", "compare", "evidence"]
CASE = "matmul/tile16/1024x1024x1024/cold"


# questions of a reader, and the number of actions to the answer


def test_the_first_screen_answers(measured: Measured, opened: Opened) -> None:
    page = opened(viewport={"width": 1400, "height": 900})
    words = ("holds", "fails here", "wrong as printed", "not judged")
    holds, here, printed, none = map(measured.judgement.count, words)
    total = len(measured.judgement.claims) - none
    answer = f"{holds} of {total} claims hold; {here} fail here and {printed} are wrong as printed."
    assert page.inner_text("main h1:visible") == answer
    sizes = "[...document.querySelectorAll('main *')].map(e => getComputedStyle(e).fontSize)"
    largest = max(float(each.removesuffix("px")) for each in page.evaluate(sizes))
    head = page.locator("main h1:visible").evaluate("e => getComputedStyle(e).fontSize")
    assert head == f"{largest:g}px"
    assert page.locator("#views a").all_inner_texts() == [v.capitalize() for v in VIEWS[:7]]
    page.get_by_role("link", name=re.compile(r"\d lost")).first.click()
    page.wait_for_selector("main[data-view=matmul] #matmul-shapes")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_bar_of_verdicts_is_true_to_scale(
    width: int, measured: Measured, opened: Opened
) -> None:
    page = opened(viewport={"width": width, "height": 900})
    sizes = page.evaluate("[...document.querySelectorAll('.bar > *')].map(e => e.clientWidth)")
    counts = [int(each.split()[0]) for each in page.locator(".counts li").all_inner_texts()]
    total = len(measured.judgement.claims)
    assert sum(counts) == total
    assert sizes == pytest.approx([sum(sizes) * count / total for count in counts], abs=1)


def test_why_c14_in_two_actions(opened: Opened) -> None:
    page = opened()
    page.get_by_role("link", name="Claims", exact=True).click()
    assert page.locator("#claim-c14 .opens").inner_text() == "▸"
    page.click("#claim-c14 > summary")
    until(page, "location.hash === '#view=claims&claim=C14'")
    body = page.locator("#claim-c14 .body")
    body.get_by_text("Cases that C14 rests on").wait_for()
    assert "\n\nWhy: " in body.inner_text()
    assert "The visibility is slower than the previous one" in body.inner_text()
    assert "matmul/s0_tiles/1024x1024x1024/cold" in body.inner_text()


def test_a_claim_is_found_by_searching(opened: Opened) -> None:
    page = opened("view=claims")
    page.fill("#search", "c14 depth4")
    assert page.locator(".claims details:visible").count() == 1
    assert "Changed checks" not in page.inner_text("main")
    page.fill("#search", "")
    page.select_option("#verdict", "fails here")
    assert set(page.locator(".claims .verdict:visible").all_inner_texts()) == {"fails here"}
    # every choice has claims
    for name in page.locator("#document option").evaluate_all("all => all.map(o => o.value)"):
        assert not move(page, f"view=claims&document={name}").startswith("0 of")
        assert page.locator(".claims details:visible").count() > 0, name


UNKNOWN = {
    "view=nowhere": "This page has no view nowhere",
    "C14": "This page has no view #C14",
    "view=claims&verdict=maybe": "There is no maybe here; this is all",
    "view=claims&claim=C99": "There is no claim C99",
    "view=claims&erratum=E99": "There is no erratum E99",
    "view=compare&kernel=none": "There is no none here; this is ",
}


def test_an_unknown_address_gets_a_message(opened: Opened) -> None:
    page = opened()
    for address, says in UNKNOWN.items():
        assert says in move(page, address)
        assert says in page.inner_text("#absent")


@pytest.mark.parametrize("address", ["claim=C14", "claim-c14", "view=claims&claim=c14"])
def test_a_claim_can_be_reached_by_a_guessed_address(address: str, opened: Opened) -> None:
    page = opened(address)
    assert page.locator(".claims details[open]").get_attribute("data-id") == "C14"
    assert page.locator(".warning:visible").count() == 0


def test_the_address_names_what_is_shown(opened: Opened) -> None:
    page = opened("view=compare&experiment=matmul&kernel=tile16")
    page.focus("#kernel")
    page.select_option("#kernel", "tile32")
    until(page, "address().kernel === 'tile32'")
    page.get_by_role("table", name="tile32 against cublas").wait_for()
    assert page.evaluate("document.activeElement.id") == "kernel"
    page.go_back()
    page.get_by_role("table", name="tile16 against cublas").wait_for()


def test_an_experiment_has_its_page_and_every_case_is_found(opened: Opened) -> None:
    page = opened("view=matmul&section=matmul-tile16")
    # the page scrolls to what an address names
    until(page, "scrollY > 99")
    assert page.locator("main img:visible").count() >= 1
    move(page, f"view=cases&search={CASE}")
    (row,) = page.locator(".made tbody tr").all_inner_texts()
    assert CASE in row and "kernels/matmul/tile.cu" in row
    page.fill("#cases", "failed tile8_depth8")
    assert "launch: a | b <c>" in page.inner_text("main .made")


# the numbers are those of the Markdown report


def test_every_ratio_is_the_report_s(measured: Measured, opened: Opened) -> None:
    """And so is its outcome."""
    page = opened()
    found = page.evaluate(
        "CASES.filter(c => c.speedup).map(c => [c.base.id, c.id, ratioText(c.speedup), c.outcome])"
    )
    outcomes = set()
    for base, other, text, outcome in found:
        ratio = measured.comparisons.verdict(
            measured.record.by_id[base], measured.record.by_id[other]
        )
        known = {"faster": 1, "slower": -1}.get(ratio.outcome, 0)
        assert (text, outcome) == (times(ratio) + " ≈" * (not known), known), other
        outcomes.add(outcome)
    assert outcomes == {-1, 0, 1} and len(found) > 100


def test_numbers_are_formatted_as_in_python(measured: Measured, opened: Opened) -> None:
    values = [8.914, 388.2, 0.00123456, 1e-9, 99.95, 0.5, 123456.0, 2.5e-7]
    page = opened()
    assert page.evaluate("v => v.map(x => significant(x))", values) == [*map(significant, values)]
    assert page.evaluate("v => v.map(x => duration(x))", values) == [*map(duration, values)]
    timed = [case for case in measured.record.cases if case.seconds]
    shown = page.evaluate("CASES.filter(c => c.median).map(c => [spread(c), shapeLabel(c.shape)])")
    assert shown == [[spread(case.time), shape_label(case.shape_name)] for case in timed]


# the Compare view


def test_another_run_and_any_two_kernels_are_compared(
    record: Json, measured: Measured, opened: Opened, tmp_path: Path
) -> None:
    """What the page says about another run is what `compare` says."""
    other = scale(copied(record), CASE, 1.3)
    other["environment"]["seed"] += 1  # else it would be the same run
    held = read(keep(tmp_path / "other", other), EXPERIMENTS)
    path = tmp_path / "report.html"
    path.write_bytes(render(measured, [held])["report.html"])
    page = opened("view=compare", path)
    pages = compare.page([measured, held])
    answer = pages.blocks[0]
    assert isinstance(answer, Paragraph) and "1 became slower" in answer.text.plain
    assert answer.text.plain in page.inner_text("main")
    page.locator("summary:visible", has_text="Kernel by kernel").click()
    assert "matmul/tile16" in page.get_by_role("table", name="slower").inner_text()
    page.select_option("#kernel", "tile16")
    page.select_option("#against", "global16")
    until(page, "location.hash.includes('kernel=tile16&against=global16')")
    shown = page.get_by_role("table", name="tile16 against global16").inner_text()
    assert "1024³" in shown and "× [" in shown


# strings of records


HOSTILE = "<img src=x onerror=alert(1)>"
IMAGES = "main img:not([src^='data:'])"


def test_strings_of_its_own_record_are_text(tmp_path: Path, opened: Opened) -> None:
    """In every view: shown as they are, never run, and never a formula of a spreadsheet."""
    bad = f"{HOSTILE}</script><script>alert(2)</script>"
    record = spoil(few(), "/tile16/4096x", "failed", f"=cmd {bad}")
    record["environment"] |= {"os": bad, "cpu": bad, "flags": bad}
    record["environment"]["gpu"]["name"] = bad
    for each in record["experiments"]:
        each |= {"title": bad, "problem": bad}
    for case in record["cases"]:
        case |= {"note": bad}
        if case["error"]:
            case["error"]["metric"] = bad
    keep(tmp_path, record)
    path = tmp_path / "report.html"
    measured = read(tmp_path, EXPERIMENTS)
    path.write_bytes(render(measured, [])["report.html"])
    page = opened(path=path)
    for view in VIEWS:
        move(page, f"view={view}")
        assert page.locator(IMAGES).count() == 0


@pytest.mark.parametrize(
    "kind,says",
    [
        ("no_gpu", "No kernel has a time at 4096³: "),
        ("few", "Fastest at 4096³, cold: "),
        ("foreign", "Fastest at 4194304, cold: "),
        ("beyond", "Fastest at 4096³, IEEE fp32, cold: "),
    ],
)
def test_records_that_lack_much(kind: str, says: str, tmp_path: Path, opened: Opened) -> None:
    """No GPU; no probes, audit and machine; another collection's, which is exact; no claims."""
    folder, experiments = tmp_path, EXPERIMENTS
    if kind == "foreign":
        folder, experiments = OUTSIDE / "results" / "nvidia-h200", OUTSIDE / "claims"
    elif kind == "beyond":
        folder, experiments = REPORTS / "results/peak/nvidia-h200", EXPERIMENTS / "peak"
    else:
        keep(tmp_path, no_gpu() if kind == "no_gpu" else few())
    path = tmp_path / "report.html"
    path.write_bytes(render(read(folder, experiments), [])["report.html"])
    page = opened(path=path)
    for view in page.locator("main > section").evaluate_all("all => all.map(e => e.dataset.view)"):
        assert move(page, f"view={view}").strip()
    assert says in move(page, f"view={'reduction' if kind == 'foreign' else 'matmul'}")


# layout and keyboard

PAPER = "getComputedStyle(document.body).backgroundColor"
EACH = [*(f"view={view}" for view in VIEWS), "view=claims&claim=C14", f"view=cases&search={CASE}"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, opened: Opened) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(color_scheme=scheme, viewport={"width": 1200, "height": 900})
    rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else None  # all that may differ
    said = []
    for address in EACH:
        move(page, address)
        page.evaluate("document.querySelectorAll('details.fold').forEach(e => { e.open = true; })")
        for each in axe.run(page, options=rules).response["violations"]:
            said.append(f"{address}: {each['id']}: {each['nodes'][0]['html'][:200]}")
    assert not said


@pytest.mark.parametrize("width", [390, 830, 1400])
def test_nothing_is_cut_off(width: int, opened: Opened) -> None:
    """No view scrolls sideways, no verdict breaks, and ratios are within the screen."""
    for scheme in ("light", "dark"):
        page = opened(color_scheme=scheme, viewport={"width": width, "height": 800})
        paper = page.evaluate(PAPER)
        assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == (scheme == "dark")
        for address in EACH:
            move(page, address)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    assert page.evaluate("document.getElementById('views').offsetHeight") < 70
    ends = "[...document.querySelectorAll('#views a')].map(e => e.getBoundingClientRect().right)"
    assert max(page.evaluate(ends)) <= width
    move(page, "view=summary")  # its tables of sentences are read without scrolling
    frames = "[...document.querySelectorAll('main .scroll')].filter(e => e.querySelector('.stack'))"
    assert width > 760 or page.evaluate(f"{frames}.map(e => e.scrollWidth - e.clientWidth)[0]") <= 0
    move(page, "view=claims")
    heights = "[...document.querySelectorAll('.verdict')].map(e => e.getClientRects().length)"
    assert set(page.evaluate(heights)) == {1}
    move(page, "view=cases")
    # every column can be reached
    source = page.get_by_role("columnheader", name="remark, source").first
    more = page.get_by_role("button", name="All columns").first
    assert source.is_visible() == (width > 760) != more.is_visible()
    if width < 760:
        more.click()
        assert source.is_visible() and page.evaluate("document.body.scrollWidth") <= width


def test_the_keyboard_is_enough(opened: Opened) -> None:
    page = opened()

    def tab_to(name: str, value: str) -> None:
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement.{name}") == value:
                return
        raise AssertionError(value)

    tab_to("textContent", "Claims")
    page.keyboard.press("Enter")
    page.wait_for_selector("main[data-view=claims] #search")
    assert page.evaluate("document.activeElement.id") == "main"
    tab_to("id", "search")
    page.keyboard.type("C14")
    page.wait_for_selector("#claim-c14[open]")  # the only match
    tab_to("tagName", "SUMMARY")
    page.keyboard.press("Enter")
    page.wait_for_selector("#claim-c14:not([open])")


def test_tables_are_sorted(opened: Opened) -> None:
    page = opened("view=cases")
    page.get_by_role("button", name="median", exact=True).click()
    head = page.get_by_role("columnheader", name="median")
    assert head.get_attribute("aria-sort") == "ascending"


def test_it_prints(opened: Opened) -> None:
    page = opened("view=cases", viewport={"width": 700, "height": 1000})  # A4 within its margins
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible() and page.locator("h1:visible").count() == 1
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_it_is_ready_soon(opened: Opened) -> None:
    """From loading to the first view; the best of five, because the machine may be busy."""
    mark = "performance.getEntriesByName('ready')[0].startTime"
    found = [opened().evaluate(mark) / 1000 for _ in range(5)]
    assert min(found) < 1.5, found
