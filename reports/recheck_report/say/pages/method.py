"""The page of the method: how it was measured, on what, the self-audit, and how far to trust it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from recheck_report.claims.measured import Measured
from recheck_report.formatting import margin, resolution_text, shape_label, significant
from recheck_report.record.record import AUDIT, SPECIAL, Record
from recheck_report.say import glossary, machine, warnings
from recheck_report.say.nodes import (
    Block,
    Bullets,
    Listing,
    Page,
    Paragraph,
    Section,
    Table,
    Text,
    blocks,
    code,
    marked,
    paragraph,
    strong,
    table,
    text,
)
from recheck_report.say.pages import MARK, README
from recheck_report.say.pages import machine as machine_of
from recheck_report.say.pages.experiment import not_passed
from recheck_report.statistics import variation
from recheck_report.statistics.comparisons import STEPS, Audit
from recheck_report.statistics.ratio import COARSEST, LEVEL
from recheck_report.statistics.variation import classes_of

RUN_TO_RUN = """\
A 95 % interval predicts what the same process would measure again. Another process differs by
more, so a difference counts only if it exceeds the *noise* of that ratio: how far {share} of
{count} earlier runs on an {gpu}{borrowed} lay from their median. Runs are kept by GPU model, so
CPU programs use them too, whatever the host. If fewer than {enough} runs have both cases, the noise
is at least that of their class in this table, within which three of four ratios of the class stay.
If two cases were not measured in the same rounds, the noise of their times is added."""
CHECKED = """\
**Correctness check.** A time is recorded only for a case whose result passed its check on the same
binary, device and shape. The timed result is checked again afterwards. `--gate`{tests} {checks} the
shapes that are not timed; this record does not. Every case without a time is listed with its
reason."""
UNSEEN = """\
**What the check cannot see.** Kernels are rejected only for wrong output. A kernel passes if it
caches results by the *contents* of its inputs, skips a hot launch whose output is already there,
does less work per launch than requested{inner}, leaves work running, keeps device memory, changes
a setting of the process that other kernels depend on, or rounds within the bound. If in doubt, read
its source."""
FIRST = """\
**First calls.** Each sample of *first* and *first context* is a separate process, in random order
among kernels. Its output is checked."""
ORDER = """\
**Order.** The kernels of one shape and regime take turns in rounds of random order, so that drift
affects all of them alike."""
SUSTAINED = """\
 Sustained kernels run one after the other. The first is measured again at the end, and its second
time counts. If its time drifted, all of them are marked."""
DISTURBED = """\
**Disturbed times.** A time is marked *disturbed* if another process took 5 % or more of the GPU's
time, if other programs used CPUs that a host-timed case could have used, or if more than a quarter
of its blocks jumped even when measured again. It may be too long, and it decides no claim."""
CLOCKS = """\
**Clocks.** GPU: CUDA events around the launch only, on one stream with work queued ahead, so that
launch latency stays outside.{events} CPU{end_to_end}: the host's steady clock around the whole
call, which returns after every thread has joined or the device has been synchronised."""
DRAINED = """\
<drained>**Drained.** A kernel may end while tens of megabytes that it wrote are still in L2. So
a second kernel then reads twice the size of L2. A drained time is the time of both, minus the
second kernel's median time after a clean L2 in the same block. It includes up to about 1 µs between
the two kernels. Kernels that write much are ranked by it."""
COMPARISONS = """\
<comparisons>**Comparisons.** Cases of one shape and regime take turns, round by round, and are
compared in pairs: a ratio is the median over their common rounds. Its 95 % interval lies between
order statistics (Hettmansperger and Sheather). Some cases cannot be paired (ᵉ): different regimes,
a CPU with a GPU, or fewer than six common rounds. Their interval spans the far ends of the two
medians' intervals. Intervals assume independent rounds, and none is narrower than a step of the
clock. Holm's correction covers all {family} comparisons of {kinds}; the fastest and the slowest of
several kernels count once for each pair. *Faster* or *slower* means two things: the whole interval
lies farther from 1 than the [smallest difference that counts](#self-audit), {resolution}{noise};
and the difference is significant at {level} % after the correction. *Equal* means that the interval
lies within {resolution} of 1. *A tie* is neither. A time uses all rounds, and a ratio only the
shared ones. So a ratio may differ slightly from the quotient of the two times."""
NUMBERS = """\
**Numbers.** A time is the median {medians}, with its nonparametric 95 % interval.{long}
Units are SI (1 GB = 10⁹ bytes). A rate is the problem's compulsory work over the median time,
whatever a kernel really moves."""
OLD_INTERVALS = """\
of all samples in this older record (samples of a round are alike, so the interval is too narrow;
in the regime `end_to_end` it covers 88 %)"""


def method_page(report: Measured) -> Page:
    says = (
        "Whether the numbers can be trusted, what they mean, on which machine they were measured, "
        "and how to measure them again."
    )
    title = text(f"How it was measured on {machine_of(report.record)}")
    return Page(MARK, title, blocks(_sections(report)), text(says), README)


def _sections(report: Measured) -> Iterator[Section]:
    record, comparisons = report.record, report.comparisons
    regimes = {case.regime for case in record.cases}
    yield Section(text("Glossary"), blocks(glossary.words(record)), "glossary")
    audit = _self_audit(record, comparisons.audit)
    pairs = _pairs(comparisons.audit)
    yield Section(text("Self-audit"), blocks(audit, pairs), "self-audit")
    run_to_run = _variation(record)
    if run_to_run.rows:
        runs = comparisons.variation
        share = "the farthest" if runs.count < 20 else "all but 5 %"
        enough = f"{variation.ENOUGH}"
        borrowed = " (the model with the most runs)" if runs.gpu != record.gpu else ""
        says = marked(
            RUN_TO_RUN, share=share, count=f"{runs.count}", gpu=runs.gpu, borrowed=borrowed,
            enough=enough,
        )  # fmt: skip
        yield Section(text("Run-to-run noise"), blocks(says, run_to_run), "run-to-run")
    ceilings = machine.ceilings(record)
    none = text() if ceilings.rows else text("The record holds no measured ceilings.")
    yield Section(text("What this machine reaches"), blocks(none, ceilings), "machine")
    levels = machine.by_level(record)
    if levels.rows:
        says = text(
            "The latency of a load comes from a chain in which each load waits for the one before."
        )
        yield Section(text("Memory, level by level"), blocks(says, levels), "memory")
    yield Section(text("Suspect times"), blocks(_suspects(report, regimes)), "suspect-times")
    odd_values = warnings.odd_values(record)
    if odd_values.rows:
        says = text(
            "Values that do not fit the rest of the record. None is changed, and comparisons use "
            "them unless the table says otherwise."
        )
        yield Section(text("Odd values"), blocks(says, odd_values), "odd-values")
    special = [experiment for experiment in map(record.experiment, SPECIAL) if experiment]
    gaps = not_passed(record, special)
    if gaps.rows:
        yield Section(text("Measurements of the machine without a time"), (gaps,), "not-timed")
    yield Section(text("How it was measured"), blocks(_how(report, regimes)), "how-it-was-measured")
    environment = machine.environment(report)
    yield Section(text("Environment"), blocks(environment), "environment")
    yield Section(text("Reproduce it"), blocks(_again(report)), "reproduce-it")


AUDITED = ["the kernel compared", "pairs", "called faster", "called slower", "called the same"]
AUDITED += ["no significant difference", "wrong without a threshold"]
NOISE = ["class", "ratios differ by less than", "times by less than"]


def _self_audit(record: Record, audit: Audit) -> Text:
    """How far comparisons on this machine could be trusted on that day."""
    rho = strong(resolution_text(audit.resolution))
    if not audit.audited:
        experiment = record.experiment(AUDIT)
        reasons = [c.reason for c in record.cases_of(experiment) if c.reason] if experiment else []
        why = reasons[0] if reasons else "the record holds no audit"
        lead = f"No self-audit ({why}): the smallest difference that this report calls one is "
        return text(lead, rho, ", by convention.")
    places = dict.fromkeys(
        f"{shape_label(pair.base.shape_name)} {pair.base.regime}" for pair in audit.alike
    )
    total, paired = len(audit.alike), sum(pair.ratio.rounds > 0 for pair in audit.alike)
    how = "" if paired == total else f", {total - paired} of them not paired by rounds"
    compared = (
        f"One kernel was timed under several names ({', '.join(places)}) and compared with itself "
        f"in {total} pairs{how}"
    )
    few = f"at most {100 * LEVEL:g} % of these pairs differ"
    if audit.resolution > COARSEST:
        most = STEPS[-1]
        needed = rho if audit.resolution <= most else f"more than {100 * most:g} %"
        return text(
            f"{compared}. It takes a threshold of ",
            needed,
            f" until {few}. That is more than {100 * COARSEST:g} %, so ",
            strong("this report judges no ratio"),
            ".",
        )
    least, clear = resolution_text(STEPS[0]), resolution_text(audit.resolution)
    slowed = ""
    if audit.extras:
        pairs = [pair.called(audit.resolution) for pair in audit.slowed_by(audit.extras[0])]
        found = f"{pairs.count('slower')} of {len(pairs)} pairs"
        slowed = f" {significant(100 * audit.extras[0], 1)} % more work was found in {found}."
    return text(
        f"{compared}. In {audit.false(0.0)} of them the interval excludes 1, and in "
        f"{audit.false(audit.resolution)} it lies more than {clear} from 1. No difference below ",
        rho,
        f" counts: of the multiples of 0.05 %, from {least} up, that is the first threshold with "
        f"which {few}.{slowed}",
    )


def _variation(record: Record) -> Table:
    """What runs on GPUs of this model differ by, for each class that a timed case has."""
    runs = variation.for_gpu(record.gpu)

    def within(variations: dict[str, float], name: str) -> str:
        return margin(math.expm1(variations[name])) if name in variations else "not known"

    rows = [
        (name, within(runs.of_ratios, name), within(runs.of_medians, name))
        for name in classes_of(record.cases)
    ]
    return table(NOISE, rows, (1, 2))


def _pairs(audit: Audit) -> Table:
    """A row for each amount of extra work; the first, none, is the kernel against itself."""
    rows: list[list[str]] = []
    for extra in [0.0, *audit.extras] if audit.audited else []:
        pairs = audit.slowed_by(extra) if extra else list(audit.alike)
        called = [pair.called(audit.resolution) for pair in pairs]
        name = f"with {significant(100 * extra, 1)} % more work" if extra else "with itself"
        right = "slower" if extra else "no difference"
        raw = [pair.called(0.0) for pair in pairs]
        wrong = sum(verdict != right for verdict in raw)
        counts = [called.count(v) for v in ("faster", "slower", "same", "no difference")]
        rows.append([name, *(str(n) for n in (len(pairs), *counts, wrong))])
    return table(AUDITED, rows, range(1, 7), "Self-audit")


def _suspects(report: Measured, regimes: set[str]) -> Block:
    record = report.record
    if report.faster_than_ceiling:
        rows = ((text(code(name)), why) for name, why in report.faster_than_ceiling.items())
        return table(("suspect case", "because"), rows)
    if not record.gpu_measured:
        return paragraph(f"Not checked: {record.no_gpu_because}.")
    kinds = "cold or drained" if "drained" in regimes else "cold"
    return paragraph(f"No {kinds} kernel time is faster than these ceilings allow.")


def _how(report: Measured, regimes: set[str]) -> Iterator[Block]:
    record, method = report.record, report.record.method
    count = record.count()
    statuses = ("passed", "unsupported", "not_run", "incorrect", "failed")
    counts = ", ".join(f"{count[status]:,} {status.replace('_', ' ')}" for status in statuses)
    lead = marked("See also [what this report cannot tell you](README.md#limits).")
    yield paragraph(f"{len(record.cases):,} cases: {counts}. ", lead)
    is_ours = machine.program(record.environment) == "recheck"
    rounds = (
        f" Every case has {method.rounds} rounds; a kernel that is too slow for all of them takes "
        "part in some, from the first to the last."
    )
    spent = machine.spent(record)
    total = text(f" {record.wall_seconds:.0f} s: {spent}, the rest between cases.")
    items = (
        marked(CHECKED, tests=" and the tests" * is_ours, checks="check" if is_ours else "checks"),
        marked(UNSEEN, inner=marked(" (*inner*)") if "inner" in regimes else ""),
        _clocks(report, regimes),
        marked(DRAINED) if "drained" in regimes else text(),
        marked(FIRST) if regimes & {"first", "first_context"} else text(),
        marked(ORDER + (rounds if method.rounds else "") + SUSTAINED * ("sustained" in regimes)),
        _comparisons(report),
        _numbers(report),
        marked("**Time.**") + total if spent else text(),
        _samples(report, regimes),
        marked(DISTURBED),
    )
    yield Bullets(tuple(filter(None, items)))
    dropped = machine.dropped(record)
    if dropped.rows:
        yield Bullets((marked("<left-out>**Left out** by the plan of this run:"),))
        yield dropped


def _clocks(report: Measured, regimes: set[str]) -> Text:
    state, events = report.record.environment.state, text()
    if state.event_nanoseconds is not None:
        several = _variation(report.record).rows
        step = state.event_step_nanoseconds
        events = marked(
            " Two events with nothing between them are {empty} ns apart, which is subtracted from "
            "every time. Hosts differ in it, which shows in launches under 10 µs"
            + (" ([by how much](#run-to-run))." if several else ".")
            + "{step}",
            empty=f"{state.event_nanoseconds}",
            step=f" The events' clock has steps of {step} ns." if step else "",
        )
    end_to_end = ", and end to end" if "end_to_end" in regimes else ""
    return marked(CLOCKS, events=events, end_to_end=end_to_end)


def _comparisons(report: Measured) -> Text:
    comparisons, noise = report.comparisons, text()
    if _variation(report.record).rows:
        model = f" (an {comparisons.borrowed}'s)" if comparisons.borrowed else ""
        noise = marked(", and than the [noise](#run-to-run) of that ratio{model}", model=model)
    kinds = ["claims", *["stories"] * bool(report.collection.stories)]
    kinds += ["listings"] * bool(report.collection.listings)
    return marked(
        COMPARISONS,
        family=f"{len(comparisons.family)}",
        kinds=" and ".join([", ".join(kinds[:-1]), kinds[-1]] if kinds[1:] else kinds),
        resolution=resolution_text(comparisons.resolution),
        noise=noise,
        level=f"{100 * LEVEL:g}",
    )


def _numbers(report: Measured) -> Text:
    record, method = report.record, report.record.method
    proofs, three = method.proofs_timed_from_seconds, method.three_samples_from_seconds
    long = ""
    if proofs:
        long = (
            f" If a launch on the CPU takes {proofs:g} s or more, its two checked launches and the "
            "one on fresh inputs are samples as well"
        )
        long += (
            f"; from {three:g} s on they are the only samples, with Student's interval of "
            "their logarithms."
            if three
            else "."
        )
    medians = OLD_INTERVALS if record.has_narrow_intervals else "of its blocks' medians"
    return marked(NUMBERS, medians=marked(medians), long=long)


def _samples(report: Measured, regimes: set[str]) -> Text:
    record, above = report.record, report.record.method.disturbed_above
    timed = [case.seconds for case in record.cases if case.seconds]
    discarded = sum(seconds.discarded for seconds in timed)
    kept = sum(seconds.samples for seconds in timed)
    set_aside = sum(len(samples) for case in record.cases for _, samples in case.set_aside)
    why = f" and measured again, as their block took more than {above}× the second-fastest block"
    first = ", except the first time of a sustained kernel that was measured twice"
    held = marked(
        " [`samples.jsonl.bz2`](samples.jsonl.bz2) holds {count} of the discarded samples, under "
        "`set_aside`.",
        count=f"{set_aside}",
    )
    return text(
        marked("**Samples.**"),
        f" {kept:,} kept, {discarded:,} discarded{why if above else ''}. Nothing else is left out"
        f"{first if 'sustained' in regimes else ''}.",
        held if set_aside else "",
    )


def _again(report: Measured) -> Iterator[Block]:
    env, program = report.record.environment, machine.program(report.record.environment)
    own, lines = program == "recheck", []
    if env.git.has_commit:
        lines.append(f"git checkout {env.git.commit}")
    built = "build/release/experiments/recheck" if own else f"BUILD/{program}"
    if env.build_type == "Release":
        preset = "quick" if report.record.plan.preset == "claims" else "report"
        target = f"cmake --build BUILD --target {program}_{preset}   # BUILD: its build folder"
        lines.append(f"cmake --workflow --preset {preset}" if own else target)
    which = "the last part of this record" if "--resume" in env.command else "this record"
    command = re.sub(r"(?<![^\s=])/(?:[^\s/]+/)+", "", env.command)  # without anybody's folders
    lines.append(f"# {which} is of a {env.build_type} build, and was made by: {command}")
    if case := next((case for case in report.record.cases if case.seconds), None):
        only = {"experiment": case.experiment, "strategy": case.strategy}
        only |= {"shape": case.shape_name, "regime": case.regime}
        flags = " ".join(f"--{flag}={value}" for flag, value in only.items())
        lines += ["# one case:", f"{built} {flags} --output=one_case"]
    yield Listing("\n".join(lines).replace("`", "'"), "sh")
    yield Paragraph(
        marked(
            "[`record.json`](record.json) next to this file holds every case, "
            "[`samples.jsonl.bz2`](samples.jsonl.bz2) every raw sample. The same files always "
            "render to the same bytes."
        )
    )
