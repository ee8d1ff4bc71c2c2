"""What no honest file comes near to is refused in one line, or capped, before it costs time or
memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ENVIRONMENT, REPORTS, process, run, sourced, words_of
from recheck_report.claims.checks import Check
from recheck_report.claims.load import load
from recheck_report.claims.predicates import Questions
from recheck_report.claims.toml import BadClaim
from recheck_report.model import read
from recheck_report.statistics.family import Comparisons
from synthetic import SMALL, make_record
from synthetic_claims import CLAIM

COMMITTED = REPORTS / "results" / "nvidia-h200"


def checked(folder: Path, check: str) -> str:
    """What is wrong with a claim of this check."""
    path = sourced(folder, "S0") / "x" / "claims.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{CLAIM}check = [{{ {check} }}]\n")
    with pytest.raises(BadClaim) as caught:
        load(path)
    line = str(caught.value)
    assert "\n" not in line and len(line) < 1300
    return line


# numbers and lists of a check


PAIR = 'form = "{}", base = "x/a/8x8/cold", other = "x/b/8x8/cold"'


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ('form = "arithmetic", expression = "1", equals = ' + "9" * 400, "a finite number"),
        ('form = "arithmetic", expression = "1", equals = -1e301', "a finite number"),
        ('form = "arithmetic", expression = "1", equals = nan', "a finite number"),
        (PAIR.format("ratio") + ", above = 1e-320", "above must be at least 1e-12"),
        (PAIR.format("ratio") + ", below = 1e-13", "below must be at least 1e-12"),
        (PAIR.format("equivalent") + ", within = 1e-13", "within must be at least 1e-12"),
    ],
)
def test_a_number_of_a_check_has_bounds(check: str, why: str, tmp_path: Path) -> None:
    found = checked(tmp_path, check)
    assert "claim C12: field check[0]." in found and why in found


@pytest.mark.parametrize("bound", [1e-12, 1e300])
def test_every_allowed_bound_is_judged(bound: float) -> None:
    record, _ = read.load(COMMITTED)
    questions = Questions(record, None, Comparisons(record))
    base, other = (f"matmul/{name}/1024x1024x1024/cold" for name in ("global16", "tile16"))
    for form, key in (("ratio", "above"), ("ratio", "below"), ("equivalent", "within")):
        check = Check(form, base=base, other=other, **{key: bound})  # type: ignore[arg-type]
        assert questions.ask(check).verdict != "not measured"


def test_a_byte_order_mark_of_a_record_is_nothing(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    path = save(make_record(SMALL))
    path.write_bytes(path.read_text().encode("utf-8-sig"))
    assert run("render", path, "--output", tmp_path / "report").returncode == 0


# standard output


VERIFY = ("verify", COMMITTED, "--expected", REPORTS / "results")


@pytest.mark.parametrize("words", [VERIFY, ("check", COMMITTED)])
def test_a_full_standard_output(words: tuple[object, ...]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    command, *arguments = map(str, words)
    process_words = [sys.executable, "-m", "recheck_report", *words_of(command, *arguments)]
    env = {**os.environ, **ENVIRONMENT, "PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            process_words, env=env, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert found.returncode == 1
    assert found.stderr == "error: standard output: cannot be written: No space left on device\n"


def test_a_character_set_that_lacks_some() -> None:
    found = process(*map(str, VERIFY), env={"PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0 and "?" in found.stdout and not found.stderr
