"""What the rehearsal for earlier GPUs makes of its builds and their tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXPERIMENTS

PROGRAM = EXPERIMENTS.parent / "tests/rehearsal/rehearsal.py"
# CMake: makes two programs, whose tests say what they are told to
CMAKE = """#!/bin/sh
folder=$(echo "$@" | sed -n 's/.* -B \\([^ ]*\\) .*/\\1/p')
[ -z "$folder" ] && exit 0
mkdir -p "$folder/tests/peak"
for name in tests/recheck_tests tests/peak/peak_tests; do
  cat > "$folder/$name" <<'PROGRAM'
#!/bin/sh
out=$(echo "$@" | sed 's/.*xml:\\([^ ]*\\).*/\\1/')
echo "$@" | grep -q -e --shard=0/ || { echo '<testsuites/>' > "$out"; exit 0; }
DYING
cat > "$out" <<'XML'
<testsuites><testsuite name="s">
<testcase classname="gpu/Gate" name="a" result="completed"/>
<testcase classname="gpu/Gate" name="b" result="skipped"><skipped message="no"/></testcase>
FAILING
</testsuite></testsuites>
XML
PROGRAM
  chmod +x "$folder/$name"
done
"""
FAILS = '<testcase classname="gpu/Gate" name="c"><failure message="x&#10;wrong"/></testcase>'


def _rehearse(tmp_path: Path, cmake: str) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "cmake"
    program.write_text(cmake)
    program.chmod(0o755)
    words = [sys.executable, str(PROGRAM), "--folder", str(tmp_path / "builds")]
    words += ["--architectures", "75,80", "--processes", "2", "--cmake", str(program)]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.parametrize(
    "dying,failing,code,says",
    [
        ("", "", 0, "75: 1 passed, 1 not run, 0 failed; "),
        ("", FAILS, 1, "75: 1 passed, 1 not run, 1 failed; "),
        ("exit 9", "", 1, "75: 0 passed, 0 not run, 2 failed; "),
    ],
)
def test_tests_are_counted(dying: str, failing: str, code: int, says: str, tmp_path: Path) -> None:
    done = _rehearse(tmp_path, CMAKE.replace("DYING", dying).replace("FAILING", failing))
    assert done.returncode == code, done.stderr
    assert says in done.stdout and "\n80: " in done.stdout
    if failing:
        assert "75: gpu/Gate.c: x wrong" in done.stderr
    if dying:
        assert "recheck_tests_0: ended with 9 before its last test" in done.stderr


def test_a_build_that_fails_ends_it(tmp_path: Path) -> None:
    done = _rehearse(tmp_path, "#!/bin/sh\nexit 1\n")
    assert done.returncode == 2 and "error: the build for 75 failed: see " in done.stderr
