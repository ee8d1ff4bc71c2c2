"""Where things stand: the anchor of a case's row, and the folder of a GPU's evidence."""

from __future__ import annotations

from recheck_report.model.record import Case, Experiment


def anchor(prefix: str, case: Case, experiment: Experiment) -> str:
    """The row a case stands in: the headline table's, else that of its regime's full matrix."""
    regime = "" if case.shape_name == experiment.headline else f"{case.regime}-"
    return f"{prefix}{experiment.name}-{regime}{case.strategy}".replace("_", "-")


def slug(name: str) -> str:
    """ "NVIDIA H200" -> "nvidia-h200": letters, digits and single hyphens only."""
    plain = (c if c.isascii() and c.isalnum() else " " for c in name.lower())
    return "-".join("".join(plain).split())
