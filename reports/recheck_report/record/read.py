"""Reads record.json and the samples beside it, schema 6 (and 5, whose form has the same members).

Reading checks form alone: schema, types, sizes. What a record says of a machine is never refused: a
member that is missing, null or not of its type gets its default, one that we do not know is
ignored, and a row or case that cannot be read costs only itself. `Record.unread` says which.
"""

from __future__ import annotations

import bz2
import re
from dataclasses import fields, replace
from pathlib import Path

from recheck_report.record.case import (
    LONGEST,
    SHAPE,
    SHORTEST,
    Case,
    Entry,
    Raw,
    Result,
    Row,
    Seconds,
    Strategy,
    Timing,
)
from recheck_report.record.environment import Gpu, State
from recheck_report.record.record import OLDEST, SCHEMA, STATUS, Document, Experiment, Record, Run
from recheck_report.record.typed import MOST_BYTES, BadRecord, Notes, bytes_of, read_json, typed

RECORD, SAMPLES = "record.json", "samples.jsonl"
JOURNAL = "record.journal.jsonl"  # of a run that came to no end
COMPRESSED = SAMPLES + ".bz2"  # as a report holds it
STEP = 32  # nanoseconds: of the clock that events read, where a record does not say it; Hopper's
# regimes timed by it, and how many steps a sample may be off: drained is the difference of two
# times, and inner a hundredth of one
STEPS = {"cold": 1.0, "hot": 1.0, "drained": 2.0, "inner": 0.01}
MOST_LINE = 1 << 22  # bytes of a case's samples; 100000 of them have 1.3 MB


def usable(entry: Timing | None) -> Seconds | None:
    """The time with 0 < low <= median <= high; None where a clock had no tick, or it is not said.
    An end that is not known is the median."""
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
    """The step of the clock that timed a case, as its samples have it, in seconds; 0 of the host's,
    which is too small to matter."""
    regime = entry.id.rsplit("/", 1)[1]
    if row.target != "gpu" or regime not in STEPS:
        return 0.0
    return STEPS[regime] * 1e-9 * (state.event_step_nanoseconds or STEP) / entry.batch


def _sizes(shape: str, axes: tuple[str, ...]) -> dict[str, int]:
    """The extents by the experiment's axes, or by numbers where these do not fit."""
    extents = [int(each) for each in shape.split("x")]
    if len(axes) != len(extents) or len({*axes}) < len(axes):
        axes = tuple(f"axis{at}" for at in range(1, len(extents) + 1))
    return dict(zip(axes, extents, strict=True))


def _case(entry: Entry, row: Strategy, about: Experiment, raw: Raw | None, state: State) -> Case:
    """A case with the members of its strategy and its samples."""
    _, strategy, shape, regime = entry.id.split("/")
    own = {each.name: getattr(row, each.name) for each in fields(Row)}
    own |= {each.name: getattr(entry, each.name) for each in fields(Result)}
    seconds = usable(entry.seconds) if entry.status == "passed" else None
    if entry.status == "passed" and seconds is None:
        own["reason"] = entry.reason or "its time is 0 or not known"
    return Case(
        **own,
        strategy=strategy,
        shape=_sizes(shape, about.axes),
        regime=regime,
        raw=raw if raw and seconds else Raw(entry.id),
        seconds=seconds,
        unsure=_unsure(entry, seconds),
        step=_step(entry, row, state),
    )


def _cases(
    document: Document, lines: dict[str, Raw], known: dict[str, Experiment], unread: Notes
) -> tuple[Case, ...]:
    """All cases that can be read; adds experiments that are in ids alone to those known."""
    rows: dict[tuple[str, str], Strategy] = {}
    for row in document.strategies:
        rows.setdefault((row.experiment, row.name), row)
    found: dict[str, Case] = {}
    for entry in document.cases:
        experiment, strategy = entry.id.split("/")[:2]
        if entry.status not in STATUS:
            unread.append(
                f"{entry.id} has the status {entry.status!r}, which no case of Recheck has"
            )
        if entry.id in found:
            unread.append(f"{entry.id} appears twice")
        elif (experiment, strategy) not in rows:
            unread.append(f"{entry.id} is of no strategy: there is no {experiment}/{strategy}")
        else:
            about = known.setdefault(experiment, Experiment(experiment))
            row, raw = rows[experiment, strategy], lines.get(entry.id)
            found[entry.id] = _case(entry, row, about, raw, document.environment.state)
    return tuple(found.values())


def _whole(each: Experiment, cases: tuple[Case, ...]) -> Experiment:
    """With a title and a headline shape, where the file has none that could be one."""
    shapes = [case.shape_name for case in cases if case.experiment == each.name]
    of_axes = each.headline.count("x") + 1 == (shapes[0].count("x") + 1 if shapes else 0)
    fits = re.fullmatch(SHAPE, each.headline) and (of_axes or not shapes)
    headline = each.headline if fits else (shapes[0] if shapes else "1")
    return replace(each, title=each.title or each.name, headline=headline)


def _raw(data: bytes, where: str, unread: Notes) -> Raw:
    """How a case was timed. Blocks that do not fit its samples are left out, so that none of its
    comparisons is by rounds; raises BadRecord for what is no line of samples."""
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
    text = unpacker.decompress(data, MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise BadRecord(f"has more than {MOST_BYTES} bytes of samples")
    if not unpacker.eof:
        raise EOFError("it is cut off")
    return text


def _samples(folder: Path, unread: Notes) -> tuple[dict[str, Raw], dict[str, bytes]]:
    """The lines of samples.jsonl by their cases' ids, and the file that held them, as it is; none
    where it is missing or damaged, as medians and intervals stand in the record."""
    # of recheck's own file and a report's, the former is what was measured last
    path = next((p for p in (folder / SAMPLES, folder / COMPRESSED) if p.exists()), None)
    if path is None:
        unread.append(f"{COMPRESSED} is missing")
        return {}, {}
    found: dict[str, Raw] = {}
    try:
        data = bytes_of(path)
        text = _unpacked(data) if path.name == COMPRESSED else data
    except (EOFError, OSError, BadRecord) as error:
        unread.append(f"{path.name} cannot be read: {error}")
        return {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            raw = _raw(line, f"{path.name}, line {number}", unread)
            found.setdefault(raw.id, raw)
        except BadRecord as error:
            unread.append(f"{path.name}, line {number}: {error}")
    return found, {path.name: data}


def _parse(raw: bytes, folder: Path) -> tuple[Record, dict[str, bytes]]:
    value, unread = read_json(raw), Notes()
    if type(value) is not dict or "schema" not in value:
        raise BadRecord("has no field schema: this is not a record of Recheck")
    schema = typed(int, value["schema"], "schema")
    if schema > SCHEMA:
        raise BadRecord(f"has schema {schema}; this renderer reads {SCHEMA}: update Recheck")
    if schema < OLDEST:
        raise BadRecord(f"has schema {schema}; this renderer reads {OLDEST} and {SCHEMA}")
    if type(value.get("cases")) is not list:
        raise BadRecord("has no list of cases")
    document = typed(Document, value, "", unread)
    known: dict[str, Experiment] = {}
    for each in document.experiments:
        known.setdefault(each.name, each)
    lines, files = _samples(folder, unread)
    cases = _cases(document, lines, known, unread)
    run = {each.name: getattr(document, each.name) for each in fields(Run)}
    named = "environment" not in value or document.environment.gpu is not None
    if not named and any(each.seconds and each.target == "gpu" for each in cases):
        unread.append("field environment.gpu names no GPU, and there are times of one")
        run["environment"] = replace(document.environment, gpu=Gpu())
    run["ceilings"] = {k: each for k, each in document.ceilings.items() if each.value}
    run["experiments"] = tuple(_whole(each, cases) for each in known.values())
    return Record(**run, cases=cases, unread=tuple(unread)), {RECORD: raw, **files}


def compressed(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same files in their order with the samples compressed, as a report holds them."""
    return {
        COMPRESSED if name == SAMPLES else name: bz2.compress(data) if name == SAMPLES else data
        for name, data in files.items()
    }


def locate(path: Path) -> Path:
    """The record file meant by `path`: itself, or the record.json in that folder."""
    return path / RECORD if path.is_dir() else path


def load(path: Path) -> tuple[Record, dict[str, bytes]]:
    """Reads a record; returns it with the bytes of its files: record.json, and that of its samples.

    Raises BadRecord with one line that names the file and what is wrong, where nothing can be used.
    """
    path = locate(path)
    journal = path.with_name(JOURNAL)
    if not path.exists() and journal.exists():
        where = f"recheck --resume --output={path.parent}"
        raise BadRecord(f"{path}: is not written yet, as its run was cut off: go on with {where}")
    try:
        return _parse(bytes_of(path), path.parent)
    except OSError as error:
        raise BadRecord(f"{error.filename}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        raise BadRecord(f"{path}: {error}") from error
