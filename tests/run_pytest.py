"""pytest by itself: no variable of the environment chooses tests, options or plugins.

Exit code 77, which CTest takes for a skip: every test was skipped. Otherwise pytest's own: 5 where
there was no test.
"""

import os
import sys
from pathlib import Path

import pytest

# what the tests import stands next to them, and what they test in reports/
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reports"))

VARIABLES = "PYTEST_"  # how those of pytest begin


class Skips:
    """Tells a run in which nothing was tested from one that passed."""

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
