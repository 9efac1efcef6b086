import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_sets import few_windows

from dashboard.cli import build_parser, main

FAKE = str(Path(__file__).parents[1] / "device_bridge" / "fake_runner.py")
PROGRAM = f"""
import sys
from dashboard.cli import main
from dashboard.services.workspace import open_workspace
from device_bridge.devices import Limits
from device_bridge.local import LocalDevice
open_workspace(devices=[LocalDevice(command=[sys.executable, {FAKE!r}], limits=Limits(cancel_s=60.0))])
sys.exit(main())
"""
TIME_PARTS = ("T_ms", "D_ms", "V_ms", "O_ms", "H_ms")


@pytest.fixture
def as2d(capsys):
    """Runs a command with --json; gives exit code, document and standard error."""

    def call(*arguments):
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert said.out.endswith("\n")
        assert len(said.out.splitlines()) == 1
        return code, json.loads(said.out), said.err

    return call


def leaves(parser, path=()):
    """Every command with the words that lead to it."""
    groups = [action for action in parser._actions if hasattr(action, "choices") and isinstance(action.choices, dict)]
    if not groups:
        yield path, parser
    for group in groups:
        for name, child in group.choices.items():
            yield from leaves(child, (*path, name))


@pytest.mark.parametrize(("path", "parser"), [pytest.param(p, c, id=" ".join(p)) for p, c in leaves(build_parser())])
def test_the_help_of_every_command_shows_an_example_of_it(path, parser):
    assert f"example:\n  as2d {' '.join(path)}" in parser.format_help()


TOP = [*dict.fromkeys(path[0] for path, _ in leaves(build_parser()))]


@pytest.mark.parametrize("name", TOP)
def test_a_command_is_understood_without_loading_the_others(name):
    alone = {path[0] for path, _ in leaves(build_parser(["--json", name]))}
    assert name in alone
    assert len(alone) <= 2


def named(parser):
    """What the help of all commands says of each."""
    (group,) = (action for action in parser._actions if isinstance(getattr(action, "choices", None), dict))
    return [(choice.dest, choice.help) for choice in group._choices_actions]


@pytest.mark.parametrize("given", [[], ["--help"], ["rnu"], ["--json"]])
def test_help_and_misspelt_commands_know_all_of_them_as_they_say_of_themselves(given):
    assert named(build_parser(given)) == named(build_parser())


def test_help_loads_nothing_that_works():
    code = "import sys; from dashboard.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "sys.exit(bool({'numpy', 'duckdb', 'pyarrow', 'device_bridge'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], timeout=120, check=False, stdout=subprocess.DEVNULL)
    assert done.returncode == 0


@pytest.mark.parametrize(("given", "begins"), [(["--version"], "as2d "), (["run", "--help"], "usage: as2d run")])
def test_help_and_version_are_one_document_too(given, begins, as2d):
    code, out, _ = as2d(*given)
    assert (code, [*out]) == (0, ["text"])
    assert out["text"].startswith(begins)


# -- run --------------------------------------------------------------------------------------------


def test_a_complete_run_is_one_document_with_every_figure(workspace, as2d):
    code, out, _ = as2d("run", "--window", "clean_00", "--instruction", "ok 4", "--budget", 3)
    assert code == 0
    assert (out["status"], out["text"], out["budget"]) == ("eos", "x", 3)
    assert out["tokens"] == [5, 7, 7, 7, 2]
    assert (out["committed_tokens"], out["rounds"], out["proposed"], out["accepted"]) == (5, 4, 0, 0)
    assert (
        out["T_ms"]
        == out["elapsed_ms"]
        == pytest.approx(out["D_ms"] + out["V_ms"] - out["O_ms"] + out["H_ms"], abs=1e-9)
    )
    assert out["tps"] == pytest.approx(5 / out["elapsed_ms"] * 1e3)
    assert out["matches_target_only"] is True
    assert "error" not in out


def test_a_run_that_never_decoded_is_one_line_without_figures(workspace, capsys):
    arguments = ("run", "--window", "clean_00", "--instruction", "die", "--no-reference", "--quiet")
    assert main([*arguments]) == 1
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "n/a" not in said.out
    assert "SIGKILL" in said.err


def test_without_a_reference_the_comparison_is_null(workspace, as2d):
    _, out, _ = as2d("run", "--window", "clean_00", "--instruction", "ok", "--no-reference")
    assert out["matches_target_only"] is None


@pytest.mark.parametrize(("how", "said"), [("fail", "unwell"), ("die", "SIGKILL"), ("half", "exit code 3")])
def test_a_run_that_fails_is_one_document_with_its_error(workspace, as2d, how, said):
    code, out, _ = as2d("run", "--window", "clean_00", "--instruction", how, "--no-reference")
    assert code == 1
    assert said in out["error"]
    assert out["tps"] is None


def test_of_several_repetitions_the_median_is_shown_and_all_are_listed(workspace, as2d):
    code, out, _ = as2d("run", "--window", "clean_00", "--instruction", "ok", "--repetitions", 3, "--warm-ups", 1)
    assert code == 0
    times = [item["elapsed_ms"] for item in out["repetitions"]]
    assert len(times) == 3
    assert out["elapsed_ms"] == sorted(times)[1]


def test_a_parameter_of_another_method_is_left_out_with_a_word(workspace, as2d):
    arguments = ("--method", "sd", "--width", 5, "--budget", 3, "--instruction", "ok", "--no-reference")
    code, out, said = as2d("run", "--window", "clean_00", *arguments)
    assert (code, out["width"], out["budget"]) == (0, 5, None)
    assert "--budget is not used by sd" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run"], 2, "--window --audio"),
        (["run", "--window", "clean_9"], 1, "clean_09"),
        (["run", "--window", "clean_00", "--method", "asd"], 1, "as2d"),
        (["run", "--window", "clean_00", "--budget", "many"], 2, "--budget"),
        (["run", "--window", "clean_00", "--repetitions", "0"], 1, "--repetitions"),
        (["run", "--audio", "/nowhere.wav"], 1, "/nowhere.wav"),
        (["run", "--window", "clean_00", "--drafter-cores", "4-x"], 1, "write it like 4-7"),
        (["run", "--window", "clean_00", "--target-backend", "opencl"], 1, "choose cpu"),
        (["run", "--window", "clean_00", "--rest", "1000"], 1, "choose 0 to 90"),
        (["run", "--window", "clean_00", "--last", "2", "--start", "1"], 1, "leave --start and --end out"),
        (["run", "--window", "clean_00", "--ceiling-core", "4"], 1, "--ceiling-mhz"),
        (["run", "--window", "clean_00", "--max-battery", "nan"], 1, "--max-battery"),
        (["run", "--window", "clean_00", "--target", "/nowhere"], 1, "/nowhere"),
        (["run", "--window", "clean_00", "--device", "phone"], 1, "this-computer"),
        (["sing"], 2, "sing"),
        ([], 2, "COMMAND"),
        (["show", "nothing"], 1, "nothing"),
        (["budgets", "--profile", "k7", "--corpus", "demo"], 1, "k70"),
        (["budgets", "--profile", "k70", "--corpus", "demo", "--budgets", "1,x"], 1, "1,x"),
        (["models", "add", "/nowhere"], 1, "/nowhere"),
        (["models", "remove", "demo-target"], 1, "demo-target"),
        (["runs", "--method", "asd"], 1, "as2d"),
        (["runs", "--limit", "-1"], 1, "--limit is -1; give 0 or more."),
        (["run", "--window", "clean_00", "--search-window", "-1"], 1, "The search window is -1"),
        (["run", "--window", "clean_00", "--instruction", ""], 1, "The instruction is empty"),
        (["budgets", "--profile", "/nowhere.json", "--corpus", "demo"], 1, "There is no profile file at /nowhere.json"),
        (["calibrate", "--profile", "mi14"], 1, "published profile"),
        (["store", "bin", "restore", "nothing"], 1, "nothing"),
    ],
)
def test_what_is_wrong_is_one_document_with_a_sentence(workspace, as2d, arguments, code, said):
    got, out, _ = as2d(*arguments)
    assert got == code
    assert said in out["error"]


def test_without_json_an_error_is_one_line_on_standard_error(workspace, capsys):
    assert main(["show", "nothing"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("as2d: There is no run 'nothing'.")
    assert len(err.splitlines()) == 1


def test_an_interrupt_cancels_the_run_and_keeps_it(data_folder, tmp_path):
    environment = {**os.environ, "AS2D_STORE": str(data_folder)}
    command = [sys.executable, "-c", PROGRAM, "run", "--window", "clean_00", "--no-reference", "--json"]
    command += ["--instruction", "slow 100000"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as program:
        try:
            while not re.search(r"Decoding, ([2-9]|\d\d+) tokens", line := program.stderr.readline()):
                assert line
            program.send_signal(signal.SIGINT)
            out, _ = program.communicate(timeout=120)
        finally:
            program.kill()
    document = json.loads(out)
    assert (program.returncode, document["status"]) == (130, "cancelled")
    assert document["committed_tokens"] > 1
    assert document["error"]


# -- runs, show, store ------------------------------------------------------------------------------


@pytest.fixture
def run_id(workspace, as2d):
    return as2d("run", "--window", "clean_00", "--instruction", "ok", "--no-reference")[1]["run_id"]


def test_stored_runs_are_listed_and_shown(run_id, as2d):
    code, out, _ = as2d("runs", "--method", "as2d")
    assert (code, out["count"], [row["run_id"] for row in out["runs"]]) == (0, 1, [run_id])
    code, out, _ = as2d("show", run_id[:-1])
    assert (code, out["run_id"], out["tokens"]) == (0, run_id, [5, 7, 7, 2])
    assert set(TIME_PARTS) <= set(out)


def test_runs_are_written_to_a_file(run_id, as2d, tmp_path):
    path = tmp_path / "runs.csv"
    assert as2d("runs", "--export", path)[1]["runs"] == 1
    assert run_id in path.read_text()


def test_people_get_a_table(run_id, capsys):
    assert main(["runs"]) == 0
    listed = capsys.readouterr().out
    assert run_id in listed
    assert main(["show", run_id]) == 0
    shown = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    said = {name.strip(): value.strip() for name, value in shown.items()}
    assert said["output against target-only"] == "n/a"
    assert said["status"] == "ended by itself (EOS)"
    assert said["status"] in listed


def test_the_store_says_where_it_is_verifies_and_is_rebuilt(run_id, as2d, data_folder):
    assert as2d("store", "path")[1]["path"] == str(data_folder)
    assert as2d("store", "verify")[:2] == (0, {"runs": 1, "problems": []})
    assert as2d("store", "rebuild")[1]["report"]["runs"] == 1
    assert as2d("runs")[1]["count"] == 1


def test_a_run_goes_through_the_bin(run_id, as2d):
    assert as2d("store", "bin", "put", run_id)[0] == 0
    assert as2d("runs")[1]["count"] == 0
    assert [row["run_id"] for row in as2d("store", "bin", "list")[1]["runs"]] == [run_id]
    assert as2d("store", "bin", "restore", run_id)[0] == 0
    as2d("store", "bin", "put", run_id)
    assert as2d("store", "bin", "empty")[1]["removed"] == 1


def test_a_changed_log_fails_the_verification(run_id, as2d, data_folder):
    log = next((data_folder / "runs").glob("*.ndjson"))
    log.write_text(log.read_text().replace("eos", "sea"))
    code, out, _ = as2d("store", "verify")
    assert code == 1
    assert run_id in out["error"]


def test_a_store_that_is_held_says_by_whom_and_what_to_do(data_folder, as2d):
    holder = "import sys\nfrom datastore.opening import open_store\nopen_store(sys.argv[1])\nprint()\nsys.stdin.read()"
    command = [sys.executable, "-c", holder, str(data_folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        for arguments in (["runs"], ["run", "--window", "clean_00"], ["store", "verify"], ["store", "rebuild"]):
            code, out, _ = as2d(*arguments)
            assert (code, out["kind"]) == (1, "StoreLockedError")
            assert f"process {other.pid}" in out["error"]
            assert "close that program" in out["error"]
        assert as2d("budgets", "--profile", "k70", "--corpus", "demo", "--budgets", "7")[0] == 0
        other.stdin.close()


# -- budgets, models --------------------------------------------------------------------------------


@pytest.mark.parametrize(("split", "windows"), [("all", 260), ("test", 60)])
def test_budgets_give_rows_oracle_choice_and_gap_over_the_same_windows(data_folder, as2d, split, windows):
    code, out, _ = as2d("budgets", "--profile", "k70", "--corpus", "demo", "--split", split, "--budgets", "3,7,12")
    assert (code, out["profile"], out["corpus"], out["windows"]) == (0, "k70", "demo", windows)
    assert [(row["drafter"], row["budget"]) for row in out["rows"]] == [("drafter", b) for b in (3, 7, 12)]
    chosen = next(row for row in out["rows"] if {k: row[k] for k in ("drafter", "budget")} == out["selected"])
    assert out["gap_percent"] == pytest.approx(100 * (1 - chosen["tps"] / out["oracle_tps"]), abs=1e-9)
    assert out["oracle_tps"] >= max(row["tps"] for row in out["rows"])
    assert all(row["slower_windows"] <= windows for row in out["rows"])
    assert set(out["selected_on"]) == {"development", "validation"}


def test_budgets_for_people_name_the_choice_and_the_label(data_folder, capsys):
    assert main(["budgets", "--profile", "k70", "--corpus", "demo", "--budgets", "3,7"]) == 0
    text = capsys.readouterr().out
    assert "[published]" in text
    assert "times are replayed" in text
    assert "fixed choice drafter, b = 7, on 100 development, 100 validation windows" in text
    assert "selected drafter, cheapest width with b ≤ 7, which has 28.58 tok/s on validation windows" in text


def test_budgets_of_a_set_without_windows_to_choose_on_are_compared_and_one_sentence_says_so(
    data_folder, as2d, tmp_path
):
    given = (
        "budgets",
        "--profile",
        "k70",
        "--corpus",
        str(few_windows(tmp_path, ("test", "test"))),
        "--budgets",
        "3,7",
    )
    code, out, _ = as2d(*given)
    assert (code, len(out["rows"]), out["selected"]) == (0, 2, None)
    assert "error" not in out
    assert "nothing is selected" in out["selection_problem"]


def test_the_bundled_models_are_listed(data_folder, as2d):
    listed = [entry["id"] for entry in as2d("models", "list")[1]["models"]]
    assert listed == ["demo-target", "demo-drafter", "demo-light"]


def test_default_models_are_chosen_and_stay_chosen(data_folder, as2d):
    assert as2d("models", "default", "--drafter", "demo-light")[0] == 0
    code, chosen, _ = as2d("models", "default")
    assert code == 0
    assert chosen == {"target": "demo-target", "drafter": "demo-light"}


def test_a_default_model_that_is_none_changes_nothing(data_folder, as2d):
    code, out, _ = as2d("models", "default", "--drafter", "demo-lihgt")
    assert code == 1
    assert "demo-light" in out["error"]
    assert as2d("models", "default")[1]["drafter"] == "demo-drafter"


@pytest.mark.models
def test_a_bundled_model_is_checked_in_a_child(data_folder, as2d):
    code, out, _ = as2d("models", "check", "demo-drafter")
    assert (code, out["probe"]["backend"]) == (0, "cpu")


def test_devices_lists_this_computer_and_the_phones_with_their_facts(as2d, own_adb, shared_phone, monkeypatch):
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    code, out, _ = as2d("devices")
    assert code == 0
    computer, *phones = out["devices"]
    assert computer["id"] == "this-computer"
    phone = next(item for item in phones if item["id"] == shared_phone.own_serial)
    assert (phone["virtual"], phone["ready"]) == (True, False)
    assert phone["facts"]["how"]["soc"] == "getprop ro.soc.model"
    assert phone["checks"][0]["key"] == "server"


def test_devices_without_an_adb_server_says_so_and_lists_this_computer(as2d, nobody, monkeypatch):
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(nobody))
    code, out, _ = as2d("devices")
    assert (code, len(out["devices"]), len(out["problems"])) == (0, 1, 1)
