import csv
import io

import pytest


def test_the_whole_report_is_one_document(as2d):
    code, out = as2d("published")
    assert code == 0
    assert "error" not in out
    assert out["verdicts"] == {"exact": 161, "within rounding": 29}
    assert len(out["ledger"]) == 190
    assert [table["table"] for table in out["tables"]] == ["1", "2", "4", "5", "8", "9", "10", "12", "D.4.3", "D.5"]
    assert {table["corpus_label"] for table in out["tables"]} == {"synthetic"}
    for table in out["tables"]:
        for cell in table["cells"]:
            assert cell["deviation"] == pytest.approx(cell["replayed"] - cell["published"], abs=1e-12)
            assert bool(cell["why"]) == (cell["verdict"] != "agrees")


def test_one_table_comes_without_the_ledger(as2d):
    code, out = as2d("published", "--table", 8)
    assert (code, out["ledger"], [table["table"] for table in out["tables"]]) == (0, [], ["8"])


def test_several_tables_come_in_the_order_asked_for_and_once(as2d):
    _, out = as2d("published", "--table", 10, "--table", 4, "--table", 10)
    assert [table["table"] for table in out["tables"]] == ["10", "4"]


def test_the_ledger_comes_without_tables(as2d):
    code, out = as2d("published", "--ledger")
    assert (code, out["tables"]) == (0, [])
    figure = next(f for f in out["ledger"] if f["name"] == "Target-only on Redmi K70 Pro, all five")
    assert (figure["by"], figure["verdict"], figure["published"]) == ("target_only_tps", "exact", 16.96)
    assert figure["inputs"] == {"tokens": 94511, "windows": 688, "step_ms": 59.391}


def test_people_get_four_columns_the_label_and_the_reasons(run):
    code, out, err = run("published", "--table", "5")
    assert code == 0
    assert "[synthetic]" in out
    assert "Table 5: What each component adds (Section 5.3), tok/s" in out
    assert all(heading in out for heading in ("published", "replayed", "deviation", "why"))
    assert "  1: " in out
    assert "Replaying on Xiaomi 14" in err


def test_people_get_every_figure_of_the_ledger_and_why_it_is_not_exact(run):
    _, out, _ = run("published", "--ledger", "--quiet")
    assert "190 published figures that follow from others: 161 exact, 29 within rounding, 0 differs" in out
    assert "the inputs are rounded" in out


def test_csv_holds_ledger_and_tables_in_one_sheet(run):
    code, out, _ = run("published", "--ledger", "--table", "10", "--csv", "--quiet")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert {row["part"] for row in rows} == {"ledger", "Table 10"}
    assert len(rows) == 190 + 12
    cell = next(row for row in rows if row["part"] == "Table 10" and row["row"] == "K = 8" and row["column"] == "AMI")
    assert float(cell["published"]) == 15.19
    assert float(cell["deviation"]) == pytest.approx(float(cell["ours"]) - 15.19, abs=1e-12)


def test_progress_is_silent_when_asked(run):
    assert run("published", "--ledger", "--quiet")[2] == ""


@pytest.mark.parametrize(("arguments", "said"), [(["--table", "81"], "8"), (["--table", "8", "--csv"], "--csv")])
def test_what_cannot_be_answered_is_one_document_with_a_sentence(as2d, arguments, said):
    code, out = as2d("published", *arguments)
    assert code == 1
    assert said in out["error"]
