"""What a check asks, in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from recheck_report.claims import Check, asked
from recheck_report.claims.load import FORMS, load_claims

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
CASES = [
    (Check("ratio", above=1.0), "faster"),
    (Check("ratio", above=20), "more than 20 times as fast"),
    (Check("ratio", above=0.25), "less than 4 times as long"),
    (Check("ratio", above=0.3333), "less than 3 times as long"),
    (Check("ratio", below=1), "slower"),
    (Check("ratio", below=2), "less than 2 times as fast"),
    (Check("ratio", below=0.5), "more than 2 times as long"),
    (Check("extremes", above=20.0), "more than 20 times as fast as the slowest"),
    (Check("extremes", above=1.0), "faster than the slowest"),
    (Check("equivalent", within=0.05), "between 0.952 and 1.05 times as fast"),
    (Check("order"), "each faster than the next"),
    (Check("monotone", direction="rising"), "the speed-up rises with each size"),
    (Check("crossover", expect="exists"), "slower at one size and faster at a later one"),
    (Check("crossover", expect="none"), "never slower at one size and faster at a later one"),
    (Check("at_least", metric="bytes_per_second", value=8e11), "at least 800 GB/s"),
    (Check("at_least", metric="flops_per_second", value=5e12), "at least 5.00 TFLOP/s"),
    (Check("at_most", metric="seconds", value=0.0012), "at most 1.20 ms"),
    (Check("fraction_of_roof", roof="dram", at_least=0.516), "at least 51.6 % of the DRAM limit"),
    (Check("fraction_of_roof", roof="a/read/1/cold", at_most=0.5), "at most 50 % of `read`'s rate"),
    (Check("count", equals=1024), "exactly 1024"),
    (Check("count", equals=4, tolerance=0.01), "4 within 1 %"),
    (Check("count", equals=4, per="a/tile/1/cold"), "exactly 4 times as many as `tile`"),
    (Check("count", equals=1, per="a/tile/1/cold"), "as many as `tile`"),
    (Check("count", equals=1 / 256, per="a/tile/1/cold"), "exactly 1/256 as many as `tile`"),
    (Check("count", at_least=2, per="a/tile/1/cold"), "at least 2 times as many as `tile`"),
    (Check("attribute", at_most=16384), "at most 16384"),
    (Check("arithmetic", equals=0.537), "exactly 0.537"),
    (Check("arithmetic"), "true"),
    (Check("test", finds="pass"), "its test passes"),
    (Check("test", finds="refused"), "nvcc refuses it"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "text"), CASES, ids=[text for _, text in CASES])
def test_a_check_in_words(check: Check, text: str) -> None:
    assert asked(check) == text


def test_every_form_has_words() -> None:
    assert {check.form for check, _ in CASES} == FORMS.keys()


def test_every_check_of_the_documents_has_words() -> None:
    for claim in load_claims(EXPERIMENTS):
        for check in claim.checks:
            words = asked(check)
            assert words and "None" not in words and "  " not in words, claim.id
