"""report.html: the whole record as one file that a browser opens without a network.

A pure function of the record: the data stands in the page as JSON, all samples as compressed
float32, and scripts of this folder show them. No string of a record becomes markup or code: the
page's policy lets run no script but the one whose hash it names, and those only write text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from recheck_report.claims.measured import Measured
from recheck_report.page import data, packing
from recheck_report.page.data import Peak, title

__all__ = ["Peak", "embedded", "page", "title"]

# concatenated in this order; each is one idea
SCRIPTS = (
    "data", "format", "dom", "text", "table", "address", "plot",
    "summary", "claims", "speed", "samples", "accuracy", "compare", "evidence", "main",
)  # fmt: skip
_HERE = Path(__file__).parent
# characters that could end the element that holds the data, or a line of it
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def page(own: Measured, peak: data.Peak | None = None) -> bytes:
    """The page of a record; `peak`: what another report adds to its answer."""
    script = "".join((_HERE / "js" / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    style = (_HERE / "page.css").read_text("utf-8")
    values = {
        "title": html.escape(title(own.record)),
        "policy": "; ".join(
            (
                "default-src 'none'",
                f"script-src {_hash(script)}",
                f"style-src {_hash(style)}",
                "img-src data:",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
        "style": style,
        "script": script,
        "data": embedded(data.of(own, peak)),
        "samples": packing.samples(own.record),
    }
    text = (_HERE / "page.html").read_text("utf-8")
    return re.sub(r"{{ (\w+) }}", lambda found: values[found[1]], text).encode()


def embedded(value: Any) -> str:
    """JSON that may stand inside a <script>: no string of it can end the element."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
    )
    return text.translate(_UNSAFE)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
