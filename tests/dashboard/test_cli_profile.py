import csv
import io
import json
from dataclasses import replace

import pytest

from as2d_core.profiles import Spread, load_profile, read_profile, write_profile
from as2d_core.profiles.codec import profile_to_json


@pytest.fixture
def mine(tmp_path):
    """A profile file of one's own."""
    path = tmp_path / "mine.json"
    write_profile(replace(load_profile("k70"), id="mine", kind="measured"), path)
    return path


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_profile_is_one_document_with_the_origin_of_every_cost(as2d):
    code, out = as2d("profile", "show", "k70")
    assert (code, out["id"], out["deployed_budget"], out["concurrent_ratio_extremes"]) == (0, "k70", 7, [1.0, 1.049])
    eight = next(row for row in out["costs"] if (row["cost"], row["width"]) == ("verify_idle_ms", 8))
    assert (eight["ms"], eight["origin"], eight["extrapolated"]) == (112.656, "published", False)
    assert all(row["origin"] for row in out["costs"])
    assert out["warnings"]


def test_people_see_origins_and_warnings(run):
    code, out, _ = run("profile", "show", "mi14")
    assert code == 0
    assert "mi14: Xiaomi 14 [published]" in out
    assert "the serial draft cost would cap it" in out
    assert "guessed" in out


def test_missing_widths_are_listed(as2d, run, tmp_path):
    k70 = load_profile("k70")
    gap = replace(k70, id="gap", verify_idle_ms={k: v for k, v in k70.verify_idle_ms.items() if k not in (6, 9)})
    write_profile(gap, tmp_path / "gap.json")
    code, out = as2d("profile", "show", tmp_path / "gap.json")
    assert (code, out["missing_widths"]) == (0, {"verify_idle_ms": [6, 9], "verify_concurrent_ms": []})
    assert any("verify_idle_ms has no cost at K = 6, 9; budgets of 5 and more are out" in w for w in out["warnings"])
    shown = run("profile", "show", tmp_path / "gap.json")[1]
    assert "widths without a cost: K = 6, 9 (verify_idle_ms); every K above 5" in shown


def test_measured_costs_are_shown_with_their_spread(run, as2d, tmp_path):
    samples = Spread.of((110.0, 112.0, 117.0))
    mine = replace(load_profile("k70"), id="mine", kind="measured", spread={"verify_idle_ms.8": samples})
    write_profile(mine, tmp_path / "mine.json")
    eight = next(
        row
        for row in as2d("profile", "show", tmp_path / "mine.json")[1]["costs"]
        if (row["cost"], row["width"]) == ("verify_idle_ms", 8)
    )
    assert (eight["n"], eight["median_ms"], eight["sd_ms"]) == (3, 112.0, pytest.approx(samples.sd_ms))
    rows = rows_of(run("profile", "show", tmp_path / "mine.json", "--csv")[1])
    assert [(row["n"], row["median ms"]) for row in rows if row["n"]] == [("3", "112.0")]


def test_extrapolated_widths_carry_their_flag_into_every_form(run, as2d):
    rows = rows_of(run("profile", "show", "k70", "--csv")[1])
    guessed = {(row["cost"], int(row["K"])) for row in rows if row["extrapolated"] == "yes"}
    assert guessed == {("verify_concurrent_ms", k) for k in load_profile("k70").extrapolated_concurrent}
    compared = rows_of(run("profile", "compare", "k70", "mi14", "--csv")[1])
    flags = {row["extrapolated"] for row in compared if (row["cost"], row["K"]) == ("verify_concurrent_ms", "9")}
    assert flags == {"first and second"}


def test_chunk_sources_are_rows_like_every_cost(as2d):
    costs = {row["cost"]: row for row in as2d("profile", "show", "k70")[1]["costs"]}
    assert costs["chunk_sources.Parakeet CTC.chunk_ms"]["ms"] == 88.75
    assert costs["chunk_sources.SenseVoice.chunk_ms"]["origin"] == "inferred"
    compared = {row["cost"]: row for row in as2d("profile", "compare", "k70", "mi14")[1]["costs"]}
    row = compared["chunk_sources.SenseVoice.chunk_ms"]
    assert (row["first_ms"], row["second_ms"], row["ratio"]) == (322.5, None, None)


def test_a_profile_with_an_odd_cost_is_shown_with_a_warning(run, tmp_path):
    odd = replace(load_profile("mi14"), id="odd", target_step_ms=0.05)
    write_profile(odd, tmp_path / "odd.json")
    assert (
        "warning: target_step_ms is 0.05 ms; is it really in milliseconds?"
        in run("profile", "show", tmp_path / "odd.json")[1]
    )


def test_two_profiles_are_compared_width_by_width(as2d):
    code, out = as2d("profile", "compare", "k70", "mi14")
    assert (code, out["first"], out["second"]) == (0, "k70", "mi14")
    eight = next(row for row in out["costs"] if (row["cost"], row["width"]) == ("verify_idle_ms", 8))
    assert eight["ratio"] == pytest.approx(104.3 / 112.656)
    assert eight["ratio_sd"] is None
    wide = next(row for row in out["costs"] if (row["cost"], row["width"]) == ("verify_idle_ms", 25))
    assert (wide["second_ms"], wide["ratio"]) == (None, None)


def test_csv_has_full_precision_and_empty_fields_for_what_is_missing(run):
    code, out, _ = run("profile", "compare", "k70", "mi14", "--csv")
    rows = {(row["cost"], row["K"]): row for row in rows_of(out)}
    assert code == 0
    assert float(rows["verify_idle_ms", "8"]["ratio"]) == pytest.approx(104.3 / 112.656, abs=1e-12)
    assert rows["verify_idle_ms", "25"]["second ms"] == ""


def test_csv_and_json_together_are_refused(as2d):
    code, out = as2d("profile", "show", "k70", "--csv")
    assert code == 1
    assert "--csv" in out["error"]


def test_profiles_are_listed_with_their_kind(as2d, run, mine):
    assert run("profile", "import", mine)[0] == 0
    code, out = as2d("profile", "list")
    kinds = {row["id"]: row["kind"] for row in out["profiles"]}
    assert code == 0
    assert kinds == {
        "k70": "published",
        "11pro": "published",
        "mi14": "published",
        "note9": "published",
        "mine": "measured",
    }


def test_an_imported_profile_can_be_named_from_then_on(as2d, mine):
    code, out = as2d("profile", "import", mine)
    assert (code, out["id"]) == (0, "mine")
    assert as2d("profile", "show", "mine")[1]["costs"] == as2d("profile", "show", mine)[1]["costs"]


def test_a_kept_profile_is_replaced_only_when_asked(as2d, mine):
    as2d("profile", "import", mine)
    code, out = as2d("profile", "import", mine)
    assert code == 1
    assert "kept already" in out["error"]
    changed = replace(read_profile(mine), loop_ms=3.5)
    write_profile(changed, mine)
    assert as2d("profile", "import", mine, "--replace")[0] == 0
    loop = next(row for row in as2d("profile", "show", "mine")[1]["costs"] if row["cost"] == "loop_ms")
    assert loop["ms"] == 3.5


def test_the_id_of_a_published_profile_cannot_be_taken(as2d, tmp_path):
    write_profile(load_profile("k70"), tmp_path / "k70.json")
    for more in ([], ["--replace"]):
        code, out = as2d("profile", "import", tmp_path / "k70.json", *more)
        assert (code, out["kind"]) == (1, "ProfileError")


def test_every_fault_of_a_file_is_named_and_nothing_is_kept(as2d, tmp_path):
    body = {**profile_to_json(load_profile("k70")), "id": "bad", "loop_ms": -1, "draft_serial_ms": "fast"}
    (tmp_path / "bad.json").write_text(json.dumps(body))
    code, out = as2d("profile", "import", tmp_path / "bad.json")
    assert code == 1
    assert "loop_ms" in out["error"]
    assert "draft_serial_ms" in out["error"]
    assert "bad" not in {row["id"] for row in as2d("profile", "list")[1]["profiles"]}


def test_an_exported_profile_is_the_same_when_read(as2d, tmp_path):
    code, out = as2d("profile", "export", "note9", "--file", tmp_path / "out.json")
    assert (code, out["file"]) == (0, str(tmp_path / "out.json"))
    assert read_profile(tmp_path / "out.json") == load_profile("note9")


def test_an_export_to_standard_output_is_a_profile_file(run, tmp_path):
    code, out, _ = run("profile", "export", "11pro")
    (tmp_path / "piped.json").write_text(out)
    assert code == 0
    assert read_profile(tmp_path / "piped.json") == load_profile("11pro")


def test_a_file_is_overwritten_only_when_asked(as2d, tmp_path):
    there = tmp_path / "there.json"
    there.write_text("mine")
    code, out = as2d("profile", "export", "k70", "--file", there)
    assert code == 1
    assert str(there) in out["error"]
    assert there.read_text() == "mine"
    assert as2d("profile", "export", "k70", "--file", there, "--replace")[0] == 0
    assert read_profile(there).id == "k70"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "k7"], "k70"),
        (["show", "/nowhere.json"], "/nowhere.json"),
        (["compare", "k70", "mi15"], "mi14"),
        (["import", "/nowhere.json"], "/nowhere.json"),
        (["export", "k70", "--file", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ],
)
def test_what_is_not_there_is_named(as2d, arguments, said):
    code, out = as2d("profile", *arguments)
    assert code == 1
    assert said in out["error"]


def test_a_deleted_profile_lies_in_the_bin_until_it_is_restored_or_removed_for_good(as2d, run, mine):
    assert as2d("profile", "import", mine)[0] == 0
    code, out = as2d("profile", "delete", "mine")
    assert code == 0
    assert "mine" not in [p["id"] for p in as2d("profile", "list")[1]["profiles"]]
    assert [(p["file"], p["profile"]) for p in as2d("profile", "bin", "list")[1]["profiles"]] == [(out["file"], "mine")]
    assert as2d("profile", "bin", "restore", out["file"])[1] == {"profile": "mine"}
    assert "mine" in [p["id"] for p in as2d("profile", "list")[1]["profiles"]]
    as2d("profile", "delete", "mine")
    assert as2d("profile", "bin", "empty")[1] == {"removed": 1}
    assert "The bin holds no profile." in run("profile", "bin", "list")[1]


def test_a_published_profile_stays(run):
    code, _, error = run("profile", "delete", "k70")
    assert code != 0
    assert "belongs to the program" in error
