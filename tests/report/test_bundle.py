"""A report as it is forwarded, cited and published: the zip file, the RO-Crate, the appendix."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, REPORTS, one_line, run, tree
from recheck_report.bundle import described, folder_name, identity, papers
from recheck_report.bundle.archive import archive
from recheck_report.claims import BadClaim, load_collection
from recheck_report.claims.measured import Measured, read
from recheck_report.claims.sources import TYPES, load_more
from recheck_report.collect import sanitizer
from recheck_report.commands import output
from recheck_report.formatting import duration
from recheck_report.model.record import Record
from recheck_report.sections import appendix
from recheck_report.sections.family import close_family
from synthetic import SMALL, Json, keep, make_full, make_record, pack, unpack
from synthetic_claims import about, because, make_claim, make_probes, measured, ratio

OUTSIDE = REPORTS.parent / "tests/outside"
H200 = REPORTS / "results/nvidia-h200"
NAME = "recheck-nvidia-h200-0123456"
NASTY = "a`b | *c* <script>alert(1)</script> \"d\" 'e' $(f) \\ # g: h\u2028[i](j)"

Graph = dict[str, dict[str, Any]]
Load = Callable[[Any], Record]


def probed(record: Json, folder: Path) -> Path:
    keep(folder / "record.json", record)
    (folder / "probes.json").write_text(json.dumps(make_probes(record)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report and its bundle, made at once; not to be changed."""
    folder = tmp_path_factory.mktemp("rendered")
    words = (probed(make_record(SMALL), folder), "--output", folder / "report")
    result = run("render", *words, "--bundle", folder / "made" / "at_once.zip")
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture
def copy(rendered: Path, tmp_path: Path) -> Path:
    """The report for a test to spoil: tmp_path/report."""
    return shutil.copytree(rendered / "report", tmp_path / "report")


def read_closed(folder: Path, experiments: Path = EXPERIMENTS) -> Measured:
    """A record with its claims, ready for its verdicts."""
    own = read(folder, experiments)
    close_family(own)
    return own


def complete(own: Measured, files: dict[str, bytes]) -> dict[str, bytes]:
    return described(own, papers(own, output.MARK) | files)


# the zip file


def unpacked(path: Path, folder: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        file.extractall(folder)
    return tree(folder)


def test_a_bundle_unpacks_into_the_report(copy: Path, rendered: Path, tmp_path: Path) -> None:
    result = run("bundle", copy)
    assert result.returncode == 0 and result.stdout == f"{tmp_path / 'report.zip'}\n"
    found = unpacked(tmp_path / "report.zip", tmp_path / "out")
    assert found == {f"{NAME}/{name}": data for name, data in tree(copy).items()}
    # rendering it gives the very same file
    at_once = rendered / "made" / "at_once.zip"
    assert (tmp_path / "report.zip").read_bytes() == at_once.read_bytes()


def test_a_bundle_says_nothing_of_when_and_where_it_was_made(rendered: Path) -> None:
    with zipfile.ZipFile(rendered / "made" / "at_once.zip") as file:
        entries = file.infolist()
    assert {each.date_time for each in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {(each.create_system, each.external_attr >> 16) for each in entries} == {(3, 0o100644)}
    names = [each.filename for each in entries]
    assert names == sorted(names) and f"{NAME}/README.md" in names


def test_an_earlier_bundle_is_replaced_and_nothing_else(copy: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    assert run("bundle", copy, "--output", target).returncode == 0
    first = target.read_bytes()
    assert run("bundle", copy, "--output", target).returncode == 0
    assert target.read_bytes() == first
    target.write_bytes(b"a thesis")
    line = one_line(run("bundle", copy, "--output", target), 1)
    why = "cannot be written: is no bundle of Recheck; name another file"
    assert line == f"error: {target}: {why}\n"
    assert target.read_bytes() == b"a thesis"
    line = one_line(run("bundle", copy, "--output", tmp_path), 1)
    assert "is no bundle of Recheck" in line


def test_a_bundle_does_not_lie_in_its_report(copy: Path) -> None:
    before = tree(copy)
    line = one_line(run("bundle", copy, "--output", copy / "report.zip"), 1)
    assert "lies in the report itself; name a file outside of it" in line
    words = ("render", copy, "--output", copy, "--bundle", copy / "report.zip")
    assert one_line(run(*words), 1) == line
    assert tree(copy) == before


def test_what_was_shown_beside_is_named_again(tmp_path: Path) -> None:
    for name, gpu in (("own", False), ("other", True)):
        (tmp_path / name).mkdir()
        probed(make_record(SMALL, gpu), tmp_path / name)
    beside = ("--beside", tmp_path / "other")
    words = (tmp_path / "own", "--output", tmp_path / "report", *beside)
    assert run("render", *words).returncode == 0
    result = run("bundle", tmp_path / "report", *beside)
    assert result.returncode == 0, result.stderr
    (name,) = {Path(each).parts[0] for each in unpacked(tmp_path / "report.zip", tmp_path / "out")}
    assert re.fullmatch(r"recheck-[a-z0-9-]+-0123456", name)


def test_a_failed_write_leaves_the_earlier_bundle(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.zip").write_bytes(archive({}, "empty"))
    before = tree(tmp_path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    line = one_line(run("bundle", copy), 1)
    why = "cannot be written: No space left on device"
    assert line == f"error: {tmp_path / 'report.zip'}: {why}\n"
    line = one_line(run("bundle", copy, "--output", "/proc/none/report.zip"), 1)
    assert line.startswith("error: /proc/none/report.zip: cannot be written: ")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["../x", "/x", "a/../x", "a\\x", ".x", "", "a//x", "x y", "ü"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    with pytest.raises(ValueError, match="no name for a file"):
        archive({name: b""}, "report")


@pytest.mark.parametrize("command", ["../..", NASTY, "", "build/x/recheck -q", "/a b/c"])
def test_the_folders_name_is_a_name(command: str, loaded: Load) -> None:
    record = make_record([(1024,) * 3])
    record["environment"] |= {"command": command}
    record["environment"]["gpu"]["name"] = "../" + NASTY
    record["environment"]["git"] = {"commit": "unknown", "dirty": True, "diff": None}
    name = folder_name(loaded(record))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and name.endswith("unknown-commit-dirty")
    archive({"README.md": b""}, name)


# the RO-Crate


def graph_of(data: bytes) -> Graph:
    """The entities by their ids, each there once."""
    document = json.loads(data)
    assert list(document) == ["@context", "@graph"]
    found = {each["@id"]: each for each in document["@graph"]}
    assert len(found) == len(document["@graph"])
    return found


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


# of RO-Crate 1.1's context, and sha256 of workflow-run's
TERMS = {
    "CreativeWork", "Dataset", "File", "CreateAction", "SoftwareApplication", "PropertyValue",
    "Organization",
    "@id", "@type", "about", "actionStatus", "alternateName", "author", "citation", "conformsTo",
    "contentSize", "datePublished", "description", "encodingFormat", "endTime", "error", "hasPart",
    "instrument", "license", "mentions", "name", "object", "result", "sha256", "softwareVersion",
    "startTime", "url", "value", "version",
}  # fmt: skip


def is_crate(files: dict[str, bytes]) -> Graph:
    """Checks the metadata of a folder against its files and against what the specification and the
    profile ask for."""
    metadata = files["ro-crate-metadata.json"]
    graph = graph_of(metadata)
    descriptor, root = graph["ro-crate-metadata.json"], graph["./"]
    assert descriptor["@type"] == "CreativeWork" and descriptor["about"] == {"@id": "./"}
    assert descriptor.pop("conformsTo") == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert json.loads(metadata)["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    assert root["@type"] == "Dataset" and root["name"] and root["description"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", root["datePublished"])
    profile = "https://w3id.org/ro/wfrun/process/0.5"
    assert root["conformsTo"] == {"@id": profile} and graph[profile]["@type"] == "CreativeWork"
    assert graph[root["license"]["@id"]]["@type"] == "CreativeWork"
    # flat: what is no text refers to an entity that is there; and nothing is empty
    for entity in graph.values():
        assert {*entity} | {entity["@type"]} <= TERMS, entity
        for value in entity.values():
            for each in listed(value):
                assert isinstance(each, str) or each["@id"] in graph and len(each) == 1, entity
                assert each
            assert not isinstance(value, list) or len(value) > 1
    # every file but the metadata is there, whole
    held = {name for name, each in graph.items() if each["@type"] == "File"}
    assert held == {*files} - {"ro-crate-metadata.json"}
    assert held == {each["@id"] for each in listed(root["hasPart"])}
    for name in held:
        entity, data = graph[name], files[name]
        assert entity["contentSize"] == str(len(data)) and entity["name"]
        assert entity["sha256"] == hashlib.sha256(data).hexdigest()
        assert re.fullmatch(r"\w+/[\w+.-]+", entity["encodingFormat"])
        assert entity["encodingFormat"] != "application/octet-stream"
    actions = {name for name, each in graph.items() if each["@type"] == "CreateAction"}
    assert actions == {each["@id"] for each in listed(root["mentions"])}
    made = []
    for name in actions:
        action = graph[name]
        assert action["name"] and action["description"]
        tool = graph[action["instrument"]["@id"]]
        assert tool["@type"] == "SoftwareApplication" and tool["name"]
        made += [each["@id"] for each in listed(action["result"])]
        for key in {"startTime", "endTime"} & {*action}:
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", action[key])
    # each file came out of one step
    assert sorted(made) == sorted(held)
    return graph


def test_a_report_is_a_crate(rendered: Path) -> None:
    graph = is_crate(tree(rendered / "report"))
    step = graph["#measuring"]
    assert step["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert graph[step["instrument"]["@id"]]["softwareVersion"].startswith("0123456")
    values = (graph[each["@id"]] for each in step["object"])
    known = {each["name"]: each["value"] for each in values if each["@type"] == "PropertyValue"}
    assert known["GPU"] == "NVIDIA H200" and known["seed"] == "13"
    assert graph["#rendering"]["object"][0] == {"@id": "record.json"}


def test_a_report_with_all_that_can_be_is_a_crate(golden: dict[str, bytes]) -> None:
    graph = is_crate(golden)
    made = {each["@id"] for each in listed(graph["#studying"]["result"])}
    assert made == {"accuracy.json", "accuracy_large.json"}


def unfinished(record: Json) -> Json:
    record["finished"] = None
    return record


def test_an_unfinished_run_failed(loaded: Load) -> None:
    own = measured(loaded(unfinished(make_record(SMALL))))
    step = is_crate(complete(own, {"record.json": b"{}"}))["#measuring"]
    assert step["actionStatus"] == "http://schema.org/FailedActionStatus"
    assert "endTime" not in step and "interrupted" in step["error"]


def test_files_of_other_reports_are_of_the_crate(loaded: Load) -> None:
    other = "beside/a-gpu/record.json"
    files = complete(measured(loaded(make_record(SMALL))), {"record.json": b"{}", other: b"{}"})
    assert other in is_crate(files)


# the citation


def parsed(text: str) -> dict[str, Any]:
    """The YAML of a citation: texts in JSON's quotes, lists of texts by key, lists of these."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]

    def members(depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while lines and re.match(r" *", lines[0])[0] == " " * depth:  # type: ignore[index]
            key, _, value = lines.pop(0).strip().partition(":")
            assert key not in found
            if value:
                found[key] = json.loads(value)
                assert isinstance(found[key], str)
                continue
            found[key] = []
            while lines and lines[0].startswith(" " * (depth + 2) + "- "):
                lines[0] = lines[0].replace("- ", "  ", 1)
                found[key].append(members(depth + 4))
        return found

    found = members(0)
    assert not lines
    return found


# of schema 1.2.0: what a citation, and a reference, may have
CITED = {
    "cff-version", "message", "title", "abstract", "type", "authors", "version", "date-released",
    "license", "repository-code", "references",
}  # fmt: skip
REFERENCE = {"type", "title", "authors", "version", "license", "year", "url", "notes"}


def is_citation(text: str) -> dict[str, Any]:
    """Checks what version 1.2.0 of the format asks for."""
    found = parsed(text)
    assert {"cff-version", "message", "title", "authors"} <= {*found} <= CITED
    assert found["cff-version"] == "1.2.0" and found["type"] == "dataset"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date-released"])
    for each in (found, *found["references"]):
        assert each["title"] and each["authors"]
        assert all({*author} == {"name"} and author["name"] for author in each["authors"])
    for each in found["references"]:
        assert {*each} <= REFERENCE and each["type"] in (*TYPES, "software")
        assert re.fullmatch(r"\d{4}", each.get("year", "2000"))
        assert re.match(r"https?://.", each.get("url", "https://x"))
    return found


def test_a_report_can_be_cited(rendered: Path) -> None:
    text = (rendered / "report" / "CITATION.cff").read_text(encoding="utf-8")
    found = is_citation(text)
    assert found["title"].startswith("Recheck: report on NVIDIA H200, 20")
    assert found["version"] == "0123456789abcdef0123456789abcdef01234567"
    software, *documents = found["references"]
    own = (REPORTS.parent / "CITATION.cff").read_text(encoding="utf-8")
    (author,) = re.findall(r"^  - name: (.+)$", own, re.MULTILINE)
    for key, value in (("title", software["title"]), ("license", software["license"])):
        assert f"\n{key}: {value}\n" in own
    assert software["authors"] == [{"name": author}] == [{"name": identity.SOFTWARE_AUTHORS}]
    # documents that this record has something of
    known = load_collection(EXPERIMENTS).sources
    assert [each["title"] for each in documents] == [
        known[name].title or known[name].name for name in ("S0", "S1", "S2")
    ]


def test_a_yaml_parser_reads_the_same(rendered: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = (rendered / "report" / "CITATION.cff").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == parsed(text)


def test_a_validator_of_the_format_agrees(rendered: Path) -> None:
    cffconvert = pytest.importorskip("cffconvert")
    text = (rendered / "report" / "CITATION.cff").read_text(encoding="utf-8")
    cffconvert.Citation(text).validate()


def test_dates_and_authors_are_not_made_up() -> None:
    files = complete(read_closed(H200), {}) if H200.exists() else {}
    if not files:
        pytest.skip("no record of an H200 is committed")
    documents = is_citation(files["CITATION.cff"].decode())["references"][1:]
    by_author = {each["authors"][0]["name"]: each for each in documents}
    assert by_author["wu-kan"]["year"] == "2019" and "year" not in by_author["風辰"]
    assert "11 December 2021, revised" in by_author["風辰"]["notes"]
    assert by_author["wu-kan"]["url"] == "https://github.com/wu-kan/wu-kan.github.io"
    assert by_author["anonymous"]["title"] == "matrix mulplication using shared memory in C++, CUDA"


def test_a_report_on_others_claims_is_theirs(tmp_path: Path) -> None:
    own = read_closed(next(OUTSIDE.glob("results/*/")), OUTSIDE / "claims")
    files = complete(own, {"record.json": b"{}", "probes.json": b"{}"})
    found = is_citation(files["CITATION.cff"].decode())
    assert found["title"].startswith("Reductions: report on ")
    assert found["authors"] == [{"name": "The authors of this example"}]
    assert found["references"][1] | {"notes": ""} == {
        "type": "slides",
        "title": "Optimizing Parallel Reduction in CUDA",
        "authors": [{"name": "Mark Harris, NVIDIA"}],
        "year": "2007",
        "url": "https://developer.download.nvidia.com/assets/cuda/files/reduction.pdf",
        "notes": "",
    }
    graph = is_crate(files)
    assert graph["#reduction"]["name"] == "reduction"
    text = files["appendix.md"].decode()
    assert "target reduction_report" in text and "\nreduction --experiment=reduction " in text
    assert "recheck_tests" not in text and "--workflow" not in text
    assert folder_name(own.record).startswith("reduction-nvidia-h200-")


def test_who_says_nothing_is_not_given_a_name(tmp_path: Path) -> None:
    (tmp_path / "sources.toml").write_text('[[source]]\nid = "X"\nname = "x"\nfound = "here"\n')
    own = read_closed(probed(make_record(SMALL), tmp_path), tmp_path)
    files = complete(own, {"record.json": b"{}", "probes.json": b"{}"})
    found = is_citation(files["CITATION.cff"].decode())
    assert found["authors"] == [{"name": "anonymous"}] and "license" not in found
    assert found["title"].startswith("recheck: report on ")
    assert "not stated" in is_crate(files)["#license"]["name"]


ATTRIBUTION = '[collection]\ntitle = "x"\nauthors = ["y"]\nlicense = "MIT"\nurl = "https://z"\n'
BAD_ATTRIBUTION = {
    "unknown": ("title", "name", "field collection.name is unknown"),
    "authors": ('["y"]', '"y"', "field collection.authors must be a list"),
    "texts": ('["y"]', "[1]", "field collection.authors[0] must be a string"),
    "license": ("MIT", "as you like", "field collection.license must be an SPDX identifier"),
    "url": ("https://z", "file:///z", "field collection.url must be an address"),
    "table": (ATTRIBUTION, "collection = 1\n", "field collection must be an object"),
}


@pytest.mark.parametrize("how", BAD_ATTRIBUTION)
def test_a_bad_attribution_is_one_line(how: str, tmp_path: Path) -> None:
    old, new, why = BAD_ATTRIBUTION[how]
    path = tmp_path / "sources.toml"
    path.write_text(ATTRIBUTION)
    assert load_more(tmp_path)[2].authors == ("y",)
    path.write_text(ATTRIBUTION.replace(old, new))
    with pytest.raises(BadClaim) as caught:
        load_more(tmp_path)
    assert str(caught.value).startswith(f"{path}: {why}") and "\n" not in str(caught.value)


def test_a_citation_of_others_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\n")
    result = run("render", probed(make_record(SMALL), tmp_path), "--output", tmp_path)
    assert "CITATION.cff: is not of a report of Recheck" in one_line(result, 1)
    assert (tmp_path / "CITATION.cff").read_text() == "cff-version: 1.2.0\n"
    assert not (tmp_path / "README.md").exists()


# the appendix


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """A record with something of all our claims."""
    record = make_full(small=True)
    for case in record["cases"]:
        case["spent"] = 0.25
    return read_closed(unpack(pack(record), tmp_path_factory.mktemp("own")))


@pytest.fixture(scope="module")
def text(own: Measured) -> str:
    return complete(own, {})["appendix.md"].decode()


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each claim's row."""
    lines = [line for line in text.split("\n") if line.startswith("| [")]
    cells = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in lines]
    return {each[0][1:].split("]")[0]: each for each in cells}


def test_each_claim_has_a_row(own: Measured, text: str) -> None:
    found = rows(text)
    assert list(found) == [each.claim.id for each in own.judgement.claims]
    assert {len(cells) for cells in found.values()} == {len(appendix.COLUMNS)}
    for each in own.judgement.claims:
        words = {"not_measured": "not measured"}
        assert found[each.claim.id][1] == f"**{words.get(each.verdict, each.verdict)}**"
    assert "more than 1.5 times as fast" in found["C12"][3]
    assert len(text.encode()) <= 60_000
    assert text.startswith(output.MARK)


def test_links_lead_to_the_claims(text: str, golden: dict[str, bytes]) -> None:
    page = golden.get("claims.md", golden["README.md"]).decode()
    targets = re.findall(r"\]\((claims[^)]+)\)", text)
    assert len(targets) == len(rows(text))
    for target in targets:
        name, _, anchor = target.partition("#")
        assert name == "claims.md" and f'<a id="{anchor}"></a>' in page


def test_the_time_is_that_of_the_cases(own: Measured, text: str) -> None:
    judged = own.judgement.find("C12")
    assert judged
    cases = [own.record.by_id[name] for name in judged.evidence]
    assert len(cases) == 2 and all(case.spent for case in cases)
    spent = duration(sum(case.spent or 0 for case in cases))
    assert rows(text)["C12"][4:] == ["GPU", "2", spent]
    # what no run spent, nobody knows
    assert rows(text)["C09"][4:] == ["GPU, compute-sanitizer", "0", "–"]


def test_what_the_record_does_not_know_it_says(text: str) -> None:
    for item in ("time to set up", "time to analyse", "archive"):
        assert f"\n| {item} | not in the record |\n" in text
    assert "| time to run | " in text and "to build: not in the record" in text


def program(name: str) -> str:
    path = os.environ.get(name)
    if not path:
        pytest.skip(f"{name} does not say which program to ask")
    return path


def said(*words: str) -> list[str]:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def blocks(text: str) -> dict[str, list[str]]:
    """The commands by claim, of the last block of code."""
    lines = text.split("```sh\n")[-1].split("\n```")[0].splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("# "):
            found[line[2:]] = []
        else:
            found[list(found)[-1]].append(line)
    return found


def test_commands_measure_all_that_decides(own: Measured, text: str) -> None:
    recheck = program("RECHECK")
    checked = 0
    for name, lines in blocks(text).items():
        judged = own.judgement.find(name)
        assert judged
        for line in lines:
            words = line.split()
            if words[0] != "recheck":
                continue
            assert words.pop() == f"--output={name}"
            listed = said(recheck, *words[1:], "--benchmark_list_tests")
            there = {"/".join(each.split("/")[:4]) for each in listed}
            assert {each for each in judged.evidence if ":" not in each} <= there
            checked += 1
    assert checked > 40


def test_commands_run_tests_that_there_are(own: Measured, text: str) -> None:
    tests = program("RECHECK_TESTS")
    known, suite = set(), ""
    for line in said(tests, "--gtest_list_tests"):
        name = line.split("#")[0].rstrip()
        suite = suite if name.startswith(" ") else name
        known.add(suite + name.strip())
    if not any(name.startswith("gpu") for name in known):
        pytest.skip("built without the CUDA Toolkit: the GPU's tests are not in the program")
    asked = re.findall(r"^[^|\n]*recheck_tests --gtest_filter='([^']+)'$", text, re.MULTILINE)
    named = {each for one in asked for each in one.split(":")}
    assert len(named) > 10 and named <= known


def test_every_check_has_a_command_or_needs_none(own: Measured, text: str) -> None:
    found = blocks(text)
    for each in own.judgement.claims:
        forms = {check.form for check in each.claim.check}
        assert (each.claim.id in found) == bool(forms - {"arithmetic", "attribute"})
    assert any(line.startswith(appendix.RACECHECK) for line in found["C09"])
    assert sanitizer.LEFT_OUT in appendix.RACECHECK


def test_nothing_of_a_record_reaches_a_shell_or_a_page(tmp_path: Path) -> None:
    record = make_record(SMALL)
    env = record["environment"]
    for key in ("command", "cpu", "os", "host_compiler", "flags", "driver", "nvcc", "arch"):
        env[key] = f"{key} {NASTY}"
    env["gpu"]["name"] = NASTY
    commit = env["git"]["commit"]  # of which any form but 40 hex digits is refused
    for each in record["experiments"]:
        each["title"] = each["problem"] = NASTY
    folder = tmp_path / "nasty"
    folder.mkdir()
    keep(folder / "record.json", record)
    own = read_closed(folder)
    files = complete(own, {"record.json": b"{}"})
    text = files["appendix.md"].decode()
    code = "".join(text.split("```")[1::2])
    assert "$(" not in code and "|" not in code
    assert re.findall("git checkout.*", code) == [f"git checkout {commit}"]
    assert "<script>" not in text and "\u2028" not in text
    plain = text.replace("```sh", "").replace("```", "")
    assert "](j)" not in plain
    found = is_citation(files["CITATION.cff"].decode())
    assert "<script>" in found["title"] and "\u2028" not in found["title"]
    is_crate(files)


def test_words_of_a_claim_are_no_commands(loaded: Load) -> None:
    """A claim whose words hold what a shell reads: its commands are made of ids alone."""
    claim = make_claim("C12", ratio(), title=NASTY.replace("\u2028", ""), why=[because("$(x)")])
    text = complete(about(loaded(make_record(SMALL)), claim), {})["appendix.md"].decode()
    (lines,) = blocks(text).values()
    flags = "--experiment=matmul --strategy=tile16,global16 --shape=1024x1024x1024 --regime=cold"
    assert lines == [f"recheck {flags} --output=C12"]
    assert "<script>" not in text
