"""What a program is at: on a terminal one line, which is gone in the end; elsewhere nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import on_terminal
from synthetic import make_record

FEW = ["global16", "tile16"]
SHAPES = [(1024,) * 3, (4096,) * 3]


def _shown(text: str) -> list[str]:
    """Every state of a terminal's line; the last is what stays."""
    first, *states = text.split("\r\x1b[K")
    assert first == "" and "\n" not in text and "\x1b" not in "".join(states)
    return states


@pytest.fixture
def record(save: Callable[..., Path]) -> Path:
    return save(make_record(SHAPES, strategies=FEW))


def test_rendering_says_what_it_is_at(record: Path, tmp_path: Path) -> None:
    code, text = on_terminal("stderr", 100, "render", record, "--output", tmp_path / "report")
    states = _shown(text)
    assert code == 0 and states[-1] == ""
    assert states.index("reading") < states.index("verdicts")
    drawn = "section 1 of 1, chart 1 of 3, matmul_ladder.svg"
    assert states.index("verdicts") < states.index(drawn) and "pages, claims.svg" in states


def test_comparing_says_what_it_is_at(record: Path, tmp_path: Path) -> None:
    arguments = (record, record, "--output", tmp_path / "out")
    code, text = on_terminal("stderr", 100, "compare", *arguments)
    states = _shown(text)
    assert code == 0 and states[-1] == "" and "reading record 2 of 2" in states
    assert any(re.fullmatch(r"verdicts on NVIDIA H200.*", state) for state in states)


def test_a_line_fits_the_terminal(tmp_path: Path) -> None:
    _, text = on_terminal("stderr", 12, "compare", "none", "--output", tmp_path / "out")
    assert text.startswith("\r\x1b[Kreading rec\r\x1b[Kerror: ")


def test_an_error_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    code, text = on_terminal("stderr", 300, "render", path, "--output", tmp_path / "report")
    *states, last = text.split("\r\x1b[K")
    assert code == 2 and states == ["", "reading"]
    assert last == f"error: {path}: cannot be read: No such file or directory\n"
