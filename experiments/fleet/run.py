"""python run.py SITE [--output FOLDER] [options of ReFrame]: measures on every GPU of a site.

SITE is the site's configuration, the only file that you write. A run's files are in its own folder,
FOLDER/runs/<time>: report.json, junit.xml, reframe.log, output/, stage/. The exit code is
ReFrame's, or 2 if nothing could run.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REFRAME = Path(sys.executable).with_name("reframe")
EXAMPLES = "experiments/fleet/sites has examples"


def main() -> int:
    parser = ArgumentParser(description=(__doc__ or "").split("\n")[0], allow_abbrev=False)
    add = parser.add_argument
    add("site", type=Path, metavar="SITE", help="the site's configuration for ReFrame")
    where = HERE.parents[1] / "build" / "release" / "fleet"
    add("--output", type=Path, default=where, metavar="FOLDER", help="default: %(default)s")
    options, more = parser.parse_known_args()
    if not options.site.is_file():
        return refused(f"{options.site}: is not a file; {EXAMPLES}")
    if not REFRAME.is_file():
        return refused(f"{REFRAME}: is not a file; pip install -r {HERE / 'requirements.txt'}")
    # a list of tests measures nothing
    measures = not more or bool({"-r", "--run"} & {*more})
    try:
        partitions = partitions_of(options.site, more)
        if measures:
            asked_sacct([each for each in partitions if each["asked"]])
    except Refused as error:
        return refused(str(error))
    fleet = options.output.resolve()
    # a rehearsal submits no jobs, so it does not count as a run
    kind = "dry-runs" if "--dry-run" in more else "runs"
    run = fleet / kind / time.strftime("%Y-%m-%dT%H-%M-%S")
    try:
        run.mkdir(parents=True)
    except OSError as error:
        return refused(f"{run}: cannot be made: {error.strerror}")
    places = {
        "RFM_PREFIX": run,
        "RFM_REPORT_FILE": run / "report.json",
        "RFM_REPORT_JUNIT": run / "junit.xml",
        "RFM_TOPOLOGY_PREFIX": fleet / "topology",
        "RECHECK_FLEET": fleet,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment = {**os.environ, **{name: str(value) for name, value in places.items()}}
    configured = ["-C", HERE / "log.py", "-C", options.site.resolve()]
    # ReFrame applies max_jobs to a partition, but a host must measure one thing at a time
    asked = [each for each in partitions if each["asked"]]
    own = any(each["scheduler"] == each["launcher"] == "local" for each in asked)
    policy = ["--exec-policy=serial"] * (own and "--exec-policy" not in " ".join(more))
    words = [REFRAME, *configured, "-c", HERE / "suite.py", *policy, *(more or ["-r"])]
    code = waited([str(word) for word in words], environment, run)
    report = run / "report.json"
    if report.exists():
        print(f"{report}\n{report.with_name('junit.xml')}")
    elif not (run / "stage").exists():
        # ReFrame only listed tests, or refused: nothing began
        shutil.rmtree(run)
        if code:
            print(f"nothing was run, so {run} and its log are removed")
        elif measures:
            return refused(
                "no test to run: a partition needs the feature gpu, its environment cuda; options "
                "such as --name, --prgenv and --distribute may leave none"
            )
    return code


class Refused(Exception):
    """Nothing can run on this site; str() says what to do, in one line."""


def partitions_of(site: Path, more: list[str]) -> list[dict[str, Any]]:
    """The partitions of the system that ReFrame will choose, and whether `more` selects each."""
    try:
        made = runpy.run_path(str(site))
    # a site is the user's program, and may raise anything
    except (Exception, SystemExit) as error:
        own = [at for at in traceback.extract_tb(error.__traceback__) if at.filename == str(site)]
        where = f"line {own[-1].lineno}: " if own else ""
        said = f"{where}{type(error).__name__}: {error}"
        raise Refused(f"{site}: cannot be read as a site: {said}") from None
    try:
        systems = made["site_configuration"]["systems"]
        named = [(system["name"], system["hostnames"]) for system in systems]
        asked = (_option(more, "--system") or os.environ.get("RFM_SYSTEM", "")).partition(":")
        host = socket.gethostname()
        matching = (name for name, hosts in named if any(re.match(each, host) for each in hosts))
        chosen = asked[0] or next(matching, None)
        if chosen is None:
            have = "; ".join(f"{name}: {', '.join(hosts)}" for name, hosts in named)
            what = f"this host is {host}, and the hostnames of no system match it ({have})"
            raise Refused(f"{site}: {what}; fix them, or name one with --system=NAME")
        of_it = [system["partitions"] for system in systems if system["name"] == chosen]
        found = [each for partitions in of_it for each in partitions]
        if of_it and not found:
            raise Refused(f"{site}: system {chosen} has no partition; {EXAMPLES}")
        for each in found:
            for member in ("name", "scheduler", "launcher", "environs"):
                if member not in each:
                    which = (
                        f"partition {chosen}:{each['name']}" if "name" in each else "a partition"
                    )
                    raise Refused(f"{site}: {which} has no {member!r}; {EXAMPLES}")
        return [
            {
                "name": f"{chosen}:{each['name']}",
                "asked": asked[2] in ("", each["name"]),
                "scheduler": each["scheduler"],
                "launcher": each["launcher"],
            }
            for each in found
        ]
    except KeyError as error:
        raise Refused(f"{site}: has no {error}; {EXAMPLES}") from None
    except (AttributeError, TypeError, ValueError, re.error) as error:
        said = f"{type(error).__name__}: {error}"
        raise Refused(f"{site}: cannot be read as a site: {said}") from None


def _option(words: list[str], name: str) -> str:
    """The value of one of ReFrame's options; the last one counts."""
    found = ""
    for word, behind in zip(words, [*words, ""][1:], strict=True):
        if word == name:
            found = behind
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found


def asked_sacct(partitions: list[dict[str, Any]]) -> None:
    """Raises Refused if sacct fails: ReFrame's scheduler `slurm` needs it, and would crash."""
    needed = [each["name"] for each in partitions if each["scheduler"] == "slurm"]
    if not needed:
        return
    if not (why := failure("sacct")):
        return
    what = f"partition {needed[0]} has the scheduler slurm"
    todo = "without accounting, use the scheduler squeue instead"
    raise Refused(f"{what}, which asks sacct: {why}; {todo}")


def failure(program: str) -> str:
    """The last line of a Slurm program's error message; empty if the program works."""
    try:
        tried = subprocess.run([program, "--noheader"], capture_output=True, text=True)
    except OSError as error:
        return error.strerror or str(error)
    said = [line.strip() for line in tried.stderr.splitlines() if line.strip()]
    return (said or ["it fails"])[-1] if tried.returncode else ""


def waited(words: list[str], environment: dict[str, str], folder: Path) -> int:
    """Runs ReFrame and returns its exit code. Ctrl-C reaches ReFrame as well, and SIGTERM is passed
    on to it; it then ends its jobs and writes its report."""
    # files that ReFrame writes to its working folder, such as its log, belong to the run as well
    with subprocess.Popen(words, env=environment, cwd=folder) as reframe:

        def hand_on(*_: object) -> None:
            print("terminated: waiting for ReFrame, which ends its jobs", file=sys.stderr)
            reframe.terminate()

        signal.signal(signal.SIGTERM, hand_on)
        while True:
            try:
                return reframe.wait()
            except KeyboardInterrupt:
                print("interrupted: waiting for ReFrame, which ends its jobs", file=sys.stderr)


def refused(line: str) -> int:
    print(f"error: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
