"""Reads probes.json, schema 1: what was found out about a record's code besides its times.

Counters of Nsight Compute, attributes of the device, outcomes of single tests; made by
experiments/harness/probes.py on the machine that measured, and kept beside the record.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from record import BadRecord, Record, typed

SCHEMA = 1


class BadProbes(BadRecord):
    """The file is not in form; str() is one line for the user."""


@dataclass(frozen=True)
class Origin:
    gpu: str | None
    driver: str | None
    commit: str | None
    dirty: bool
    tools: dict[str, str | None]


@dataclass(frozen=True)
class Counters:
    reason: str | None  # why there are none
    values: dict[str, float]


@dataclass(frozen=True)
class Trial:
    reason: str | None  # why it has no outcome
    outcome: str | None  # pass, fail; hazards, clean
    count: int  # of hazards


@dataclass(frozen=True, eq=False)
class Probes:
    schema: int
    environment: Origin
    attributes: dict[str, float]
    counters: dict[str, Counters]
    tests: dict[str, Trial]

    def foreign(self, record: Record) -> str | None:
        """Why these probes are not about that record; None if they are."""
        env, own = record.environment, self.environment
        pairs = (
            ("GPU", own.gpu, env.gpu.name if env.gpu else None),
            ("driver", own.driver, env.driver),
            ("commit", own.commit, env.git.commit),
        )
        for what, probed, measured in pairs:
            if probed != measured:
                return f"probes.json has {what} {probed}, the record {measured}"
        return None


def load_probes(path: Path) -> Probes | None:
    """The probes in a report folder, beside a record, or in a file; None where there are none.

    Raises BadProbes with one line that names the file, the field and what to do.
    """
    folder = path if path.is_dir() else path.parent
    file = path if path.name.startswith("probes") else folder / "probes.json"
    try:
        document = json.loads(file.read_bytes())
        if type(document) is not dict or "schema" not in document:
            raise BadRecord("has no field schema: these are not Recheck's probes")
        if (schema := typed(int, document["schema"], "schema")) != SCHEMA:
            raise BadRecord(f"has schema {schema}; this renderer reads schema {SCHEMA}")
        return typed(Probes, document, "")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadProbes(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadProbes(f"{file}: is not complete JSON; collect the probes again") from error
    except BadRecord as error:
        raise BadProbes(f"{file}: {error}; collect the probes again") from error
