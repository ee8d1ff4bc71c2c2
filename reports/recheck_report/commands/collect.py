"""Collects what claims need in addition to times, and writes it to probes.json.

The checks in FOLDER/*/claims.toml and FOLDER/errata.toml name Nsight Compute's counters of a case,
attributes of the device, outcomes of tests, and snippets in FOLDER/errata/ that nvcc compiles or
not. Where a program or a GPU is missing, the value is a reason; nothing missing counts as passed.

The counters of a case are those of one launch after its proof, with real numbers and flushed
caches, so claims count cold cases. If a launch has several kernels, counts are summed, and values
per thread or block (block, registers, shared_bytes) are the largest.

Without --output, it only checks that the program has all names in the claims; each wrong one is a
line.

example: recheck-report collect build/release/experiments/recheck --output probes.json
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
from recheck_report.collect.ncu import NO_NCU, Profiler, counters
from recheck_report.collect.nvcc import NO_NVCC, compiled
from recheck_report.collect.plan import environment, tables, wanted
from recheck_report.collect.programs import AT_ONCE, BadProgram, at_once, is_program, say
from recheck_report.collect.sanitizer import KNOWN, NO_SANITIZER, blind, races
from recheck_report.collect.sass import machine_code
from recheck_report.collect.tests import NO_TESTS, gates, listed, no_outcome
from recheck_report.commands import Failed, experiments_option
from recheck_report.files import replace
from recheck_report.record.typed import list_or_nearest


def outcomes(
    options: argparse.Namespace, keys: Iterable[str], no_gpu: str | None
) -> dict[str, dict[str, Any]]:
    """The outcome of each test, by key. `no_gpu`: why racecheck has nothing to watch, or None."""
    tests, sanitizer, nvcc = options.tests, options.sanitizer, options.nvcc
    asked = list(keys)
    built, snippets = is_program(tests), options.experiments / SNIPPETS
    missing = no_gpu or (None if is_program(sanitizer) else NO_SANITIZER)
    watches = built and not missing and any(key.startswith("racecheck:") for key in asked)
    # racecheck is believed only if it finds a known race
    trial_key = f"racecheck:{KNOWN}"
    trial = [trial_key] if watches and KNOWN in listed(tests) else []

    def outcome(key: str) -> dict[str, Any]:
        kind, _, name = key.partition(":")
        if kind == "compile":
            ready = is_program(nvcc)
            return compiled(nvcc, name, snippets) if ready else no_outcome(NO_NVCC)
        if not built:
            return no_outcome(NO_TESTS)
        return no_outcome(missing) if missing else races(tests, sanitizer, name)

    def some(group: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """The outcomes of one test, or of gates that share a process."""
        if built and group[0].startswith("gate:"):
            names = [key.removeprefix("gate:") for key in group]
            return {f"gate:{name}": result for name, result in gates(tests, names).items()}
        return {key: outcome(key) for key in group}

    start = time.monotonic()
    passes = [key for key in asked if key.startswith("gate:")]
    groups = [tuple(passes[at::AT_ONCE]) for at in range(AT_ONCE) if passes[at::AT_ONCE]]
    # the slowest first
    others = sorted(dict.fromkeys((*trial, *asked)), key=lambda key: not key.startswith("race"))
    groups += [(key,) for key in others if key not in passes]
    outcomes = {key: result for of in at_once(some, groups).values() for key, result in of.items()}
    if trial and (why := blind(outcomes[trial_key])):
        outcomes |= {key: no_outcome(why) for key in asked if key.startswith("racecheck:")}
    for why, count in Counter(outcomes[key]["reason"] for key in asked).items():
        if why:
            say(f"{count} of {len(asked)} tests have no outcome: {why}")
    if asked:
        say(f"outcomes of {len(asked)} tests, {time.monotonic() - start:.0f} s")
    return {key: outcomes[key] for key in asked}


def untested(collection: Collection, names: set[str]) -> Iterator[str]:
    """A line for each test that a check names and the program lacks."""
    for address, check in collection.asked:
        kind, _, name = check.test.partition(":")
        if kind in ("gate", "racecheck") and name not in names:
            what = f"unknown test {name}; {list_or_nearest(sorted(names), name)}"
            yield f"{collection.folder / address}: field {check.place}.test: {what}"


def check_names(
    options: argparse.Namespace,
    collection: Collection,
    record: dict[str, Any],
    tables_of_program: Tables,
) -> None:
    """Raises BadClaim with a line for each name that neither the program nor its tests have."""
    wrong = faults(collection, tables_of_program)
    # GPU tests exist only in builds with CUDA
    if is_program(options.tests) and record["environment"]["cuda_runtime"]:
        names = listed(options.tests)
        wrong = chain(wrong, untested(collection, names) if names else ())
    if lines := [*wrong]:
        raise BadClaim(*lines)


def probe(options: argparse.Namespace, collection: Collection) -> dict[str, Any]:
    record = environment(options.recheck)
    headlines = {each["name"]: each["headline"] for each in record["experiments"]}
    asked = wanted(collection, headlines, quick=options.quick)
    names = tables(options.recheck, record)
    check_names(options, collection, record, names)
    for name in dict.fromkeys(claim.experiment for claim in collection.claims):
        if name not in names.axes:  # another program may have it
            nearest = list_or_nearest(names.axes, name)
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
    counted = counters(profiler, asked.cases, reason, names.parts)
    believed = {case for case in asked.code if counted[case]["reason"] is None}
    kernels = {case: name for case, name in profiler.kernels.items() if case in believed}
    for case, code in machine_code(options.nvcc, options.recheck, gpu, kernels).items():
        counted[case]["values"] |= code
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
        "counters": counted,
        "tests": outcomes(options, asked.tests, no_gpu),
    }


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("recheck", metavar="PROGRAM", help="the program of experiments: recheck, or your own")
    add(
        "--output",
        type=Path,
        metavar="FILE",
        help="probes.json; without it, only names are checked",
    )
    add("--quick", action="store_true", help="without what only the whole matrix shows")
    add("--tests", default="", metavar="PROGRAM", help="the program of GoogleTest tests")
    add("--ncu", default="", help="Nsight Compute's command line")
    add("--sanitizer", default="", help="compute-sanitizer")
    add("--nvcc", default="", help="NVIDIA's compiler")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    collection = load_collection(options.experiments)
    output = options.output
    try:
        if output is None:
            record = environment(options.recheck, CUDA_VISIBLE_DEVICES="")
            check_names(options, collection, record, tables(options.recheck, record))
            return 0
        # fail before collecting if the file cannot be written
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
        text = json.dumps(probe(options, collection), indent=1, ensure_ascii=False)
        replace(output, f"{text}\n".encode())
    except BadProgram as error:
        raise Failed(str(error), 2) from error
    except (KeyError, TypeError) as error:
        raise Failed(f"{options.recheck} wrote an invalid record: {error}") from error
    except OSError as error:
        why = error.strerror or error
        raise Failed(f"{output}: cannot be written: {why}; choose another") from error
    return 0
