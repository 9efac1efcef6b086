from dataclasses import replace

import pytest
from view_checks import bar_count, check_figure, texts
from view_samples import cut_off, decode

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord
from as2d_core.request import METHODS, AudioRef
from dashboard.views import numbers
from dashboard.views.methods_compare import in_order, methods_figure, methods_info
from dashboard.views.runs import runs_info
from dashboard.views.theme import DARK, LIGHT

ALL = {method: decode(method) for method in METHODS}


def shuffled():
    return [ALL["as2d"], ALL["target-only"], ALL["specasr"], ALL["sd"]]


def test_methods_come_in_the_paper_s_order_whatever_order_they_ran_in():
    assert [row.method for row in methods_info(shuffled()).rows] == list(METHODS)
    runs = [("b", "as2d"), ("x", "other"), ("a", "as2d"), ("t", "target-only"), ("n", None)]
    linked = in_order(runs, lambda run: run[1])  # links stand in the order of the table above them
    assert [name for name, _ in linked] == ["t", "b", "a", "x", "n"]


def test_the_table_has_the_figures_of_the_runs():
    table = methods_info(shuffled()).table.set_index("Method")
    base = summarise(ALL["target-only"]).tps
    for name, record in zip(("Target-only", "SD K=5", "SpecASR cap=14", "As²d b=7"), ALL.values(), strict=True):
        summary = summarise(record)
        assert table.loc[name, "TPS"] == f"{summary.tps:.2f} tok/s"
        gain = numbers.signed_percent(numbers.gain(summary.tps, base))
        assert table.loc[name, "Against target-only"] == ("reference" if name == "Target-only" else gain)
        assert table.loc[name, "Output"] == ("n/a" if name == "Target-only" else "equal")
    assert table.loc["Target-only", "Accepted"] == "n/a"


def test_another_output_is_said_with_the_first_place_where_it_differs():
    other = decode("sd", reference="when the train the still")
    row = methods_info([ALL["target-only"], other]).rows[1]
    assert row.output == "different"
    assert row.output_note == "the first difference is at token 3"
    assert "output different" in " ".join(
        texts(check_figure(methods_figure(methods_info([ALL["target-only"], other]), LIGHT)))
    )


def test_nothing_is_compared_with_a_run_that_did_not_finish():
    rows = methods_info([ALL["target-only"], cut_off(0.5)]).rows
    assert (rows[1].output, rows[1].gain, rows[1].tps) == ("n/a", None, None)
    alone = methods_info([ALL["as2d"]]).rows[0]
    assert (alone.output, alone.gain) == ("n/a", None)
    assert alone.output_note == "no target-only run has finished"


def test_different_windows_and_kinds_of_numbers_are_pointed_out():
    record = ALL["sd"]
    request = replace(record.request, audio=AudioRef("other.wav", window_id="short-01"))
    other = replace(record, header=replace(record.header, request=request, source="measured"))
    notes = methods_info([ALL["target-only"], other]).notes
    assert "2 different windows" in notes[0]
    assert "mix kinds" in notes[1]
    assert methods_info(shuffled()).notes == ()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_all_timelines_start_at_zero_and_share_one_axis(theme):
    info = methods_info(shuffled())
    body = check_figure(methods_figure(info, theme))
    assert {t.get("xaxis", "x") for t in body["data"]} == {"x"}
    assert body["layout"]["xaxis"]["range"][0] == 0
    assert body["layout"]["xaxis"]["range"][1] >= max(row.timeline.end_ms for row in info.rows)
    ends = sorted(s["x0"] for s in body["layout"]["shapes"])
    assert ends == sorted(row.timeline.end_ms for row in info.rows)
    assert bar_count(body) <= 2_000
    shown = " ".join(texts(body["layout"]))
    for row in info.rows:
        assert f"<b>{row.name}</b>" in shown
        assert f"{row.tps:.2f} tok/s" in shown


def test_a_method_that_never_began_keeps_its_place_with_the_reason():
    bare = RunRecord(ALL["specasr"].header)
    info = methods_info([ALL["target-only"], bare])
    assert "Decoding never began" in " ".join(texts(check_figure(methods_figure(info, LIGHT))))
    assert len(methods_figure(methods_info([bare]), LIGHT).data) == 0


@pytest.mark.parametrize(("stored", "said"), [(True, "equal"), (False, "different"), (None, "n/a")])
def test_an_output_reads_as_in_a_list_of_runs_whichever_runs_are_chosen_with_it(stored, said):
    record = ALL["as2d"]
    for chosen in ([record], [ALL["target-only"], record]):
        info = methods_info(chosen, {record.run_id: stored})
        assert info.rows[-1].output == said
    info = methods_info([record], {record.run_id: stored})
    listed = runs_info([{"run_id": record.run_id, "matches_target_only": stored}]).shown["Output"]
    assert [*info.table["Output"]] == [*listed] == [said]
    shown = " ".join(texts(check_figure(methods_figure(info, LIGHT))))
    assert ("output" in shown) == (said != "equal")
