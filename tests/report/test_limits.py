"""What no honest file comes near to is refused in one line, or capped, before it costs time or
memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ENVIRONMENT, EXPERIMENTS, REPORTS, process, run, sourced, words_of
from recheck_report.claims import expression
from recheck_report.claims.load import MOST_LISTED, Check, load
from recheck_report.claims.predicates import Questions
from recheck_report.claims.toml import BadClaim
from recheck_report.model import record, typed
from recheck_report.model.typed import BadRecord, read_json, read_toml
from recheck_report.statistics import audit
from synthetic import SMALL, make_record
from synthetic_claims import CLAIM

COMMITTED = REPORTS / "results" / "nvidia-h200"

OPEN = f"""
[open.block]
what = "the document does not say it"
values = {{VALUES}}
{CLAIM}open = ["block"]
check = [{{CHECKS}}]
"""


def checked(folder: Path, *checks: str, values: int = 2) -> str:
    """What is wrong with a claim of these checks."""
    path = sourced(folder, "S0") / "x" / "claims.toml"
    path.parent.mkdir(exist_ok=True)
    named = ", ".join(f'"{at}" = "{at}"' for at in range(values))
    text = OPEN.replace("{VALUES}", f"{{ {named} }}")
    path.write_text(text.replace("{CHECKS}", ", ".join(f"{{ {each} }}" for each in checks)))
    with pytest.raises(BadClaim) as caught:
        load(path)
    line = str(caught.value)
    assert "\n" not in line and len(line) < 1300
    return line


# formulas


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-" * 9000 + "1 == 1", "has more than 1000 characters"),
        ("not " * 2000 + "1", "has more than 1000 characters"),
        ("-" * 900 + "1", "is nested more than 50 deep"),
        ("not " * 200 + "1", "is nested more than 50 deep"),
        ("+".join("1" * 60), "is nested more than 50 deep"),
        ("(" * 150 + "1" + ")" * 150, None),
        ("(10**64)**64 * 1", "more than 1000 bits"),
        ("(" * 8 + "9" + "**64)" * 8, "more than 1000 bits"),
        ("9" * 400, "more than 1000 bits"),
        ("1e308 * 10 > 1", "has no finite value"),
        ("1e999 > 1", "has no finite value"),
        ("max(2 * 10**60, 1) ** 6 > 1", "more than 1000 bits"),
    ],
)
def test_a_formula_has_bounds(text: str, why: str | None, tmp_path: Path) -> None:
    if why is None:
        assert expression.evaluate(text, {}) == 1
        return
    with pytest.raises(expression.BadExpression, match=why):
        expression.evaluate(text, {})
    found = checked(tmp_path, f'form = "arithmetic", expression = "{text}"')
    assert "claim C12: field check[0].expression: " in found and why in found


def test_a_formula_of_what_is_measured_has_bounds_too() -> None:
    with pytest.raises(expression.BadExpression, match="more than 1000 bits"):
        expression.evaluate("x ** 64 * 1", {"x": 2**62})
    assert expression.evaluate("2.0 ** 64 * 1", {}) == 2.0**64


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
    questions = Questions(record.load(COMMITTED)[0], None)
    base, other = (f"matmul/{name}/1024x1024x1024/cold" for name in ("global16", "tile16"))
    for form, key in (("ratio", "above"), ("ratio", "below"), ("equivalent", "within")):
        check = Check(form, base=base, other=other, **{key: bound})  # type: ignore[arg-type]
        assert questions.ask(check).verdict != "not_measured"


def test_a_check_lists_only_so_many(tmp_path: Path) -> None:
    shapes = ", ".join(f'"{at}"' for at in range(1, MOST_LISTED + 2))
    series = 'form = "crossover", base = "x/a/{shape}/cold", other = "x/b/{shape}/cold"'
    found = checked(tmp_path, f'{series}, expect = "none", shapes = [{shapes}]')
    assert f"field check[0].shapes must be a list of at most {MOST_LISTED}" in found
    cases = ", ".join(['"x/a/8x8/cold"'] * (MOST_LISTED + 1))
    found = checked(tmp_path, f'form = "order", cases = [{cases}]')
    assert f"field check[0].cases must be a list of at most {MOST_LISTED}" in found


def test_a_claim_asks_only_so_much(tmp_path: Path) -> None:
    one = 'form = "ratio", base = "x/a{block}/8/cold", other = "x/b/8/cold", above = 1'
    found = checked(tmp_path, *[one] * (MOST_LISTED // 100 + 1), values=100)
    assert f"field check asks more than {MOST_LISTED} questions" in found
    assert "open.block.values must name at most 100" in checked(tmp_path, one, values=101)


# files


def test_toml_has_bounds(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    for text, why in (
        ("a" + ".a" * 101 + "=1", "line 1 has more than 100 dots"),
        ("x = 1\n[" + "a" + ".a" * 101 + "]", "line 2 has more than 100 dots"),
        ("#" * (typed.MOST_TOML + 1), f"has more than {typed.MOST_TOML} bytes"),
        ("\ufeffx = 1", "begins with a byte order mark"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadRecord, match=why):
            read_toml(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b" " * (typed.MOST_JSON + 1), f"has more than {typed.MOST_JSON} bytes"),
        (b'{"schema":1,"a":[' + b"{}," * 200_000 + b"{}]}", "has '{' more than 100000 times"),
        (b"[" + b"[]," * 2_000_001 + b"1]", "has '\\[' more than"),
        (b"{" + b'"a":1,' * 500_001 + b'"b":1}', "has ':' more than"),
        (b"[" + b"1," * 6_000_001 + b"1]", "has ',' more than"),
    ],
)
def test_json_has_bounds(text: bytes, why: str) -> None:
    with pytest.raises(BadRecord, match=why):
        read_json(text)


def test_bounds_are_far_from_what_is_committed() -> None:
    for path in COMMITTED.glob("*.json"):
        data = path.read_bytes()
        assert len(data) * 3 < typed.MOST_JSON
        for sign, most in typed.MOST_SIGNS.items():
            assert data.count(sign.encode()) * 3 < most
    for path in EXPERIMENTS.rglob("*.toml"):
        data = path.read_bytes()
        assert len(data) * 3 < typed.MOST_TOML
        assert max(line.count(b".") for line in data.splitlines()) * 3 < typed.MOST_DOTS


def test_a_byte_order_mark_of_a_record_is_nothing(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    path = save(make_record(SMALL))
    path.write_bytes(path.read_text().encode("utf-8-sig"))
    assert run("render", path, "--output", tmp_path / "report").returncode == 0


# what is compared with each other


@pytest.mark.parametrize("rows, rounds", [(500, 400), (500, 6), (100, 100), (2, 100_000)])
def test_a_self_audit_compares_as_many_rows_as_there_is_time_for(rows: int, rounds: int) -> None:
    """Of so many rows at one shape, each pair is compared by all pairs of its rounds."""
    cases = record.load(COMMITTED)[0].cases
    one = next(case for case in cases if case.role == "audit")
    raw = replace(one.raw, samples=(1e-5,) * rounds, blocks=tuple((at, 1) for at in range(rounds)))
    many = [replace(one, raw=raw)] * rows
    (few,) = audit._affordable([many])
    each = min(rounds, audit.POOLED) ** 2 + len(audit.STEPS)
    assert 2 <= len(few) <= rows and len(few) * (len(few) - 1) / 2 * each <= audit.MOST_WORK
    groups: dict[tuple[str, str], list[record.Case]] = {}
    for case in (each for each in cases if each.role == "audit"):
        groups.setdefault((case.shape_name, case.regime), []).append(case)
    assert audit._affordable([*groups.values()]) == [*groups.values()]


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
