"""What the JSON files beside a record have in common: where they are, which code and machine they
are about, and the one line for one that cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from recheck_report.model.record import Record
from recheck_report.model.typed import BadRecord, Is, T, bytes_of, read_json, typed

PROBES = "probes.json"  # a report takes it along

Commit = Annotated[str | None, Is("as in the record", pattern="^([0-9a-f]{40}|unknown)$")]


@dataclass(frozen=True)
class Origin:
    """Which code and machine a file beside a record is about."""

    gpu: Annotated[str | None, Is("model; null without one")]
    driver: Annotated[str | None, Is("as in the record")]
    commit: Commit
    dirty: Annotated[bool, Is("as in the record")]
    uuid_hash: Annotated[str | None, Is("as in the record", pattern="^[0-9a-f]{16}$")]

    def foreign(self, record: Record, what: str, machine: bool = True) -> str | None:
        """Why `what` has another origin than that record; None if it has the same. `machine`: what
        depends on the code alone may have been found out on any."""
        env = record.environment
        pairs = (
            ("GPU", self.gpu, env.gpu.name if env.gpu else None),
            ("driver", self.driver, env.driver),
            ("commit", self.commit, env.git.commit),
        )
        for field, own, measured in pairs if machine else pairs[-1:]:
            if own != measured:
                return f"{what} has {field} {own}, the record {measured}"
        return None


def read(
    kind: type[T], known: int, path: Path, name: str, again: str,
    error: type[BadRecord] = BadRecord,
) -> T | None:  # fmt: skip
    """The JSON file of that name in a report folder or beside a record, or `path` itself if it is
    one of its kind; None where there is none. `known`: its schema.

    Raises `error` with one line that names the file and the field, and says what to do `again`.
    """
    subject = kind.__name__.lower()
    folder = path if path.is_dir() else path.parent
    own = not path.is_dir() and path.name.startswith(re.split("[_.]", name)[0])
    file = path if own else folder / name
    todo = f"{again} again"
    try:
        document = read_json(bytes_of(file))
        if type(document) is not dict or "schema" not in document:
            raise BadRecord(f"has no field schema: this is no {subject}.json of Recheck")
        if (schema := document["schema"]) != known or type(schema) is not int:
            if type(schema) is int and schema > known:
                todo = "update Recheck"
            raise BadRecord(f"has schema {repr(schema)[:40]}; this renderer reads schema {known}")
        return typed(kind, document)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise error(f"{file}: cannot be read: {problem.strerror}") from problem
    except BadRecord as problem:
        raise error(f"{file}: {problem}; {todo}") from problem
