"""The rehearsal for other GPUs: what the program makes of its builds and their tests, and what the
report says of that."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rehearsal
from conftest import EXPERIMENTS, called, one_line, run, tree
from recheck_report.claims.measured import read
from recheck_report.model.rehearsal import load_rehearsal
from recheck_report.sections import provenance
from rehearsal import Result, dealt, outcomes, results_of
from synthetic import Json, make_full, pack, unpack
from synthetic_rehearsal import make_rehearsal, outcome

# a build: programs that say what CASES holds for the architecture that they were configured for
CMAKE = """#!{python}
import json, pathlib, stat, sys
words = sys.argv[1:]
if "--build" in words:
    sys.exit(0)
folder = pathlib.Path(words[words.index("-B") + 1])
own = next(word for word in words if word.startswith("CMAKE_CUDA_ARCHITECTURES=")).split("=")[1]
if own not in json.loads(pathlib.Path({cases!r}).read_text()):
    sys.exit("nvcc fatal: unsupported")
for name, text in json.loads(pathlib.Path({programs!r}).read_text()).items():
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "#!{python}\\nOWN = " + repr(own) + "\\n" + text
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
"""
TESTS = """
import json, os, pathlib, signal, sys
from xml.sax.saxutils import quoteattr
known = json.loads(pathlib.Path(CASES).read_text())[OWN]
assert "jit" in os.environ.get("CUDA_CACHE_PATH", "jit")
if "--gtest_list_tests" in sys.argv:
    suite = ""
    for name in known:
        own, test = name.split(".")
        if own != suite:
            print(own + ".")
        suite = own
        print("  " + test + "  # GetParam() = 16-byte object <20>")
    sys.exit(0)
flags = dict(word[2:].split("=", 1) for word in sys.argv[1:] if "=" in word)
wanted = pathlib.Path(flags["gtest_flagfile"]).read_text().strip().split("=", 1)[1].split(":")
cases = []
for name in wanted:
    print("[ RUN      ] " + name, flush=True)
    what = known[name]
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "vanish":
        continue
    word = {"pass": "       OK", "fail": "  FAILED ", "skip": "  SKIPPED"}[what]
    print("[" + word + " ] " + name + " (1 ms)", flush=True)
    suite, test = name.split(".")
    inner = {"pass": "", "fail": "<failure message='a.cpp:3&#10;1 &lt; 2'/>",
             "skip": "<skipped message='a.cpp:4&#10;needs more'/>"}[what]
    result = "skipped" if what == "skip" else "completed"
    cases.append("<testcase name=%s classname=%s result=%s>%s</testcase>"
                 % (quoteattr(test), quoteattr(suite), quoteattr(result), inner))
report = flags["gtest_output"].removeprefix("xml:")
pathlib.Path(report).write_text("<testsuites>" + "".join(cases) + "</testsuites>")
"""
RECHECK = """
import json, pathlib, sys
flags = dict(word[2:].split("=", 1) for word in sys.argv[1:])
gpu = None if OWN == "50-virtual" else {"name": "a GPU", "uuid_hash": None}
record = {
    "environment": {
        "gpu": gpu, "gpu_reason": None if gpu else "no CUDA device", "driver": "1.2",
        "nvcc": "13.0", "code": "sass" if OWN == "60-virtual" else "ptx",
        "git": {"commit": "a" * 40, "dirty": False},
    },
}
folder = pathlib.Path(flags["output"])
folder.mkdir(parents=True, exist_ok=True)
(folder / "record.json").write_text(json.dumps(record))
"""

Cases = dict[str, str]
GOOD: Cases = {
    "gpu/Gate.LetsItPass/matmul_tile16": "pass",
    "gpu/Gate.LetsItPass/matmul_async": "pass",
    "gpu/Launches.AreRight/matmul_tile16": "skip",
    "gpu/Mutant.IsCaught/matmul_no_barrier": "pass",
    "gpu_Launches.AreRight": "pass",
}


@pytest.fixture
def rehearse(tmp_path: Path) -> Callable[..., Any]:
    """Rehearses builds whose tests end as told, and returns how that ended and what it wrote."""

    def go(*words: str, **builds: Cases) -> tuple[Any, Json | None]:
        cases = tmp_path / "cases.json"
        cases.write_text(json.dumps({f"{name[1:]}-virtual": own for name, own in builds.items()}))
        programs = {
            "tests/recheck_tests": TESTS.replace("CASES", repr(str(cases))),
            "experiments/recheck": RECHECK,
        }
        (tmp_path / "programs.json").write_text(json.dumps(programs))
        cmake = tmp_path / "cmake"
        values = {"python": sys.executable, "cases": str(cases)}
        cmake.write_text(CMAKE.format(**values, programs=str(tmp_path / "programs.json")))
        cmake.chmod(cmake.stat().st_mode | stat.S_IEXEC)
        file = tmp_path / "rehearsal.json"
        options = ["--output", file, "--folder", tmp_path / "builds", "--cmake", cmake]
        options += ["--architectures", ",".join(name[1:] for name in builds), "--processes", 2]
        done = called(rehearsal.main, *options, *words)
        return done, json.loads(file.read_text()) if file.exists() else None

    return go


def _outcomes(found: Json | None) -> dict[str, list[tuple[str, str | None]]]:
    assert found is not None
    return {
        test["name"]: [(each["status"], each["reason"]) for each in test["outcomes"]]
        for test in found["tests"]
    }


def test_every_test_has_its_outcome_on_every_build(
    rehearse: Callable[..., Any], tmp_path: Path
) -> None:
    old = GOOD | {"gpu/Gate.LetsItPass/matmul_async": "skip"}
    done, found = rehearse(b75=old, b80=GOOD)
    assert done.returncode == 0, done.stderr
    assert _outcomes(found) == {
        "matmul_tile16": [("passed", None)] * 2,
        "matmul_async": [("not_run", "needs more"), ("passed", None)],
        "matmul_no_barrier": [("passed", None)] * 2,
        "Launches.AreRight": [("passed", None)] * 2,
    }
    assert "75: rows: 1 passed, 1 not run, 0 failed; mutants: 1 passed" in done.stdout
    read = load_rehearsal(tmp_path)
    assert read and [build.architecture for build in read.builds] == [75, 80]
    assert read.environment.commit == "a" * 40


def test_a_row_that_is_not_there_on_one_build_has_failed(rehearse: Callable[..., Any]) -> None:
    fewer = {name: what for name, what in GOOD.items() if "async" not in name}
    done, found = rehearse(b75=fewer, b80=GOOD)
    why = "has no test in this build"
    assert _outcomes(found)["matmul_async"] == [("failed", why), ("passed", None)]
    assert (done.returncode, done.stderr) == (1, f"75: row matmul_async: {why}\n")


def test_a_failure_says_what_failed(rehearse: Callable[..., Any]) -> None:
    bad = GOOD | {"gpu/Launches.AreRight/matmul_tile16": "fail"}
    done, found = rehearse(b80=bad)
    assert _outcomes(found)["matmul_tile16"] == [("failed", "1 < 2")]
    assert (done.returncode, done.stderr) == (1, "80: row matmul_tile16: 1 < 2\n")


def test_a_process_that_dies_fails_its_tests(rehearse: Callable[..., Any]) -> None:
    bad = GOOD | {"gpu/Gate.LetsItPass/matmul_tile16": "crash"}
    done, found = rehearse("--processes", "4", b80=bad)
    assert done.returncode == 1
    own = _outcomes(found)
    assert "ended with signal SIGSEGV: see " in (own["matmul_tile16"][0][1] or "")
    assert own["matmul_no_barrier"] == [("passed", None)]


def test_a_test_without_a_result_has_failed(rehearse: Callable[..., Any]) -> None:
    done, found = rehearse(b80=GOOD | {"gpu_Launches.AreRight": "vanish"})
    assert done.returncode == 1
    assert _outcomes(found)["Launches.AreRight"] == [("failed", "was listed, and has no result")]


@pytest.mark.parametrize(
    ("architecture", "why"),
    [
        ("b50", "there is nothing to rehearse on: no CUDA device"),
        ("b60", "the build for 60 has sass, not PTX"),
    ],
)
def test_what_is_no_rehearsal_is_said_in_one_line(
    rehearse: Callable[..., Any], architecture: str, why: str
) -> None:
    done, found = rehearse(**{architecture: GOOD})
    assert one_line(done, 2) == f"error: {why}\n"
    assert found is None


def test_a_build_that_fails_names_its_log(rehearse: Callable[..., Any], tmp_path: Path) -> None:
    done, found = rehearse("--architectures", "99", b80=GOOD)
    assert f"see {tmp_path / 'builds/99.log'}" in one_line(done, 2)
    assert "unsupported" in (tmp_path / "builds/99.log").read_text()
    assert found is None


def test_rows_that_share_a_file_share_a_process() -> None:
    names = [f"gpu/{suite}.Is/matmul_{row}" for suite in ("Gate", "Repeat") for row in "abcd"]
    parts = dealt(names, 3)
    assert sorted(test for part in parts for test in part) == sorted(names)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert [rehearsal.subject(test)[1] for test in parts[0]] == ["matmul_a", "matmul_a"]


def test_the_older_form_of_results_is_read() -> None:
    xml = b'<testsuites><testcase name="A" classname="S" result="skipped"/></testsuites>'
    assert results_of(xml) == {"S.A": Result("not_run", "without a reason")}


def test_the_programs_own_tests_are_understood(tmp_path: Path) -> None:
    """Of the program at hand, if it was built with CUDA: all rows, and what skips them."""
    program = os.environ.get("RECHECK_TESTS")
    tests = rehearsal.listed(Path(program)) if program else []
    if not program or not tests:
        pytest.skip("RECHECK_TESTS does not name a program with tests of a GPU")
    kinds = [rehearsal.subject(test)[0] for test in tests]
    assert {*kinds} == {"row", "mutant", "other"}
    part = [test for test in tests if rehearsal.subject(test) == ("row", "transpose_naive")]
    assert len(part) > 2
    found = rehearsal.run_part(Path(program), part, dict(os.environ), tmp_path / "0.log")
    together = outcomes([(part, found)])
    assert len(together) == 1 and len(found) == len(part)
    assert together[0]["outcomes"][0]["status"] in ("passed", "not_run")


# the report


@pytest.fixture
def page(tmp_path: Path) -> Callable[..., str]:
    """How it was measured, of a record with that rehearsal beside it."""

    def render(beside: Json | None, chooses: bool = True) -> str:
        files = pack(make_full(small=True))
        if chooses:
            files = {name: data.replace(b"submatrix16", b"best") for name, data in files.items()}
        folder = unpack(files, tmp_path / "in")
        if beside is not None:
            (folder / "rehearsal.json").write_text(json.dumps(beside))
        done = run("render", folder, "--output", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        files = tree(tmp_path / "out")
        assert ("rehearsal.json" in files) == (beside is not None)
        return files["method.md"].decode()

    return render


def test_a_report_shows_what_ran_and_what_best_chose(page: Callable[..., str]) -> None:
    text = page(make_rehearsal(make_full(small=True)))
    assert "| rows not run | 1 | 0 |" in text
    assert "| `matmul_async_stages` | not run | passed |" in text
    assert "| not run | needs code for compute capability 8.0, this build has 7.5's | 7.5 |" in text
    assert "Each has passed, or says why it did not run." in text
    assert "at 2 random products" in text and "less than 0.9 at 1 of them" in text
    assert "| 16×16×1000000 | `tile16` | `async_stages` | **0.800** |" in text
    assert "a second time" not in text


@pytest.mark.parametrize(
    ("taken", "where", "said"),
    [
        ({"first": 0.7}, "it or the row that it takes", "; at first it had less than 0.9 at 1 of"),
        ({"first": 0.92}, "it or the row that it takes", "; at first it had less than 0.9 at 0 of"),
        ({"again": True}, "it", ". "),
    ],
)
def test_a_report_says_what_was_timed_a_second_time(
    page: Callable[..., str], taken: Json, where: str, said: str
) -> None:
    made = make_rehearsal(make_full(small=True))
    made["choices"][0]["shapes"][1] |= taken
    text = page(made)
    assert f"At 1, where {where} seemed to have less than 0.95, it and what was faster" in text
    assert f"those times count{said}" in text
    assert "Products without both times: 1." in text


def test_a_failure_is_told_in_the_report(page: Callable[..., str]) -> None:
    found = make_rehearsal(make_full(small=True))
    found["tests"][0]["outcomes"][0] = outcome("failed", "1 < 2 | 3")
    text = page(found)
    assert "**Outcomes that are failures: 1.**" in text
    assert "| `matmul_tile16` | **failed** | passed |" in text and "1 &lt; 2 \\| 3" in text


def test_without_a_rehearsal_the_report_says_so(page: Callable[..., str]) -> None:
    assert "Not measured, because there is no `rehearsal.json` beside the record" in page(None)


def test_where_nothing_chooses_nothing_is_missed(page: Callable[..., str]) -> None:
    assert "rehears" not in page(None, chooses=False)


def test_another_commits_rehearsal_is_not_shown(page: Callable[..., str]) -> None:
    found = make_rehearsal(make_full(small=True))
    found["environment"]["commit"] = "b" * 40
    assert "Not measured, because the rehearsal has commit bbbb" in page(found)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda found: found["tests"][0]["outcomes"].pop(), "tests[0].outcomes"),
        (lambda found: found["tests"].append(found["tests"][0]), "tests[4]"),
        (lambda found: found["builds"].reverse(), "builds"),
        (lambda found: found["choices"][0].update(architecture=86), "choices[0].architecture"),
        (
            lambda found: found["choices"][0]["shapes"][1]["seconds"].pop(),
            "choices[0].shapes[1].seconds",
        ),
        (lambda found: found["choices"][0]["rows"].append("tile16"), "choices[0].rows"),
        (
            lambda found: found["tests"][0]["outcomes"][0].update(reason="x"),
            "tests[0].outcomes[0].reason",
        ),
    ],
)
def test_what_contradicts_itself_is_left_out_and_said(
    change: Callable[[Json], Any], field: str, tmp_path: Path
) -> None:
    found = make_rehearsal(make_full(small=True))
    change(found)
    folder = unpack(pack(make_full(small=True)), tmp_path / "in")
    (folder / "rehearsal.json").write_text(json.dumps(found))
    done = run("render", folder, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    record = read(folder, EXPERIMENTS).record
    brands = [text for text in provenance.brands(record) if "be read" in text]
    assert len(brands) == 1 and "rehearsal.json" in brands[0]
    assert field.split("[")[0] in brands[0] and not (tmp_path / "out/rehearsal.json").exists()
