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

Path = tuple[str, ...]  # to a text of a file
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


# names by which files refer to one another, where any other text is refused: * is any entry, = any
# key of an object
NAMES = {
    ("strategies", "*", "experiment"), ("strategies", "*", "part_of"),
    ("counters", "*", "values", "="), ("plan", "dropped", "*", "experiment"),
    ("strategies", "*", "parameters", "="), ("attributes", "="), ("ceilings", "="),
    ("environment", "gpu"), ("environment", "driver"),
    ("experiments", "*", "axes", "*"), ("experiments", "*", "name"), ("strategies", "*", "name"),
    ("cases", "*", "id"), ("cases", "*", "status"), ("strategies", "*", "target"),
    ("strategies", "*", "role"),
}  # fmt: skip


def _spoiled(form: Json, value: Any, paths: list[Path], path: Path = ()) -> Any:
    """The value with a payload in each free text of its schema. `paths` gets their paths, by the
    payload's number. Null and empty values have a meaning: they stay."""

    def payload(path: Path) -> str:
        paths.append(path)
        return PAYLOAD.format(len(paths) - 1)

    if isinstance(value, list) and "items" in form:
        return [_spoiled(form["items"], each, paths, (*path, "*")) for each in value]
    if isinstance(value, dict):
        more = form.get("additionalProperties") or {}
        named = {name: (each, name) for name, each in form.get("properties", {}).items()}
        made = {}
        for name, inner in value.items():
            inside, step = named.get(name, (more, "*"))
            made[name] = _spoiled(inside, inner, paths, (*path, step))
        if made and more and not form.get("propertyNames") and (*path, "=") not in NAMES:
            made[payload((*path, "="))] = made.pop(next(iter(made)))
        return made
    free = "type" in form and not form.get("enum") and not form.get("pattern")
    return (
        payload(path) if isinstance(value, str) and value and free and path not in NAMES else value
    )


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
    paths: list[Path] = []
    made = _files(gpu)
    files = {name: _spoiled(schema(name[:-5]), each, paths) for name, each in made.items()}
    assert len({*paths}) > 25
    env = files["record.json"]["environment"]
    # probes of another machine are not shown
    files["probes.json"]["environment"].update(
        gpu=env["gpu"]["name"] if env["gpu"] else None, driver=env["driver"]
    )
    rendered = report(files["record.json"], probes=files["probes.json"])
    live: dict[str, set[str]] = {}
    for name, page in pages(rendered).items():
        for number in alive(page):
            live.setdefault(".".join(paths[int(number)]), set()).add(name)
        for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(cells) == 1, table
    assert not {name: sorted(where) for name, where in live.items()}
    page = rendered["report.html"].decode()
    assert not re.search(r"<img src=x|<script>s\d", page)
    shown = {
        int(each) for page in pages(rendered).values() for each in re.findall(r"q(\d+)q", page)
    }
    assert len({paths[each] for each in shown}) > 20  # so the search had something to find


def test_only_its_own_script_may_run(report: Report) -> None:
    html = report(h100("matmul/cublas/4096x"))["report.html"].decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy and policy[1].startswith("default-src 'none'; ") and "unsafe" not in policy[1]
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
