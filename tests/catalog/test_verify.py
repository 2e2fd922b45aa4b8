"""Damage of every kind is found and named, by `verify` and, where it matters, when a run is continued."""

from __future__ import annotations

import hashlib
import json
import random
import shutil

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.ledger.manifest import seal, unseal
from enumerate.ledger.parts import TourWriter
from enumerate.model.config import usable_cores
from enumerate.model.errors import Damaged
from enumerate.model.jobs import Part

from ..support.commands import called
from ..support.runs import damage, run_serially, small
from ..support.searches import copied


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "run"
    run_serially(small(folder))
    return folder


@pytest.fixture
def run_folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "run")


def a_part(folder):
    return sorted((folder / "tours").rglob("*.parquet"))[2]


def test_a_sound_run_is_sound(sound):
    verdict = verify(Run(sound))
    assert verdict.damage == []
    assert verdict.complete
    total = Run(sound).totals()
    assert verdict.tours == total["tours_open"] + total["tours_closed"] > 0
    assert (verdict.parts, verdict.bytes) == (total["parts"], total["bytes"])


@pytest.mark.parametrize("which", ["part", "record", "run.json", "summary.parquet", "summary.csv"])
def test_a_flipped_bit_anywhere_is_found_and_its_file_is_named(run_folder, which):
    path = {
        "part": a_part(run_folder),
        "record": run_folder / "_run" / "commits" / "000001-0001.json",
        "run.json": run_folder / "_run" / "run.json",
    }.get(which, run_folder / which)
    whole = path.read_bytes()
    for bit in random.Random(5).sample(range(len(whole) * 8), 25):
        harmed = bytearray(whole)
        harmed[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(harmed)
        try:
            found = damage(run_folder)
        except Damaged as error:
            found = [str(error)]
        assert any(path.name in line for line in found), f"bit {bit} of {path.name}"
    path.write_bytes(whole)
    assert damage(run_folder) == []


def test_a_part_under_another_name_is_found(run_folder):
    def rename(record):
        record["parts"][0]["name"] = record["parts"][0]["name"].replace("start=c2", "start=d4")

    record_path = run_folder / "_run" / "commits" / "000001-0001.json"
    record = unseal(record_path.read_bytes(), "record")
    before = record["parts"][0]["name"]
    rename(record)
    (run_folder / before).rename(run_folder / record["parts"][0]["name"])
    record_path.write_bytes(seal(record))
    assert any("not the name of a part of record" in line for line in damage(run_folder))


@pytest.mark.parametrize("which", ["part", "record", "run.json"])
def test_damage_is_found_when_a_run_is_continued(run_folder, tmp_path, which):
    path = {
        "part": a_part(run_folder),
        "record": run_folder / "_run" / "commits" / "000001-0001.json",
        "run.json": run_folder / "_run" / "run.json",
    }[which]
    harmed = bytearray(path.read_bytes())
    harmed[len(harmed) // 2] ^= 4
    path.write_bytes(harmed)
    with pytest.raises(Damaged, match=path.name):
        run_serially(small(run_folder, max=4_000))


def test_a_missing_part_is_named_by_verify_and_on_continuing(run_folder):
    a_part(run_folder).unlink()
    assert [line.split(":")[0] for line in damage(run_folder)] == ["missing, though a record names it"]
    with pytest.raises(Damaged, match="missing, though a record names it"):
        run_serially(small(run_folder))


def test_a_missing_record_before_others_is_named_by_verify_and_on_continuing(run_folder):
    (run_folder / "_run" / "commits" / "000001-0001.json").unlink()
    for part in (run_folder / "tours").rglob("part-000001-0001.parquet"):
        part.unlink()
    expected = "missing, though a later slice of its job has a record: _run/commits/000001-0001.json"
    assert expected in damage(run_folder)
    with pytest.raises(Damaged, match="000001-0001"):
        run_serially(small(run_folder))


def test_a_job_whose_last_records_were_taken_away_is_searched_anew_from_there(run_folder, sound):
    for record in sorted((run_folder / "_run" / "commits").glob("000001-*.json"))[1:]:
        record.unlink()
    assert run_serially(small(run_folder), repair=True).worked
    assert damage(run_folder) == []
    assert [path.read_bytes() for path in sorted((run_folder / "tours").rglob("*.parquet"))] == [
        path.read_bytes() for path in sorted((sound / "tours").rglob("*.parquet"))
    ]


def test_a_stale_summary_is_found_and_the_same_command_renews_it(run_folder, tmp_path):
    run_serially(small(tmp_path / "other", max=500))
    shutil.copy(tmp_path / "other" / "summary.csv", run_folder / "summary.csv")
    assert damage(run_folder) == ["damaged, not the summary of the records: summary.csv"]
    assert not run_serially(small(run_folder)).worked
    assert damage(run_folder) == []


@pytest.mark.parametrize(
    "name", ["tours/notes.txt", "tours/variant=open/start=a1/part-9.parquet", "stray", "_run/x.json"]
)
def test_a_foreign_file_is_named(run_folder, name):
    (run_folder / name).write_text("hello")
    assert damage(run_folder) == [f"not a file of this run: {name}"]


def test_a_missing_summary_of_a_finished_run_is_named(run_folder):
    (run_folder / "summary.csv").unlink()
    assert damage(run_folder) == ["missing: summary.csv"]


def rewrite(folder, change):
    """Change a part's tours and make the records fit, so that only the tours themselves can tell."""
    record_path, *later = sorted((folder / "_run" / "commits").glob("000001-*.json"))[1:]
    record = unseal(record_path.read_bytes(), "record")
    entry = next(part for part in record["parts"] if part["holds"] == "open")
    size = entry["bytes"]
    path = folder / entry["name"]
    run = Run(folder)
    batches = [copied(batch) for batch in run.read_part(Part(**entry))]
    assert len(batches) == 1
    change(batches[0])
    writer = TourWriter(run.config, "open")
    writer.add(batches[0])
    data = bytes(writer.close())
    path.write_bytes(data)
    entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), content=writer.content.digest)
    record_path.write_bytes(seal(record))
    for path in later:  # they carry the sums of those before them
        record = unseal(path.read_bytes(), "record")
        record["before"]["bytes"] += len(data) - size
        path.write_bytes(seal(record))
    return entry["name"]


def swap_squares(batch):
    batch.tours[3, [20, 30]] = batch.tours[3, [30, 20]]


def repeat_square(batch):
    batch.tours[3, 20] = batch.tours[3, 22]


def other_start(batch):
    batch.tours[:] = batch.tours[:, ::-1].copy()


def twice(batch):
    batch.tours[5] = batch.tours[3]


def backwards(batch):
    batch.iterations[:] = batch.iterations[::-1].copy()


def wrongly_structured(batch):
    batch.structured[3] ^= True


def wrongly_symmetric(batch):
    batch.symmetry[3] = 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (swap_squares, "not a knight's move"),
        (repeat_square, "does not visit every square once"),
        (other_start, "begins on another square"),
        (twice, "a tour occurs twice"),
        (backwards, "its iterations do not ascend"),
        (wrongly_structured, "a tour is not as structured as its column says"),
        (wrongly_symmetric, "a tour has another symmetry than its column says"),
    ],
)
def test_wrong_tours_are_found_even_if_every_checksum_fits(run_folder, change, words):
    name = rewrite(run_folder, change)
    found = damage(run_folder)
    assert found
    assert all(words in line and name in line for line in found)


def test_the_same_tours_written_again_are_no_damage(run_folder):
    """What is found above is the change, not that something was rewritten."""
    rewrite(run_folder, id)
    assert damage(run_folder) == []


def test_damage_gives_exit_code_4_and_names_the_file(run_folder, tmp_path):
    path = a_part(run_folder)
    harmed = bytearray(path.read_bytes())
    harmed[50] ^= 1
    path.write_bytes(harmed)
    done = called("verify", run_folder, cwd=tmp_path)
    assert done.returncode == 4
    assert path.name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_run_is_a_bad_request(tmp_path):
    done = called("verify", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_the_record_holds_what_is_needed_to_trace_a_tour(sound):
    record = json.loads((sound / "_run" / "commits" / "000001-0001.json").read_text())
    manifest = json.loads((sound / "_run" / "run.json").read_text())
    assert record["start"] == "c2"
    assert record["parts"][0]["name"].startswith("tours/variant=")
    assert manifest["identity"]["start"] == "a1,c2,d4"
    assert {"numba", "numpy", "pyarrow", "python"} <= set(manifest["versions"])


def test_ctrl_c_ends_all_readers_at_once(run_folder):
    """Not after the parts that other threads have before them."""
    shares = []

    def interrupted(share):
        shares.append(share)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(Run(run_folder), interrupted)
    assert len(shares) <= usable_cores()
