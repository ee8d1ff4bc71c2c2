"""The samples, too large to stand in the page as text: zlib in base64, which browsers unpack."""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from array import array

from recheck_report.record.record import Record


def samples(record: Record) -> str:
    """All samples, packed: three counts of 4 bytes, little endian, then as many numbers of 4 bytes.

    samples      float32, seconds, case after case in the record's order
    rounds       uint32, of each block
    counts       uint32, of samples in each block
    How many samples and blocks each case has, the page's table of cases says.
    """
    blocks = [block for case in record.cases for block in case.blocks]
    parts = (
        array("f", [each for case in record.cases for each in case.samples]),
        array("I", [number % 2**32 for number, _ in blocks]),
        array("I", [count for _, count in blocks]),
    )
    if sys.byteorder == "big":
        for part in parts:
            part.byteswap()
    data = struct.pack("<3I", *(len(part) for part in parts)) + b"".join(
        part.tobytes() for part in parts
    )
    # gzip's header names a system, and Python 3.13 writes another name than 3.12
    return base64.b64encode(zlib.compress(data, 9)).decode()
