"""ReFrame's settings for a fleet: where the files of a run go.

Each run has its own folder, $RECHECK_FLEET/runs/<time>: report.json, junit.xml, reframe.log,
output/, stage/. A dry run submits no jobs, so it does not count as a run.
"""

import copy
import os
import sys
import time
from pathlib import Path

from reframe.core.settings import site_configuration as defaults

TREE = Path(__file__).resolve().parents[2]
FLEET = Path(os.environ.get("RECHECK_FLEET") or TREE / "build/release/fleet").resolve()
KIND = "dry-runs" if "--dry-run" in sys.argv else "runs"
RUN = FLEET / KIND / time.strftime("%Y-%m-%dT%H-%M-%S")
RUN.mkdir(parents=True)
os.environ |= {
    "RFM_PREFIX": str(RUN),
    "RFM_REPORT_FILE": str(RUN / "report.json"),
    "RFM_REPORT_JUNIT": str(RUN / "junit.xml"),
    "RFM_TOPOLOGY_PREFIX": str(FLEET / "topology"),
    "RECHECK_FLEET": str(FLEET),
}
site_configuration = {"logging": copy.deepcopy(defaults["logging"])}
site_configuration["logging"][0]["handlers"][0]["name"] = str(RUN / "reframe.log")
