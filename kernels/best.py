#!/usr/bin/env python3
"""Writes the tables that `best` chooses by: for each GPU and shape the rung that was fastest.

    PYTHONPATH=reports python3 kernels/best.py [--results DIR] [--kernels DIR] [--score]

Reads the committed records DIR/*/record.json (default: reports/results), and beside them what
history.json has of earlier runs on other GPUs of the model, and rehearsal.json of random products,
beside them or, of a commit without a record, in DIR/../rehearsals/*/. The times of these products,
of `best` and of cuBLAS it keeps in best_times.json beside best.cu, as the next rehearsal replaces
them.
Of GPU models with the same compute capability and as many multiprocessors (H100 and H200), which
`best` cannot tell apart, it takes the one with more runs, and of the others the times of random
products only.
Beside every DIR/<experiment>/best.cu (default: kernels/) it writes the tables that the file
includes: best.inc for rows that take their matrix by rows, best_column_major.inc for those that
take it by columns, each the fastest cold case of the rows that best.cu lists as choices, over all
runs that had them with the same code; behind a row that not every GPU runs, the fastest of those
that more do, for a GPU that nobody has measured. And best_costs.inc: for each choice with a plan
the ten numbers of kernels/cost.hpp, fitted to all its cold times on a GPU and then, all rungs'
together, tuned to what is chosen by them. --score writes nothing, and prints how good a choice by
such costs is at shapes that they were not fitted to, and how `best` did against its rungs and
cuBLAS at the random products. Exit code 1: a table cannot be written, or NumPy is missing. Exit
code 2: a record cannot be read.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cost import PORTABLE, Numbers, Plan, Product, Times, costs, expected, plans, waves
from recheck_report.history.runs import History
from recheck_report.history.runs import load as load_history
from recheck_report.model.record import Case, Experiment, Record, load
from recheck_report.model.rehearsal import GOOD, Rehearsal, load_rehearsal
from recheck_report.model.typed import BadRecord

ROOT = Path(__file__).resolve().parents[1]
PRODUCTS = "matmul"  # whose rungs have plans
COSTS = "best_costs.inc"
TIMES = "best_times.json"
BEST, LIBRARY = "best", "cublas"  # rows beside the rungs


def choices(source: str) -> dict[str, float]:
    """The choices that best.cu lists, and what they need: {.name = "tile16", .least = 75, ..."""
    listed = re.findall(r'\{\.name = "(\w+)",\s+\.least = (\d+),(\s+\.most =)?', source)
    # what runs on one architecture alone needs more than all that others do too
    return {name: math.inf if only else int(least) for name, least, only in listed}


@dataclass(frozen=True)
class Timed:
    """A run of a GPU model: the hashes of its kernel files, and its medians."""

    cubins: dict[str, str]
    medians: dict[str, float]

    def code_of(self, case: Case) -> str | None:
        """The hash of the kernel file that a row is named after."""
        stem = f"{case.experiment}/{case.strategy}"
        named = [file for file in self.cubins if stem.startswith(file.removesuffix(".cu"))]
        return self.cubins[max(named, key=len)] if named else None


def runs_of(record: Record, history: History | None) -> list[Timed]:
    """The record's own, and behind it the earlier ones of its GPU model."""
    env = record.environment
    medians = {case.id: case.time.median for case in record.cases if case.seconds}
    found = [Timed(env.cubins or {}, medians)]
    if history is None or env.gpu is None or history.gpu != env.gpu.name:
        return found
    for at, run in enumerate(history.runs):
        if (run.commit, run.started) != (env.git.commit, env.started):
            times = {name: own[at] for name, own in history.cases.items()}
            found.append(Timed(run.cubins or {}, {n: t[0] for n, t in times.items() if t}))
    return found


def told_apart(folders: Iterable[Path]) -> dict[Path, list[str]]:
    """Those with a table: of GPU models that have compute capability and multiprocessors in common,
    by which `best` tells GPUs apart (H100 and H200), the one with more runs. And the names of these
    models, its own first."""
    found: dict[tuple[str, int], list[tuple[int, str, Path]]] = {}
    for folder in folders:
        record, _ = load(folder / "record.json")
        if (gpu := record.environment.gpu) is None:
            continue
        history = load_history(folder)
        known = len(history.runs) if history else 1
        alike = found.setdefault((gpu.compute_capability, gpu.sm_count), [])
        alike.append((-known, gpu.name, folder))
    by_runs = [sorted(alike, key=lambda each: each[0]) for alike in found.values()]
    return {alike[0][2]: [name for _, name, _ in alike] for alike in by_runs}


def slower(case: Case, quick: Case, runs: Sequence[Timed]) -> float:
    """By what factor a case takes longer than another: the median over the runs that had both with
    the code that they have in the first run. What a GPU makes slower, it mostly does to both."""
    logs = [
        math.log(run.medians[case.id] / run.medians[quick.id])
        for run in runs
        if {case.id, quick.id} <= run.medians.keys()
        and all(run is runs[0] or _same(each, run, runs[0]) for each in (case, quick))
    ]
    return math.exp(statistics.median(logs))


def _same(case: Case, one: Timed, other: Timed) -> bool:
    code = other.code_of(case)
    return code is not None and code == one.code_of(case)


def fastest(
    record: Record,
    experiment: Experiment,
    needs: dict[str, float],
    layout: str,
    runs: Sequence[Timed],
) -> Iterator[Case]:
    """At each shape, by ascending work as they were timed, the fastest cold case of these rows over
    these runs, the record's first, and behind it the fastest of those that need less."""
    by_columns = layout == "column_major"
    for shape in record.shapes(experiment):
        found = [record.find(experiment, name, shape, "cold") for name in needs]
        timed = [
            case
            for case in found
            if case and case.seconds and (case.layout == "column_major") == by_columns
        ]
        if not timed:
            continue
        quick = min(timed, key=lambda case: case.time.median)
        factors = {case.id: slower(case, quick, runs) for case in timed}
        least = None
        for case in sorted(timed, key=lambda case: factors[case.id]):
            if least is None or needs[case.strategy] < least:
                yield case
                least = needs[case.strategy]


def table(
    evidence: Sequence[tuple[Record, list[Timed]]], experiment: str, source: str, layout: str
) -> str:
    lines = [
        "// Written by kernels/best.py from the committed records; publishing writes it again.",
        f"// {{compute capability, multiprocessors}}, shape, the fastest row: {experiment}, cold.",
    ]
    for record, runs in evidence:
        gpu = record.environment.gpu
        known = next((each for each in record.experiments if each.name == experiment), None)
        if gpu is None or known is None:
            continue
        model = f"{{{round(10 * float(gpu.compute_capability))}, {gpu.sm_count}}}"
        others = retiled(record, plans(source))
        needs = {name: need for name, need in choices(source).items() if name not in others}
        for case in fastest(record, known, needs, layout, runs):
            extents = ", ".join(map(str, case.shape.values()))
            lines.append(f'{{{model}, {{{extents}}}, "{case.strategy}"}},')
    return "\n".join(lines) + "\n"


def tables(folders: Sequence[Path], kernels: Path, alone: Sequence[Path] = ()) -> dict[Path, str]:
    """What each table should hold, by its path: of records, and of rehearsals that have none of
    their commit beside them."""
    evidence = []
    for folder in told_apart(folders):
        record, _ = load(folder / "record.json")
        evidence.append((record, runs_of(record, load_history(folder))))
    found = {}
    for source in sorted(kernels.glob("*/best.cu")):
        text = source.read_text(encoding="utf-8")
        for layout, name in (("row_major", "best.inc"), ("column_major", "best_column_major.inc")):
            if f'"{name}"' in text:
                path = source.with_name(name)
                found[path] = table(evidence, source.parent.name, text, layout)
        if f'"{COSTS}"' in text:
            known, needs = plans(text), choices(text)
            kept = all_tried(source.with_name(TIMES), [*folders, *alone], needs)
            found[source.with_name(TIMES)] = tried_text(kept)
            found[source.with_name(COSTS)] = cost_table(known, needs, sources(folders, known, kept))
    return found


@dataclass(frozen=True)
class Tried:
    """What rungs took for the random products of a rehearsal, or for others, in microseconds."""

    gpu: str
    uuid_hash: str | None
    commit: str | None
    architecture: int | None  # of its code; None: the machine code of records
    seed: int
    rows: tuple[str, ...]
    times: tuple[tuple[Product, tuple[float | None, ...]], ...]  # of each row

    @property
    def run(self) -> tuple[str | None, str | None, int | None, int]:
        return self.uuid_hash, self.commit, self.architecture, self.seed


def tried(rehearsal: Rehearsal, names: Sequence[str]) -> Iterator[Tried]:
    """What it has of these rungs, of `best`, and of cuBLAS if that was there."""
    env = rehearsal.environment
    for choices in rehearsal.choices:
        own = [at for at, name in enumerate(choices.rows) if name in (*names, LIBRARY)]
        times = []
        for product in choices.shapes:
            seconds = [product.best, *(product.seconds[at] for at in own)]
            rounded = [None if time is None else float(f"{1e6 * time:.4g}") for time in seconds]
            times.append(((product.m, product.n, product.k), tuple(rounded)))
        rows = (BEST, *(choices.rows[at] for at in own))
        build = choices.architecture
        yield Tried(env.gpu, env.uuid_hash, env.commit, build, choices.seed, rows, tuple(times))


def all_tried(path: Path, folders: Iterable[Path], names: Iterable[str]) -> list[Tried]:
    """What the file has, and behind it what the rehearsals in these folders have besides. From a
    row whose kernel changes, take its times out of the file: what is there is not read again."""
    names, found = list(names), []
    if path.exists():
        for each in json.loads(path.read_text(encoding="utf-8")):
            times = tuple((tuple(product), tuple(own)) for product, own in each["times"])
            found.append(Tried(**each | {"rows": tuple(each["rows"]), "times": times}))
    known = {each.run for each in found}
    for folder in folders:
        if (rehearsal := load_rehearsal(folder)) is not None:
            found += [each for each in tried(rehearsal, names) if each.run not in known]
    return found


def tried_text(known: Iterable[Tried]) -> str:
    """As JSON, a product a line."""
    texts = []
    for each in known:
        head = json.dumps({name: value for name, value in vars(each).items() if name != "times"})
        times = ",\n".join(map(json.dumps, each.times))
        texts.append(f'{head[:-1]}, "times": [\n{times}]}}')
    return "[" + ",\n".join(texts) + "]\n"


def retiled(record: Record, known: dict[str, Plan]) -> set[str]:
    """The rungs that have other tiles now than in the record, whose times are another kernel's."""
    tiles = {name: {"tile_m": plan.rows, "tile_n": plan.columns} for name, plan in known.items()}
    return {
        case.strategy
        for case in record.cases
        if case.experiment == PRODUCTS
        for name, extent in tiles.get(case.strategy, {}).items()
        if case.parameters.get(name, extent) != extent
    }


def times_of(
    record: Record,
    kept: Sequence[Tried],
    names: Iterable[str],
    without: Collection[str] = (),
    models: Sequence[str] = (),
) -> Times:
    """Cold medians of these rungs of products of matrices: the record's, of rungs not `without`,
    and at shapes that it does not have those of the newest rehearsal on a GPU of these models; a
    product's are all of the first model that has any."""
    found: Times = {name: {} for name in names}
    for case in record.cases:
        if case.experiment != PRODUCTS or case.regime != "cold" or not case.seconds:
            continue
        if case.strategy in without:
            continue
        if (own := found.get(case.strategy)) is not None:
            m, n, k = case.shape.values()
            own[m, n, k] = 1e6 * case.time.median
    known: set[Product] = set()  # of the models before
    for model in models:
        for each in reversed([each for each in kept if each.gpu == model]):
            for product, times in each.times:
                for name, time in zip(each.rows, times, strict=True):
                    if name in found and time is not None and product not in known:
                        found[name].setdefault(product, time)
        known = {product for own in found.values() for product in own}
    return found


@dataclass(frozen=True)
class Source:
    """What costs are fitted for: a GPU, and those that `best` cannot tell from it."""

    name: str
    compute_capability: int
    multiprocessors: int
    times: Times


def sources(folders: Iterable[Path], known: dict[str, Plan], kept: Sequence[Tried]) -> list[Source]:
    found = []
    for folder, models in told_apart(folders).items():
        record, _ = load(folder / "record.json")
        gpu = record.environment.gpu
        if gpu is not None:
            capability = round(10 * float(gpu.compute_capability))
            times = times_of(record, kept, known, retiled(record, known), models)
            found.append(Source(" and ".join(models), capability, gpu.sm_count, times))
    return found


def cost_table(known: dict[str, Plan], needs: dict[str, float], gpus: list[Source]) -> str:
    lines = [
        "// Written by kernels/best.py from the committed evidence; publishing writes it again.",
        "// Compute capability, multiprocessors, row, and in microseconds: a launch, a second one,",
        "// a slab of one block, and of each besides, both times so much where vectors do not fit,",
        "// 1000 outputs of a multiprocessor, what they take at least before that where rows of C",
        "// are no whole vectors, what of slabs lies beyond k, as a share of its time, a million",
        "// words of A and B, besides, and each wave of blocks but the first, besides.",
    ]
    for gpu in gpus:
        for name, numbers in costs(known, gpu.multiprocessors, gpu.times, needs).items():
            model = f"{gpu.compute_capability}, {gpu.multiprocessors}"
            texts = ", ".join(f"{number:.4g}" for number in numbers)
            lines.append(f'{{{model}, "{name}", {texts}}},')
    return "\n".join(lines) + "\n"


Fold = tuple[list[Product], dict[str, Numbers]]  # products, and what was fitted without them


def folds(known: dict[str, Plan], needs: dict[str, float], gpu: Source) -> list[Fold]:
    products = sorted({at for own in gpu.times.values() for at in own})
    count = len(products) if len(products) <= 20 else 5
    parts = [products[fold::count] for fold in range(count)]
    with ProcessPoolExecutor() as pool:
        fits = [
            pool.submit(costs, known, gpu.multiprocessors, gpu.times, needs, set(part))
            for part in parts
        ]
        return [(part, fit.result()) for part, fit in zip(parts, fits, strict=True)]


def scores(
    known: dict[str, Plan], gpu: Source, fits: Iterable[Fold]
) -> dict[Product, tuple[str, str, float]]:
    """At each product what costs would choose that were fitted without it, what was fastest, and
    the latter's time over the former's: 1 where they are the same."""
    found = {}
    for left_out, numbers in fits:
        for at in left_out:
            there = [name for name in known if name in numbers and at in gpu.times[name]]
            if len(there) < 2:
                continue
            cuts = {name: waves(known[name], gpu.multiprocessors, at) for name in there}
            chosen = min(there, key=lambda name: expected(known[name], numbers[name], cuts[name]))
            fastest = min(there, key=lambda name: gpu.times[name][at])
            found[at] = chosen, fastest, gpu.times[fastest][at] / gpu.times[chosen][at]
    return found


def against(kept: Iterable[Tried]) -> Iterator[str]:
    """How `best`, as it was then, did against the fastest of its rungs whose times are kept, and
    against cuBLAS, run by run."""
    for each in kept:
        rungs, library = dict[Product, float](), dict[Product, float]()
        for at, times in each.times:
            timed = {name: own for name, own in zip(each.rows, times, strict=True) if own}
            own, theirs = timed.pop(BEST, None), timed.pop(LIBRARY, None)
            if own and timed:
                rungs[at] = min(timed.values()) / own
            if own and theirs:
                library[at] = theirs / own
        build = "" if each.architecture is None else f" in code for {each.architecture / 10}"
        head = f"{each.gpu}, `best` of {str(each.commit)[:7]}{build}"
        for other, bar, ratios in (("the fastest kept rung", GOOD, rungs), ("cuBLAS", 1, library)):
            if not ratios:
                continue
            worst = min(ratios, key=lambda at: ratios[at])
            yield (
                f"{head} against {other} at {len(ratios)} products: geometric mean "
                f"{statistics.geometric_mean(ratios.values()):.2f}, below {bar} at "
                f"{sum(ratio < bar for ratio in ratios.values())}, worst {ratios[worst]:.3f} at "
                f"{'x'.join(map(str, worst))}"
            )


def _summary(found: dict[Product, tuple[str, str, float]]) -> str:
    ratios = sorted(ratio for *_, ratio in found.values())
    if not ratios:
        return "none"
    return (
        f"{len(ratios)} worst {ratios[0]:.2f} of the fastest, median "
        f"{ratios[len(ratios) // 2]:.2f}, below {GOOD} at {sum(each < GOOD for each in ratios)}"
    )


def score(path: Path, folders: Sequence[Path], alone: Sequence[Path]) -> str:
    """What --score prints of a best.cu: on every GPU, and of the rungs that more GPUs than one
    run."""
    source = path.read_text(encoding="utf-8")
    lines, needs = [], choices(source)
    kept = all_tried(path.with_name(TIMES), [*folders, *alone], needs)
    every = plans(source)
    portable = {name: plan for name, plan in every.items() if needs[name] <= PORTABLE}
    for gpu in sources(folders, every, kept):
        fits = folds(every, needs, gpu)
        for what, known in (("all rungs", every), ("rungs from 8.0 on", portable)):
            found = scores(known, gpu, fits)
            if not found:
                lines.append(f"{gpu.name}, {what}: not measured, because no rung has enough times")
                continue
            with_all = {at for at in found if all(at in gpu.times[name] for name in known)}
            lines.append(
                f"{gpu.name}, {what}: of products that were left out of the fit, at "
                f"{_summary(found)}; where all of these have a time, at "
                f"{_summary({at: found[at] for at in with_all})}"
            )
            for at, (chosen, best, ratio) in found.items():
                if ratio < GOOD:
                    lines.append(f"  {'x'.join(map(str, at))}: {chosen}, {ratio:.2f} of {best}")
    return "\n".join([*lines, *against(kept)])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Writes the tables that `best` chooses by.")
    parser.add_argument("--results", type=Path, default=ROOT / "reports/results", metavar="DIR")
    parser.add_argument("--kernels", type=Path, default=ROOT / "kernels", metavar="DIR")
    parser.add_argument("--score", action="store_true", help="how good a choice by costs is")
    arguments = parser.parse_args(argv)
    try:
        folders = [path.parent for path in sorted(arguments.results.glob("*/record.json"))]
        rehearsals = arguments.results.parent.glob("rehearsals/*/rehearsal.json")
        alone = [path.parent for path in sorted(rehearsals)]
        if arguments.score:
            print(score(arguments.kernels / PRODUCTS / "best.cu", folders, alone))
            return 0
        for path, text in tables(folders, arguments.kernels, alone).items():
            if path.exists() and path.read_text(encoding="utf-8") == text:
                continue
            path.write_text(text, encoding="utf-8")
            print(path)
    except BadRecord as error:
        return _say(str(error), 2)
    except OSError as error:
        return _say(f"{error.filename}: cannot be written: {error.strerror}", 1)
    return 0


def _say(line: str, code: int) -> int:
    print(f"error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
