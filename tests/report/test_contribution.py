"""What strangers send: an honest contribution becomes evidence, each lie is refused in a line.

Every file is really packed, from the committed evidence, as of a commit of a small repository. A
liar then changes it, and packs it again with checksums that fit, wherever the lie is deeper.
"""

from __future__ import annotations

import bz2
import copy
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, REPORTS, called, one_line, process, run, tree
from recheck_report import cli
from recheck_report.commands import Failed, contribute
from recheck_report.commands.pack import About, contribution
from recheck_report.commands.receive import unacceptable
from recheck_report.contribution import reasons, sheets
from recheck_report.contribution.beside import counted as why_not_counted
from recheck_report.contribution.bounds import loose
from recheck_report.contribution.evidence import refusal
from recheck_report.contribution.package import MOST_PACKED, packed, unpacked
from recheck_report.contribution.source import BadSource, Source, architectures
from recheck_report.model.companions import FILES
from recheck_report.model.contribution import CONTRIBUTION, NEEDED
from recheck_report.model.derived import HALF_LANES
from recheck_report.model.probes import load_probes
from recheck_report.model.record import SCHEMA, load
from synthetic import Json, time_of
from synthetic_rehearsal import make_rehearsal

EVIDENCE = REPORTS / "results" / "nvidia-h200"
RECORD, SAMPLES, PROBES = "record.json", "samples.jsonl.bz2", "probes.json"
MEASURED = json.loads((EVIDENCE / RECORD).read_bytes())
STARTED = MEASURED["environment"]["started"]
COMMITTED = f"{STARTED[:10]}T00:00:00Z"  # before the evidence was measured
ACCURACY, LARGER = "accuracy.json", "accuracy_large.json"
FOLDER = "recheck-nvidia-h200-0123456"
ABOUT = {
    "tests": {"passed": 15, "skipped": ["gpu.agreement"]},
    "steps": [{"name": "build", "seconds": 412.0}],
    "tools": {"cmake": "3.25.1"},
}
# what older records state in place of rounds
STOPPED = {
    "precision": 0.005, "precision_in_budget": 0.009, "wanted_samples": 20, "wanted_blocks": 10,
    "most_samples": 1000,
}  # fmt: skip
# of the present schema; cases of an older one took more rounds than a method of today
METHOD = MEASURED["method"]
if MEASURED["schema"] < SCHEMA:
    METHOD = {**{n: METHOD[n] for n in METHOD if n not in STOPPED}, "rounds": 400}
HEADLINES = ("/4096x4096x4096/", "/8192x8192/")
# which Python says where an archive is made, and not where it is read
pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")
Files = dict[str, bytes]
Parts = dict[str, Any]  # the same, as far as it is JSON; of the samples a dictionary by id


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    command = ["git", "-C", str(folder), *who, *words]
    dated = {**os.environ, "GIT_COMMITTER_DATE": COMMITTED}
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env=dated)
    return ended.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that has the kernel files of the evidence, and a commit of nobody's on another branch."""
    folder = tmp_path_factory.mktemp("repository")
    for name in MEASURED["environment"]["cubins"]:
        path = folder / "kernels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("// a kernel\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Kernels")
    git(folder, "checkout", "--quiet", "-b", "mine")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=Faster")
    git(folder, "checkout", "--quiet", "main")
    return folder


def measured_at(commit: str, folder: Path, whole: bool) -> Path:
    """The committed evidence as if it were of that commit; the headline shapes alone if not the
    whole, which takes a fraction of the time to read."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NEEDED:
        if name == SAMPLES:
            continue
        found = json.loads((EVIDENCE / name).read_bytes())
        found["environment"]["git" if name == RECORD else "commit"] = (
            {"commit": commit, "dirty": False, "diff": None} if name == RECORD else commit
        )
        if name == RECORD:
            found["schema"], found["method"] = SCHEMA, METHOD
        if name == RECORD and not whole:
            special = ("audit/", "machine/", "memory/")
            found["cases"] = [
                each
                for each in found["cases"]
                if each["id"].startswith(special) or any(h in each["id"] for h in HEADLINES)
            ]
            kept = {each["id"] for each in found["cases"]}
        if name == PROBES and not whole:
            found["counters"] = {n: each for n, each in found["counters"].items() if n in kept}
        (folder / name).write_text(json.dumps(found), encoding="utf-8")
    lines = bz2.decompress((EVIDENCE / SAMPLES).read_bytes()).splitlines()
    if not whole:
        lines = [line for line in lines if json.loads(line)["id"] in kept]
    (folder / "samples.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    return folder


def pack(measured: Path, folder: Path) -> Path:
    """The file that the command makes of it."""
    (folder / "about.json").write_text(json.dumps(ABOUT))
    result = run("pack", measured, "--about", folder / "about.json", "--output", folder)
    assert result.returncode == 0, result.stderr
    return Path(result.stdout.strip())


@pytest.fixture(scope="module")
def honest(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the whole matrix."""
    folder = tmp_path_factory.mktemp("honest")
    commit = git(repository, "rev-parse", "main")
    return pack(measured_at(commit, folder / "measured", True), folder)


@pytest.fixture(scope="module")
def headlines(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the headline shapes, to be spoiled."""
    folder = tmp_path_factory.mktemp("headlines")
    commit = git(repository, "rev-parse", "main")
    return pack(measured_at(commit, folder / "measured", False), folder)


@pytest.fixture
def results(repository: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder of evidence in a repository, where none is yet."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository), str(clone))
    git(clone, "fetch", "--quiet", "origin", "mine:mine")
    yield clone / "reports" / "results"
    # a path that somebody made up would have led to one of these
    assert {each.name for each in clone.iterdir()} <= {".git", "kernels", "reports"}


def parts_of(path: Path) -> Parts:
    files = unpacked(path.read_bytes())
    found = {name: json.loads(data) for name, data in files.items() if name.endswith(".json")}
    lines = map(json.loads, bz2.decompress(files[SAMPLES]).splitlines())
    return found | {SAMPLES: {line["id"]: line for line in lines}}


@pytest.fixture(scope="module")
def parts(headlines: Path) -> Callable[[], Parts]:
    found = parts_of(headlines)
    return lambda: copy.deepcopy(found)


def bytes_of(parts: Parts) -> Files:
    found = {name: json.dumps(each).encode() for name, each in parts.items() if name != SAMPLES}
    lines = "".join(f"{json.dumps(line)}\n" for line in parts[SAMPLES].values())
    return found | {SAMPLES: bz2.compress(lines.encode(), 1)}


def rehashed(parts: Parts) -> Files:
    """Its files with checksums that fit, as a liar would send them."""
    files = bytes_of(parts)
    for each in parts[CONTRIBUTION]["files"]:
        data = files[each["name"]]
        each |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return files | {CONTRIBUTION: json.dumps(parts[CONTRIBUTION]).encode()}


def sent(data: bytes, folder: Path) -> Path:
    path = folder / "sent.recheck.zip"
    path.write_bytes(data)
    return path


def refused(path: Path, results: Path, *words: object, code: int = 1) -> str:
    """The line that refuses it; nothing is written."""
    before = tree(results)
    line = one_line(run("receive", path, "--results", results, *words), code)
    assert line.startswith(f"error: {path}: not received: "), line
    assert "/tmp/tmp" not in line.replace(str(path), ""), "nobody has seen that folder"
    assert tree(results) == before
    return line


# the archive


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


def with_entries(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> Callable[[Files], bytes]:
    """The honest files and behind them these."""

    def make(files: Files) -> bytes:
        held = io.BytesIO(packed(files, FOLDER))
        with zipfile.ZipFile(held, "a", zipfile.ZIP_DEFLATED) as file:
            for name, data in entries:
                file.writestr(name, data)
        return held.getvalue()

    return make


def without(*names: str) -> Callable[[Files], bytes]:
    return lambda files: packed({n: d for n, d in files.items() if n not in names}, FOLDER)


def bomb(files: Files) -> bytes:
    """65 MiB of blanks, as 64 KiB, in place of the samples."""
    return packed({**files, SAMPLES: b" " * (65 << 20)}, FOLDER)


def long_record(files: Files) -> bytes:
    """Of empty objects, each of which takes sixty times its bytes of memory."""
    return packed({**files, RECORD: b"[" + b"{}," * (3 << 20) + b"{}]"}, FOLDER)


def lzma(files: Files) -> bytes:
    """Which has a memory of any size that it names, and errors of its own where it is damaged."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_LZMA) as file:
        file.writestr(f"{FOLDER}/{RECORD}", files[RECORD])
    data = bytearray(held.getvalue())
    at = data.index(RECORD.encode()) + len(RECORD) + 9
    data[at : at + 11] = b"\xff" * 11
    return bytes(data)


def encrypted(files: Files) -> bytes:
    data = bytearray(packed(files, FOLDER))
    # the flags of the first entry, in its own header and in the directory
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def lying_size(files: Files) -> bytes:
    """The directory says that the first file has one byte."""
    data = bytearray(packed(files, FOLDER))
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (1).to_bytes(4, "little")
    return bytes(data)


def nested(files: Files) -> bytes:
    held = packed(files, FOLDER)
    return with_entries((f"{FOLDER}/more.zip", held))(files)


ARCHIVES: dict[str, tuple[Callable[[Files], bytes], str]] = {
    "empty": (lambda files: b"", "is no whole zip file"),
    "no zip": (lambda files: b"a thesis", "is no whole zip file"),
    "cut off": (lambda files: packed(files, FOLDER)[:-4000], "is no whole zip file"),
    "a byte changed": (
        lambda files: packed(files, FOLDER).replace(b"PK\x03\x04", b"PK\x03\x05", 1),
        "is no whole zip file",
    ),
    "nothing in it": (lambda files: packed({}, FOLDER), "contribution.json is missing"),
    "absolute": (with_entries(("/tmp/record.json", b"{}")), "'/tmp/record.json' is no part"),
    "out of its folder": (
        with_entries((f"{FOLDER}/../../record.json", b"{}")),
        "/../../record.json' is no part of a contribution",
    ),
    "above": (with_entries(("../record.json", b"{}")), "'../record.json' is no part"),
    "of another system": (with_entries(("C:\\record.json", b"{}")), "is no part of a contribution"),
    "a link": (
        with_entries((entry(f"{FOLDER}/{RECORD}", 0o120777), b"/etc/passwd")),
        f"'{FOLDER}/{RECORD}' is a link or no plain file",
    ),
    "a device": (with_entries((entry("a/b", 0o020666), b"")), "is a link or no plain file"),
    "a folder": (with_entries((f"{FOLDER}/charts/", b"")), "is a link or no plain file"),
    "twice": (with_entries((f"{FOLDER}/{RECORD}", b"{}")), "is there twice; pack it again"),
    "in two folders": (with_entries((f"another/{RECORD}", b"{}")), "is there twice"),
    "a page of theirs": (with_entries((f"{FOLDER}/README.md", b"# Mine")), "README.md' is no part"),
    "a history": (with_entries((f"{FOLDER}/history.json", b"{}")), "history.json' is no part"),
    "nested": (nested, "more.zip' is no part of a contribution; pack it again"),
    "encrypted": (encrypted, "is encrypted"),
    "of another compression": (lzma, "record.json' is compressed as nobody packs it; pack it"),
    "a long record": (long_record, "record.json' has more than 8 MiB"),
    "a bomb": (bomb, "unpacks to more than 64 MiB"),
    "a lie about a size": (lying_size, "is no whole zip file"),
    "too large": (lambda files: b"PK" * (MOST_PACKED // 2 + 1), "has more than 16 MiB"),
    "no contribution.json": (
        without(CONTRIBUTION),
        "contribution.json is missing: this is no file",
    ),
    "no probes": (without(PROBES), "probes.json is missing; pack it again"),
    "no samples": (without(SAMPLES), "samples.jsonl.bz2 is missing; pack it again"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_refused(name: str, headlines: Path, results: Path, tmp_path: Path) -> None:
    make, why = ARCHIVES[name]
    path = sent(make(unpacked(headlines.read_bytes())), tmp_path)
    assert why in refused(path, results, code=2)


def test_a_file_that_is_not_there(results: Path, tmp_path: Path) -> None:
    line = one_line(run("receive", tmp_path / "none.zip", "--results", results), 2)
    assert "none.zip: not received: cannot be read: No such file" in line


# what it says of itself


def listed(**changes: Any) -> Callable[[Parts], object]:
    return lambda parts: parts[CONTRIBUTION].update(changes)


def entries(parts: Parts, change: Callable[[list[Json]], object]) -> None:
    change(parts[CONTRIBUTION]["files"])


UNTRUE: dict[str, tuple[Callable[[Parts], object], str]] = {
    "newer": (
        listed(schema=2),
        "contribution.json: has schema 2; this renderer reads schema 1; update Recheck",
    ),
    "no schema": (lambda p: p[CONTRIBUTION].pop("schema"), "has no field schema"),
    "no test passed": (listed(tests={"passed": 0, "skipped": []}), "tests.passed must be"),
    "more than the form": (listed(verified=True), "verified is not known to this form"),
    "an entry less": (lambda p: entries(p, lambda e: e.pop(0)), "has 0 entries for accuracy.json"),
    "an entry twice": (
        lambda p: entries(p, lambda e: e.append(e[0])),
        "2 entries for accuracy.json; pack it",
    ),
    "another commit": (listed(commit="f" * 40), f"says commit {'f' * 40}, and the record"),
    "another GPU": (
        listed(gpu="NVIDIA L4"),
        "says GPU NVIDIA L4, and the record NVIDIA H200; ask its sender for another",
    ),
}


@pytest.mark.parametrize("name", UNTRUE)
def test_what_it_says_of_itself_is_held_against_it(
    name: str, parts: Callable[[], Parts], results: Path, tmp_path: Path
) -> None:
    change, why = UNTRUE[name]
    own = parts()
    rehashed(own)  # so that only this is wrong
    change(own)
    files = bytes_of(own)
    for each in own[CONTRIBUTION]["files"]:
        data = files[each["name"]]
        each |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    files[CONTRIBUTION] = json.dumps(own[CONTRIBUTION]).encode()
    path = sent(packed(files, FOLDER), tmp_path)
    assert why in refused(path, results, code=1 if "another" in name else 2)


@pytest.mark.parametrize("name", NEEDED)
def test_a_wrong_checksum(name: str, headlines: Path, results: Path, tmp_path: Path) -> None:
    files = unpacked(headlines.read_bytes())
    files[name] = files[name].replace(b"1", b"2", 1)
    line = refused(sent(packed(files, FOLDER), tmp_path), results, code=2)
    assert f"{name} has {len(files[name])} bytes of SHA-256 " in line
    assert "…, and contribution.json says " in line
    assert line.endswith("…; ask its sender for another\n")


# what the record says


Edit = Callable[[Parts], object]


def env(**changes: Any) -> Edit:
    return lambda parts: parts[RECORD]["environment"].update(changes)


def gpu(**changes: Any) -> Edit:
    return lambda parts: parts[RECORD]["environment"]["gpu"].update(changes)


def beside(name: str, **changes: Any) -> Edit:
    return lambda parts: parts[name]["environment"].update(changes)


def at(*path: Any, value: Any) -> Edit:
    def edit(parts: Parts) -> None:
        node = parts[RECORD]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return edit


def all_of(*edits: Edit) -> Edit:
    def edit(parts: Parts) -> None:
        for each in edits:
            each(parts)

    return edit


def commit(value: str) -> Edit:
    def edit(parts: Parts) -> None:
        parts[RECORD]["environment"]["git"]["commit"] = value
        for name in (PROBES, ACCURACY, LARGER):
            parts[name]["environment"]["commit"] = value
        parts[CONTRIBUTION]["commit"] = value

    return edit


def named(model: str) -> Edit:
    def edit(parts: Parts) -> None:
        parts[RECORD]["environment"]["gpu"]["name"] = model
        for name in (PROBES, ACCURACY, LARGER):
            parts[name]["environment"]["gpu"] = model
        parts[CONTRIBUTION]["gpu"] = model

    return edit


def clocked(factor: float) -> Edit:
    """A device of other clocks, by all that the record says of them."""

    def edit(parts: Parts) -> None:
        parts[RECORD]["environment"]["gpu"]["clock_hz"] *= factor
        parts[RECORD]["ceilings"]["fp32_flops"]["value"] *= factor
        for case in parts[RECORD]["cases"]:
            case["clock_hz"] = case["clock_hz"] and case["clock_hz"] * factor
        for line in parts[SAMPLES].values():
            line["clocks"] = [each and each * factor for each in line["clocks"]]

    return edit


def memory(factor: float) -> Edit:
    def edit(parts: Parts) -> None:
        parts[RECORD]["environment"]["gpu"]["memory_clock_hz"] *= factor
        parts[RECORD]["ceilings"]["dram_bytes_per_second"]["value"] *= factor

    return edit


def faster(factor: float, *rows: str) -> Edit:
    """Rows that say of themselves, by every sample, that they are so much faster."""

    def edit(parts: Parts) -> None:
        for case in parts[RECORD]["cases"]:
            if case["seconds"] and case["id"].startswith(rows):
                line = parts[SAMPLES][case["id"]]
                line["samples"] = [each / factor for each in line["samples"]]
                case["seconds"] |= time_of(line["samples"])
                if case["power"]:
                    case["power"]["joules"] /= factor

    return edit


def without_cases(*beginnings: str) -> Edit:
    def edit(parts: Parts) -> None:
        kept = [c for c in parts[RECORD]["cases"] if not c["id"].startswith(beginnings)]
        assert len(kept) < len(parts[RECORD]["cases"])
        parts[RECORD]["cases"] = kept
        known = {case["id"] for case in kept}
        parts[SAMPLES] = {name: line for name, line in parts[SAMPLES].items() if name in known}

    return edit


def median_alone(parts: Parts) -> None:
    case = next(c for c in parts[RECORD]["cases"] if c["id"].startswith("matmul/tile16/"))
    case["seconds"]["median"] *= 1.0001


def kernel(name: str, checksum: str | None) -> Edit:
    def edit(parts: Parts) -> None:
        own = parts[RECORD]["environment"]["cubins"]
        own.pop(name, None)
        if checksum:
            own[name] = checksum

    return edit


def wrong(parts: Parts) -> None:
    case = next(c for c in parts[RECORD]["cases"] if c["status"] == "passed")
    case.update(status="failed", reason="launch", seconds=None, clock_hz=None, power=None)
    parts[SAMPLES].pop(case["id"])


def bounded(name: str, bound: float) -> Edit:
    """In every regime: a row is proven once for all of them."""

    def edit(parts: Parts) -> None:
        for case in parts[RECORD]["cases"]:
            if case["id"].startswith(f"{name}/"):
                case["error"]["bound"] = bound

    return edit


def left_out(name: str, why: str, status: str = "not_run") -> Edit:
    def edit(parts: Parts) -> None:
        case = next(each for each in parts[RECORD]["cases"] if each["id"] == name)
        untimed = dict.fromkeys(("error", "seconds", "clock_hz", "power"))
        case.update(untimed, status=status, reason=why)
        parts[SAMPLES].pop(name)

    return edit


def unsupported(why: str) -> Edit:
    return left_out("matmul/tile16/4096x4096x4096/cold", why, "unsupported")


def renamed(experiment: str, old: str, new: str) -> Edit:
    """A row by another name, in all that has its name."""

    def edit(parts: Parts) -> None:
        was, now = f"{experiment}/{old}/", f"{experiment}/{new}/"
        for row in parts[RECORD]["strategies"]:
            if (row["experiment"], row["name"]) == (experiment, old):
                row["name"] = new
        for case in parts[RECORD]["cases"]:
            case["id"] = case["id"].replace(was, now)
        lines = parts[SAMPLES].values()
        parts[SAMPLES] = {
            name: line | {"id": name} for line in lines for name in [line["id"].replace(was, now)]
        }

    return edit


def attributes(**changes: float) -> Edit:
    return lambda parts: parts[PROBES]["attributes"].update(changes)


def counted(name: str) -> Edit:
    one = {"reason": None, "values": {"ffma": 1.0}}
    return lambda parts: parts[PROBES]["counters"].update({name: one})


def row_of(name: str, **changes: Any) -> Edit:
    def edit(parts: Parts) -> None:
        next(e for e in parts[ACCURACY]["rows"] if e["strategy"] == name).update(changes)

    return edit


def as_fp32(name: str) -> Edit:
    """A row of a study as if it were IEEE fp32's, with the results of one that is."""

    def edit(parts: Parts) -> None:
        row_of(name, arithmetic="fp32")(parts)
        results = parts[ACCURACY]["results"]
        right = {(e["distribution"], e["k"]): e for e in results if e["strategy"] == "cublas"}
        for each in results:
            if each["strategy"] == name:
                each.update(right[each["distribution"], each["k"]], strategy=name)

    return edit


def without_results(strategy: str, k: int = 0) -> Edit:
    """A study that says nothing of a row: at one length of the sums, or at all."""

    def edit(parts: Parts) -> None:
        own = parts[ACCURACY]
        own["results"] = [
            each
            for each in own["results"]
            if each["strategy"] != strategy or (k and each["k"] != k)
        ]
        if not k:
            own["rows"] = [each for each in own["rows"] if each["strategy"] != strategy]

    return edit


def errors(strategy: str, status: str = "passed", **changes: Any) -> Edit:
    """Of the row on the first inputs, at the first length of the sums."""

    def edit(parts: Parts) -> None:
        own = parts[ACCURACY]["results"]
        each = next(e for e in own if (e["strategy"], e["status"]) == (strategy, status))
        each.update(changes)

    return edit


EXACT: Json = dict.fromkeys(("frobenius", "componentwise", "median", "absolute"), 0.0)


def older(parts: Parts) -> None:
    method = {name: METHOD[name] for name in METHOD if name != "rounds"}
    parts[RECORD] |= {"schema": 5, "method": method | STOPPED}


def test_a_row_that_recheck_itself_leaves_out_is_no_lie(
    parts: Callable[[], Parts], results: Path, tmp_path: Path
) -> None:
    slow = "4.89 s a launch: proof and 6 samples would take more than 20 s, 20 times --per-case"
    for why in (f"predicted {slow}", f"its proof took {slow}"):
        own = parts()
        for regime in ("cold", "hot", "end_to_end"):  # what is slow in one is in all
            left_out(f"matmul/tile16/4096x4096x4096/{regime}", why)(own)
        path = sent(packed(rehashed(own), FOLDER), tmp_path)
        assert "matmul/s1_kernel_0 has no shape 1024x1024x1024" in refused(path, results)


MINE = "branch mine"  # in place of a commit that is there, and not in the history of main
LIES: dict[str, tuple[Edit, str]] = {
    "a newer record": (
        at("schema", value=SCHEMA + 1),
        f"record.json: has schema {SCHEMA + 1}; this renderer reads schemas 2 to {SCHEMA}: update",
    ),
    "dirty": (at("environment", "git", "dirty", value=True), "measured with uncommitted changes"),
    "debug": (env(build_type="Debug"), "it comes from a Debug build"),
    "-G": (env(device_debug=True), "its device code was built with -G"),
    "not finished": (at("finished", value=None), "its run did not finish"),
    "no commit": (commit("unknown"), "commit must be of the form"),
    "a commit of nobody's": (commit("f" * 40), f"its commit {'f' * 40} is not in the history of"),
    "a commit of a branch": (commit(MINE), "is not in the history of HEAD"),
    "with a flag": (
        env(command="recheck --strategy=tile16"),
        "it was measured with --strategy=tile16; evidence is the full matrix",
    ),
    "with a flag behind another dash": (
        env(command="recheck \N{EN DASH}\N{EN DASH}strategy=tile16"),
        "it was measured with \N{EN DASH}\N{EN DASH}strategy=tile16; evidence is the full matrix",
    ),
    "by another program": (
        env(command="python3 made_up.py --output=x"),
        "it was measured with made_up.py; evidence is the full matrix",
    ),
    "quick": (at("plan", "preset", value="quick"), "its preset is quick; evidence is the full"),
    "fewer cases": (
        without_cases("transpose/naive/8192x8192/cold"),
        "it lacks transpose/naive/8192x8192/cold; evidence is the full matrix",
    ),
    "an experiment less": (without_cases("matvec/"), "it holds no case of matvec"),
    "a failed case": (wrong, "1 cases are failed, first "),
    "a median of no samples": (median_alone, "seconds.median must be"),
    "a row left out": (
        left_out("matmul/tile16/4096x4096x4096/cold", "NVIDIA's is slow here"),
        "matmul/tile16/4096x4096x4096/cold is not run: NVIDIA's is slow here, which recheck",
    ),
    "a row that is not supported, for a reason of its own": (
        unsupported("our time is better spent"),
        "is unsupported: our time is better spent, which recheck does not say of that shape",
    ),
    "a row without guards, where it needs none": (
        unsupported("has no guards: m has to be a positive multiple of 16"),
        "m has to be a positive multiple of 16, which recheck does not say of that shape and",
    ),
    "a row that wants a square, at one": (
        unsupported("has one width for all: the matrices have to be square"),
        "the matrices have to be square, which recheck does not say of that shape",
    ),
    "a row whose shared memory there is": (
        unsupported("needs 2048 B of shared memory per block, the device allows 232448 B"),
        "the device allows 232448 B, which recheck does not say of that shape and device",
    ),
    "a row that does not fit another device": (
        unsupported("needs 204800 B of shared memory per block, the device allows 101376 B"),
        "the device allows 101376 B, which recheck does not say of that shape and device",
    ),
    "a row for a device that this is": (
        unsupported("needs compute capability 9.0, the device has 8.0"),
        "the device has 8.0, which recheck does not say of that shape and device",
    ),
    "a row for Hopper, on Hopper": (
        unsupported("needs compute capability 9.0 exactly, for wgmma"),
        "for wgmma, which recheck does not say of that shape and device",
    ),
    "a row whose name looks like another's": (
        renamed("matmul", "tile16", "tile1\u0431"),
        "the row's name 'matmul/tile1\\u0431' holds more than a-z, 0-9 and _",
    ),
    "a GPU whose name looks like another's": (
        named("NVIDIA \u041d200"),
        "the GPU's name 'NVIDIA \\u041d200' is not ASCII; measure again",
    ),
    "a CPU whose name looks like another's": (
        env(cpu="Int\u0435l"),
        "the CPU's name 'Int\\u0435l' is not ASCII; measure again",
    ),
    "counters of a case that it lacks": (
        counted("matmul/tile16/7x7x7/cold"),
        "probes.json counts matmul/tile16/7x7x7/cold, which the record has no case of",
    ),
    "threads of another architecture": (
        attributes(threads_per_sm=1536),
        "probes.json has 1536 threads a multiprocessor, and compute capability 9.0 has 2048",
    ),
    "shared memory of another architecture": (
        attributes(shared_bytes_per_sm=102400),
        "probes.json has 102400 B of shared memory a multiprocessor, and the record 232448 a",
    ),
    "accuracy of other inputs": (
        beside(ACCURACY, seed=1),
        "accuracy.json has seed 1, the record 13",
    ),
    "accuracy on another CPU": (
        beside(LARGER, cpu="a CPU"),
        "accuracy_large.json has cpu a CPU, the record Intel",
    ),
    "accuracy of a row that there is not": (
        all_of(
            row_of("tile8", strategy="mine"),
            lambda p: [
                each.update(strategy="mine")
                for each in p[ACCURACY]["results"]
                if each["strategy"] == "tile8"
            ],
        ),
        "accuracy.json has a row mine, which the record does not have",
    ),
    "accuracy of another arithmetic": (
        as_fp32("cublas_tf32"),
        "accuracy.json has arithmetic fp32 of cublas_tf32, the record tf32",
    ),
    "accuracy without a row": (
        without_results("split_fp16x3"),
        "accuracy.json lacks the row split_fp16x3; measure it again without --filter",
    ),
    "accuracy without a length of its sums": (
        without_results("split_fp16x3", 8192),
        "accuracy.json lacks split_fp16x3 on cancelling at k = 8192, as of other rows",
    ),
    "errors of nothing": (
        errors("split_fp16x3", **EXACT),
        "accuracy.json: split_fp16x3 on uniform_half at k = 64 has a median error of 0, and",
    ),
    "errors below those of rounding": (
        errors("tile16", median=1e-9),
        "tile16 on uniform_half at k = 64 has a median error of 1e-09, and rounding to fp32",
    ),
    "errors that are small by one measure alone": (
        errors("tile16", frobenius=1e-30),
        "tile16 on uniform_half at k = 64 has absolute over frobenius of 7.06e+23, other rows ",
    ),
    "errors that are small of |A||B| alone": (
        errors("tile16", componentwise=1e-30),
        "tile16 on uniform_half at k = 64 has absolute over componentwise of 7.06e+23, other rows ",
    ),
    "a bound of its own in a study": (
        errors("split_fp16x3", bound=1.0),
        "split_fp16x3 at k = 64 has a bound of 1, and owes 2.86e-05 at most",
    ),
    "accuracy of a row left out": (
        errors("full_strip16", "unsupported", reason="it is late"),
        "at k = 2048 is unsupported: it is late, which recheck does not say of that shape",
    ),
    "one product in two files": (
        lambda p: p[LARGER].update(m=128, n=96),
        "accuracy_large.json is of no larger product than accuracy.json: measure it",
    ),
    "another budget": (env(budget_seconds=1e-6), "its cases had 1e-06 s each, and evidence has 1"),
    "an older schema": (older, "its record has schema 5, and evidence has 6: measure again"),
    "no checksums": (
        all_of(env(cubins=None), lambda p: p[RECORD]["environment"]["unknown"].update(cubins="x")),
        "no checksums of its device code (not known: x); build with the whole CUDA Toolkit",
    ),
    "a row faster than the machine": (
        faster(10, "matmul/tile16/4096x4096x4096/cold"),
        "suspect times: 1, first matmul/tile16/4096x4096x4096/cold: ",
    ),
    "a row beyond this memory": (
        faster(1.4, "matvec/read/8192x8192/cold"),
        "suspect times: 1, first matvec/read/8192x8192/cold: ",
    ),
    "a whole machine that is faster": (
        all_of(clocked(2.0), memory(2.0), faster(2.0, "mat", "transpose", "machine", "memory")),
        "must have 8 samples each but for 4 at most, as launches are short",
    ),
    "faster memory": (
        all_of(memory(1.1), faster(1.05, "matvec", "transpose", "machine")),
        "its NVIDIA H200 has 5296 GB/s by its clocks, and by the H200 data sheet it is",
    ),
    "more multiprocessors": (
        all_of(
            gpu(sm_count=144),
            lambda p: p[RECORD]["ceilings"]["fp32_flops"].update(value=2 * 128 * 144 * 1.98e9),
        ),
        "its NVIDIA H200 has 144 multiprocessors, and by the H200 data sheet it is 132",
    ),
    "a larger L2": (
        gpu(l2_bytes=16 * 62914560),
        "its NVIDIA H200 has 1006632960 B of L2, and CUDA says 62914560 of it",
    ),
    "more memory": (
        gpu(memory_bytes=200 * 2**30),
        "its NVIDIA H200 has 200 GiB of memory, and by the H200 data sheet it is 141",
    ),
    "less memory, so that shapes do not fit": (
        gpu(memory_bytes=2**30),
        "its NVIDIA H200 has 1 GiB of memory, and by the H200 data sheet it is 141",
    ),
    "less shared memory": (
        gpu(shared_bytes_per_block=49152),
        "its NVIDIA H200 has 49152 B of shared memory per block, and compute capability 9.0 has",
    ),
    "another architecture": (
        all_of(gpu(compute_capability="10.0"), env(arch="100a-real")),
        "its NVIDIA H200 has compute capability 10.0, and by the H200 data sheet it is 9.0",
    ),
    "a kernel file less": (
        kernel("matmul/tile.cu", None),
        "it has no checksum of matmul/tile.cu, which its commit has",
    ),
    "a kernel file more": (
        kernel("matmul/mine.cu", "0" * 16),
        "it has a checksum of matmul/mine.cu, which its commit does not have; build that commit, "
        "and measure again",
    ),
    "probes of another commit": (beside(PROBES, commit="f" * 40), "probes.json has commit ffff"),
    "probes of another GPU": (
        beside(PROBES, uuid_hash="f" * 16),
        "probes.json is of another GPU of the model than the record",
    ),
    "accuracy of another driver": (
        beside(ACCURACY, driver="1.0"),
        "the study of accuracy has driver 1.0, the record 580",
    ),
    "accuracy of a dirty tree": (
        beside(LARGER, dirty=True),
        "accuracy_large.json is of a tree with uncommitted changes",
    ),
    "a GPU of no name": (named("…"), "the GPU's name '…' makes no folder's, of at most 100"),
    "a GPU of a long name": (named("N" * 300), "N' makes no folder's, of at most 100"),
    "another spelling": (
        all_of(named("NVIDIA-H200"), clocked(2.0)),
        "its GPU's name is 'NVIDIA-H200', and CUDA calls this model 'NVIDIA H200'",
    ),
    "a part of a GPU": (gpu(mig=True), "it was measured on a part of the GPU (MIG)"),
    "with MPS": (env(mps=True), "it was measured while MPS was on"),
    "beside others": (
        at("environment", "state", "other_processes", value=7),
        "7 other processes were on the GPU; measure without them",
    ),
    "an end to come": (
        at("finished", value="2199-01-01T00:00:00Z"),
        "its run ended at 2199-01-01T00:00:00Z, which is to come; set the clock",
    ),
    "no time between": (
        at("finished", value=STARTED),
        f"its run took 0 s from {STARTED} on, and worked for {MEASURED['wall_seconds']:g} s",
    ),
    "before its commit": (
        at("environment", "started", value="2020-01-01T00:00:00Z"),
        "it was measured at 2020-01-01T00:00:00Z, before its commit was made, " + COMMITTED[:10],
    ),
    "a bound of its own": (
        bounded("matmul/tile16/4096x4096x4096", 1e300),
        "has an error bound of 1e+300, and is owed 0.0002442 at most",
    ),
    "a bound of what is exact": (
        bounded("transpose/naive/8192x8192", 0.5),
        "has an error bound of 0.5, and is owed 0 at most",
    ),
    "a flag in quotes": (
        env(command='recheck "--strategy=tile16"'),
        "it was measured with --strategy=tile16; evidence is the full matrix",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused(
    name: str, parts: Callable[[], Parts], results: Path, tmp_path: Path
) -> None:
    edit, why = LIES[name]
    own = parts()
    edit(own)
    if own[CONTRIBUTION]["commit"] == MINE:
        commit(git(results.parents[1], "rev-parse", "mine"))(own)
    path = sent(packed(rehashed(own), FOLDER), tmp_path)
    form = name in (
        *("a newer record", "no commit", "a median of no samples"),
        "a whole machine that is faster",
    )
    assert why in refused(path, results, code=2 if form else 1)


def test_of_the_headline_shapes_only_what_claims_need_is_missing(
    headlines: Path, results: Path
) -> None:
    """So each of the lies above was refused for what it is."""
    assert "matmul/s1_kernel_0 has no shape 1024x1024x1024" in refused(headlines, results)


def test_of_the_branch_that_is_named(
    parts: Callable[[], Parts], results: Path, tmp_path: Path
) -> None:
    own = parts()
    commit(git(results.parents[1], "rev-parse", "mine"))(own)
    path = sent(packed(rehashed(own), FOLDER), tmp_path)
    assert "has no shape 1024x1024x1024" in refused(path, results, "--branch", "mine")
    assert "--branch: " in refused(path, results, "--branch", "none")
    outside = tmp_path / "outside"
    outside.mkdir()
    assert "is in no git repository" in refused(path, outside)


def test_a_shallow_clone_says_so(headlines: Path, repository: Path, tmp_path: Path) -> None:
    git(
        tmp_path,
        "clone",
        "--quiet",
        "--depth=1",
        "--branch=mine",
        f"file://{repository}",
        "shallow",
    )
    line = refused(headlines, tmp_path / "shallow" / "results")
    assert "this clone is shallow: git fetch --unshallow" in line


# what its commit says


@pytest.fixture
def program(tmp_path: Path, honest: Path) -> Callable[..., Path]:
    """In place of a program that was built from the commit: it says what the record says, or
    something else."""
    record = parts_of(honest)[RECORD]
    names = [case["id"] for case in record["cases"]]

    def make(less: int = 0, more: tuple[str, ...] = (), **changes: Any) -> Path:
        folder = tmp_path / "built"
        folder.mkdir(exist_ok=True)
        listed = "".join(f"{each}/iterations:1/manual_time\n" for each in [*names[less:], *more])
        (folder / "list").write_text(listed)
        said = {name: record[name] for name in ("schema", "method", "experiments", "strategies")}
        said |= {name: changes.pop(name) for name in [*said] if name in changes}
        own = said | {"environment": record["environment"] | changes}
        (folder / "record.json").write_text(json.dumps(own))
        script = folder / "recheck"
        script.write_text(
            f"#!/bin/sh\ncase $1 in\n--benchmark_list_tests) cat {folder}/list;;\n"
            f'*) for word; do case $word in --output=*) cp {folder}/record.json "${{word#*=}}";; '
            "esac; done;;\nesac\n"
        )
        script.chmod(0o755)
        return script

    return make


def changed_of(members: str, name: str, /, **changes: Any) -> dict[str, Any]:
    """What a program says that describes one of these otherwise than the evidence."""
    listed = MEASURED[members]
    at = next(at for at, each in enumerate(listed) if each["name"] == name)
    return {members: [*listed[:at], listed[at] | changes, *listed[at + 1 :]]}


TAMPERED = {"matmul/tile.cu": "0" * 16}
BUILDS: dict[str, tuple[dict[str, Any], str]] = {
    "a case less": (
        {"more": ("matmul/mine/4x4x4/cold",)},
        f"it has {len(MEASURED['cases'])} of its commit's {len(MEASURED['cases']) + 1} cases",
    ),
    "a case more": ({"less": 1}, ", which its commit does not measure"),
    "an older schema": ({"schema": 5}, "its schema is 6, and its commit's is 5"),
    "another seed": ({"seed": 7}, "its seed is 13, and its commit's is 7"),
    "another method": (
        {"method": METHOD | {"confidence": 0.99}},
        "its confidence of method is 0.95, and its commit's is 0.99",
    ),
    "another title": (
        changed_of("experiments", "matmul", title="Products"),
        "its title of experiment matmul is 'Matrix multiplication', and its commit's is 'Products'",
    ),
    "an experiment of nobody's": (
        changed_of("experiments", "matmul", name="mine"),
        "its name of experiment matmul is 'matmul', and its commit's is None",
    ),
    "another note": (
        changed_of("strategies", "tile16", note="the fastest"),
        ", and its commit's is 'the fastest'",
    ),
    "another arithmetic": (
        changed_of("strategies", "cublas_tf32", arithmetic="fp32"),
        "its arithmetic of row matmul/cublas_tf32 is 'tf32', and its commit's is 'fp32'",
    ),
    "another role": (
        changed_of("strategies", "cublas", role="rung"),
        "its role of row matmul/cublas is 'baseline', and its commit's is 'rung'",
    ),
    "other flags": ({"flags": "C++: -O3; CUDA: -O3"}, "and a Release build has 'C++: -O3; CUDA"),
    "a kernel that was changed": (
        {"cubins": TAMPERED},
        f"its device code of matmul/tile.cu is ab6415c3df332743, and its commit's is {'0' * 16}",
    ),
}


@pytest.mark.parametrize("name", BUILDS)
def test_what_is_not_of_its_commit(
    name: str,
    program: Callable[..., Path],
    honest: Path,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes, why = BUILDS[name]
    if "cubins" in changes:
        own = parts_of(honest)[RECORD]["environment"]["cubins"]
        changes = {"cubins": own | changes["cubins"]}
    built = program(**changes)
    monkeypatch.setattr(Source, "build", lambda self, folder, architectures: built)
    assert why in refused(honest, results, "--build", results.parents[2] / "built")


def test_of_another_compiler_device_code_is_not_checked(
    program: Callable[..., Path], honest: Path
) -> None:
    from recheck_report.contribution.source import unlike

    with tempfile.TemporaryDirectory() as folder:
        for name, data in unpacked(honest.read_bytes()).items():
            Path(folder, name).write_bytes(data)
        record, _ = load(Path(folder))
    assert unlike(record, program()) == (None, [])
    why, unsaid = unlike(record, program(nvcc="12.4.1"))
    said = "device code: nvcc of the record: 13.0.88, of this build: 12.4.1"
    assert why is None and unsaid == [said]
    said = "device code: this build made no checksums of it"
    assert unlike(record, program(cubins=None))[1] == [said]
    with pytest.raises(BadSource, match="the program lists no case"):
        unlike(record, Path("/bin/true"))


@pytest.mark.parametrize(
    "arch", ["", "90; rm -rf /", "native", "90a-real -DX=1", "$(id)", "-D", "80;80"]
)
def test_what_a_record_names_as_architectures_is_no_command(
    arch: str, loaded: Callable[[Any], Any]
) -> None:
    from synthetic import SMALL, make_record

    record = make_record(SMALL, strategies=["tile16"])
    record["environment"]["arch"] = arch
    with pytest.raises(BadSource, match="environment.arch is no list of architectures"):
        architectures(loaded(record))
    record["environment"]["arch"] = ";".join(f"{each}-real" for each in range(70, 81))
    with pytest.raises(BadSource, match="names 11 architectures; build for 10 at most"):
        architectures(loaded(record))
    record["environment"]["arch"] = "75-virtual;90a-real"
    assert architectures(loaded(record)) == "75-virtual;90a-real"


def test_a_commit_that_does_not_build_is_one_line(
    honest: Path, results: Path, tmp_path: Path
) -> None:
    """This repository has no CMakeLists.txt."""
    words = ("receive", honest, "--results", results, "--build", tmp_path / "built")
    result = process(*words)
    assert result.returncode == 1 and not tree(results)
    last = result.stderr.splitlines()[-1]
    assert "not received: cmake failed with exit code 1: its output says why" in last


UNSAID = "which recheck does not say of that shape and device"
ELSEWHERE = "and it has times in another regime"


def test_reasons_are_those_that_recheck_gives() -> None:
    """All that its tables say of a device or shape is known, and so are those of the evidence."""
    known = [re.sub(r"\\(.)|\(\?P<\w+>", r"\1", form) for form in reasons.UNSUPPORTED]
    files = [*EXPERIMENTS.glob("*/ladder.cpp"), EXPERIMENTS / "harness" / "limits.hpp"]
    given = re.compile(r'^ *(?:if .*\) )?return "([^"]+)"|\? holds\(.*\) : "([^"]+)"', re.M)
    said = [a or b for path in files for a, b in given.findall(path.read_text())]
    assert len(said) > 10 and "has indices of 32 bits: they count " in said
    for text in said:
        assert any(text in form for form in known), text
    for path in (REPORTS.parent).glob("*/**/results/*/record.json"):
        assert reasons.excused(load(path)[0]) is None


def test_a_row_for_vectors_is_measured_at_one() -> None:
    record = load(EVIDENCE / "record.json")[0]
    reason = "is for a matrix times a vector: m or n has to be 1"
    for shape, expected in (({"m": 2, "n": 2}, True), ({"m": 1, "n": 2}, False)):
        assert reasons.likely("unsupported", reason, shape | {"k": 1}, record) == expected


# name: a reason, its status, and whether recheck gives it of 4096³ on an H200
EXCUSES = {
    "predicted 3 s a launch: proof and 6 samples would take more than 20 s, 20 times --per-case": 1,
    "predicted 1 s a launch: proof and 6 samples would take more than 20 s, 20 times --per-case": 0,
    "predicted 3 s a launch: proof and 6 samples would take more than 1 s, 20 times --per-case": 0,
    "predicted 3 s a launch: proof and 6 samples would take more than 1 s, 1 times --per-case": 0,
    "predicted x s a launch: proof and 6 samples would take more than 20 s, 20 times --per-case": 0,
    "its proof took 12 s a launch: proof and 6 samples would take more than 80 s, "
    "80 times --per-case": 1,
    "throttled: the GPU's clock stayed below 55% of its own": 1,
    "throttled: the GPU's clock stayed below 99% of its own": 0,
    "needs a cluster of 17 blocks, the device allows 16": 1,
    "needs a cluster of 1 blocks, the device allows 8": 0,
    "needs a cluster of 9 blocks, the device allows 8": 0,
    "needs a grid of 3 rows of blocks, CUDA allows 65535": 0,
    "needs a grid of 70000 rows of blocks, CUDA allows 65535": 0,
    "has indices of 32 bits: they count 9 elements, and there are 3": 0,
    "has indices of 32 bits: they count 2147483648 elements, and there are 2147483649": 0,
    "needs code for compute capability 9.0, this build has 8.0's for the device: configure where "
    "the device is, or with -DRECHECK_ALL_ARCHITECTURES=ON": 1,
    "needs code for compute capability 8.0, this build has 9.0's for the device: configure where "
    "the device is, or with -DRECHECK_ALL_ARCHITECTURES=ON": 0,
    "built without code for sm_90a, which has wgmma": 0,
    "needs 1 B in the L2 cache, which holds 62914560 B": 0,
    "there is no word to go to": 0,
    "needs 9 words, or lines come from a cache the second time": 0,
    "sums of 2^24 terms and more have no error bound in fp32, so nothing could be proven": 0,
    "needs 1e-9 GB of device memory, 140 GB are free": 0,
    "needs 150 GB of device memory, 140 GB are free": 0,
    "needs 1.5 GB of device memory, 1.2 GB are free": 1,
}


@pytest.mark.parametrize("reason", EXCUSES)
def test_an_excuse_has_true_numbers(reason: str) -> None:
    record = load(EVIDENCE / "record.json")[0]
    status = "not_run" if reason.startswith(("predicted", "its proof", "thr")) else "unsupported"
    shape = {"m": 4096, "n": 4096, "k": 4096}
    assert reasons.likely(status, reason, shape, record) == bool(EXCUSES[reason])


@pytest.mark.parametrize(
    ("of", "status", "reason", "what"),
    [
        ("tile16", "unsupported", "needs a cluster of 17 blocks, the device allows 16", ELSEWHERE),
        ("tile16", "not_run", next(iter(EXCUSES)), ELSEWHERE),
        ("tile16", "not_run", "throttled: the GPU's clock stayed below 55% of its own", UNSAID),
        ("cpu_blas", "not_run", "known to be slower", UNSAID),
    ],
)
def test_an_excuse_fits_what_else_was_measured(
    of: str, status: str, reason: str, what: str
) -> None:
    """Publishing asks the same."""
    record = load(EVIDENCE / "record.json")[0]
    name = f"matmul/{of}/4096x4096x4096/hot"
    changes: Json = {"status": status, "reason": reason, "seconds": None, "power": None}
    cases = [replace(c, **changes) if c.id == name else c for c in record.cases]
    found = replace(record, cases=tuple(cases))
    for why in (reasons.excused(found), refusal(found)):
        assert why and why.startswith(f"{name} is ") and what in why


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"nanoseconds": 1.0}, "s by clock and cycles, and the record"),
        ({"sm_hertz": 9e9}, "a clock of 9e+09 Hz"),
        ({"shared_bytes": 1e7}, "1e+07 B of shared memory a block"),
        ({"stall_barrier": 1e6}, "cycles, more than all"),
        ({"dram_read_bytes": 0.0}, "0 B read from DRAM, and its inputs have 1.34218e+08"),
        ({"sectors": 1.0}, " requests in 1 sectors"),
        ({"shared_bank_conflicts": 9e17}, "9e+17 shared_bank_conflicts in "),
        ({"ffma": 1000.0}, "2000 operations of multiply-adds, and its sums take 1.37439e+11"),
    ],
)
def test_counters_are_of_the_run(values: dict[str, float], what: str) -> None:
    record, found = load(EVIDENCE / "record.json")[0], load_probes(EVIDENCE)
    assert found and why_not_counted(found, record) is None
    name = "matmul/tile16/4096x4096x4096/cold"
    own = replace(found.counters[name], values=found.counters[name].values | values)
    why = why_not_counted(replace(found, counters=found.counters | {name: own}), record)
    assert why and what in why and name in why


def test_an_fp32_row_promises_no_less_than_it_is_owed() -> None:
    record = load(EVIDENCE / "record.json")[0]
    assert loose(record) is None
    of = next(each for each in record.cases if each.id == "matmul/tile16/4096x4096x4096/cold")
    assert of.error
    less = replace(of, error=replace(of.error, bound=of.error.bound / 10))
    why = loose(replace(record, cases=(less,)))
    assert why and "an error bound of 2.442" in why and "is owed 0.0002442" in why


# what becomes of an honest one


def test_it_becomes_evidence(honest: Path, results: Path) -> None:
    """With charts, as its report has to keep the rules."""
    result = run("receive", honest, "--results", results, drawn=True)
    assert result.returncode == 0, result.stderr
    first, tests, word, *_, probed, unchecked, target = result.stdout.splitlines()
    assert first.startswith(f"measured {STARTED[:10]} at ")
    verdicts = json.loads((EVIDENCE / "verdicts.json").read_text())["claims"]
    holding = sum(each["verdict"] == "holds" for each in verdicts)
    assert f"on NVIDIA H200: {holding} of {len(verdicts)} claims hold" in first
    assert tests == "its own word: GPU tests 15 passed, 1 skipped gpu.agreement"
    assert "its own word: 42 GPU cases unsupported: has no guards: rows has" in word
    assert probed.startswith("its own word: the counters, tests and attributes of probes.json, ")
    assert unchecked.startswith("not checked: its cases, rows, experiments, method, seed and")
    assert target == str(results / "nvidia-h200")
    found = tree(results / "nvidia-h200")
    files = unpacked(honest.read_bytes())
    assert {name: found[name] for name in NEEDED} == {name: files[name] for name in NEEDED}
    assert CONTRIBUTION not in found and "README.md" in found
    words = ("verify", target, "--expected", REPORTS / "results")
    assert "every verdict as expected" in run(*words).stdout


@pytest.fixture
def drawn_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts are placeholders here, which no rule likes."""
    monkeypatch.setattr("recheck_report.commands.receive.lint", lambda report: {})


def test_an_unknown_model_says_what_nobody_checked(
    honest: Path, results: Path, tmp_path: Path, drawn_elsewhere: None
) -> None:
    own = parts_of(honest)
    # its name is a command for a terminal, and one for whoever reads the lines of a log
    all_of(named("NVIDIA X1\x1b[2J\n::stop-commands::x ##[debug]"), clocked(1.1))(own)
    path = sent(packed(rehashed(own), FOLDER), tmp_path)
    result = run("receive", path, "--results", results)
    assert result.returncode == 0, result.stderr
    assert (results / "nvidia-x1-2j-stop-commands-x-debug" / "README.md").is_file()
    said = "multiprocessors: NVIDIA X1 [2J ::stop-commands::x ## [debug] is"
    assert said in result.stdout and "\x1b" not in result.stdout and "\n::" not in result.stdout


def test_a_report_that_breaks_a_rule_is_refused(
    honest: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"units": ["a chart: no unit\nat all"], "rest": []}
    monkeypatch.setattr("recheck_report.commands.receive.lint", lambda report: broken)
    assert "its report breaks the rule units: a chart: no unit at all" in refused(honest, results)


def test_a_model_that_is_there_is_for_somebody_to_decide(
    honest: Path, results: Path, tmp_path: Path, drawn_elsewhere: None
) -> None:
    """Refused, then beside what is there, then in its place."""
    assert run("receive", honest, "--results", results).returncode == 0
    target = results / "nvidia-h200"
    first = tree(target)
    assert f"{target} has this run already" in refused(honest, results, "--replace")
    own = parts_of(honest)
    # another GPU of the model, an hour later
    later = [
        (datetime.fromisoformat(when) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        for when in (STARTED, MEASURED["finished"])
    ]
    at("environment", "started", value=later[0])(own)
    at("finished", value=later[1])(own)
    gpu(uuid_hash="e" * 16)(own)
    for name in (PROBES, ACCURACY, LARGER):
        own[name]["environment"]["uuid_hash"] = "e" * 16
    path = sent(packed(rehashed(own), FOLDER), tmp_path)
    line = refused(path, results, "--add")
    assert f"{target} has its times already, those of " in line
    assert f" cases of the run of {STARTED}" in line
    # half of them are its own; of the others it is known to the case whose they are
    half = copy.deepcopy(own)
    faster(0.99, "matmul")(half)
    line = refused(sent(packed(rehashed(half), FOLDER), tmp_path), results, "--add")
    assert re.search(rf" those of \d+ of \d+ cases of the run of {STARTED}", line)
    faster(0.99, "")(own)
    path = sent(packed(rehashed(own), FOLDER), tmp_path)
    line = refused(path, results)
    assert "is evidence of this model already" in line
    assert "--add takes the times into its history, --replace puts" in line

    result = run("receive", path, "--results", results, "--add")
    assert result.returncode == 0, result.stderr
    assert f"unlike that of {target}" in result.stdout
    added = tree(target)
    assert added[RECORD] == first[RECORD] and added[SAMPLES] == first[SAMPLES]
    runs = json.loads(added["history.json"])["runs"]
    assert [each["uuid_hash"] for each in runs] == [
        MEASURED["environment"]["gpu"]["uuid_hash"],
        "e" * 16,
    ]
    assert "history.md" in added and f"{target} has this run" in refused(path, results, "--add")

    shutil.rmtree(target)
    for name, data in first.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    result = run("receive", path, "--results", results, "--replace")
    assert result.returncode == 0, result.stderr
    replaced = tree(target)
    assert json.loads(replaced[RECORD]) == own[RECORD]
    assert len(json.loads(replaced["history.json"])["runs"]) == 2


def test_an_older_commit_replaces_nothing(
    parts: Callable[[], Parts], results: Path, tmp_path: Path
) -> None:
    root = results.parents[1]
    newer = parts()
    commit(git(root, "rev-parse", "mine"))(newer)
    target = results / "nvidia-h200"
    target.mkdir(parents=True)
    for name, data in rehashed(newer).items():
        (target / name).write_bytes(data)
    own = parts()
    gpu(uuid_hash="e" * 16)(own)
    for name in (PROBES, ACCURACY, LARGER):
        own[name]["environment"]["uuid_hash"] = "e" * 16
    all_of(clocked(1.0), faster(0.99, ""))(own)
    path = sent(packed(rehashed(own), FOLDER), tmp_path)
    assert "its commit is older than " in _asked(path, results)


def _asked(path: Path, results: Path) -> str:
    """The line of a decision, which comes behind whether the record has what claims name."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("recheck_report.commands.receive.faults", lambda known, tables: iter(()))
        return refused(path, results, "--replace")


# data sheets


def test_data_sheets_are_those_of_the_committed_gpus() -> None:
    """The figures of a data sheet are what a record's attributes make, rounded."""
    known = sheets.sheets()
    assert len(known) > 15 and "NVIDIA H200" in known
    for path in (REPORTS / "results").glob("*/record.json"):
        record, _ = load(path)
        assert record.environment.gpu and record.environment.gpu.name in known
        assert sheets.impossible(record) is None and sheets.unknown(record) is None
        sheet = known[record.environment.gpu.name]
        for name in ("fp32_flops", "dram_bytes_per_second"):
            assert record.ceilings[name].value == pytest.approx(getattr(sheet, name), rel=0.03)


MODELS = json.loads((REPORTS.parent / "tests" / "models.json").read_bytes())["models"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["name"])
def test_data_sheets_agree_with_the_models_of_the_rehearsals(
    model: Json, loaded: Callable[[Any], Any]
) -> None:
    """Those are what CUDA says on them, which no sheet may take for a lie."""
    from synthetic import make_record

    record = make_record(strategies=[])
    attributes = record["environment"]["gpu"]
    attributes |= {name: value for name, value in model.items() if name in attributes}
    lanes = 64 if model["compute_capability"] in HALF_LANES else 128
    fp32 = 2 * lanes * model["sm_count"] * model["clock_hz"]
    dram = 2 * model["memory_clock_hz"] * model["memory_bus_bits"] / 8
    record["ceilings"]["fp32_flops"]["value"] = fp32
    record["ceilings"]["dram_bytes_per_second"]["value"] = dram
    assert sheets.impossible(loaded(record)) is None
    assert sheets.SHARED[model["compute_capability"]] == model["shared_bytes_per_block"]
    if sheet := sheets.sheets().get(model["name"]):
        assert sheet.l2_bytes == model["l2_bytes"]


def test_an_l2_that_no_sheet_has_is_not_checked(loaded: Callable[[Any], Any]) -> None:
    from synthetic import make_record

    record = make_record(strategies=[])
    record["environment"]["gpu"]["name"] = "NVIDIA A30"
    assert sheets.unknown(loaded(record)) == "L2: contribution/sheets.toml has none of NVIDIA A30"


@pytest.mark.parametrize("sheet", sheets.sheets().values(), ids=lambda sheet: sheet.name)
def test_a_data_sheet_agrees_with_itself(sheet: sheets.Sheet) -> None:
    """Its rate takes a clock that chips of its years have, and its memory less than its L2."""
    lanes = 64 if sheet.compute_capability in HALF_LANES else 128
    assert 1.4e9 < sheet.fp32_flops / (2 * lanes * sheet.multiprocessors) < 2.6e9
    assert 3e11 <= sheet.dram_bytes_per_second <= 5e12
    assert (sheet.l2_bytes or 0) < 2**30 / 8 <= sheet.memory_gib * 2**30
    assert sheet.source and (sheet.sold_faster > 0) == ("GeForce" in sheet.name)


# to make one


def test_nothing_is_packed_that_would_be_refused(repository: Path, tmp_path: Path) -> None:
    commit = git(repository, "rev-parse", "main")
    measured = measured_at(commit, tmp_path / "measured", False)
    record = json.loads((measured / RECORD).read_bytes())
    record["environment"]["git"]["dirty"] = True
    (measured / RECORD).write_text(json.dumps(record))
    (tmp_path / "about.json").write_text(json.dumps(ABOUT))
    words = ("pack", measured, "--about", tmp_path / "about.json", "--output", tmp_path / "out")
    assert "not packed: it was measured with uncommitted changes" in one_line(run(*words), 1)
    (measured / LARGER).unlink()
    record["environment"]["git"]["dirty"] = False
    (measured / RECORD).write_text(json.dumps(record))
    assert "accuracy_large.json is missing: measure it" in one_line(run(*words), 1)
    (tmp_path / "about.json").write_text("{}")
    assert "field tests is missing; run contribute again" in one_line(run(*words), 2)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree in a repository, on a machine with a GPU; nothing is really run."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "CMakePresets.json").write_text("{}")
    (folder / ".gitignore").write_text("build/\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Source")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(contribute, "no_gpu", lambda: None)
    return folder


def steps(monkeypatch: pytest.MonkeyPatch, stop: str = "") -> list[str]:
    """The commands that are run from here on; the one that holds `stop` is interrupted."""
    said: list[str] = []
    build = contribute.BUILD

    def do(*words: str | Path, folder: Path = Path()) -> None:
        line = " ".join(map(str, words))
        said.append(line)
        build.mkdir(parents=True, exist_ok=True)
        (build / "CMakeCache.txt").write_text("CMAKE_CUDA_COMPILER:FILEPATH=/usr/bin/nvcc\n")
        cases = '<testcase name="gpu.1_of_8" status="run"/><testcase name="a" status="notrun"/>'
        contribute.OUTCOMES.write_text(f"<testsuite>{cases}</testsuite>")
        if stop and stop in line:
            contribute.JOURNAL.parent.mkdir(exist_ok=True)
            contribute.JOURNAL.write_text("")
            raise KeyboardInterrupt

    monkeypatch.setattr(contribute, "do", do)
    return said


def test_it_goes_on_where_it_was_interrupted(
    source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = steps(monkeypatch, stop="experiments/recheck")
    result = called(cli.main, "contribute")
    assert result.returncode == 130
    assert result.stderr.splitlines()[-1].endswith("in full matrix; go on with --resume")
    assert [line.split()[0] for line in first[:3]] == ["cmake", "cmake", "ctest"]
    assert first[-1].endswith("experiments/recheck --output=measured")
    # what is there is not overwritten unasked
    assert "is of a run that was killed: go on with --resume" in one_line(run("contribute"), 1)
    rest = steps(monkeypatch)
    result = called(cli.main, "contribute", "--resume")
    assert result.returncode == 0, result.stderr
    assert [line.split()[-1] for line in rest] == ["--resume", str(contribute.BUILD)]
    assert " pack " in rest[-1] and "reports/incoming/" in result.stdout
    state = json.loads(contribute.STATE.read_bytes())
    assert state["tests"] == {"passed": 1, "skipped": ["a"]}
    names = ["build", "tests", "probes", "accuracy", "full matrix", "pack"]
    assert [each["name"] for each in state["steps"]] == names
    assert [line.rpartition(" s")[0].split("  ")[0].strip() for line in
            result.stdout.splitlines()[:6]] == names  # fmt: skip
    # what `pack` reads of it
    from recheck_report.commands.pack import _about

    assert _about(contribute.STATE).tests.passed == 1
    # another commit is another contribution
    contribute.JOURNAL.unlink()
    git(source, "commit", "--quiet", "--allow-empty", "--message=More")
    assert "was begun at" in one_line(run("contribute", "--resume"), 1)


def test_what_cannot_be_contributed_is_said_at_once(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = steps(monkeypatch)
    assert "there is nothing to resume" in one_line(run("contribute", "--resume"), 1)
    (source / "mine.cu").write_text("")
    line = one_line(run("contribute"), 1)
    assert "nothing can be contributed from here: there are changes (mine.cu)" in line
    (source / "mine.cu").unlink()
    # a commit that nobody else has
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(source), str(clone))
    monkeypatch.chdir(clone)
    git(clone, "commit", "--quiet", "--allow-empty", "--message=Mine")
    line = one_line(run("contribute"), 1)
    assert "the main branch as it was fetched (origin/HEAD) has no " in line
    git(clone, "push", "--quiet", "origin", "HEAD:mine")  # a fetched branch is not enough
    git(clone, "fetch", "--quiet")
    assert "(origin/HEAD) has no " in one_line(run("contribute"), 1)
    git(clone, "reset", "--quiet", "--hard", "origin/main")
    monkeypatch.setattr(contribute, "no_gpu", lambda: "there is no NVIDIA driver")
    line = one_line(run("contribute"), 1)
    assert line == "error: nothing can be contributed from here: there is no NVIDIA driver\n"
    monkeypatch.chdir(tmp_path)
    assert "run it in the folder that holds CMakePresets.json" in one_line(run("contribute"), 1)
    assert not said


def test_steps_that_fail(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match="false failed with exit code 1: see above"):
        contribute.do("false")
    with pytest.raises(Failed, match="nowhere: No such file"):
        contribute.do("nowhere")
    steps(monkeypatch)
    contribute.do("cmake")
    state = contribute.anew("0" * 40)
    (contribute.BUILD / "CMakeCache.txt").write_text("CMAKE_CUDA_COMPILER:STRING=NOTFOUND\n")
    monkeypatch.setattr(contribute, "do", lambda *words, **more: None)
    with pytest.raises(Failed, match="CMake found no CUDA Toolkit"):
        contribute.build(state)
    contribute.OUTCOMES.write_text('<testsuite><testcase name="a" status="notrun"/></testsuite>')
    with pytest.raises(Failed, match="no GPU test could be tried"):
        contribute.tests(state)


def test_packing_is_the_same_every_time(headlines: Path, repository: Path, tmp_path: Path) -> None:
    from recheck_report.claims.measured import read
    from recheck_report.model.typed import typed

    commit = git(repository, "rev-parse", "main")
    own = read(measured_at(commit, tmp_path / "again", False), EXPERIMENTS)
    assert unacceptable(own) is None
    about = typed(About, ABOUT)
    name = f"recheck-nvidia-h200-{commit[:7]}"
    assert packed(contribution(own, about), name) == headlines.read_bytes()


def test_whatever_a_report_may_hold_is_no_hindrance(repository: Path, tmp_path: Path) -> None:
    """What `recheck` and its collectors leave beside a record: each of today's companions."""
    measured = measured_at(git(repository, "rev-parse", "main"), tmp_path / "measured", False)
    record = json.loads((measured / RECORD).read_bytes())
    for name in set(FILES) - set(NEEDED):
        made = {"rehearsal.json": make_rehearsal}[name](record)
        (measured / name).write_text(json.dumps(made))
    assert {path.name for path in measured.iterdir()} > set(FILES)
    assert unpacked(pack(measured, tmp_path).read_bytes()).keys() == {*NEEDED, CONTRIBUTION}


def test_the_workflow_that_receives_has_nothing_to_lose() -> None:
    """A stranger's pull request runs it: no secret, no right to write, and no word of theirs in a
    script."""
    text = (REPORTS.parent / ".github/workflows/contribution.yml").read_text(encoding="utf-8")
    assert "\n  pull_request:\n" in text and "pull_request_target" not in text
    assert "permissions:\n  contents: read\n" in text and "write" not in text.split("jobs:")[1]
    used = {line.split("}}")[0].strip() for line in text.split("${{")[1:]}
    # it fails where another file is changed or none is added, and no line of theirs commands it
    assert "--no-renames" in text and "! cmp --silent" in text and "! test -s" in text
    assert text.index("::stop-commands::$token") < text.index("-m recheck_report receive")
    assert used <= {"github.workflow", "github.ref", "github.event.pull_request.base.sha"}
