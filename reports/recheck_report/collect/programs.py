"""Runs other programs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

K = TypeVar("K")
T = TypeVar("T")

# prefixes of variables that change which tests and cases a program runs
CHOOSING = ("GTEST_", "TESTBRIDGE_", "XML_OUTPUT_FILE", "BENCHMARK_")
SECONDS = 300  # of one process at most
AT_ONCE = max(2, min(8, len(os.sched_getaffinity(0))))  # processes


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code`: exit code, negative for a signal, None after a timeout."""

    code: int | None
    out: str
    err: str

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it or the program that it wraps."""
        return self.code is not None and (self.code < 0 or self.code > 128)

    @property
    def how(self) -> str:
        """ "ended with exit code 3", "ended with signal 11", "took more than 300 s"."""
        if self.code is None:
            return f"took more than {SECONDS} s"
        return f"ended with {f'signal {-self.code}' if self.code < 0 else f'exit code {self.code}'}"


def at_once(ask: Callable[[K], T], names: Iterable[K]) -> dict[K, T]:
    """The answer for each name, several at a time. An interrupt cancels those not started."""
    asked, pool = list(names), ThreadPoolExecutor(AT_ONCE)
    try:
        return dict(zip(asked, pool.map(ask, asked), strict=True))
    finally:
        pool.shutdown(cancel_futures=True)


def execute(*command: str | Path, **variables: str) -> Ended:
    """Runs a program with these environment variables. A timeout or an interrupt ends it and its
    children."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(CHOOSING)}
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**env, "LC_ALL": "C", **variables},
            start_new_session=True,
        )
    except OSError as error:
        return Ended(127, "", f"{command[0]}: {error.strerror}")
    try:
        out, err = process.communicate(timeout=SECONDS)
        return Ended(process.returncode, out, err)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return Ended(None, out, err)
        raise


def cases_of(program: str | Path) -> frozenset[str]:
    """The ids of all cases of a program of experiments; empty if it fails."""
    ended = execute(program, "--benchmark_list_tests")
    lines = ended.out.splitlines() if ended.code == 0 else []
    return frozenset(line.split("/iterations:")[0] for line in lines)


def is_program(name: str) -> bool:
    """Whether a program exists; CMake passes NCU-NOTFOUND for a missing one."""
    return bool(name) and shutil.which(name) is not None


def say(text: str) -> None:
    print(f"probes: {text}", file=sys.stderr, flush=True)
