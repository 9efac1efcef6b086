import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from method_cases import method_corpora
from replay_cases import corpus, window

from as2d_core.errors import TrajectoryError
from as2d_core.replay.exchange import FILE_NAME, MANIFEST_NAME, export_corpus, import_corpus
from as2d_core.replay.trajectories import load_corpus


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(method_corpora())
def test_a_set_survives_export_and_import(tmp_path, whole):
    export_corpus(whole, tmp_path, replace=True)
    assert import_corpus(tmp_path) == whole


def test_the_packaged_set_survives_with_its_branches(tmp_path):
    whole = load_corpus("demo")
    export_corpus(whole, tmp_path / "out")
    assert import_corpus(tmp_path / "out" / MANIFEST_NAME) == whole
    assert import_corpus(tmp_path / "out" / FILE_NAME) == whole


def test_the_manifest_says_what_is_in_the_file(tmp_path):
    whole = corpus(window("w0", split="test"), window("w1", split="development", group="noisy"), note="by hand")
    manifest = export_corpus(whole, tmp_path)
    assert manifest == json.loads((tmp_path / MANIFEST_NAME).read_text(encoding="utf-8"))
    assert (manifest["windows"], manifest["target_tokens"], manifest["note"]) == (2, 12, "by hand")
    assert manifest["splits"] == {"development": 1, "validation": 0, "test": 1}
    assert manifest["groups"] == {"read": 1, "noisy": 1}
    assert manifest["bytes"] == (tmp_path / FILE_NAME).stat().st_size


def test_an_exported_set_is_replaced_only_when_asked(tmp_path):
    export_corpus(corpus(), tmp_path)
    with pytest.raises(TrajectoryError, match="holds a trajectory set already"):
        export_corpus(corpus(), tmp_path)
    export_corpus(corpus(id="other"), tmp_path, replace=True)
    assert import_corpus(tmp_path).id == "other"


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TrajectoryError, match="cannot be written"):
        export_corpus(corpus(), tmp_path / "file")


def changed(tmp_path, **values):
    path = tmp_path / MANIFEST_NAME
    body = {**json.loads(path.read_text(encoding="utf-8")), **values}
    path.write_text(json.dumps(body), encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"bytes": 3}, "its manifest says 3"),
        ({"sha256": "00"}, "the SHA-256 differs"),
        ({"windows": 7}, "windows is 7, but the file holds 1"),
        ({"target_tokens": 7}, "target_tokens is 7, but the file holds 6"),
        ({"id": "other"}, "id is 'other', but the file holds 'few'"),
        ({"label": "synthetic"}, "label is 'synthetic', but the file holds 'measured'"),
        ({"file": "gone.parquet"}, "gone.parquet, which cannot be read"),
        ({"file": "../elsewhere.parquet"}, "does not lie beside it"),
        ({"file": ""}, "does not lie beside it"),
        ({"windows": "1"}, "no valid windows"),
        ({"windows": True}, "no valid windows"),
        ({"format": 9}, "of format 9"),
        ({"kind": "profile"}, "no manifest of a trajectory set"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(tmp_path, values, sentence):
    export_corpus(corpus(), tmp_path)
    changed(tmp_path, **values)
    with pytest.raises(TrajectoryError) as caught:
        import_corpus(tmp_path)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "3"])
def test_a_manifest_that_is_none_is_refused(tmp_path, text):
    export_corpus(corpus(), tmp_path)
    (tmp_path / MANIFEST_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(TrajectoryError, match="manifest"):
        import_corpus(tmp_path)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(TrajectoryError, match=r"manifest .*manifest\.json cannot be read"):
        import_corpus(tmp_path)
    with pytest.raises(TrajectoryError, match="There is no trajectory set at"):
        import_corpus(tmp_path / "gone.parquet")


def rewritten(path, change):
    """The exported file with a change to its rows, and a manifest that fits it."""
    whole = pq.read_table(path / FILE_NAME)
    rows = whole.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=whole.schema), path / FILE_NAME)


def set_token(rows, field, position, token):
    rows[1][field][position] = token


def set_drafter(rows, field, value):
    rows[1]["drafters"][0][field] = value


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: set_token(rows, "target_tokens", 2, 2), "Window 'w1', target: EOS at position 2"),
        (lambda rows: set_token(rows, "target_tokens", 3, -4), "Window 'w1', target: token -4 at position 3"),
        (
            lambda rows: set_drafter(rows, "candidates", [5, 2, 7, 8, 9]),
            "Window 'w1', drafter 'small': EOS at position 1; EOS is never a candidate",
        ),
        (lambda rows: set_drafter(rows, "agrees", [True]), "Window 'w1', drafter 'small': there are 1 agreement flags"),
        (lambda rows: set_drafter(rows, "confidences", [1.5] * 5), "the confidence at position 0 is 1.5"),
        (lambda rows: set_drafter(rows, "chunk_ends", [4, 3]), "the candidates out after chunk 1 fall from 4 to 3"),
        (lambda rows: rows[1].update(window_id="w0"), "Window 'w0' appears 2 times"),
        (
            lambda rows: rows[1].update(audio_sha256="hash-w0", split="development"),
            "Windows 'w0' (test) and 'w1' (development) hold the same audio",
        ),
        (lambda rows: rows[1].update(target_tokens=[]), "Window 'w1': there are no target tokens"),
        (
            lambda rows: rows[1].update(target_capped=True),
            "Window 'w1': the output is marked as capped, but ends with EOS",
        ),
        (lambda rows: rows.clear(), "has no windows"),
    ],
)
def test_every_fault_of_a_file_is_named_with_window_and_position(tmp_path, change, sentence):
    export_corpus(corpus(window("w0"), window("w1")), tmp_path)
    rewritten(tmp_path, change)
    with pytest.raises(TrajectoryError) as caught:
        import_corpus(tmp_path / FILE_NAME)
    assert sentence in str(caught.value)


def test_all_faults_of_a_file_are_listed_at_once(tmp_path):
    export_corpus(corpus(window("w0"), window("w1")), tmp_path)

    def both(rows):
        rows[0]["target_tokens"][0] = 2
        rows[1]["drafters"][0]["candidates"][1] = -1

    rewritten(tmp_path, both)
    with pytest.raises(TrajectoryError) as caught:
        import_corpus(tmp_path / FILE_NAME)
    assert "Window 'w0', target: EOS at position 0" in str(caught.value)
    assert "Window 'w1', drafter 'small': token -1 at position 1" in str(caught.value)


def test_a_file_that_was_changed_after_export_is_found_by_its_manifest(tmp_path):
    export_corpus(corpus(window("w0"), window("w1")), tmp_path)
    rewritten(tmp_path, lambda rows: set_token(rows, "target_tokens", 3, 70))
    with pytest.raises(TrajectoryError, match=r"cut short or another file|SHA-256 differs"):
        import_corpus(tmp_path)
    assert replace(import_corpus(tmp_path / FILE_NAME), id="x").windows[1].target_tokens[3] == 70
