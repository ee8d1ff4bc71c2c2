"""No text of a record or of its probes becomes live markup in a report."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Report, pages
from recheck_report.record.schema import schema
from records import Json, h100, no_gpu, probes_of, spoil

# a link, an image, a tag, addresses that code hosts turn into links, ends of data, headings and
# cells, and characters that XML forbids
PAYLOAD = (
    "q{0}q\n# h{0}\n![i](//i{0}.x) [l](//l{0}.x) [l]\n[r]: //r{0}.x\n<img src=x onerror=a{0}> | "
    "``c` <b>b{0}</b> \\[k](//k{0}.x) ]]> </script><script>s{0}</script> https://u{0}.x www.w{0}.x "
    "_www.w{0}.x a@m{0}.x $x^$ \x01 \ud800"
)
LIVE = re.compile(
    r"\[(?:[^][]|\[[^][]*\])*\]\(//\w(\d+)\.x|^ {0,3}\[[^]]*\]:.*?(\d+)\.x|^ {0,3}#+ +h(\d+)"
    r"|<(?:img|b|script|/script)\b.*?(\d+)|https?://u(\d+)\.x|www\.w(\d+)\.x|\w\\?@m(\d+)\.x"
)


def alive(page: str) -> Iterator[str]:
    """The numbers of payloads that Markdown renders as markup: those outside code blocks and spans,
    and not escaped by a backslash."""
    fence = ""
    for line in page.split("\n"):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if fence:
            continue
        # a backslash has no meaning within code, which ends at the same number of backticks
        line = re.sub(
            r"\\([!-/:-@[-`{-~])|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)",
            lambda found: "�" if found[1] else "",
            line,
        )
        # code hosts find addresses in character references, too
        for found in LIVE.finditer(re.sub("&#(\\d+);", lambda each: chr(int(each[1])), line)):
            yield next(each for each in found.groups() if each)


def test_the_search_finds_what_is_live() -> None:
    text = PAYLOAD.format(7)
    assert len([*alive(text)]) >= 8
    for part in ("[a](//l7.x)", "x <img a7>", "# h7", "`a` [b](//l7.x) `c`", "\\\\[a](//l7.x)"):
        assert [*alive(part)] == ["7"], part
    for part in ("\\[a](//l7.x)", "`[a](//l7.x)`", "&lt;img a7>", "```\n# h7\n```", "\\# h7"):
        assert [*alive(part)] == [], part


MARKS = ["**a7**", "~~a7~~", "~a7~", "_a7_", "__a7__", "`a7`", "*a7*", "(*a7*)", "x _a7_ y"]
LINKS = ["`<img src=x onerror=a7>```", "`[l](//l7.x)``", "_www.w7.x", "*WWW.w7.x", "a@m7.x"]
NAME = "k_warps of matmul/split_fp16x3, 2^24 + 1"


@pytest.mark.parametrize("text", [*MARKS, *LINKS, NAME])
def test_a_text_of_a_record_looks_as_it_is(text: str, report: Report) -> None:
    record = h100("matmul/cublas/4096x")
    record["environment"]["os"] = text
    page = report(record)["method.md"].decode()
    (shown,) = re.findall(r"^\| operating system \| (.*) \|$", page, re.M)
    assert not [*alive(shown)]
    if text in MARKS:
        assert not re.search(r"(?<!\\)[*~_`]", shown)
        assert re.sub(r"\\(.)", r"\1", shown) == text
    assert text != NAME or shown == NAME


def _texts(form: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of free texts in a schema; * is any entry, = any key of an object."""
    if items := form.get("items"):
        yield from _texts(items, (*path, "*"))
    if more := form.get("additionalProperties"):
        yield from () if form.get("propertyNames") else [(*path, "=")]
        yield from _texts(more, (*path, "*"))
    for name, each in form.get("properties", {}).items():
        yield from _texts(each, (*path, name))
    if "string" in form["type"] and not form.get("enum") and not form.get("pattern"):
        yield path


# names by which files refer to one another; any other text is refused
NAMES = {
    ("strategies", "*", "experiment"), ("strategies", "*", "part_of"),
    ("counters", "*", "values", "="), ("plan", "dropped", "*", "experiment"),
    ("strategies", "*", "parameters", "="), ("attributes", "="), ("ceilings", "="),
    ("environment", "gpu"), ("environment", "driver"),
    ("experiments", "*", "axes", "*"), ("experiments", "*", "name"), ("strategies", "*", "name"),
    ("cases", "*", "id"), ("cases", "*", "status"), ("strategies", "*", "target"),
    ("strategies", "*", "role"),
}  # fmt: skip
FIELDS = [
    (f"{file}.json", path)
    for file in ("record", "probes")
    for path in _texts(schema(file))
    if path not in NAMES
]


def _set(node: Any, path: tuple[str, ...], text: str) -> bool:
    """Sets all texts at a path; returns whether one exists."""
    step, *rest = path
    if node is None:
        return False
    if step == "=":
        if not node:
            return False
        first = next(iter(node))
        node[text] = node.pop(first)
        return True
    steps = [*(range(len(node)) if isinstance(node, list) else node)] if step == "*" else [step]
    if rest:
        return any(
            [_set(node[each], (*rest,), text) for each in steps if each in node or step == "*"]
        )
    found = False
    for each in steps:
        # null and empty values have a meaning: they stay
        if node.get(each) if isinstance(node, dict) else node[each]:
            node[each] = text
            found = True
    return found


def _files(gpu: bool) -> dict[str, Json]:
    record, probes = h100() if gpu else no_gpu(), probes_of("h100" if gpu else "no_gpu")
    record = spoil(record, "/tile8/", "incorrect", "wrong")
    record = spoil(record, "/s3_naive/", "failed", "a reason")
    if gpu:
        record["environment"]["unknown"] |= {"blas": "x", "driver": "x"}
    for name in [*probes["tests"]][::3]:
        probes["tests"][name] = {"reason": "no such test", "outcome": None, "count": 0}
    for name in [*probes["counters"]][::3]:
        probes["counters"][name] = {"reason": "no ncu", "values": {}}
    reason = {"experiment": "matmul", "shape": "7x7x7", "reason": "budget"}
    record["plan"]["dropped"] = [reason]
    for each in record["cases"]:
        if each["power"]:
            each["power"]["throttle"] = ["sw_power_cap"]
    return {"record.json": record, "probes.json": probes}


@pytest.mark.parametrize("gpu", [True, False])
def test_no_text_of_a_record_becomes_live(gpu: bool, report: Report) -> None:
    files = _files(gpu)
    reached = set()
    for at, (file, path) in enumerate(FIELDS):
        if _set(files[file], path, PAYLOAD.format(at)):
            reached.add(at)
    assert len(reached) > 25
    env = files["record.json"]["environment"]
    # probes of another machine are not shown
    files["probes.json"]["environment"].update(
        gpu=env["gpu"]["name"] if env["gpu"] else None, driver=env["driver"]
    )
    made = report(files["record.json"], probes=files["probes.json"])
    live: dict[str, set[str]] = {}
    for name, page in pages(made).items():
        for number in alive(page):
            live.setdefault(".".join(FIELDS[int(number)][1]), set()).add(name)
        for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(cells) == 1, table
    assert not {name: sorted(where) for name, where in live.items()}
    page = made["report.html"].decode()
    assert not re.search(r"<img src=x|<script>s\d", page)
    shown = {int(each) for page in pages(made).values() for each in re.findall(r"q(\d+)q", page)}
    assert len(shown & reached) > 20  # so the search had something to find


def test_only_its_own_script_may_run(report: Report) -> None:
    html = report(h100("matmul/cublas/4096x"))["report.html"].decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy and policy[1].startswith("default-src 'none'; ") and "unsafe" not in policy[1]
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
