"""What the machine code of kernels has in their innermost loop, as cuobjdump prints it."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from recheck_report.collect.programs import at_once, execute, is_program, say
from recheck_report.record.counters import TRIP
from recheck_report.record.environment import Gpu

_FUNCTION = re.compile(r"\s*Function : (\S+)")
_LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?([A-Z]\S*)([^;]*);")
_REGISTERS = re.compile(r"Function (\S+):\s+REG:(\d+)")
_AROUND = re.compile(r"\(anonymous namespace\)::|\w+::|^void ")  # of a kernel's name
_TARGET = re.compile(r"\b0x([0-9a-f]+)\s*$")
_WIDTHS = {"8": 1, "16": 2, "64": 8, "128": 16, "256": 32}  # bits after the name, as bytes
_MEMORY = {"LDS": "shared_loads", "LDG": "global_loads"}


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str  # LDS.128
    operands: str

    @property
    def goes_back_to(self) -> int | None:
        """Where a loop begins that this branch ends."""
        target = _TARGET.search(self.operands) if self.name.startswith("BRA") else None
        to = int(target[1], 16) if target else self.address
        return to if to < self.address else None

    @property
    def counts(self) -> Iterator[tuple[str, int]]:
        """What it adds to the counts of a loop: ("trip_shared_loads_16", 1)."""
        name, *suffixes = self.name.split(".")
        if name in ("FFMA", "FFMA2"):
            yield f"{TRIP}ffma", 1 + (name == "FFMA2")
        elif name in _MEMORY:
            widths = (_WIDTHS.get(suffix.lstrip("US")) for suffix in suffixes)
            yield f"{TRIP}{_MEMORY[name]}_{next(filter(None, widths), 4)}", 1


def parse(text: str) -> dict[str, list[Instruction]]:
    """The instructions of each function in cuobjdump's output."""
    functions: dict[str, list[Instruction]] = {}
    code: list[Instruction] = []
    for line in text.splitlines():
        if found := _FUNCTION.match(line):
            code = functions.setdefault(found[1], [])
        elif found := _LINE.match(line):
            code.append(Instruction(int(found[1], 16), found[2], found[3]))
    return functions


def trip(code: Iterable[Instruction]) -> dict[str, float]:
    """The loads by width and the multiply-adds in one trip of the loop with the most multiply-adds
    that has none inside it that multiplies; empty without such a loop."""
    code = list(code)
    loops = []
    for end in code:
        if (begin := end.goes_back_to) is not None:
            body = [each for each in code if begin <= each.address <= end.address]
            counts = Counter(dict[str, int]())
            for each in body:
                counts.update(dict(each.counts))
            if counts[f"{TRIP}ffma"]:
                loops.append((begin, end.address, counts))
    inner = [
        counts
        for begin, end, counts in loops
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e, _ in loops)
    ]
    best = max(inner, key=lambda counts: counts[f"{TRIP}ffma"], default=None)
    return {name: float(count) for name, count in best.items()} if best else {}


def architecture(cubins: Iterable[str], capability: str) -> str | None:
    """The newest of some files' architectures that a GPU of this compute capability runs; None
    without one. An empty capability runs all. cuobjdump names the files it extracts
    "recheck.1.sm_90a.cubin"."""
    major, _, minor = capability.partition(".")
    named = re.findall(r"\.(sm_(\d+)(\d)[af]?)\.", " ".join(cubins))
    fit = [
        (int(whole + of), name)
        for name, whole, of in named
        if not capability or (whole == major and of <= minor)
    ]
    return max(fit)[1] if fit else None


def disassembler(nvcc: str) -> str:
    """The cuobjdump next to nvcc, or any; empty without one."""
    beside = str(Path(shutil.which(nvcc) or nvcc).parent / "cuobjdump")
    return beside if is_program(beside) else shutil.which("cuobjdump") or ""


def code_of(cuobjdump: str, files: Iterable[Path], capability: str) -> dict[str, dict[str, float]]:
    """One trip of the innermost loop, and the registers, of each kernel of some object files that
    multiplies in a loop. Names are without namespaces and arguments: "version_1_kernel<Printed>".
    """
    code: dict[str, dict[str, float]] = {}
    for path in files:
        arch = architecture([execute(cuobjdump, "--list-elf", path).out], capability)
        ask = (cuobjdump, "-arch", arch or "", path)
        code |= {name: trip(each) for name, each in parse(execute(*ask, "--dump-sass").out).items()}
        for name, registers in _REGISTERS.findall(execute(*ask, "--dump-resource-usage").out):
            code.get(name, {})["registers"] = float(registers)
    code = {name: values for name, values in code.items() if f"{TRIP}ffma" in values}
    ended = execute("c++filt", *code)
    names = ended.out.splitlines() if ended.code == 0 else [*code]
    names = [_AROUND.sub("", name).partition("(")[0].replace("> >", ">>") for name in names]
    return dict(zip(names, code.values(), strict=True))


def machine_code(
    nvcc: str, program: str, gpu: Gpu | None, kernels: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """One trip of the innermost loop of some cases' kernels. `kernels`: their names, by case."""
    if not kernels or not gpu:
        return {}
    cuobjdump = disassembler(nvcc)
    if not cuobjdump:
        say("machine code: not measured: cuobjdump was not found")
        return {}
    functions: dict[str, list[Instruction]] = {}
    with tempfile.TemporaryDirectory() as folder:
        # it extracts into the current folder
        whole = Path(shutil.which(program) or program).resolve()
        ended = [execute("env", f"--chdir={folder}", cuobjdump, "--extract-elf", "all", whole)]
        cubins = sorted(Path(folder).glob("*.cubin"))
        arch = architecture((path.name for path in cubins), gpu.compute_capability)
        names = [name.encode() for name in set(kernels.values())]
        # disassembling takes long
        holding = [path for path in cubins if f".{arch}." in path.name]
        holding = [path for path in holding if any(map(path.read_bytes().__contains__, names))]
        ended += at_once(lambda path: execute(cuobjdump, "--dump-sass", path), holding).values()
    for each in ended:
        functions |= parse(each.out)
    if not functions:
        lines = [line for each in ended for line in each.err.splitlines()]
        why = (lines or ["it has none for this GPU with these kernels"])[0]
        say(f"machine code: not measured: {why}")
    return {case: trip(functions.get(name, ())) for case, name in kernels.items()}
