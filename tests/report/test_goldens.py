"""Every page of five committed records, byte for byte: read their diff as a reader would.

Renew them with: python -m pytest tests/report/test_goldens.py --renew; read them with: git diff.
A folder of goldens/ holds a record as input/ and what is made of it as results/. `h100` is a part
of the committed record, `no_gpu` ran on a CPU, `outside` is another repository's, `beyond` has a
story, and `odd` has hostile names, impossible times and missing members.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, OUTSIDE, REPORTS, run, texts_of, tree

GOLDENS = Path(__file__).parent / "goldens"
INPUTS = {name: GOLDENS / name / "input" for name in ("h100", "no_gpu", "odd")}
INPUTS |= {"outside": OUTSIDE / "results/nvidia-h200"}
INPUTS |= {"beyond": REPORTS / "results/peak/nvidia-h100-80gb-hbm3"}
CLAIMS = {"outside": OUTSIDE / "claims", "beyond": EXPERIMENTS / "peak"}
LONGEST_DIFF = 200  # lines that a failure prints


def _said(*words: object, claims: Path = EXPERIMENTS, folder: Path) -> bytes:
    """A command's output and exit code, without the path of the temporary folder."""
    done = run(*map(str, words), "--experiments", claims)
    text = f"{done.stdout}{done.stderr}exit code {done.returncode}\n"
    return text.replace(f"{folder}/", "").replace(f"{REPORTS}/", "").encode()


def _texts(name: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """The pages and data, and the texts of the charts; for one record also the charts."""
    whole = (".md", "verdicts.json", ".csv", *([".svg"] if name == "h100" else []))
    kept = {n: data for n, data in files.items() if n.endswith(whole)}
    if name in ("odd", "outside"):  # what needs no script
        found = re.search(b"<main.*</main>\n", files["report.html"], re.DOTALL)
        kept["report.html.txt"] = found[0] if found else b""
    words = []
    for chart in sorted(n for n in files if n.endswith(".svg")):
        words += [f"{chart}\n", *(f"  {each}\n" for each in texts_of(files[chart]))]
    kept["charts.txt"] = "".join(words).encode()
    return {f"{name}/results/{path}": data for path, data in kept.items()}


def _rendered(name: str, folder: Path) -> dict[str, bytes]:
    claims = CLAIMS.get(name, EXPERIMENTS)
    beside = ("--beside", folder / "odd") if name == "h100" else ()
    out = folder / "report" / name
    said = _said("render", folder / name, "--output", out, *beside, claims=claims, folder=folder)
    said += _said("publish", folder / name, claims=claims, folder=folder)
    if name == "h100":
        said += _said("verify", folder / name, "--expected", REPORTS / "results", folder=folder)
    return {**_texts(name, tree(out)), f"{name}/results/terminal.txt": said}


def _compared(folder: Path) -> dict[str, bytes]:
    out = folder / "compared"
    said = _said("compare", folder / "h100", folder / "odd", "--output", out, folder=folder)
    return {**_texts("compare", tree(out)), "compare/results/terminal.txt": said}


def _fleet(folder: Path) -> dict[str, bytes]:
    """The page of three jobs: one measured, one was cut off, one left no files."""
    session = folder / "runs/2026-11-24T00-00-00"
    ends: dict[str, dict[str, str | None]] = {
        "a": {"result": "pass", "fail_reason": None, "outputdir": str(session / "a")},
        "b": {"result": "fail", "fail_reason": "cut off", "stagedir": str(session / "b")},
        "c|<b>": {"result": "fail", "fail_reason": "no | node", "stagedir": str(session / "c")},
    }
    about = {"name": "Measure", "display_name": "Measure", "system": "site", "environ": "cuda"}
    about |= {"node": "n0", "jobid": "7", "gpu_model": "NVIDIA H100 80GB HBM3"}
    shutil.copytree(INPUTS["h100"], session / "a/measured")
    (session / "b/measured").mkdir(parents=True)
    (session / "b/measured/record.journal.jsonl").write_text("{}\n" * 4)
    cases = [{**about, "partition": where, **end} for where, end in ends.items()]
    (session / "report.json").write_text(json.dumps({"runs": [{"testcases": cases}]}))
    said = _said("fleet", folder / "runs", "--output", folder / "fleet", folder=folder)
    page = (folder / "fleet/README.md").read_bytes().replace(f"{folder}/".encode(), b"")
    return {"fleet/results/README.md": page, "fleet/results/terminal.txt": said}


def _diff(name: str, committed: bytes, made: bytes) -> list[str]:
    before, after = committed.decode().split("\n"), made.decode().split("\n")
    return [*difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=1, lineterm="")]


@pytest.mark.parametrize("name", [*INPUTS, "compare", "fleet"])
def test_pages_are_as_committed(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for each, source in INPUTS.items():
        (tmp_path / each).symlink_to(source)
    (tmp_path / "peak").symlink_to(REPORTS / "results/peak")
    made = {"compare": _compared, "fleet": _fleet}.get(name, lambda _: _rendered(name, tmp_path))
    files = made(tmp_path)
    pages = GOLDENS / name / "results"
    committed = {f"{name}/results/{path}": data for path, data in tree(pages).items()}
    if request.config.getoption("--renew"):
        for path in committed.keys() - files.keys():
            (GOLDENS / path).unlink()
        for path, data in files.items():
            (GOLDENS / path).parent.mkdir(parents=True, exist_ok=True)
            (GOLDENS / path).write_bytes(data)
        return
    differ = [
        line
        for path in sorted(committed.keys() | files.keys())
        for line in _diff(path, committed.get(path, b""), files.get(path, b""))
    ]
    if differ:
        shown = "\n".join(line[:400] for line in differ[:LONGEST_DIFF])
        pytest.fail(f"{len(differ)} lines; --renew, then read git diff\n{shown}", pytrace=False)
