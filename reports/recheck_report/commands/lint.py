"""Checks a rendered report against the twelve rules of scientific benchmarking.

The rules are those of Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems"
(SC'15), each as far as a program can check it: in the Markdown, in the charts, and, where a report
cannot show it, in the renderer's own source. Exit code 1: the first line of each
broken rule says where.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from xml.etree import ElementTree

from recheck_report.anchors import BESIDE, README
from recheck_report.claims import load_collection
from recheck_report.claims.names import Tables, faults
from recheck_report.commands import Failed
from recheck_report.model.record import load as load_record
from recheck_report.model.typed import bytes_of

HERE = Path(__file__).parents[1]  # the package
TIME = r"\d[\d.]*[\s\u00a0](?:s|ms|µs|ns)\b"
RATIO = re.compile(r"[\d.]+ times as (fast|long) \[([\d.]+), ([\d.]+)\]")
GAPS = ["strategy", "shapes", "regime", "status", "reason", "cases"]
CLAIMS = ["id", "verdict", "claim", "said then", "here"]
# a document's own numbers stand as it gives them, and a collection's sentences as they were written
OWN = (
    "then",
    "then, GiB/s",
    "as printed",
    "said then",
    "asked",
    "asked before",
    "expected",
    "reason",
    "why",
    "as written",
    "what is right",
)
COSTS = ("their time", "what the record says")  # of the run itself, which was measured once


def _sources() -> dict[str, str]:
    files = sorted(HERE.rglob("*.py"))
    return {str(path.relative_to(HERE)): path.read_text(encoding="utf-8") for path in files}


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        return [row[self.columns.index(name)] for row in self.rows]


@dataclass(frozen=True)
class Report:
    """A report's pages in one text, its charts by file name, and the source that rendered it."""

    text: str
    charts: dict[str, str]
    sources: dict[str, str] = field(default_factory=_sources)

    @property
    def sentences(self) -> list[str]:
        """The lines of the findings, those on the most surprising verdicts, and cells that compare
        as they do."""
        start = r"^(?:  - |- (?=\*\*\[[A-Za-z][\w.-]*\]\(claims\.md#))(.*)$"
        cells = (cell for table in self.tables for row in table.rows for cell in row)
        compared = [cell for cell in cells if re.search(r"\*\*(faster|slower)\*\*,", cell)]
        return [*re.findall(start, self.text, re.M), *compared]

    @cached_property
    def prose(self) -> str:
        """The text without its tables, on one line."""
        kept = [line for line in self.text.split("\n") if not line.startswith("|")]
        return re.sub(r"\s+", " ", " ".join(kept).replace("> ", " "))

    @cached_property
    def tables(self) -> list[Table]:
        found, lines = [], self.text.split("\n")
        for at, line in enumerate(lines):
            if line.startswith("| ---"):
                end = at + 1
                while end < len(lines) and lines[end].startswith("|"):
                    end += 1
                rows = [_cells(row) for row in lines[at + 1 : end]]
                found.append(Table(_cells(lines[at - 1]), rows))
        return found

    def says(self, *phrases: str) -> list[str]:
        """A problem for each phrase that the prose lacks."""
        prose = self.prose
        return [f"the report does not say {p!r}" for p in phrases if p not in prose]

    def never(self, *patterns: str) -> list[str]:
        found = (re.search(pattern, self.prose, re.I) for pattern in patterns)
        return [f"the report says {match[0]!r}" for match in found if match]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def base_case(report: Report) -> list[str]:
    """1. A speed-up says over what, and how long that took."""
    found = []
    for line in report.sentences:
        here = line.rpartition("Measured: ")[2]  # a document's own times are no base
        if len(RATIO.findall(here)) > len(re.findall(TIME, here)):
            found.append(f"a ratio without its times: {line}")
    for table in report.tables:
        for base in re.findall(r"speed-up over `(\w+)`", " ".join(table.columns)):
            rows = [row for row in table.rows if f"`{base}`" in row[0]]
            # sweeps and every shape stand apart from the base's own row, which the first table has
            if any("base" in row for row in table.rows) and not any(
                re.search(TIME, cell) for row in rows for cell in row
            ):
                found.append(f"the base {base} has no time in its table")
    for alt in re.findall(r"^!\[(.*? times as fast as .*?)\]\(", report.text, re.M):
        if not re.search(rf" times as fast as \w+ \({TIME}\)", alt):
            found.append(f"a chart's base has no time: {alt}")
    return found


def subsets(report: Report) -> list[str]:
    """2. What was left out is named, and why."""
    found, named = [], 0
    for table in report.tables:
        if "reason" in table.columns:
            empty = [row for row, why in zip(table.rows, table.column("reason"), strict=True)
                     if not why.strip("– ")]  # fmt: skip
            found += [f"no reason: {' '.join(row)}" for row in empty]
        if table.columns == GAPS:
            named += sum(int(count) for count in table.column("cases"))
    counts = re.findall(r"(\d+) (passed|unsupported|not run|incorrect|failed)[,.]", report.prose)
    missing = sum(int(count) for count, status in counts if status != "passed")
    if not counts or missing != named:
        found.append(f"{missing} cases have no time, {named} are named with a reason")
    found += _unjudged(report)
    undrawn = re.findall(r"^\*.*: not drawn: *\.?\*$", report.text, re.M)
    return found + [f"no reason: {line}" for line in undrawn]


def _unjudged(report: Report) -> list[str]:
    """Every claim has its row, and one that was not measured says why."""
    found = []
    for said in re.findall(r"^\*\*(\d+ of (\d+) claims? .*)\.\*\*$", report.text, re.M)[:1]:
        tables = [table for table in report.tables if table.columns == CLAIMS]
        rows = [row for table in tables for row in table.rows]
        counts = re.findall(r"\d+", said[0].replace(f"of {said[1]}", ""))
        words = ("holds", "fails", "inconclusive", "not measured")
        verdicts = [row[1].strip("*") for row in rows]
        if [str(verdicts.count(word)) for word in words] != counts or len(rows) != int(said[1]):
            found.append(f"the verdicts of the table are not those counted: {said[0]}")
        found += [
            f"no reason: {row[2]}"
            for row in rows
            if row[1] == "**not measured**" and not row[4].strip("– ")
        ]
    return found


def rates(report: Report) -> list[str]:
    """3. Only costs may be averaged arithmetically: no mean of rates stands anywhere."""
    unit = r"(throughput|bandwidth|rate|[GT]FLOP/s|GB/s)"
    found = report.says("Rates count the problem's compulsory work", "over the median time")
    found += report.never(rf"\b(mean|average)\b[^.|]{{0,30}}\b{unit}")
    for table in report.tables:
        totals = [row[0] for row in table.rows if re.fullmatch(r"\W*(mean|average)\W*", row[0])]
        found += [f"a table has a row {name}" for name in totals]
    return found


def ratios(report: Report) -> list[str]:
    """4. Ratios are not summarised: no mean of speed-ups, neither in words nor in the program."""
    found = report.says("No ratio is summarised")
    found += report.never(r"\b(mean|average|geometric)\b[^.|]{0,40}(speed-ups?|\d×)")
    for name, source in report.sources.items():
        if not re.search(r"^from recheck_report\.statistics\.", source, re.M):
            continue
        found += [f"{name}:{line} takes a mean where ratios are" for line in _means(source)]
    return found


@cache
def _means(source: str) -> list[int]:
    """The lines of a program that take a mean, by a function or by hand."""
    averages = {"mean", "fmean", "average", "geometric_mean", "gmean", "harmonic_mean"}
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.expr):
            continue
        by_hand = (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and _called(node.right) == "len"
            and _called(node.left) == "sum"
        )
        if _called(node) in averages or by_hand:
            found.append(node.lineno)
    return found


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name.strip("_").replace("fsum", "sum")


def intervals(report: Report) -> list[str]:
    """5. What was measured varies, so each time and each ratio has its interval."""
    found = report.says("95 % interval")
    for table in report.tables:
        for row in table.rows if "total" not in table.columns else []:
            for name, cell in zip(table.columns, row, strict=False):
                if name not in (*OWN, *COSTS) and re.fullmatch(rf"(\[`\w+`\]\S+ )?{TIME}", cell):
                    found.append(f"a time without an interval: {row[0]}, {name}: {cell}")
    # a document's own figures, and what a check asks, have none
    own = r"^.*Measured: |\(asked: [^)]*\)"
    text = [re.sub(own, "", line) for line in report.sentences]
    for table in report.tables:
        keep = [at for at, name in enumerate(table.columns) if name not in OWN]
        text += [row[at] for row in table.rows for at in keep if at < len(row)]
    ratio = r".{0,30}\d(×(?!\d)(?![\s\u00a0]\[)| times as (fast|long)(?! \[))"
    bare = (re.search(ratio, each) for each in text if "×" in each or "times as" in each)
    return found + [f"a ratio without an interval: {match[0]}" for match in bare if match]


def normality(report: Report) -> list[str]:
    """6. No normal distribution is taken for granted: intervals come from order statistics."""
    found = report.says(
        "nonparametric", "interval of the median", "no normal distribution is assumed"
    )
    return found + report.never(r"standard deviation", r"normally distributed", r"t-test", "σ")


def soundness(report: Report) -> list[str]:
    """7. "Faster" is a statistical statement: beyond the interval, and beyond what can be told."""
    found = report.says("Holm's correction", "exact bootstrap")
    claimed = re.search(
        r"\*\*([\d.]+) %\*\*(?: is the resolution of this process|, by convention)", report.prose
    )
    if not claimed:
        return [*found, "the report does not say which difference it can tell"]
    return found + [
        f"{word}, but its interval does not say so: {line}"
        for line in report.sentences
        for word in _unfounded(line, float(claimed[1]) / 100)
    ]


def _unfounded(line: str, least: float) -> Iterator[str]:
    """The claims of a sentence that its intervals do not bear out."""
    founded = {kind for kind, low, _ in RATIO.findall(line) if _beyond(low, least)}
    for word, kind in (("faster", "fast"), ("slower", "long")):
        if f"**{word}**" in line and kind not in founded:
            yield word


def _beyond(low: str, least: float) -> bool:
    rounding = 0.51 * 10 ** -len(low.partition(".")[2])
    return float(low) > 1 and float(low) + rounding >= 1 + least


def tendency(report: Report) -> list[str]:
    """8. Whether a median tells enough: it is named, and so is the tail that it hides."""
    found = report.says("A time is the median of its samples", "Nothing else is discarded")
    timed = re.search(r"\b[1-9]\d* passed", report.prose)
    return found + (report.says("95th percentile") if timed else [])


ROWS = (
    "GPU", "driver", "CUDA", "GPU architectures", "build", "host compiler", "CPU", "BLAS",
    "operating system", "inputs' seed", "sampling budget",
)  # fmt: skip


def setup(report: Report) -> list[str]:
    """9. All that was varied and all that was fixed is written down."""
    found = report.says("Commit ", "**Regimes.**", "**The gate.**")
    tables = [table for table in report.tables if table.columns == ["what", "value"]]
    known = {row[0]: row[1] for table in tables for row in table.rows}
    found += [f"the environment lacks {name}" for name in ROWS if not known.get(name)]
    if "GPU" in known and not known["GPU"].startswith("none"):
        more = ("GPU memory", "GPU clock", "L2 cache", "ECC", "MIG", "MPS", "power limit")
        found += [f"the environment lacks {name}" for name in more if not known.get(name)]
    if not re.search(
        r'^## <a id="reproduce-it"></a>Reproduce it\n\n```sh\n(.*\n)*cmake --(workflow|build)',
        report.text,
        re.M,
    ):
        found.append("the report does not say how to reproduce it")
    return found


def measurement(report: Report) -> list[str]:
    """10. How parallel work was timed, synchronised and summarised."""
    clocks = ("**Clocks.** GPU: CUDA events", "every thread has joined", "been synchronised")
    return report.says(*clocks, "**Order.**", "in rounds of random order", "**Numbers.**")


def bounds(report: Report) -> list[str]:
    """11. What would be the best possible stands beside what is."""
    found = report.says("What this machine gives")
    limits = [t for t in report.tables if t.columns[:2] == ["ceiling", "specification"]]
    if not limits:
        return found + report.says("No ceilings:")
    found += [f"no value: {row}" for table in limits for row in table.rows if not row[1]]
    if not any({"measured", "specification"} <= set(t.columns) for t in report.tables):
        found += report.says("The record holds no measured ceilings")
    for name, chart in report.charts.items():
        limit = r">(\w+ limit [\d.]+|\w+ = 100 %)</text>"
        if name.endswith("throughput.svg") and not re.search(limit, chart):
            found.append(f"{name} shows no limit")
    return found


def plots(report: Report) -> list[str]:
    """12. Lines only where what lies between can be meant, and a unit on every axis."""
    found = []
    for name, chart in report.charts.items():
        root = ElementTree.fromstring(chart)
        labels = list(_axis_labels(root))
        if not labels:
            found.append(f"{name}: no axis has a label")
        found += [f"{name}: no unit: {text}" for text in labels if not re.search(r"\(.+\)", text)]
        for kind, points in _lines(root):
            x, y = zip(*points, strict=True)
            straight = len(set(x)) == 1 or len(set(y)) == 1
            ordered = all(a < b for a, b in zip(x, x[1:], strict=False))
            if not straight and not (kind == "trend" and ordered):
                found.append(f"{name}: a line joins what has no order")
    return found


SVG = "{http://www.w3.org/2000/svg}"


def _axis_labels(root: ElementTree.Element) -> Iterator[str]:
    """The texts of an axis that are no tick's."""
    return (text.text or "" for text in root.iter(f"{SVG}text") if text.get("class") == "label")


def _lines(root: ElementTree.Element) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Every line of more than one point that is no mark, with the class that its group has."""
    for group in root.iter(f"{SVG}g"):
        kind = group.get("class", "")
        if kind in ("line2d", "trend"):
            for path in group.findall(f"{SVG}path"):
                for course in path.get("d", "").split("M"):
                    numbers = re.findall(r"(-?[\d.]+) (-?[\d.]+)", course)
                    if len(numbers) > 1:
                        yield kind, [(float(x), float(y)) for x, y in numbers]


RULES: tuple[Callable[[Report], list[str]], ...] = (
    base_case, subsets, rates, ratios, intervals, normality, soundness, tendency, setup,
    measurement, bounds, plots,
)  # fmt: skip


def lint(report: Report) -> dict[str, list[str]]:
    """What breaks each rule, by its name; empty lists where it is kept."""
    return {rule.__name__: rule(report) for rule in RULES}


def load(folder: Path) -> Report:
    """A report in a folder: all its pages, the summary first."""
    pages = sorted(folder.glob("*.md"), key=lambda path: (path.name != README, path.name))
    text = "\n".join(bytes_of(path).decode() for path in pages or [folder / README])
    charts = sorted((folder / "charts").glob("*.svg"))
    return Report(text, {path.name: bytes_of(path).decode() for path in charts})


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="a folder that `render` wrote")
    says = "a folder of claims: also refuses what they name and the record of the report has not"
    parser.add_argument("--experiments", type=Path, metavar="FOLDER", help=says)


def run(options: argparse.Namespace) -> int:
    # a report may hold those of other records, each with numbers of its own
    folders = [options.report, *sorted(options.report.glob(f"{BESIDE}/*/"))]
    code = 0
    if options.experiments:
        record, _ = load_record(options.report)
        for fault in faults(load_collection(options.experiments), Tables.of(record)):
            print(fault)
            code = 1
    for folder in folders:
        try:
            found = lint(load(folder))
        except OSError as error:
            raise Failed(f"{error.filename}: cannot be read: {error.strerror}", 2) from error
        broken = {name: problems for name, problems in found.items() if problems}
        where = "" if folder == options.report else f"{folder}: "
        for at, rule in enumerate(RULES, 1):
            problems = broken.get(rule.__name__)
            if problems:
                more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
                print(f"{where}rule {at}, {rule.__name__}: {problems[0]}{more}")
        print(f"{where}{len(RULES) - len(broken)} of {len(RULES)} rules kept")
        code |= bool(broken)
    return code
