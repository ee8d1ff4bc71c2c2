"""What a report needs to be forwarded, cited and published: an artifact appendix, CITATION.cff, the
metadata of an RO-Crate, and one zip file of it all."""

from __future__ import annotations

from recheck_report import templates
from recheck_report.bundle.archive import write_archive
from recheck_report.bundle.citation import CITATION, citation
from recheck_report.bundle.crate import METADATA, metadata
from recheck_report.bundle.identity import folder_name
from recheck_report.claims.measured import Measured
from recheck_report.sections import appendix

__all__ = ["CITATION", "METADATA", "described", "folder_name", "papers", "write_archive"]


def papers(own: Measured, mark: str) -> dict[str, bytes]:
    """The pages about a report that its reader need not read: the appendix and the citation."""
    text = templates.render("appendix.md.j2", mark=mark, **appendix.values(own))
    return {"appendix.md": text.encode(), CITATION: citation(own)}


def described(own: Measured, files: dict[str, bytes]) -> dict[str, bytes]:
    """All files of a report with their metadata in front, so that README.md stays the last.

    It lies in the folder and not in the zip file alone: the root of an RO-Crate is the folder that
    holds the metadata, so the folder is one as it stands, on a code host as well.
    """
    return {METADATA: metadata(own, files), **files}
