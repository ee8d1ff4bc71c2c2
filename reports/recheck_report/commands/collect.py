"""Collects what claims need that is no time, and writes it to probes.json.

The checks in FOLDER/*/claims.toml and FOLDER/errata.toml say what is wanted: Nsight Compute's
counters of a case, attributes of the device, outcomes of tests, whether nvcc compiles a snippet of
FOLDER/errata/. What cannot be had here, for
want of a program or of a GPU, has a reason in place of a value; nothing missing counts as passed.

A case's counters are those of one launch of its strategy behind its proof: real numbers, caches
flushed, so that claims count cases of the regime cold. Where a launch is several kernels,
counts are added up, and what is per thread or per block (block, registers, shared_bytes) is the
largest.

Without --output nothing is collected: names in the claims are held against the program, and every
one that there is not is a line.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from recheck_report.claims import BadClaim, Collection, load_collection
from recheck_report.claims.collection import SNIPPETS
from recheck_report.claims.names import Tables, faults
from recheck_report.claims.toml import list_or_nearest
from recheck_report.collect.ncu import NO_NCU, Profiler, counters
from recheck_report.collect.nvcc import NO_NVCC, compiled
from recheck_report.collect.plan import environment, tables, wanted
from recheck_report.collect.programs import AT_ONCE, BadProgram, at_once, is_program, say
from recheck_report.collect.sanitizer import KNOWN, NO_SANITIZER, blind, races
from recheck_report.collect.tests import NO_TESTS, gates, listed, no_outcome
from recheck_report.commands import Failed, experiments_option
from recheck_report.files import replace


def outcomes(
    options: argparse.Namespace, keys: Iterable[str], no_gpu: str | None
) -> dict[str, dict[str, Any]]:
    """What probes.json says of each test; `no_gpu`: why there is nothing for racecheck to watch."""
    tests, sanitizer, nvcc = options.tests, options.sanitizer, options.nvcc
    asked = list(keys)
    built, snippets = is_program(tests), options.experiments / SNIPPETS
    missing = no_gpu or (None if is_program(sanitizer) else NO_SANITIZER)
    watches = built and not missing and any(key.startswith("racecheck:") for key in asked)
    # racecheck is believed where it finds what is there
    known = f"racecheck:{KNOWN}"
    trial = [known] if watches and KNOWN in listed(tests) else []

    def outcome(key: str) -> dict[str, Any]:
        kind, _, name = key.partition(":")
        if kind == "compile":
            ready = is_program(nvcc)
            return compiled(nvcc, name, snippets) if ready else no_outcome(NO_NVCC)
        if not built:
            return no_outcome(NO_TESTS)
        return no_outcome(missing) if missing else races(tests, sanitizer, name)

    def some(group: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Of one test, or of gates that share a process."""
        if built and group[0].startswith("gate:"):
            names = [key.removeprefix("gate:") for key in group]
            return {f"gate:{name}": each for name, each in gates(tests, names).items()}
        return {key: outcome(key) for key in group}

    start = time.monotonic()
    passes = [key for key in asked if key.startswith("gate:")]
    groups = [tuple(passes[at::AT_ONCE]) for at in range(AT_ONCE) if passes[at::AT_ONCE]]
    # what takes longest goes first
    others = sorted(dict.fromkeys((*trial, *asked)), key=lambda key: not key.startswith("race"))
    groups += [(key,) for key in others if key not in passes]
    found = {key: each for of in at_once(some, groups).values() for key, each in of.items()}
    if trial and (why := blind(found[known])):
        found |= {key: no_outcome(why) for key in asked if key.startswith("racecheck:")}
    for why, count in Counter(found[key]["reason"] for key in asked).items():
        if why:
            say(f"{count} of {len(asked)} tests have no outcome: {why}")
    if asked:
        say(f"outcomes of {len(asked)} tests, {time.monotonic() - start:.0f} s")
    return {key: found[key] for key in asked}


def untested(known: Collection, names: set[str]) -> Iterator[str]:
    """Tests that checks name and a program has not, a line for each."""
    for address, check in known.asked:
        kind, _, name = check.test.partition(":")
        if kind in ("gate", "racecheck") and name not in names:
            what = f"there is no test {name}; {list_or_nearest(sorted(names), name)}"
            yield f"{known.folder / address}: field {check.place}.test: {what}"


def check_names(
    options: argparse.Namespace, known: Collection, record: dict[str, Any], there_are: Tables
) -> None:
    """Raises BadClaim for the names that neither the program nor its tests have, a line each."""
    found = faults(known, there_are)
    # tests of what runs on a GPU are built with CUDA alone
    if is_program(options.tests) and record["environment"]["cuda_runtime"]:
        names = listed(options.tests)
        found = chain(found, untested(known, names) if names else ())
    if lines := [*found]:
        raise BadClaim(*lines)


def probe(options: argparse.Namespace, known: Collection) -> dict[str, Any]:
    record, asked = environment(options.recheck), wanted(known)
    there_are = tables(options.recheck, record)
    check_names(options, known, record, there_are)
    for name in dict.fromkeys(claim.experiment for claim in known.claims):
        if name not in there_are.axes:  # another program may have it
            nearest = list_or_nearest(there_are.axes, name)
            say(f"{name}: the program has no such experiment; {nearest}")
    env = record["environment"]
    gpu, no_gpu = env["gpu"], None
    if gpu is None:
        no_gpu = env["gpu_reason"] or "no CUDA device"
    reason = no_gpu
    attributes: dict[str, int] = {}
    profiler = Profiler(options.ncu, options.recheck, set().union(*asked.cases.values()))
    if asked.cases or asked.attributes:
        if not reason and not is_program(options.ncu):
            reason = NO_NCU
        if not reason:
            attributes, reason = profiler.trial()
        if reason:
            say(f"counters and attributes: {reason}")
    return {
        "schema": 1,
        "environment": {
            "gpu": gpu["name"] if gpu else None,
            "uuid_hash": gpu.get("uuid_hash") if gpu else None,
            "driver": env["driver"],
            "commit": env["git"]["commit"],
            "dirty": env["git"]["dirty"],
        },
        "attributes": attributes,
        "counters": counters(profiler, asked.cases, reason, there_are.parts),
        "tests": outcomes(options, asked.tests, no_gpu),
    }


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("recheck", metavar="PROGRAM", help="of experiments: ours, recheck, or one of your own")
    add("--output", type=Path, metavar="FILE", help="the probes.json; without, names are checked")
    add("--tests", default="", metavar="PROGRAM", help="of GoogleTest's tests that checks name")
    add("--ncu", default="", help="Nsight Compute's command line")
    add("--sanitizer", default="", help="compute-sanitizer")
    add("--nvcc", default="", help="NVIDIA's compiler")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    known = load_collection(options.experiments)
    output = options.output
    try:
        if output is None:
            record = environment(options.recheck, CUDA_VISIBLE_DEVICES="")
            check_names(options, known, record, tables(options.recheck, record))
            return 0
        # what cannot be written shows before there is anything to lose
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
        text = json.dumps(probe(options, known), indent=1, ensure_ascii=False)
        replace(output, f"{text}\n".encode())
    except BadProgram as error:
        raise Failed(str(error), 2) from error
    except (KeyError, TypeError) as error:
        raise Failed(f"{options.recheck} wrote a record of another form: {error}") from error
    except OSError as error:
        why = error.strerror or error
        raise Failed(f"{output}: cannot be written: {why}; choose another") from error
    return 0
