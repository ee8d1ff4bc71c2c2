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
import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recheck_report.claims.collection import SNIPPETS, Collection, load_collection
from recheck_report.claims.names import Tables, faults
from recheck_report.claims.toml import BadClaim
from recheck_report.collect.ncu import NO_NCU, Profiler, counters
from recheck_report.collect.plan import environment, tables, wanted
from recheck_report.collect.programs import is_program, say
from recheck_report.collect.sass import machine_code
from recheck_report.collect.tests import listed, outcomes
from recheck_report.commands import Failed, experiments_option
from recheck_report.files import replace
from recheck_report.record.probes import SCHEMA, Counters, Origin, Probes, read_probes
from recheck_report.record.record import Record
from recheck_report.record.typed import BadRecord, list_or_nearest


def checked_names(options: argparse.Namespace, collection: Collection, record: Record) -> Tables:
    """The names of the program and its tests. Raises BadClaim with a line for each name of the
    claims that they lack."""
    names = tables(options.recheck, record)
    # GPU tests exist only in builds with CUDA
    if is_program(options.tests) and record.environment.cuda_runtime:
        names = dataclasses.replace(names, tests=listed(options.tests))
    if lines := [*faults(collection, names)]:
        raise BadClaim(*lines)
    return names


def earlier_probes(file: Path, here: Origin) -> Probes | None:
    """A probes.json, if it is of this program on this machine."""
    try:
        found = read_probes(file)
    except BadRecord:
        return None
    return found if found and found.environment == here else None


def added(known: dict[str, Counters], counted: dict[str, Counters]) -> dict[str, Counters]:
    """The counters of an earlier collection and of this one. A case that has some keeps them, even
    if it could not be counted again."""
    both = known | counted
    for case in known.keys() & counted.keys():
        if values := known[case].values | counted[case].values:
            both[case] = Counters(None, values)
    return both


def probe(options: argparse.Namespace, collection: Collection) -> Probes:
    record = environment(options.recheck)
    headlines = {each.name: each.headline for each in record.experiments}
    names = checked_names(options, collection, record)
    for name in dict.fromkeys(claim.experiment for claim in collection.claims):
        if name not in names.axes:  # another program may have it
            nearest = list_or_nearest(names.axes, name)
            say(f"{name}: the program has no such experiment; {nearest}")
    env, gpu = record.environment, record.environment.gpu
    no_gpu = None if gpu else env.gpu_reason or "no CUDA device"
    uuid_hash = gpu.uuid_hash if gpu else None
    here = Origin(record.gpu or None, env.driver, env.git.commit, env.git.dirty, uuid_hash)
    part, earlier = options.part, None
    if part == "rest":
        earlier = earlier_probes(options.output, here)
        part = part if earlier else None  # everything
    known = earlier.counters if earlier else {}
    asked = wanted(collection, headlines, part)
    asked.cases = {
        case: names
        for case, names in asked.cases.items()
        if case not in known or not names <= known[case].values.keys()
    }
    parts = [name for name, row in names.rows.items() if row.part_of]
    reason = no_gpu or (None if is_program(options.ncu) else NO_NCU)
    attributes: dict[str, float] = {}
    profiler = Profiler(options.ncu, options.recheck, set().union(*asked.cases.values()))
    if asked.cases or asked.attributes:
        if not reason:
            attributes, reason = profiler.trial()
        if reason:
            say(f"counters and attributes: {reason}")
    tools = options.tests, options.sanitizer, options.nvcc, options.experiments / SNIPPETS, no_gpu
    compiled = [key for key in asked.tests if key.startswith("compile:")]
    with ThreadPoolExecutor(1) as pool:  # compilers do not disturb the counters; other tests may
        meanwhile = pool.submit(outcomes, compiled, *tools)
        counted = counters(profiler, asked.cases, reason, parts)
    kernels = {
        case: name
        for case, name in profiler.kernels.items()
        if case in asked.code and counted[case].reason is None
    }
    for case, code in machine_code(options.nvcc, options.recheck, gpu, kernels).items():
        counted[case].values.update(code)
    tests = outcomes([key for key in asked.tests if key not in compiled], *tools)
    tests |= meanwhile.result()
    if earlier:
        return dataclasses.replace(earlier, counters=added(known, counted))
    return Probes(SCHEMA, here, attributes, counted, tests)


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("recheck", metavar="PROGRAM", help="the program of experiments: recheck, or your own")
    says = "probes.json; without it, only names are checked"
    add("--output", type=Path, metavar="FILE", help=says)
    says = "only what claims need, or add to FILE what only the whole matrix shows"
    add("--part", choices=("claims", "rest"), help=says)
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
            checked_names(options, collection, record)
            return 0
        # fail before collecting if the file cannot be written
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_dir():
            raise Failed(f"{output}: cannot be written: it is a folder; choose another")
        probes = dataclasses.asdict(probe(options, collection))
        text = json.dumps(probes, indent=1, ensure_ascii=False)
        replace({output: f"{text}\n".encode()})
    except OSError as error:
        why = error.strerror or error
        raise Failed(f"{output}: cannot be written: {why}; choose another") from error
    return 0
