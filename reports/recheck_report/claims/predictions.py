"""What a simulation said of splitting schemes before anything was measured: predictions.toml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recheck_report.model.typed import BadRecord, read_toml, typed


@dataclass(frozen=True)
class Predictions:
    """What a simulation says of splitting schemes: relative Frobenius errors at one K."""

    source: str
    k: int
    rows: dict[str, str]  # the scheme that a family of rows follows
    schemes: dict[str, dict[str, dict[str, float]]]  # by scheme, interval and distribution

    def of(self, family: str, distribution: str) -> list[tuple[int, float]]:
        """(promotion interval, error) of a family's scheme, where the simulation has one."""
        scheme = self.schemes.get(self.rows.get(family, ""), {})
        return [
            (int(interval), errors[distribution])
            for interval, errors in scheme.items()
            if interval.isdecimal() and distribution in errors
        ]


def load_predictions(path: Path) -> Predictions:
    """Raises BadRecord with one line that names the file and the field."""
    document = read_toml(path)
    try:
        found = typed(Predictions, document, "")
    except BadRecord as error:
        raise BadRecord(f"{path}: {error}") from error
    for family, scheme in found.rows.items():
        if scheme not in found.schemes:
            raise BadRecord(f"{path}: field rows.{family}: there is no scheme {scheme!r}")
    return found
