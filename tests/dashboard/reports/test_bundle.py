import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from page_samples import put

from as2d_core.profiles import load_profile
from as2d_core.profiles.codec import profile_to_json
from dashboard.notebook.cells import Notebook, figure_cell, parameter_cell, query_cell, text_cell
from dashboard.notebook.figures import build
from dashboard.notebook.outputs import Drawing, Grid, Markup, Sentence
from dashboard.notebook.running import run_notebook
from dashboard.notebook.source import Source
from dashboard.reports.bundle import SCHEMA, contents, write_bundle
from dashboard.reports.rerun import open_bundle
from dashboard.reports.unpacking import sha256
from dashboard.services.importing import import_bytes, import_path
from dashboard.services.reporting import make_report
from dashboard.views.theme import LIGHT
from datastore.annotations import add_tag, get_annotations, set_notes
from datastore.errors import ArchiveError
from datastore.export import export_runs, read_log
from datastore.foreign_files import read_results_file
from datastore.library import put_profile
from datastore.opening import open_store
from datastore.perfetto_traces import PowerCounter, PowerTrace
from datastore.power_traces import holds_trace, keep_trace
from datastore.queries import get_run, list_runs

ROOT = Path(__file__).parents[3]
RATE = {
    "tool": "llama-bench", "model": None, "device": None, "backend": None, "threads": 4, "test": "decode",
    "prompt_tokens": None, "generated_tokens": 64, "tps": 31.5, "sd_tps": None, "samples": None, "settings": {},
    "notes": [],
}  # fmt: skip
TRACE = PowerTrace((PowerCounter("battery", "current", "µA", (1, 2), (3.0, 4.0)),), 5, None, ("odd",))


@pytest.fixture
def other(tmp_path):
    with open_store(tmp_path / "other") as store:
        yield store


@pytest.fixture(scope="module")
def notebook():
    cells = (
        parameter_cell("which", "text", "hostile"),
        text_cell("# Title\n\nwith *text*"),
        figure_cell("timeline", run="{which}"),
        figure_cell("comparison", runs=["ours", "theirs", "failed", "cut"]),
        figure_cell("facts", runs=["ours", "cut"]),
        figure_cell("budgets", profile="k70", corpus="demo", budget=5, split="validation"),
        query_cell("SELECT run_id, tps FROM runs\nWHERE tps > 0 AND run_id <> $which ORDER BY run_id"),
    )
    return Notebook("nb-1", "Shared “notebook” ![x](y)", cells, "why\nso", "because", ("x",), None, ("ours",))


@pytest.fixture(scope="module")
def bundle(shelf, notebook):
    return write_bundle(Source(shelf), notebook).data


def seen(results):
    """Everything that the blocks show, figures as their JSON."""
    out = []
    for result in results:
        for block in result.blocks:
            match block:
                case Drawing(figure, note):
                    out.append((figure.to_json(), note))
                case Grid(columns, rows, note):
                    out.append((columns, rows, note))
                case Markup(html):
                    out.append(html)
                case Sentence(text, kind):
                    out.append((kind, text))
    return out


def member(bundle, name):
    return zipfile.ZipFile(io.BytesIO(bundle)).read(name)


def repacked(bundle, **changes):
    """The same bundle with some members replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bundle)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name.partition(".")[0], old.read(name)))
    return out.getvalue()


def test_a_bundle_taken_in_shows_the_same_figures(shelf, other, notebook, bundle):
    found = import_bytes(other, bundle, "b.zip")
    assert found.refused == []
    assert found.notebooks == [notebook]
    assert seen(run_notebook(notebook, Source(other), LIGHT)) == seen(run_notebook(notebook, Source(shelf), LIGHT))


def test_logs_come_back_byte_for_byte(shelf, other, bundle):
    for run_id in import_bytes(other, bundle, "b.zip").added:
        assert read_log(other, get_run(other, run_id)) == read_log(shelf, get_run(shelf, run_id))


def test_taken_in_twice_is_once(other, bundle):
    first = import_bytes(other, bundle, "b.zip")
    again = import_bytes(other, bundle, "b.zip")
    assert len(first.added) == len(again.present) == len(list_runs(other)) == 6
    assert (again.added, again.refused) == ([], [])


def test_runs_that_others_are_compared_with_come_along(shelf):
    packed = write_bundle(Source(shelf), make_report(shelf, "run", ["ours"])).data
    manifest = json.loads(member(packed, "manifest.json"))
    assert get_run(shelf, "ours").reference_run_id == "alone"
    assert {run["run_id"] for run in manifest["runs"]} == {"ours", "alone"}


def test_a_second_run_or_profile_of_a_figure_comes_along_too(shelf):
    cells = (
        figure_cell("aligned", run="ours", against="theirs"),
        figure_cell("profile pair", profile="k70", against="me"),
    )
    found = contents(Source(shelf), Notebook("nb-2", "Two", cells))
    assert {row.run_id for row in found.rows} == {"ours", "theirs", "alone"}
    assert found.profiles == ("me",)


def test_the_tables_are_read_by_pandas(shelf, bundle):
    runs = pd.read_parquet(io.BytesIO(member(bundle, "runs.parquet")))
    assert runs.set_index("run_id").loc["ours", "tps"] == get_run(shelf, "ours").tps
    events = pd.read_parquet(io.BytesIO(member(bundle, "events.parquet")))
    assert list(events.columns) == ["run_id", "line", "kind", "json"]
    assert (events.kind == "round").sum() > 10


def test_the_jupyter_notebook_is_of_its_format_and_its_code_is_python(bundle):
    body = json.loads(member(bundle, "report.ipynb"))
    assert (body["nbformat"], body["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in body["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in body["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (wanted | {"execution_count", "outputs"} if cell["cell_type"] == "code" else wanted)
        if cell["cell_type"] == "code":
            compile(cell["source"], cell["id"], "exec")
    assert "!\\[x\\]" in body["cells"][0]["source"]


def test_the_jupyter_notebook_runs_again_from_the_unpacked_bundle(bundle, tmp_path):
    folder = tmp_path / "unpacked"
    zipfile.ZipFile(io.BytesIO(bundle)).extractall(folder)
    code = (
        "import ast, json\n"
        "space = {}\n"
        "for cell in json.load(open('report.ipynb'))['cells']:\n"
        "    if cell['cell_type'] == 'code':\n"
        "        tree = ast.parse(cell['source'])\n"
        "        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None\n"
        "        exec(compile(tree, 'cell', 'exec'), space)\n"
        "        shown = last and eval(compile(ast.Expression(last.value), 'cell', 'eval'), space)\n"
        "        print(getattr(shown, 'text', shown))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "[figure of" in done.stdout
    assert "ours\t" in done.stdout
    assert "There is no" not in done.stdout


def test_what_is_refused_of_an_upload_is_told_by_the_name_it_came_with(other, bundle):
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        manifest = json.loads(archive.read("manifest.json")) | {"files": {}}
    changed = repacked(bundle, notebook=b"{", manifest=json.dumps(manifest).encode())
    (said,) = import_bytes(other, changed, "b.zip").refused
    assert said.startswith("The notebook notebook.json was not taken: 'notebook.json' in b.zip is no JSON")
    (said,) = import_bytes(other, b'{"kind": "run"}\n', "mine.ndjson").refused
    assert said.startswith("Run mine.ndjson line 1 is no run log")


def test_an_unpacked_bundle_holds_what_the_packed_one_does(tmp_path, other):
    folder = tmp_path / "unpacked"
    for name in ("runs/x.ndjson", "earlier-profiles/a.json", "foreign/a.json", "power/a.parquet", "profiles/a.json"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("")
    said = " ".join(import_path(other, folder).refused)
    assert all(name in said for name in ("earlier-profiles/a.json", "foreign/a.json", "power/a.parquet"))


def test_what_a_bundle_leaves_out_is_told_to_whoever_takes_it_in(shelf, other):
    notebook = Notebook("nb-4", "Heard", (figure_cell("recording", audio="mine.wav"),))
    found = import_bytes(other, write_bundle(Source(shelf), notebook).data, "b.zip")
    assert found.notes == ["Recordings of people are not taken along: mine.wav."]


def test_an_opened_bundle_runs_its_own_notebook(bundle, tmp_path, notebook):
    path = tmp_path / "b.zip"
    path.write_bytes(bundle)
    opened = open_bundle(path)
    found, results = opened.notebook()
    assert found == notebook
    assert len(results) == len(notebook.cells)
    assert list(opened.query("SELECT count(*) AS n FROM runs").table["n"]) == [6]


def test_tags_and_notes_come_along_and_ours_are_kept(tmp_path, other):
    with open_store(tmp_path / "data") as store:
        put(store, tmp_path, "a")
        add_tag(store, "a", "theirs")
        set_notes(store, "a", "their note")
        packed = write_bundle(Source(store), make_report(store, "run", ["a"])).data
    put(other, tmp_path, "a")
    add_tag(other, "a", "ours")
    set_notes(other, "a", "our note")
    found = import_bytes(other, packed, "b.zip")
    kept = get_annotations(other, "a")
    assert (kept.tags, kept.notes) == (("ours", "theirs"), "our note")
    assert found.refused == ["Run a has a note here already; the archive's note was not taken."]


def test_another_run_under_the_same_id_is_refused_and_the_rest_comes_in(tmp_path, other, bundle):
    put(other, tmp_path, "ours", method="sd")
    found = import_bytes(other, bundle, "b.zip")
    assert len(found.added) == 5
    assert "with other content" in found.refused[0]
    assert get_run(other, "ours").method == "sd"


def test_a_profile_that_is_not_part_of_the_program_comes_along(tmp_path, other):
    body = profile_to_json(load_profile("k70")) | {"id": "mine", "name": "Mine"}
    with open_store(tmp_path / "data") as store:
        put_profile(store, "mine", json.loads(json.dumps(body)))
        packed = write_bundle(Source(store), make_report(store, "profile", [], None, profile="mine")).data
    first, again = (import_bytes(other, packed, "b.zip") for _ in range(2))
    assert (first.profiles, first.refused) == (["mine"], [])
    assert (again.profiles, again.refused) == ([], [])
    assert Source(other).profile("mine").name == "Mine"


def test_the_history_of_a_device_comes_along_with_its_figure(tmp_path, other):
    mine = replace(load_profile("k70"), id="mine", kind="measured", device={"name": "Phone", "serial": "1"})
    measured = [replace(mine, created_at=f"2026-0{m}-01T00:00:00+00:00", target_step_ms=50.0 + m) for m in (1, 2, 3)]
    with open_store(tmp_path / "data") as store:
        for profile in [*measured, replace(mine, id="else", device={"name": "Other"}), replace(mine, id="else")]:
            kept = json.loads(json.dumps(profile_to_json(profile)))
            put_profile(store, profile.id, kept, created_at=datetime.fromisoformat("2026-04-01"))
        notebook = Notebook("n", "Drift", (figure_cell("profile drift", profile="mine"),))
        packed = write_bundle(Source(store), notebook).data
    first, again = (import_bytes(other, packed, "b.zip") for _ in range(2))
    assert first.refused == again.refused == again.earlier_profiles == []
    assert sorted(first.earlier_profiles) == [f"mine of 2026-0{m}-01T00:00:00+00:00" for m in (1, 2)]
    (drawing,) = build(Source(other), LIGHT, "profile drift", {"profile": "mine"})
    assert "Measured 4 times" in drawing.note


def test_an_earlier_profile_that_is_none_is_refused_with_a_sentence(other):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("runs/x.ndjson", "")
        archive.writestr("earlier-profiles/a.json", "[]")
        body = profile_to_json(load_profile("k70"))
        archive.writestr("earlier-profiles/b.json", json.dumps({"created_at": "yesterday", "body": body}))
    found = import_bytes(other, packed.getvalue(), "b.zip")
    assert found.earlier_profiles == []
    assert [sentence[:38] for sentence in found.refused if "earlier" in sentence] == [
        f"The earlier profile earlier-profiles/{n}" for n in "ab"
    ]


RATES = json.dumps(
    {"cpu_info": "Cortex-X4", "model_type": "qwen3", "n_threads": 4, "n_prompt": 0, "n_gen": 64, "avg_ts": 31.5}
).encode()


def test_what_only_the_database_of_another_data_folder_holds_comes_in_once(tmp_path, other):
    with open_store(tmp_path / "data") as store:
        put(store, tmp_path, "a")
        import_bytes(store, RATES, "bench.json")
        keep_trace(store, "power.pftrace", sha256(b"x"), TRACE)
    found, again = import_path(other, tmp_path / "data"), import_path(other, tmp_path / "data")
    assert ([item.tps for item in found.foreign], found.counters, found.notes) == ([31.5], ["current"], [])
    assert (again.foreign, again.counters, again.refused) == ([], [], [])
    assert holds_trace(other, sha256(b"x"), TRACE)
    (tmp_path / "data" / "as2d.duckdb").write_bytes(b"no database")
    damaged = import_path(other, tmp_path / "data")
    assert (damaged.present, damaged.refused) == (["a"], [])
    assert damaged.notes[0].startswith("Rates of other programs and power counters that ")


def test_what_a_device_ran_and_rates_of_other_programs_come_along(tmp_path, other):
    with open_store(tmp_path / "data") as store:
        for run_id, window, day in (("a", "clean_00", 3), ("b", "clean_01", 2), ("c", "clean_02", 1)):
            put(store, tmp_path, run_id, window=window, created_at=f"2026-03-0{day}T10:00:00+00:00")
        import_bytes(store, RATES, "bench.json")
        device = get_run(store, "a").device_key
        cells = (figure_cell("stored windows", device=device, part="table"), figure_cell("foreign"))
        notebook = Notebook("nb-3", "Windows", cells)
        shown = seen(run_notebook(notebook, Source(store), LIGHT))
        packed = write_bundle(Source(store), notebook).data
    put(other, tmp_path, "c", window="clean_02", created_at="2026-03-01T10:00:00+00:00")
    found = import_bytes(other, packed, "b.zip")
    assert (sorted(found.added), found.refused) == (["a", "b"], [])
    assert seen(run_notebook(notebook, Source(other), LIGHT)) == shown


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"file_sha256": "../x"},
        {"results": []},
        {"results": [{}]},
        {"results": "x"},
        *({"results": [RATE | fault]} for fault in (
            {"tps": -1}, {"tps": "1"}, {"tps": 1e10}, {"threads": 1.5}, {"samples": True}, {"tool": "x"}, {"test": "x"},
            {"notes": "x"}, {"settings": {"a": []}}, {"more": 1},
        )),
    ],
)  # fmt: skip
def test_rates_that_no_program_measured_are_refused(change):
    body = {"format": 1, "file_sha256": sha256(b"x"), "file_name": "bench.json", "results": [RATE]}
    assert read_results_file(json.dumps(body).encode(), "x")[2][0].tps == 31.5
    with pytest.raises(ArchiveError, match="holds no rates of other programs"):
        read_results_file(json.dumps(body | change).encode(), "x")


def test_another_data_folder_is_taken_in_while_somebody_has_it_open(tmp_path, other):
    with open_store(tmp_path / "data") as store:
        put(store, tmp_path, "a")
        add_tag(store, "a", "kept")
        found = import_path(other, tmp_path / "data")
    assert found.added == ["a"]
    assert get_annotations(other, "a").tags == ("kept",)


def test_an_archive_of_logs_is_taken_in(shelf, other):
    data = export_runs(shelf, None, "ndjson").data
    assert len(import_bytes(other, data, "as2d-logs.zip").added) == 6


def test_a_log_alone_is_taken_in(shelf, other, tmp_path):
    data = read_log(shelf, get_run(shelf, "ours"))
    assert import_bytes(other, data, "ours.ndjson").added == ["ours"]


def test_a_log_that_was_changed_is_refused(other, bundle):
    table = pq.read_table(io.BytesIO(member(bundle, "events.parquet")))
    lines = [line.replace(b'"round":1,', b'"round":2,') for line in table["json"].to_pylist()]
    out = io.BytesIO()
    pq.write_table(table.set_column(3, SCHEMA.field("json"), pa.array(lines, pa.binary())), out)
    found = import_bytes(other, repacked(bundle, events=out.getvalue()), "b.zip")
    assert any("not what the archive's manifest says" in sentence for sentence in found.refused)


def test_a_line_that_is_missing_is_refused(other, bundle):
    table = pq.read_table(io.BytesIO(member(bundle, "events.parquet")))
    out = io.BytesIO()
    pq.write_table(table.filter(pa.array([n != 3 for n in range(table.num_rows)])), out)
    with pytest.raises(ArchiveError, match="A line of run"):
        import_bytes(other, repacked(bundle, events=out.getvalue()), "b.zip")


def test_lines_that_expand_without_limit_are_stopped(other, bundle, monkeypatch):
    monkeypatch.setattr("dashboard.reports.unpacking.MOST_BYTES", 50_000_000)
    n = 4_000
    line = b'{"kind":"x","pad":"' + b"a" * 100_000 + b'"}\n'
    lines = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([line], pa.binary()))
    columns = {"run_id": ["x"] * n, "line": pa.array(range(1, n + 1), pa.int32()), "kind": ["x"] * n, "json": lines}
    table = pa.table(columns)
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    assert len(out.getvalue()) < 100_000
    with pytest.raises(ArchiveError, match="expand to more than"):
        import_bytes(other, repacked(bundle, events=out.getvalue()), "b.zip")


def test_run_ids_that_expand_without_limit_are_held_once_and_shown_in_short(other, bundle):
    n, name = 4_000, "x" * 1_000_000  # 4 GB, when each line has its own
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([name]))
    out = io.BytesIO()
    pq.write_table(pa.table({"run_id": ids, "line": [1] * n, "json": ["{}"] * n}), out, store_schema=False)
    with pytest.raises(ArchiveError, match="A line of run") as caught:
        import_bytes(other, repacked(bundle, events=out.getvalue()), "b.zip")
    assert len(str(caught.value)) < 400


def test_columns_that_are_missing_or_of_another_type_are_a_sentence(other, bundle):
    whole = {"run_id": ["x"], "line": [1], "json": ["{}"]}
    for name, column in (
        ("json", None), ("json", [1]), ("json", [None]), ("json", [["x"]]), ("run_id", [1]), ("run_id", [None]),
        ("line", ["x"]),
    ):  # fmt: skip
        out = io.BytesIO()
        pq.write_table(pa.table({key: held for key, held in (whole | {name: column}).items() if held}), out)
        with pytest.raises(ArchiveError, match="export it again"):
            import_bytes(other, repacked(bundle, events=out.getvalue()), "b.zip")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"events": b"no parquet"}, "is damaged"),
        ({"manifest": b"{"}, "is no JSON"),
        ({"manifest": b'{"format": 1' + b"0" * 400 + b"}"}, "is no JSON"),
        ({"manifest": b"[]"}, "no JSON object"),
        ({"manifest": b'{"kind": "as2d bundle", "format": 9}'}, "format 9"),
    ],
)
def test_a_damaged_bundle_is_a_sentence_and_takes_nothing_in(other, bundle, changes, said):
    with pytest.raises(ArchiveError, match=said):
        import_bytes(other, repacked(bundle, **changes), "b.zip")
    assert list_runs(other) == []


def test_a_notebook_that_is_malformed_is_said_and_the_runs_come_in(other, bundle):
    manifest = json.loads(member(bundle, "manifest.json"))
    del manifest["files"]
    bad = {"notebook": b'{"format": 1, "id": "x", "cells": 4}', "manifest": json.dumps(manifest).encode()}
    found = import_bytes(other, repacked(bundle, **bad), "b.zip")
    assert len(found.added) == 6
    assert "The notebook notebook.json was not taken" in found.refused[0]


def test_a_member_that_is_not_what_the_manifest_lists_is_refused_and_the_rest_comes_in(other, bundle):
    found = import_bytes(other, repacked(bundle, notebook=member(bundle, "notebook.json") + b" "), "b.zip")
    (said,) = found.refused
    assert said == "notebook.json is not what the archive's manifest says and was not taken; export it again."
    assert (found.notebooks, len(found.added)) == ([], 6)


def test_an_archive_of_something_else_is_refused(other):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("holiday.jpg", b"x")
    with pytest.raises(ArchiveError, match=r"^b\.zip is no bundle, .* holds no runs"):
        import_bytes(other, out.getvalue(), "b.zip")
