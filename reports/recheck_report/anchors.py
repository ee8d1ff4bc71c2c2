"""The pages of a report, their anchors, and the folder of a GPU's evidence.

A link names its page even on the page itself, so a sentence can stand on any page.
"""

from __future__ import annotations

import re

from recheck_report.record.record import MEMORY_LEVELS, SPECIAL, Case, Experiment

README, CLAIMS, METHOD = "README.md", "claims.md", "method.md"
ERRATA, CHANGES, LOSSES, CASES = "errata.md", "changes.md", "losses.md", "cases.csv"
DOCUMENTS = f"{README}#documents"  # who wrote what, and when
TABLE = "at-the-headline"  # the anchor of the one table of an experiment


def page(experiment: Experiment) -> str:
    """The page of an experiment; for those about the measurement itself, the method."""
    if experiment.name in SPECIAL:
        return METHOD
    # an experiment may have the name of another page
    taken = re.fullmatch(
        r"(readme|claims|method|errata|changes|losses|summary|cases|compare|evidence)(_experiment)*",
        experiment.name,
    )
    return f"{experiment.name}{'_experiment' if taken else ''}.md"


def anchor(case: Case, experiment: Experiment) -> str:
    """The anchor of a case's row; a memory level has a row for each size. Points of a sweep have no
    row, and lead to the table."""
    if experiment.name in SPECIAL:
        name = row_anchor(experiment, case.strategy, case.regime)
        return f"{name}-{case.shape_name}" if experiment.name == MEMORY_LEVELS else name
    return TABLE if case.sweep else row_anchor(experiment, case.strategy)


def row_anchor(experiment: Experiment, strategy: str, regime: str = "") -> str:
    """ "tile16"; of the machine's rows "machine-hot-ffma"."""
    about = experiment.name if experiment.name in SPECIAL else ""
    name = "-".join(text for text in (about, regime, strategy) if text)
    return re.sub(r"[^\w.-]", "-", name)


def place(case: Case, experiment: Experiment) -> str:
    """ "matmul.md#tile16"."""
    return f"{page(experiment)}#{anchor(case, experiment)}"


def claim_anchor(name: str) -> str:
    return f"claim-{name.lower()}"


def claim_place(name: str) -> str:
    """ "claims.md#claim-c14"."""
    return f"{CLAIMS}#{claim_anchor(name)}"
