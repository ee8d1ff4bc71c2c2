"""The documents' own figures: readable, complete, true to what was printed, and about real rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXPERIMENTS
from recheck_report.model.record import Record
from synthetic import keep, make_full

GOOD = """
figure = [
  { strategy = "a", regime = "hot", shape = "8x8", hardware = "h", document = "D", place = "p", seconds = 1.0 },
]
hardware.h = "old GPU"
document.D = "a document"
"""  # noqa: E501

BAD = {
    "two values": (("seconds = 1.0", 'seconds = 1.0, lost = "x"'), "must have exactly one of"),
    "no value": ((", seconds = 1.0", ""), "must have exactly one of"),
    "hardware": (('hardware = "h"', 'hardware = "x"'), "hardware must be one of h: the file"),
    "document": (('document = "D"', 'document = "x"'), "document must be one of D: the file"),
}


def _write(folder: Path, text: str) -> Path:
    path = folder / "figures.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_line(name: str, tmp_path: Path) -> None:
    from recheck_report.claims.figures import load
    from recheck_report.model.typed import BadRecord

    (old, new), message = BAD[name]
    assert old in GOOD
    path = _write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(BadRecord) as caught:
        load(path)
    line = str(caught.value)
    assert message in line and line.startswith(f"{path}: ") and "\n" not in line


def test_good_file(tmp_path: Path) -> None:
    from recheck_report.claims.figures import load

    (figure,) = load(_write(tmp_path, GOOD)).of("D")
    assert figure.seconds == 1.0 and figure.lost is None and figure.claim == ""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Record:
    from recheck_report.model.read import load

    return load(keep(tmp_path_factory.mktemp("full") / "record.json", make_full()))[0]


@pytest.mark.parametrize("name", ["matvec", "transpose"])
def test_every_figure_is_about_a_case_of_the_full_run(name: str, full: Record) -> None:
    from recheck_report.claims import load_collection

    known, experiment = load_collection(EXPERIMENTS).figures_of(name), full.experiment(name)
    assert known.figure and experiment
    for each in known.figure:
        assert each.case(full, experiment), each
    assert set(known.document) == {each.document for each in known.figure}
    assert set(known.hardware) == {each.hardware for each in known.figure}


def test_values_agree_with_what_was_printed(full: Record) -> None:
    """C58: only with milliseconds and GiB/s do both numbers of a row agree."""
    from recheck_report.claims import load_collection

    experiment = full.experiment("transpose")
    assert experiment
    for each in load_collection(EXPERIMENTS).figures_of("transpose").figure:
        if not each.printed:
            assert each.lost
            continue
        case = each.case(full, experiment)
        time = each.time(case)
        assert case and time
        rate = case.bytes / time / 2**30
        assert float(each.printed.split()[0]) == pytest.approx(rate, rel=1e-4), each
        if each.seconds:
            assert each.printed.endswith(f"{1e3 * each.seconds:.5f} s")
