"""What the JSON files beside a record have in common: where they are, which code and machine they
are about, and the one line for one that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recheck_report.model.record import BadRecord, Record, T, typed

PROBES, ACCURACY, LARGER = "probes.json", "accuracy.json", "accuracy_large.json"
FILES = (PROBES, ACCURACY, LARGER)  # that a report may hold, and takes along


@dataclass(frozen=True)
class Origin:
    """Which code and machine a file beside a record is about."""

    gpu: str | None
    driver: str | None
    commit: str | None
    dirty: bool
    uuid_hash: str | None

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
    kind: type[T],
    path: Path,
    name: str,
    schema: int,
    strange: str,
    again: str,
    error: type[BadRecord],
    check: Callable[[T], None] = lambda _: None,
) -> T | None:
    """The JSON file of that name in a report folder or beside a record, or `path` itself if it is
    one of its kind; None where there is none.

    Raises `error` with one line that names the file and the field: `strange` says that it is
    something else, `again` what to do.
    """
    folder = path if path.is_dir() else path.parent
    file = path if path.name.startswith(re.split("[_.]", name)[0]) else folder / name
    try:
        document = json.loads(file.read_bytes())
        if type(document) is not dict or "schema" not in document:
            raise BadRecord(f"has no field schema: {strange}")
        if (found := typed(int, document["schema"], "schema")) != schema:
            raise BadRecord(f"has schema {found}; this renderer reads schema {schema}")
        content = typed(kind, document, "")
        check(content)
        return content
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise error(f"{file}: cannot be read: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise error(f"{file}: is not complete JSON; {again} again") from problem
    except BadRecord as problem:
        raise error(f"{file}: {problem}; {again} again") from problem
