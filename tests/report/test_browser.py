"""report.html in a real browser: what a reader gets, in how many actions, and what they cannot
break. Skipped where there is no Playwright or no browser that it can drive."""

from __future__ import annotations

import bz2
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import EXPERIMENTS, REPORTS
from recheck_report.claims.measured import read
from recheck_report.formatting import duration, shape_label, significant, spread
from recheck_report.page import page as made
from recheck_report.statistics import variation
from recheck_report.statistics.changes import changes
from recheck_report.statistics.family import Comparisons
from recheck_report.statistics.paired import compare
from synthetic import SMALL, make_full, make_record, pack, spoil, unpack

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=f"none of {', '.join(BROWSERS)} was found")

H200 = REPORTS / "results" / "nvidia-h200"
OUTSIDE = REPORTS.parent / "tests" / "outside"
VIEWS = ["summary", "claims", "ranking", "sizes", "samples", "accuracy"]
VIEWS += ["compare", "trust", "method"]
READY = 1.5  # seconds
READY_IS = "document.documentElement.dataset.ready"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as driver:
        # the page draws a view behind the event of its address: so many milliseconds to wait for it
        started = driver.chromium.launch(executable_path=PROGRAM, slow_mo=100)
        yield started
        started.close()


def written(source: Path, target: Path, experiments: Path = EXPERIMENTS) -> Path:
    own = read(source, experiments)
    target.write_bytes(made(own, []))
    return target


@pytest.fixture(scope="module")
def h200(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (H200 / "record.json").exists():
        pytest.skip("no record of an H200 is committed")
    return written(H200, tmp_path_factory.mktemp("h200") / "report.html")


Opened = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    """Opens a page without a network. In the end it must have asked for nothing but itself, and
    said no error."""
    contexts, asked, said = [], [], []

    def open_at(path: Path, address: str = "", **options: Any) -> Page:
        context = browser.new_context(offline=True, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("console", lambda message: said.append(message.text))
        page.goto(path.as_uri() + address)
        page.wait_for_function(READY_IS)
        return page

    yield open_at
    for context in contexts:
        context.close()
    elsewhere = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    assert not elsewhere and not said
    assert len([url for url in asked if url.startswith("file:")]) == len(contexts)


# what a reader asks, and by how many actions it is answered


def test_the_first_screen_answers(h200: Path, opened: Opened) -> None:
    page = opened(h200, viewport={"width": 1400, "height": 900})
    data = json.loads((H200 / "verdicts.json").read_bytes())["claims"]
    holds, fails = (sum(each["verdict"] == v for each in data) for v in ("holds", "fails"))
    assert page.inner_text("h1") == f"{holds} of {len(data)} claims hold, {fails} fail."
    size = "parseFloat(getComputedStyle(each).fontSize)"
    every = f"[...document.querySelectorAll('main *')].map(each => {size})"
    largest = page.evaluate(f"Math.max(...{every})")
    assert largest == page.locator("h1").evaluate(f"each => {size}")
    for text in ("What is fastest", "What fails", "Can it be trusted", "Did something change"):
        box = page.get_by_role("heading", name=text).bounding_box()
        assert box and box["y"] < 900, f"{text} is not on the first screen"


def test_why_c14_in_two_actions(h200: Path, opened: Opened) -> None:
    page = opened(h200)
    page.get_by_role("link", name="Claims", exact=True).click()
    page.click("#C14 > summary")
    page.wait_for_function("location.hash === '#view=claims&claim=C14'")
    item = page.locator("#C14")
    assert "The visibility is slower than the previous one" in item.inner_text()
    assert re.search(r"Why: 8 KB of shared memory", item.inner_text())
    assert "matmul/s0_tiles/1024x1024x1024/cold" in item.inner_text()
    assert page.url.endswith("#view=claims&claim=C14")


def test_a_claim_is_found_by_searching(h200: Path, opened: Opened) -> None:
    page = opened(h200, "#view=claims")
    page.fill("#search", "c14 depth4")
    assert page.locator("details[id^=C]").count() == 1
    page.fill("#search", "")
    page.select_option("#verdict", "fails")
    shown = page.locator(".claims .verdict")
    assert set(shown.all_inner_texts()) == {"fails"}


def test_the_fastest_row_in_two_actions(h200: Path, opened: Opened) -> None:
    """And the ratio is the record's paired one, not that of the medians."""
    page = opened(h200)
    page.get_by_role("link", name="Ranking", exact=True).click()
    page.wait_for_selector("[data-view=ranking] #answer")
    own = read(H200, EXPERIMENTS)
    record, experiment = own.record, own.record.experiment("matmul")
    assert experiment

    def at(name: str) -> Any:
        return record.find(experiment, name, "4096x4096x4096", "cold")

    def fastest(arithmetic: str) -> Any:
        rows = [
            case
            for case in record.of(experiment)
            if case.shape_name == "4096x4096x4096" and case.regime == "cold" and case.seconds
            if case.arithmetic == arithmetic and case.contends and not case.sweep
            if case.strategy != "best"
        ]
        return min(rows, key=lambda case: case.time.median)

    best, apart = fastest("fp32"), fastest("split")
    value, interval = str(Comparisons(record).ratio(at("cublas"), best)).split("× ")
    answer = page.inner_text("#answer")
    first, *others = answer.split(". ")
    assert first.rstrip(".") == (
        f"At 4096³ the fastest IEEE fp32 row is {best.strategy}: "
        f"{value} times as fast as cublas {interval}"
    )
    assert all(each.endswith("cannot be told from it.") for each in others)
    value = str(Comparisons(record).ratio(at("cublas"), apart)).split("×")[0]
    said = page.locator(".second").first.inner_text()
    assert "not IEEE fp32" in said and f"{apart.strategy}, {value} times as fast" in said
    assert page.inner_text("#live") == answer
    table = page.locator("table").inner_text()
    assert "_promotion0" not in table and f"{best.error.value:.1e}" in table
    page.get_by_label("points of sweeps").check()
    page.wait_for_function("document.querySelector('table').innerText.includes('_promot')")


def test_the_address_names_what_is_shown(h200: Path, opened: Opened) -> None:
    where = "#view=ranking&experiment=matmul&shape=1024x1024x1024&regime=cold&baseline=tile16"
    page = opened(h200, where)
    assert "At 1024³" in page.inner_text("#answer") and "as tile16" in page.inner_text("#answer")
    page.focus("#baseline")
    page.select_option("#baseline", "cublas")
    assert "baseline=cublas" in page.url and "as cublas" in page.inner_text("#answer")
    assert page.evaluate("document.activeElement.id") == "baseline"
    page.go_back()
    page.wait_for_function("address().baseline === 'tile16'")
    assert "as tile16" in page.inner_text("#answer")


def test_the_raw_samples_of_a_case(h200: Path, opened: Opened) -> None:
    name = "matmul/tile16_depth4/1024x1024x1024/cold"
    page = opened(h200, f"#view=samples&case={name}")
    case = read(H200, EXPERIMENTS).record.by_id[name]
    assert f"{len(case.samples)} samples by round" in (
        page.locator(".panel svg").first.get_attribute("aria-label") or ""
    )
    page.get_by_text(f"Raw samples: {len(case.samples)}").click()
    table = page.get_by_role("table", name="Raw samples")
    table.locator("tbody tr").first.wait_for()  # made once the fold is open
    cells = table.locator("tbody tr td:nth-child(4)").all_inner_texts()
    assert cells == [duration(each, 5) for each in case.samples][:100]
    page.click("#beside")
    page.select_option("#with-row", "tile16")
    record = read(H200, EXPERIMENTS).record
    ratio = compare(case, record.by_id[name.replace("_depth4", "")])
    assert ratio.value < 1
    page.wait_for_function("address().with === 'matmul/tile16/1024x1024x1024/cold'")
    said = page.inner_text(".answer")
    assert f"tile16 takes {1 / ratio.value:.3f} times as long" in said
    assert f"by {ratio.rounds} common rounds" in said


# the same numbers as the Markdown's


def test_it_reckons_as_the_report_does(h200: Path, opened: Opened) -> None:
    """Every row of the record against the first of its shape and regime, in Python and there."""
    record = read(H200, EXPERIMENTS).record
    first: dict[tuple[str, ...], Any] = {}
    pairs = []
    for case in record.cases:
        if case.seconds:
            key = (case.experiment, case.shape_name, case.regime)
            base = first.setdefault(key, case)
            pairs.append((base, case))
    page = opened(h200)
    found = page.evaluate(
        "pairs => pairs.map(([a, b]) => [a, b].map(id => BY_ID.get(id)))"
        ".map(([a, b]) => [compared(a, b), outcome(compared(a, b), [a, b]), duration(b.median),"
        " spread(b), shapeLabel(b.shape), ratioText(compared(a, b))])",
        [[base.id, case.id] for base, case in pairs],
    )
    texts = 0
    for (base, case), (ratio, outcome, time, wide, shape, text) in zip(pairs, found, strict=True):
        known = Comparisons(record).ratio(base, case)
        ends = (ratio["value"], ratio["low"], ratio["high"])
        assert ends == pytest.approx((known.value, known.low, known.high), rel=1e-6), case.id
        assert ratio["rounds"] == known.rounds
        assert (time, wide) == (duration(case.time.median), spread(case.time))
        assert shape == shape_label(case.shape_name)
        texts += text == str(known)
        if known.low != 1 and known.high != 1:
            assert outcome == known.outcome, case.id
    # samples are float32 there, which may turn the last digit of very few
    assert texts >= 0.99 * len(pairs)


def test_numbers_read_alike(h200: Path, opened: Opened) -> None:
    values = [8.914, 388.2, 0.00123456, 1e-9, 99.95, 0.5, 123456.0, 2.5e-7]
    page = opened(h200)
    assert page.evaluate("v => v.map(x => significant(x))", values) == [*map(significant, values)]
    assert page.evaluate("v => v.map(x => duration(x))", values) == [*map(duration, values)]


# another record beside it


def dropped(page: Page, *files: tuple[str, bytes]) -> None:
    """Drops files of these names and contents onto the page."""
    listed = [{"name": name, "text": content.decode()} for name, content in files]
    page.evaluate(
        """files => {
          const data = new DataTransfer();
          for (const {name, text} of files) data.items.add(new File([text], name));
          document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
        }""",
        listed,
    )
    page.wait_for_selector("[data-view=compare] :is(#answer, .warning, section)")


SLOWED = ["matmul/tile16/4096x4096x4096/cold", "matvec/split_columns/8192x8192/cold"]
SLOWED += ["transpose/kept_lines/8192x8192/cold"]


def other_record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((H200 / "record.json").read_bytes())
    return found


def test_three_slowed_rows_come_first(h200: Path, opened: Opened) -> None:
    record = other_record()
    timed = [case["id"] for case in record["cases"] if case["seconds"]]
    for case in record["cases"]:
        if case["id"] in SLOWED:
            for name in ("median", "low", "high"):
                case["seconds"][name] *= 1.2
    page = opened(h200)
    dropped(page, ("record.json", json.dumps(record).encode()))
    answer = page.inner_text("#answer")
    assert answer.startswith(f"3 of {len(timed)} cases became slower, 0 faster")
    table = page.get_by_role("table", name="Slower than in this report")
    assert sorted(table.locator("tbody th").all_inner_texts()) == sorted(SLOWED)
    assert table.locator("tbody td:nth-child(2)").first.inner_text().startswith("0.8")


def test_it_tells_changes_as_the_command_does(h200: Path, opened: Opened, tmp_path: Path) -> None:
    """Of a record whose times differ by up to 40 % either way, over all classes of margins."""
    record = other_record()
    factors = {}
    for at, case in enumerate(record["cases"]):
        factors[case["id"]] = 0.7 + 0.7 * (at * 0.618034 % 1)
        # of shorter launches a block would have more samples
        if case["seconds"] and 1.5e-4 < case["seconds"]["median"] * case["batch"] < 4e-3:
            factors[case["id"]] = max(1.0, factors[case["id"]])
        case["spent"] *= 1.4
        for name in ("median", "low", "high") if case["seconds"] else ():
            case["seconds"][name] *= factors[case["id"]]
        if case["power"]:
            case["power"]["joules"] *= factors[case["id"]]
    record["wall_seconds"] *= 1.4
    record["overhead"] = {name: 1.4 * seconds for name, seconds in record["overhead"].items()}
    text = json.dumps(record)
    (tmp_path / "record.json").write_text(text)
    with (tmp_path / "samples.jsonl").open("w") as file:
        for line in bz2.decompress((H200 / "samples.jsonl.bz2").read_bytes()).splitlines():
            own = json.loads(line)
            own["samples"] = [each * factors[own["id"]] for each in own["samples"]]
            file.write(json.dumps(own) + "\n")
    found = changes(read(H200, EXPERIMENTS).record, read(tmp_path, EXPERIMENTS).record)
    page = opened(h200)
    there = page.evaluate(
        "text => changes(recordOf(JSON.parse(text)))"
        ".map(each => [each.old.id, each.changed, each.margin])",
        text,
    )
    known = {each.new.id: (each.outcome, each.margin) for each in found}
    assert {name: (changed, margin) for name, changed, margin in there} == known
    assert {"slower", "faster", "no difference"} == {outcome for outcome, _ in known.values()}


def test_it_tells_apart_what_the_report_does(
    h200: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where two processes differ by more."""
    record = read(H200, EXPERIMENTS).record
    timed = [case for case in record.cases if case.seconds]
    pairs = [*zip(timed[::29], timed[1::29], strict=False), (timed[0], timed[-1])]
    page = opened(h200)
    asked = (
        "pairs => pairs.map(ids => ids.map(id => BY_ID.get(id)))"
        ".map(([a, b]) => outcome(compared(a, b), [a, b]))"
    )
    ids = [[a.id, b.id] for a, b in pairs]
    before = page.evaluate(asked, ids)
    assert before == [Comparisons(record).ratio(a, b).outcome for a, b in pairs]
    page.evaluate(
        "() => { for (const of of ['ratios', 'medians'])"
        " for (const kind in DATA.variation[of]) DATA.variation[of][kind] *= 4; }"
    )
    table = variation.known()
    wider = [{kind: 4 * by for kind, by in of.items()} for of in (table.ratios, table.medians)]
    more = replace(table, ratios=wider[0], medians=wider[1])
    monkeypatch.setattr(variation, "known", lambda: more)
    own = Comparisons(record)
    after = page.evaluate(asked, ids)
    assert after == [own.ratio(a, b).outcome for a, b in pairs]
    assert before != after


def test_verdicts_that_turned(h200: Path, opened: Opened) -> None:
    verdicts = json.loads((H200 / "verdicts.json").read_bytes())
    claim = next(each for each in verdicts["claims"] if each["id"] == "C14")
    claim["verdict"] = "holds"
    page = opened(h200)
    dropped(page, ("verdicts.json", json.dumps(verdicts).encode()))
    table = page.get_by_role("table", name="Verdicts that turned")
    assert [row[:3] for row in table.locator("tbody th").all_inner_texts()] == ["C14"]


HOSTILE = "<img src=x onerror=alert(1)>"
REFUSED = {
    "cut.json": (
        b'{"schema": 5, "cases": [',
        "is not JSON, or was cut off: choose the record.json of another run",
    ),
    "new.json": (b'{"schema": 99, "cases": [], "environment": {}}', "has schema 99"),
    "none.json": (b"[1, 2]", "it is no record of Recheck"),
    "text.json": (b'"a"', "it is no record of Recheck"),
    "null.json": (b'{"schema": 5, "environment": {}, "cases": [null]}', "a case without an id"),
    f"{HOSTILE}.json": (b"{}", "has no field schema"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_record_is_one_line(name: str, h200: Path, opened: Opened) -> None:
    content, why = REFUSED[name]
    page = opened(h200)
    dropped(page, ("record.json", json.dumps(other_record()).encode()))
    before = page.inner_text("#answer")
    dropped(page, (name, content))
    page.wait_for_selector(".warning")
    (line,) = page.locator(".warning").all_inner_texts()
    assert line.startswith(f"{name}: ") and why in line and "\n" not in line
    # what was there is there still
    assert page.inner_text("#answer") == before


def test_half_a_gigabyte_is_refused_unread(h200: Path, opened: Opened) -> None:
    page = opened(h200, "#view=compare")
    page.evaluate(
        """async () => {
          const file = new File(["{}"], "large.json");
          Object.defineProperty(file, "size", {value: 500e6});
          file.text = () => { throw new Error("was read"); };
          await take([file]);
        }"""
    )
    (line,) = page.locator(".warning").all_inner_texts()
    assert line == "large.json: has 500 MB; a record has a few MB: choose record.json"


def test_strings_of_another_record_are_text(h200: Path, opened: Opened) -> None:
    record = other_record()
    record["environment"]["gpu"]["name"] = HOSTILE
    record["environment"]["git"]["commit"] = HOSTILE
    case = record["cases"][0]
    case |= {"seconds": None, "status": HOSTILE, "reason": HOSTILE}
    page = opened(h200)
    dropped(page, ("record.json", json.dumps(record).encode()))
    assert HOSTILE in page.inner_text(".eyebrow") and page.locator("main img").count() == 0
    assert HOSTILE in page.get_by_role("table", name="Without a time").inner_text()


def test_strings_of_its_own_record_are_text(tmp_path: Path, opened: Opened) -> None:
    """In every view: shown as they are, never run, and never a formula of a spreadsheet."""
    bad = f"{HOSTILE}</script><script>alert(2)</script>"
    record = spoil(make_full(small=True), "/tile16/4096x", "failed", f"=cmd {bad}")
    record["environment"] |= {"os": bad, "cpu": bad, "flags": bad}
    record["environment"]["gpu"]["name"] = bad
    for each in record["experiments"]:
        each |= {"title": bad, "problem": bad}
    for case in record["cases"]:
        case |= {"note": bad}
        if case["error"]:
            case["error"]["metric"] = bad
    unpack(pack(record), tmp_path)
    path = written(tmp_path, tmp_path / "report.html")
    page = opened(path)
    for view in VIEWS:
        page.goto(f"{path.as_uri()}#view={view}")
        page.wait_for_selector(f"[data-view={view}]")
        assert page.locator("main img").count() == 0
        assert "could not be shown" not in page.inner_text("main")
    assert bad in page.inner_text("main")
    page.goto(f"{path.as_uri()}#view=samples")
    page.fill("#cases", "tile16/4096")
    with page.expect_download() as waited:
        page.get_by_label(re.compile("Save as CSV: Every case")).click()
    text = Path(waited.value.path()).read_text(encoding="utf-8")
    assert "\"'=cmd " in text and '"=' not in text


# records of every kind


@pytest.fixture(scope="module")
def no_gpu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("no_gpu")
    unpack(pack(make_full(gpu=False, small=True)), folder)
    return written(folder, folder / "report.html")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without probes, audit, machine and accuracy."""
    folder = tmp_path_factory.mktemp("old")
    unpack(pack(make_record(SMALL)), folder)
    return written(folder, folder / "report.html")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("foreign")
    return written(OUTSIDE / "results" / "nvidia-h200", folder / "report.html", OUTSIDE / "claims")


@pytest.mark.parametrize("kind", ["no_gpu", "old", "foreign"])
def test_records_that_lack_much(kind: str, request: pytest.FixtureRequest, opened: Opened) -> None:
    page = opened(request.getfixturevalue(kind))
    for view in VIEWS:
        page.evaluate("view => go({ view })", view)
        page.wait_for_selector(f"[data-view={view}]")
        assert page.inner_text("main").strip()
        assert "could not be shown" not in page.inner_text("main")
    page.evaluate("go({ view: 'ranking' })")
    page.wait_for_selector("[data-view=ranking] #answer")
    expected = {
        "no_gpu": "At 4096³, hot, the fastest IEEE fp32 row is cpu_blas, the baseline itself.",
        "old": "At 4096³ the fastest IEEE fp32 row is cublas, the baseline itself; next is ",
        "foreign": "At 4194304 the fastest row is cub, the baseline itself; next is ",
    }
    assert page.inner_text("#answer").startswith(expected[kind])


# how it looks and feels

EACH = [*(f"#view={view}" for view in VIEWS), "#view=claims&claim=C14"]
EACH.append(
    "#view=samples&case=matmul/tile16/1024x1024x1024/cold&with=matmul/cublas/1024x1024x1024/cold"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, h200: Path, opened: Opened) -> None:
    name = "axe_playwright_python.sync_playwright"
    axe = pytest.importorskip(name, reason="axe is not installed").Axe()
    page = opened(h200, color_scheme=scheme, viewport={"width": 1200, "height": 900})
    said = []
    for address in EACH:
        page.goto(h200.as_uri() + address)
        for fold in page.locator("details.fold > summary").all():
            fold.click()
        for each in axe.run(page).response["violations"]:
            said.append(f"{address}: {each['id']}: {each['nodes'][0]['html'][:200]}")
    assert not said


@pytest.mark.parametrize("width", [390, 830, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_scrolls_sideways(scheme: str, width: int, h200: Path, opened: Opened) -> None:
    page = opened(h200, color_scheme=scheme, viewport={"width": width, "height": 800})
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == (scheme == "dark")
    for address in EACH:
        page.goto(h200.as_uri() + address)
        page.wait_for_timeout(50)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_the_switch_of_colours(h200: Path, opened: Opened) -> None:
    page = opened(h200, color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("#theme")
    page.click("#theme")
    assert page.inner_text("#theme") == "Dark" and page.evaluate(paper) != light


def test_by_keyboard_alone(h200: Path, opened: Opened) -> None:
    page = opened(h200)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Claims":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-view=claims] #search")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("C14")
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#C14[open]")


def test_tables_are_sorted_and_saved(h200: Path, opened: Opened) -> None:
    page = opened(h200, "#view=ranking")
    page.get_by_role("button", name="error", exact=True).click()
    head = page.get_by_role("columnheader", name="error")
    assert head.get_attribute("aria-sort") == "ascending"
    with page.expect_download() as waited:
        page.get_by_label(re.compile("Save as CSV")).first.click()
    assert waited.value.suggested_filename == "ranking-matmul-4096x4096x4096-cold.csv"
    lines = Path(waited.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith('"row",') and any(line.startswith('"cublas",') for line in lines)


def test_it_prints(h200: Path, opened: Opened) -> None:
    page = opened(h200, "#view=ranking")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible() and page.locator("#answer").is_visible()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


def test_it_is_ready_soon(h200: Path, opened: Opened) -> None:
    """From the start of loading to the first view with its ratios: the best of five, as others may
    use the machine at the same time."""
    mark = "performance.getEntriesByName('ready')[0].startTime"
    found = [opened(h200).evaluate(mark) / 1000 for _ in range(5)]
    assert min(found) < READY, found
