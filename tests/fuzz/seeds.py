"""Cuts the committed record small, for the fuzzers to begin with: seeds.py RESULTS FOLDER.

FOLDER gets for each target a folder with a file for each seed, and a dictionary of words.
"""

import bz2
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

CASES = [
    f"matmul/{name}/1024x1024x1024/{regime}"
    for name, regime in (("tile16", "cold"), ("tile16", "hot"), ("cpu_serial", "hot"))
]
SAMPLES = 8
FLAGS = [
    "--quick",
    "--strategy=tile16,cublas\n--shape=3000x1000x500,9x8x7\n--regime=cold,hot",
    "--experiment=matmul,audit\n--budget=5min\n--seed=7\n--per-case=0.2",
    "--benchmark_filter=-tile.*/(cold|hot)$\n--resume",
    "--experiment=transpose\n--shape=64x65\n--budget=0.8s",
]


def cut(case: Json, raw: Json) -> tuple[Json, Json]:
    """A case and its samples as they would be, had it been sampled less."""
    taken = sorted(raw["samples"][:SAMPLES])
    middle = (taken[(SAMPLES - 1) // 2] + taken[SAMPLES // 2]) / 2
    seconds = {"median": round(middle, 10), "low": taken[0], "high": taken[-1]}
    case = {**case, "seconds": {**seconds, "samples": SAMPLES, "discarded": 0}}
    blocks = [[0, SAMPLES - 2], [1, 2]]
    return case, {**raw, "samples": taken, "blocks": blocks, "clocks": [raw["clocks"][0], None]}


def words(value: object) -> Iterator[str]:
    """Every key and every short string of a JSON value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from words(each)
    elif isinstance(value, list):
        for each in value:
            yield from words(each)
    elif isinstance(value, str) and value.isascii() and len(value) < 40:
        yield value


def main(results: Path, folder: Path) -> None:
    """Writes the seeds."""
    record = json.loads((results / "record.json").read_text())
    with bz2.open(results / "samples.jsonl.bz2", "rt") as lines:
        samples = {raw["id"]: raw for raw in map(json.loads, lines) if raw["id"] in CASES}
    pairs = [cut(c, samples[c["id"]]) for c in record["cases"] if c["id"] in CASES]
    record["environment"]["cubins"] = None
    record["experiments"] = record["strategies"] = []
    record["plan"]["dropped"] = record["plan"]["dropped"][:1]
    times = {name: record[name] for name in ("wall_seconds", "overhead")}
    seen = {name: record["environment"][name] for name in ("state", "unknown")}
    seeds: dict[str, list[str]] = {"flags": FLAGS, "record": [], "journal": []}
    for count in range(len(pairs) + 1):
        some = pairs[:count]
        short = record | {"cases": [case for case, _ in some]}
        raws = "".join(json.dumps(raw) + "\n" for _, raw in some)
        seeds["record"].append(json.dumps(short, indent=1) + "\x1e" + raws)
        lines_of = [json.dumps({"case": c, "raw": raw, "times": times, **seen}) for c, raw in some]
        unmeasured = {"status": "not_run", "reason": "not reached", "seconds": None}
        begun = record | {"cases": [case | unmeasured for case, _ in pairs]}
        seeds["journal"].append("\n".join([json.dumps(begun), *lines_of]) + "\n")
    for target, texts in seeds.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(texts):
            (folder / target / f"seed{number}").write_text(text)
    known = sorted(set(words(record)) | set(words([case for case, _ in pairs])))
    numbers = ["1e308", "-1", "18446744073709551615", "2147483648", "null", "true", "1e-320"]
    entries = [json.dumps(json.dumps(word)) for word in known] + [json.dumps(n) for n in numbers]
    for target in ("record", "journal"):
        (folder / f"{target}.dict").write_text("\n".join(entries) + "\n")
    pieces = {piece for line in "\n".join(FLAGS).split() for piece in re.split("(?<=[=,/])", line)}
    (folder / "flags.dict").write_text("".join(json.dumps(p) + "\n" for p in sorted(pieces) if p))


main(Path(sys.argv[1]), Path(sys.argv[2]))
