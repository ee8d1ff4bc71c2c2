"""report.html as a file: it contains every case, is reproducible, and no string of a record
can become markup or code. test_browser.py tests it in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from browser import measured, record
from conftest import EXPERIMENTS, element
from recheck_report.claims.measured import Measured, read
from recheck_report.commands.render import render
from recheck_report.write import page
from records import few, keep, spoil

__all__ = ["measured", "record"]


def test_the_file_contains_every_case_and_claim(measured: Measured) -> None:
    html = render(measured, [])["report.html"].decode()
    data = json.loads(element(html, "data"))
    cases = measured.record.cases
    assert data["cases"]["median"] == [c.seconds and c.seconds.median for c in cases]
    rows = [data["rows"][at] for at in data["cases"]["row"]]
    assert [row["name"] for row in rows] == [case.strategy for case in cases]
    assert [data["texts"][at] for at in data["cases"]["shape"]] == [c.shape_name for c in cases]


def test_only_its_own_script_may_run(measured: Measured) -> None:
    html = render(measured, [])["report.html"].decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy and policy[1].startswith("default-src 'none'; ") and "unsafe" not in policy[1]
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]


def test_no_string_ends_the_data(tmp_path: Path) -> None:
    reason = "</script><script>alert(1)</script><!-- & \u2028"
    record = spoil(few(), "/tile16/4096x", "failed", reason)
    measured = read(keep(tmp_path, record), EXPERIMENTS)
    html = render(measured, [])["report.html"].decode()
    assert html.count("</script>") == 2 and "alert(1)</script>" not in html
    data = element(html, "data")
    assert not re.search("[<>&\u2028\u2029]", data)
    assert reason.rstrip(" \u2028") in json.loads(data)["texts"]


def test_the_file_contains_every_script() -> None:
    folder = Path(page.__file__).parent / "js"
    assert {path.stem for path in folder.iterdir()} == set(page.SCRIPTS)
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
