"""Types of rows and cases: record.json's `strategies` and `cases`, lines of samples.jsonl, and
Case, which joins all three. Units are SI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean, median
from typing import Annotated

from recheck_report.record.typed import Is

# names become parts of files' names, and stand as code in Markdown
NAME, ROW = r"[a-z0-9_]{1,60}", r"[^/`\[\]<>|\\]{1,40}"
SHAPE = r"[1-9][0-9]{0,17}(x[1-9][0-9]{0,17})*"
CASE = f"^{NAME}/{ROW}/{SHAPE}/[a-z0-9_]{{1,30}}$"
# a newer Recheck may have other words; none of these characters is Markdown
Word = Annotated[str, Is(pattern=r"^[A-Za-z0-9_ .+-]{1,40}$", form="a word")]
# seconds; other times are invalid, so that rates and logarithms stay finite
SHORTEST, LONGEST = 1e-12, 1e9


def _middle(samples: Sequence[float], step: float) -> float:
    """The median, in seconds. If three of four samples lie within a clock step of it, the median is
    a multiple of half a step, so the mean of those samples is more precise."""
    middle = median(samples)
    near = [sample for sample in samples if abs(sample - middle) <= 1.01 * step]
    return fmean(near) if 4 * len(near) >= 3 * len(samples) else middle


@dataclass(frozen=True)
class Seconds:
    """A median and its nonparametric interval, low <= median <= high."""

    median: float
    low: float
    high: float
    samples: int
    discarded: int


@dataclass(frozen=True)
class Timing:
    """A time as a file has it; read.py turns it into Seconds."""

    median: Annotated[float | None, Is("seconds")] = None
    low: Annotated[float | None, Is("of the interval, seconds")] = None
    high: Annotated[float | None, Is("of the interval, seconds")] = None
    samples: Annotated[int, Is("that were kept")] = 0
    discarded: Annotated[int, Is("set aside for method.disturbed_above")] = 0


@dataclass(frozen=True)
class Error:
    value: Annotated[float | None, Is("null: not finite, so never right")] = None
    bound: Annotated[float, Is("always finite")] = 0.0
    metric: Annotated[str, Is("what value is")] = "not known"


@dataclass(frozen=True)
class Power:
    """The power that launches back to back draw, in a separate window."""

    watts: Annotated[float | None, Is("on average, watts", least=0, zero_is_null=True)] = None
    joules: Annotated[float | None, Is("per launch, joules", least=0, zero_is_null=True)] = None
    seconds: Annotated[float, Is("length of the window, seconds")] = 0.0
    temperature_c: Annotated[float | None, Is("at its end, Celsius", zero_is_null=True)] = None
    throttle: Annotated[tuple[str, ...], Is("what kept the clock down, as NVML names it")] = ()


@dataclass(frozen=True)
class Settling:
    """The state in which a sustained time began."""

    seconds: Annotated[float, Is("of launches before it", least=0)] = 0.0
    settled: Annotated[bool, Is("whether pace and power had come to rest by then")] = True


@dataclass(frozen=True)
class Source:
    document: Annotated[str, Is("a source, vendor or Recheck")] = ""
    place: Annotated[str, Is("in it")] = ""
    algorithm: Annotated[str, Is("its name in our catalogue, or empty")] = ""

    def __str__(self) -> str:
        document = "ours:" if self.document == "Recheck" else self.document
        return f"{document} {self.place}" + (f" ({self.algorithm})" if self.algorithm else "")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What all cases of a row of an experiment's table have in common."""

    experiment: Annotated[str, Is("by name", pattern=f"^{NAME}$", form="a name")]
    role: Word = "rung"  # or baseline, roof, part, audit
    target: Word = "gpu"
    arithmetic: Word = "fp32"  # tf32, less accurate; split, on planes of a narrower type
    layout: Word = "row_major"  # of its first input
    note: Annotated[str, Is("for people")] = ""
    problem: Annotated[str, Is("what it computes; empty: the experiment's problem")] = ""
    part_of: Annotated[str, Is("the strategy of whose launch the row is a part, else empty")] = ""
    sweep: Annotated[bool, Is("whether it is one point of a parameter sweep")] = False
    parameters: Annotated[dict[str, int], Is("by name")] = field(default_factory=dict)
    source: Annotated[Source, Is("where it is from")] = Source()


@dataclass(frozen=True, kw_only=True)
class Strategy(Row):
    """A row as record.json has it."""

    name: Annotated[str, Is("of the strategy", pattern=f"^{ROW}$", form="a name")]


Time = Annotated[float, Is(least=0, most=LONGEST)]  # seconds
Clock = Annotated[float | None, Is(least=0, most=1e11, zero_is_null=True)]
Aside = tuple[int, tuple[Time, ...]]  # a round, and its samples
Block = tuple[int, Annotated[int, Is(least=1)]]  # a round, and how many samples were taken in it


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A line of samples.jsonl: how a case was timed."""

    id: Annotated[str, Is("of the case")]
    samples: Annotated[tuple[Time, ...], Is("in the order taken, seconds; each of a batch")] = ()
    blocks: Annotated[tuple[Block, ...], Is("[round, samples]; from 2 * rounds on: proofs")] = ()
    clocks: Annotated[tuple[Clock, ...], Is("of the SMs, hertz, one for each block")] = ()
    set_aside: Annotated[tuple[Aside, ...], Is("[round, samples], measured again")] = ()


@dataclass(frozen=True, kw_only=True)
class Result:
    """A case as record.json has it, but for its time."""

    id: Annotated[str, Is(pattern=CASE, form="experiment/row/shape/regime")]
    status: Word
    reason: Annotated[str | None, Is("why it has no time, in one line; null if passed")] = None
    reason_code: Annotated[str | None, Is("the reason's kind, of a closed list")] = None
    error: Annotated[Error | None, Is("on real inputs; right if and only if value <= bound")] = None
    flops: Annotated[float, Is("useful operations", least=0)] = 0.0
    bytes: Annotated[float, Is("each input read once, each output written once", least=0)] = 0.0
    clock_hz: Annotated[float | None, Is("median, hertz", least=0, zero_is_null=True)] = None
    power: Annotated[Power | None, Is("of sustained launches; of older records, hot ones")] = None
    spent: Annotated[float, Is("seconds of the run, proofs included", least=0)] = 0.0
    settling: Annotated[Settling | None, Is("of a sustained time")] = None
    batch: Annotated[int, Is("number of launches in each sample", least=1)] = 1
    disturbed: Annotated[str | None, Is("what disturbed its time; null: nothing seen")] = None


@dataclass(frozen=True, kw_only=True)
class Entry(Result):
    """A case as record.json has it."""

    seconds: Annotated[Timing | None, Is("the median of the samples and its interval")] = None


@dataclass(frozen=True, kw_only=True)
class Case(Row, Result, Raw):
    """Strategy x shape x regime; `seconds` is set only if status is "passed"."""

    strategy: str
    shape: dict[str, int]
    regime: str
    seconds: Seconds | None = None
    unsure: str | None = None  # why its time decides nothing; None: it may
    step: float = 0.0  # seconds; the clock's step divided by `batch`

    @property
    def time(self) -> Seconds:
        """The seconds; only for a case that passed."""
        assert self.seconds is not None, self.id
        return self.seconds

    @cached_property
    def rounds(self) -> dict[int, float]:
        """The middle of each block's samples in seconds, by round, as in statistics.hpp's
        middle_of_block()."""
        middles, at = {}, 0
        for number, count in self.blocks:
            middles[number] = max(SHORTEST, _middle(self.samples[at : at + count], self.step))
            at += count
        return middles

    @cached_property
    def shape_name(self) -> str:
        """ "4096x512x2048", in the order of the experiment's axes as JSON objects have none."""
        return self.id.rsplit("/", 2)[1]

    @property
    def unsettled(self) -> bool:
        """Whether pace or power still changed when a sustained time began."""
        return self.settling is not None and not self.settling.settled

    @property
    def fp32(self) -> bool:
        return self.arithmetic == "fp32"

    @property
    def contends(self) -> bool:
        """Whether the row solves the experiment's problem, whole: a part or a copy does not."""
        return not self.problem and not self.part_of and self.role != "roof"

    @property
    def split(self) -> bool:
        """Whether tensor cores do the work on split inputs: not IEEE fp32, within a bound."""
        return self.arithmetic == "split"

    @property
    def documented(self) -> bool:
        """Whether the row comes from a document, not from us or the vendor."""
        return self.source.document not in ("Recheck", "vendor")

    @property
    def marks(self) -> str:
        """What follows the row's name: † not fp32-accurate, § of split inputs, ‡ another
        problem, or a part."""
        arithmetic = "" if self.fp32 else " §" if self.split else " †"
        return arithmetic + (" ‡" if self.problem or self.part_of else "")

    @property
    def why_not(self) -> str:
        """Why the case has no time: "not run: no CUDA device"."""
        return f"{self.status.replace('_', ' ')}: {self.reason or 'no reason given'}"
