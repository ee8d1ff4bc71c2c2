"""Packs what was measured into one file for a pull request: the record with its samples, probes and
accuracy, and contribution.json, which says what is in it and how it came about.

`contribute` runs it as its last step, and --about is what that has kept of the steps before. What
`receive` would refuse of the record alone is refused here already, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from recheck_report import __version__
from recheck_report.bundle import folder_name, write_archive
from recheck_report.claims.measured import Measured, read
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.receive import unacceptable
from recheck_report.contribution.package import SUFFIX
from recheck_report.model.contribution import (
    CONTRIBUTION,
    NEEDED,
    SCHEMA,
    Contribution,
    File,
    Step,
    Tests,
    check_files,
)
from recheck_report.model.typed import BadRecord, bytes_of, read_json, typed
from recheck_report.progress import doing


@dataclass(frozen=True)
class About:
    """What `contribute` keeps of its steps."""

    tests: Tests
    steps: tuple[Step, ...]
    tools: dict[str, str | None]


def contribution(own: Measured, about: About) -> dict[str, bytes]:
    """The files of a contribution by their names; raises BadContribution where one is missing."""
    files = {name: data for name, data in own.compressed.items() if name in NEEDED}
    tools = {"python": platform.python_version(), "recheck-report": __version__, **about.tools}
    if own.probes:
        tools |= own.probes.environment.tools
    found = Contribution(
        SCHEMA,
        own.record.environment.git.commit or "",
        own.gpu,
        tools,
        about.tests,
        about.steps,
        tuple(File.of(name, data) for name, data in sorted(files.items())),
    )
    check_files(found, files)
    text = json.dumps(asdict(found), indent=1, ensure_ascii=False)
    return files | {CONTRIBUTION: f"{text}\n".encode()}


def _about(path: Path) -> About:
    try:
        return typed(About, read_json(bytes_of(path)))
    except OSError as error:
        raise BadRecord(f"{path}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        raise BadRecord(f"{path}: {error}; run contribute again") from error


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("measured", type=Path, help="the folder that `recheck` measured into")
    says = "what `contribute` has written of the steps before"
    add("--about", type=Path, required=True, metavar="FILE", help=says)
    add("--output", type=Path, required=True, metavar="DIR", help="where the file is put")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    about = _about(options.about)
    with doing("reading"):
        own = read(options.measured, options.experiments)
    if why := unacceptable(own):
        raise Failed(f"{options.measured}: not packed: {why}")
    path = options.output / f"{folder_name(own.record)}{SUFFIX}"
    write_archive(contribution(own, about), folder_name(own.record), path)
    print(path)
    return 0
