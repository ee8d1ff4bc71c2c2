"""Runs pytest; no environment variable can select tests, options or plugins.

Exit code 77, which CTest treats as a skip, if every test was skipped. Otherwise pytest's own code,
which is 5 if it found no tests.
"""

import os
import sys
from pathlib import Path

import pytest

# tests import helpers next to them, and test the package in reports/
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reports"))

VARIABLES = "PYTEST_"  # prefix of pytest's variables


class Skips:
    """Distinguishes a run that tested nothing from one that passed."""

    def __init__(self) -> None:
        self.tested = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tested |= not report.skipped and report.when == "call"


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith(VARIABLES)]:
        del os.environ[name]
    skips = Skips()
    code = pytest.main(["-q", "-rfEs", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[skips])
    sys.exit(code if code or skips.tested else 77)
