"""The page of the method: how it was measured, on what, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recheck_report.claims.measured import Measured
from recheck_report.fallback import caught
from recheck_report.record.record import SPECIAL
from recheck_report.say import (
    glossary,
    machine,
    memory,
    odd,
    provenance,
    self_audit,
    sentences,
    summary,
    tables,
)
from recheck_report.say.nodes import (
    Anchor,
    Block,
    Bullets,
    Code,
    Listing,
    Page,
    Picture,
    Section,
    Text,
    blocks,
    emphasis,
    link,
    paragraph,
    strong,
    table,
    text,
    texts,
)
from recheck_report.say.pages import MARK, README, without
from recheck_report.say.pages import machine as machine_of
from recheck_report.statistics import variation
from recheck_report.statistics.ratio import LEVEL

GUIDELINE = table(
    ("it asks for", "here"),
    (
        ("warm-up and measurement apart", "done, by time: up to 6 s, then ten windows of 0.2 s"),
        ("launches without gaps", "done, but for two readings of the clock a window"),
        (
            "rotated inputs, two or more, twice L2 in all",
            text("done; ", emphasis("cold"), " reads twice L2 before each launch instead"),
        ),
        ("fixed frequency", "not applicable: Recheck changes no setting of a GPU"),
        ("fixed power", "done, at the limit that the GPU has"),
        ("CUDA events; clock, power, temperature", "done; the SMs themselves read the clock"),
        (
            "settled clocks",
            "done: launches within 0.5 % and power within 2 % over four half seconds; or “not in "
            "6 s”",
        ),
        (
            "L2 hits and utilisation profiled",
            "otherwise: Nsight Compute counts only what claims need",
        ),
        (
            "time against speed of light",
            text("otherwise: against what this machine ", link("#machine", "gives")),
        ),
        ("uniform values in [−1, 1]", "otherwise: in (−½, ½), with the same mantissas"),
        ("over 1,000 launches", "otherwise: 2 s, as launches take 50 µs to 30 ms"),
        ("1 s to cool down", "done, before each row"),
    ),
)


def method_page(report: Measured, charts: Sequence[Picture]) -> Page:
    """`charts`: those of the levels of memory."""
    return Page(
        MARK,
        text(f"How it was measured on {machine_of(report.record)}"),
        blocks(_sections(report, charts)),
        says=text(
            "Whether the numbers can be trusted, what they mean, on which machine they were "
            "measured, and how to measure them again."
        ),
        back=README,
    )


def _sections(report: Measured, charts: Sequence[Picture]) -> Iterator[Section]:
    record, comparisons = report.record, report.comparisons
    regimes = {case.regime for case in record.cases}
    yield Section(text("Glossary"), blocks(glossary.words(record)), "glossary")
    trust = caught(
        lambda: summary.trust(report), lambda why: [texts(("The rest of this table", without(why)))]
    )
    yield Section(text("Can it be trusted?"), blocks(table(("", "this record"), trust)), "trust")
    audit = (
        self_audit.sentence(record, comparisons.audit),
        self_audit.pairs_table(comparisons.audit),
    )
    yield Section(text("Self-audit"), blocks(*audit), "self-audit")
    run_to_run = self_audit.run_to_run(record)
    if run_to_run.rows:
        runs, gpu = comparisons.variation.runs, comparisons.variation.gpu
        share = "the farthest" if runs.count < 20 else "all but 5 %"
        says = text(
            "The 95 % intervals of this report say what this process would measure again; another "
            "differs by more. A difference counts only if it exceeds its ",
            emphasis("margin"),
            f": how far {share} of {runs.count} earlier runs on an {gpu} lay from their median of "
            f"that ratio. Where fewer than {variation.ENOUGH} have both cases, it is at least that "
            "of the ratio's class: what three of four ratios there stay within. Of cases not "
            "measured in turns, the variations of both times are added up.",
        )
        yield Section(text("Run-to-run variation"), blocks(says, run_to_run), "run-to-run")
    ceilings = machine.ceilings(record)
    none = paragraph("The record holds no measured ceilings.")
    shown = ceilings if ceilings.rows else none
    yield Section(text("What this machine gives"), (shown,), "machine")
    levels = memory.by_level(record)
    if levels.rows:
        says = text(
            "The latency of a load is measured with a chain in which each load waits for the one "
            "before."
        )
        title = text("Memory, level by level")
        yield Section(title, blocks(says, levels, charts), "memory")
    yield Section(text("Suspect times"), blocks(_suspects(report, regimes)), "suspect-times")
    odd_values = odd.values(record)
    if odd_values.rows:
        says = text(
            "Values that do not fit the rest of the record. None is changed, and a comparison "
            "stands as it is unless it says otherwise."
        )
        yield Section(text("Odd values"), blocks(says, odd_values), "odd-values")
    if "sustained" in regimes:
        says = text(
            "How the regime ",
            emphasis("sustained"),
            " follows NVIDIA's “GEMM Performance Measurement Methodology Guidelines” (CUTLASS, PR "
            "3366):",
        )
        title = text("NVIDIA's guideline, point by point")
        yield Section(title, blocks(says, GUIDELINE), "guideline")
    special = [experiment for experiment in map(record.experiment, SPECIAL) if experiment]
    gaps = tables.not_passed(record, special)
    if gaps.rows:
        title = text("Measurements of the machine without a time")
        yield Section(title, (gaps,), "not-timed")
    yield Section(text("How it was measured"), blocks(_how(report, regimes)), "how-it-was-measured")
    environment = provenance.environment(report)
    yield Section(text("Environment"), blocks(environment), "environment")
    yield Section(text("Reproduce it"), blocks(_again(report)), "reproduce-it")


def _suspects(report: Measured, regimes: set[str]) -> Block:
    record = report.record
    if report.suspects:
        rows = ((text(Code(name)), why) for name, why in report.suspects.items())
        return table(("suspect case", "because"), rows)
    if not record.gpu_measured:
        return paragraph(f"None was looked for: {record.no_gpu_because}.")
    kinds = "cold or drained" if "drained" in regimes else "cold"
    return paragraph(f"No {kinds} kernel time is faster than these ceilings allow.")


def _how(report: Measured, regimes: set[str]) -> Iterator[Block]:
    record, method = report.record, report.record.method
    count = record.count()
    statuses = ("passed", "unsupported", "not_run", "incorrect", "failed")
    counts = ", ".join(f"{count[status]} {status.replace('_', ' ')}" for status in statuses)
    yield paragraph(f"{len(record.cases)} cases: {counts}.")
    gate = provenance.program(record.environment) == "recheck"
    items = [
        text(
            strong("The gate."),
            " A time is recorded only for a case whose result passed its check on the same "
            "binary, device and shape; the result that was timed is checked again afterwards. "
            "Shapes that are not timed are proven by ",
            Code("--gate"),
            f"{' and the tests' * gate}, not by this record. Every other case is listed with its "
            "reason.",
        ),
        text(
            strong("What the gate cannot see."),
            " Only outputs convict a row, so these pass: a row that keeps results by the ",
            emphasis("contents"),
            " of its inputs, skips a hot launch whose output already stands, does less work in one "
            "launch than it is told",
            text(" (", emphasis("inner"), ")") if "inner" in regimes else "",
            ", leaves other work running, keeps device memory, changes a setting of the process "
            "that other rows depend on, or rounds reals within the bound. Read the code of a row "
            "that you do not trust.",
        ),
        _clocks(report, regimes),
        *_drained(report, regimes),
    ]
    if regimes & {"first", "first_context"}:
        items.append(
            text(
                strong("First calls."),
                " Each sample of ",
                emphasis("first"),
                " and ",
                emphasis("first context"),
                " is a process of its own, in random order among rows. Its output is checked.",
            )
        )
    rounds = (
        f" All have {method.rounds} rounds; a row that is too slow for so many takes its turns in "
        "some, from the first to the last."
    )
    sustained = (
        " Sustained rows come one by one; the first is measured again at the end, and its second "
        "time stands: if it drifted, all are marked."
    )
    items += [
        text(
            strong("Order."),
            " Strategies of one shape and regime take turns in rounds of random order, so that "
            "drift meets all alike.",
            rounds if method.rounds else "",
            sustained if "sustained" in regimes else "",
        ),
        _comparisons(report),
        _numbers(report),
        text(
            strong("Energy."),
            " Watts and joules in ",
            Code("record.json"),
            " are of sustained launches; in older records, of hot ones at the headline shapes. GHz "
            "is the SM clock held while the rate was measured.",
        ),
    ]
    if spent := provenance.spent(record):
        total = f" {record.wall_seconds:.0f} s: {spent}, the rest between cases."
        items.append(text(strong("Time."), total))
    items += [
        _samples(report, regimes),
        text(
            strong("Disturbed times."),
            " A time is marked ",
            emphasis("disturbed"),
            " if another process took 5 % or more of the GPU's time meanwhile; if other programs "
            "kept the CPUs busy that a host-timed case could have used; or if more than a quarter "
            "of its blocks jumped even when measured again. It may be too long, and it decides no "
            "claim.",
        ),
    ]
    yield Bullets(tuple(items))
    dropped = provenance.dropped(record)
    if dropped.rows:
        lead = text(Anchor("left-out"), strong("Left out"), " by the plan of this run:")
        yield Bullets((lead,))
        yield dropped


def _clocks(report: Measured, regimes: set[str]) -> Text:
    state = report.record.environment.state
    events = Text()
    if state.event_nanoseconds is not None:
        hosts = "hosts differ by"
        step = state.event_step_nanoseconds
        several = self_audit.run_to_run(report.record).rows
        events = text(
            f" What two events with nothing between them measure, {state.event_nanoseconds} ns, is "
            "subtracted of every time;",
            f" their clock has steps of {step} ns;" if step else "",
            " of launches under 10 µs that may be a good part of what ",
            link("#run-to-run", hosts) if several else hosts,
            ".",
        )
    end_to_end = ", and end to end" if "end_to_end" in regimes else ""
    return text(
        strong("Clocks."),
        " GPU: CUDA events around the launch alone, on one stream whose work is queued ahead, so "
        "that launch latency stays outside.",
        events,
        f" CPU{end_to_end}: the host's steady clock around the whole call, which returns after "
        "every thread has joined or the device has been synchronised.",
    )


def _drained(report: Measured, regimes: set[str]) -> Iterator[Text]:
    if "drained" not in regimes:
        return
    elsewhere = sentences.drained(report)
    lead = " Elsewhere it makes little difference: at the headline, "
    yield text(
        Anchor("drained"),
        strong("Drained."),
        " A kernel may end while tens of megabytes that it wrote are still in L2. So behind it "
        "another kernel reads twice L2. A drained time is that of both, less the median of the "
        "second one after a clean L2, in the same block. That adds up to about 1 µs between the "
        "kernels. It ranks kernels that write much.",
        text(lead, elsewhere, ".") if elsewhere else "",
    )


def _comparisons(report: Measured) -> Text:
    comparisons = report.comparisons
    resolution = self_audit.resolution_text(comparisons.resolution)
    margin = Text()
    if self_audit.run_to_run(report.record).rows:
        whose = f", which is an {comparisons.borrowed}'s" if comparisons.borrowed else ""
        where = link("#run-to-run", "margin")
        margin = text(", and further than the ", where, f" of that ratio{whose}")
    of = ["claims", *["stories"] * bool(report.known.stories)]
    of += ["listings"] * bool(report.known.listings)
    return text(
        Anchor("comparisons"),
        strong("Comparisons."),
        " Cases of one shape and regime were measured in turns, round by round, and are compared "
        "in pairs: a ratio is the median over their common rounds. Its 95 % interval lies between "
        "order statistics (Hettmansperger and Sheather). Where cases cannot be paired (ᵉ: "
        "different regimes, a CPU with a GPU, fewer than six common rounds), it has the far ends "
        "of the two medians' intervals. Intervals assume independent rounds, and none is narrower "
        f"than a step of the clock. Holm's correction covers all {len(comparisons.family)} "
        f"comparisons of {', '.join(of)}; extremes of several rows count once per pair. ",
        emphasis("Faster"),
        " and ",
        emphasis("slower"),
        ": the whole interval lies more than the ",
        link("#self-audit", "resolution"),
        f", {resolution}, from 1",
        margin,
        f", and the difference is significant at {100 * LEVEL:g} % after the correction. ",
        emphasis("The same"),
        f": the interval lies within {resolution} of 1. ",
        emphasis("No significant difference"),
        ": neither. A time is of all rounds of its case, also those that the other case does not "
        "have. So a ratio need not be the quotient of the two times beside it.",
    )


def _numbers(report: Measured) -> Text:
    record, method = report.record, report.record.method
    # the form of older schemas defines the interval
    confidence = f"{100 * (record.method.confidence or 1 - LEVEL):g} %"
    of = "of its blocks' medians."
    if record.environment.gpu and record.environment.state.event_step_nanoseconds is None:
        of = (
            "in this older record of all samples. As those of a round are alike, the interval is "
            "too narrow; end to end it covers 88 %."
        )
    proofs, three = method.proofs_timed_from_seconds, method.three_samples_from_seconds
    long = ""
    if proofs:
        only = (
            f"; from {three:g} s on the only ones, with Student's interval of their logarithms"
            if three
            else ""
        )
        long = (
            f" Where a launch on the CPU takes {proofs:g} s or more, its two proofs and its launch "
            f"on fresh inputs are samples as well{only}."
        )
    return text(
        strong("Numbers."),
        f" A time is a median with its nonparametric {confidence} interval, {of}{long} Units are "
        "SI (1 GB = 10⁹ bytes). Rates count the problem's compulsory work, whatever a strategy "
        "really moves, over the median time.",
    )


def _samples(report: Measured, regimes: set[str]) -> Text:
    record, method = report.record, report.record.method
    timed = [case.seconds for case in record.cases if case.seconds]
    discarded = sum(seconds.discarded for seconds in timed)
    kept = sum(seconds.samples for seconds in timed)
    set_aside = sum(len(samples) for case in record.cases for _, samples in case.raw.set_aside)
    why = (
        f" because their block took more than {method.disturbed_above} times as long as the case's "
        "fastest block but one, and measured again"
    )
    first = ", but the first time of a sustained row that was measured twice"
    held = text(
        " ",
        link("samples.jsonl.bz2", Code("samples.jsonl.bz2")),
        f" holds the {set_aside} of them that were set aside, under ",
        Code("set_aside"),
        ".",
    )
    return text(
        strong("Samples."),
        f" {kept} kept, {discarded} set aside{why if method.disturbed_above else ''}. Nothing else "
        f"is left out{first if 'sustained' in regimes else ''}.",
        held if set_aside else "",
    )


def _again(report: Measured) -> Iterator[Block]:
    env, program = report.record.environment, provenance.program(report.record.environment)
    lines = []
    if env.git.known:
        where = f"   # in the repository of {program}" if program != "recheck" else ""
        lines.append(f"git checkout {env.git.commit}{where}")
    which = "its last part" if "--resume" in env.command else "this record"
    command = env.command.replace("`", "'")
    lines.append(f"cmake --workflow --preset report   # {which}: {command}")
    if program != "recheck":
        lines.append(f"# without presets: cmake --build FOLDER --target {program}_report")
    yield Listing("\n".join(lines), "sh")
    yield paragraph(
        link("record.json", Code("record.json")),
        " beside this file holds every case, ",
        link("samples.jsonl.bz2", Code("samples.jsonl.bz2")),
        " every raw sample; the same files always render to the same bytes.",
    )
