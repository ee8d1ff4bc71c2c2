"""Reads record.json and its samples, schema 6.

Reading checks only schema, types and sizes. A member that is missing, null or of another type gets
its default, an unknown member is ignored, and an unreadable row or case loses only itself.
`Record.unread` lists these.
"""

from __future__ import annotations

import bz2
import re
from dataclasses import replace
from pathlib import Path

from recheck_report.record.case import (
    LONGEST,
    SHAPE,
    SHORTEST,
    Case,
    Entry,
    Raw,
    Seconds,
    Strategy,
    Timing,
)
from recheck_report.record.environment import Gpu, State
from recheck_report.record.record import SCHEMA, STATUS, Document, Experiment, Record
from recheck_report.record.regimes import REGIMES
from recheck_report.record.typed import MOST_BYTES, BadRecord, Notes, bytes_of, read_json, typed

RECORD, SAMPLES = "record.json", "samples.jsonl"
JOURNAL = "record.journal.jsonl"  # of a run that did not end
COMPRESSED = SAMPLES + ".bz2"  # as a report holds it
STEP = 32  # nanoseconds: the step of the events' clock on Hopper, for records that lack it
MOST_LINE = 1 << 22  # bytes of a case's samples; 100000 of them have 1.3 MB


def usable(entry: Timing | None) -> Seconds | None:
    """The time with 0 < low <= median <= high; None if it is missing or zero. A missing end is the
    median."""
    if entry is None or entry.median is None or not SHORTEST < entry.median < LONGEST:
        return None
    low, high = (entry.median if end is None else end for end in (entry.low, entry.high))
    low, high = max(SHORTEST, min(low, entry.median)), min(LONGEST, max(high, entry.median))
    return Seconds(entry.median, low, high, entry.samples, entry.discarded)


def _unsure(entry: Entry, seconds: Seconds | None) -> str | None:
    """Why a time decides nothing; None if it may."""
    if seconds is None or entry.seconds is None:
        return None
    if entry.disturbed:
        return entry.disturbed
    low, high = entry.seconds.low, entry.seconds.high
    if low is None or high is None:
        return "its interval is not known"
    return None if low <= seconds.median <= high else "its interval does not hold its median"


def _step(entry: Entry, row: Strategy, state: State) -> float:
    """The resolution of a case's samples in seconds: the clock's step over the batch. 0 for records
    that lack the step of the host's clock, and for sustained times."""
    regime = REGIMES.get(entry.id.rsplit("/", 1)[1])
    step: float = state.host_step_nanoseconds or 0
    if row.target == "gpu" and regime is not None and regime.steps is not None:
        step = regime.steps * (state.event_step_nanoseconds or STEP)
    return 1e-9 * step / entry.batch


def _sizes(shape: str, axes: tuple[str, ...]) -> dict[str, int]:
    """The extents by axis; numbered axes if the experiment's do not fit."""
    extents = [int(extent) for extent in shape.split("x")]
    if len(axes) != len(extents) or len({*axes}) < len(axes):
        axes = tuple(f"axis{at}" for at in range(1, len(extents) + 1))
    return dict(zip(axes, extents, strict=True))


def _case(entry: Entry, row: Strategy, about: Experiment, raw: Raw | None, state: State) -> Case:
    """A case with the members of its strategy and its samples."""
    _, strategy, shape, regime = entry.id.split("/")
    seconds = usable(entry.seconds) if entry.status == "passed" else None
    members = vars(row) | vars(entry) | (vars(raw) if raw and seconds else {})
    del members["name"], members["seconds"]
    if entry.status == "passed" and seconds is None:
        members["reason"] = entry.reason or "its time is 0 or not known"
    return Case(
        **members,
        strategy=strategy,
        shape=_sizes(shape, about.axes),
        regime=regime,
        seconds=seconds,
        unsure=_unsure(entry, seconds),
        step=_step(entry, row, state),
    )


def _cases(
    document: Document, lines: dict[str, Raw], experiments: dict[str, Experiment], unread: Notes
) -> tuple[Case, ...]:
    """All readable cases. Adds the experiments that only ids name to `experiments`."""
    rows: dict[tuple[str, str], Strategy] = {}
    for row in document.strategies:
        rows.setdefault((row.experiment, row.name), row)
    cases: dict[str, Case] = {}
    for entry in document.cases:
        experiment, strategy = entry.id.split("/")[:2]
        if entry.status not in STATUS:
            unread.append(f"{entry.id} has the unknown status {entry.status!r}")
        if entry.id in cases:
            unread.append(f"{entry.id} appears twice")
        elif (experiment, strategy) not in rows:
            unread.append(f"{entry.id}: the record lists no strategy {experiment}/{strategy}")
        else:
            about = experiments.setdefault(experiment, Experiment(experiment))
            row, raw = rows[experiment, strategy], lines.get(entry.id)
            cases[entry.id] = _case(entry, row, about, raw, document.environment.state)
    return tuple(cases.values())


def _whole(experiment: Experiment, cases: tuple[Case, ...]) -> Experiment:
    """The experiment, with defaults for a missing title or an impossible headline shape."""
    shapes = [case.shape_name for case in cases if case.experiment == experiment.name]
    of_axes = experiment.headline.count("x") + 1 == (shapes[0].count("x") + 1 if shapes else 0)
    fits = re.fullmatch(SHAPE, experiment.headline) and (of_axes or not shapes)
    headline = experiment.headline if fits else (shapes[0] if shapes else "1")
    return replace(experiment, title=experiment.title or experiment.name, headline=headline)


def _raw(data: bytes, where: str, unread: Notes) -> Raw:
    """One line of samples. Drops blocks that do not fit the samples, so comparisons will not pair
    rounds. Raises BadRecord."""
    if len(data) > MOST_LINE:
        raise BadRecord(f"{where}: has more than {MOST_LINE} bytes")
    notes = Notes()
    line = typed(Raw, read_json(data), "", notes)
    unread += [f"{where}: {note}" for note in notes]
    fit = sum(count for _, count in line.blocks) == len(line.samples)
    blocks = line.blocks if fit and not notes else ()
    clocks = (*line.clocks, *[None] * len(blocks))[: len(blocks)]
    return replace(line, blocks=blocks, clocks=clocks)


def _unpacked(data: bytes) -> bytes:
    unpacker = bz2.BZ2Decompressor()
    try:
        text = unpacker.decompress(data, MOST_BYTES + 1)
    except OSError as error:
        raise BadRecord("is damaged") from error
    if len(text) > MOST_BYTES:
        raise BadRecord(f"has more than {MOST_BYTES} bytes of samples")
    if not unpacker.eof:
        raise BadRecord("is cut off")
    return text


def _samples(folder: Path, unread: Notes) -> tuple[dict[str, Raw], dict[str, bytes]]:
    """The lines of samples.jsonl by case id, and the bytes of their file. Both are empty if it is
    missing or damaged: the record still has medians and intervals."""
    # recheck's file is newer than the compressed one of a report
    path = next((p for p in (folder / SAMPLES, folder / COMPRESSED) if p.exists()), None)
    if path is None:
        unread.append(f"{COMPRESSED} is missing")
        return {}, {}
    lines: dict[str, Raw] = {}
    try:
        data = bytes_of(path)
        text = _unpacked(data) if path.name == COMPRESSED else data
    except BadRecord as error:
        unread.append(f"{path.name} {error}")
        return {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            raw = _raw(line, f"{path.name}, line {number}", unread)
            lines.setdefault(raw.id, raw)
        except BadRecord as error:
            unread.append(f"{path.name}, line {number}: {error}")
    return lines, {path.name: data}


def _parse(raw: bytes, folder: Path) -> tuple[Record, dict[str, bytes]]:
    value, unread = read_json(raw), Notes()
    if type(value) is not dict or "schema" not in value:
        raise BadRecord("has no field schema: this is not a record of Recheck")
    schema = typed(int, value["schema"], "schema")
    if schema > SCHEMA:
        raise BadRecord(f"has schema {schema}; this renderer reads {SCHEMA}: update Recheck")
    if schema < SCHEMA:
        raise BadRecord(f"has schema {schema}; this renderer reads {SCHEMA}: measure again")
    if type(value.get("cases")) is not list:
        raise BadRecord("has no list of cases")
    document = typed(Document, value, "", unread)
    experiments: dict[str, Experiment] = {}
    for experiment in document.experiments:
        experiments.setdefault(experiment.name, experiment)
    lines, files = _samples(folder, unread)
    cases = _cases(document, lines, experiments, unread)
    run = vars(document).copy()
    del run["strategies"], run["cases"]
    named = "environment" not in value or document.environment.gpu is not None
    if not named and any(case.seconds and case.target == "gpu" for case in cases):
        unread.append("field environment.gpu names no GPU, but cases have GPU times")
        run["environment"] = replace(document.environment, gpu=Gpu())
    run["ceilings"] = {k: ceiling for k, ceiling in document.ceilings.items() if ceiling.value}
    run["experiments"] = tuple(_whole(experiment, cases) for experiment in experiments.values())
    return Record(**run, cases=cases, unread=tuple(unread)), {RECORD: raw, **files}


def locate(path: Path) -> Path:
    """The record file meant by `path`: itself, or the record.json in that folder."""
    return path / RECORD if path.is_dir() else path


def load(path: Path) -> tuple[Record, dict[str, bytes]]:
    """A record, and the bytes of its files by name. Raises BadRecord if nothing can be used."""
    path = locate(path)
    journal = path.with_name(JOURNAL)
    if not path.exists() and journal.exists():
        where = f"recheck --resume --output={path.parent}"
        raise BadRecord(
            f"{path}: is not written yet, as its run was cut off: continue with {where}"
        )
    try:
        return _parse(bytes_of(path), path.parent)
    except BadRecord as error:
        raise BadRecord(f"{path}: {error}") from error
