from dashboard.views.comparison_table import comparison_table, reference_bar
from dashboard.views.runs_compare import comparison_info


def row(method, elapsed_ms, **more):
    base = {
        "method": method,
        "elapsed_ms": elapsed_ms,
        "committed_tokens": 100,
        "status": "eos",
        "label": "measured",
        "device_key": "here",
        "window_id": "w",
        "budget": 7 if method == "as2d" else None,
    }
    return {**base, **more}


def test_differences_are_against_target_only():
    table = comparison_table(comparison_info([row("as2d", 1000.0), row("target-only", 2000.0)]))
    assert list(table["Setting"]) == ["Target-only", "As²d b=7"]
    assert list(table["TPS against Target-only"]) == ["reference", "+100.0 %"]


def test_without_target_only_the_first_bar_is_the_reference():
    info = comparison_info([row("as2d", 1000.0), row("specasr", 2000.0)])
    assert reference_bar(info) is info.bars[0]
    assert "−50.0 %" in list(comparison_table(info)["TPS against As²d b=7"])


def test_other_windows_are_not_compared():
    table = comparison_table(comparison_info([row("as2d", 1000.0), row("target-only", 2000.0, window_id="v")]))
    assert "n/a (other windows or device)" in list(table["TPS against Target-only"])


def test_runs_that_failed_are_counted_and_not_pooled():
    table = comparison_table(comparison_info([row("as2d", 1000.0), row("as2d", 1.0, status="failed")]))
    assert list(table["Runs"]) == ["1"]
    assert list(table["Left out"]) == ["1 failed"]


def test_nothing_but_failures_has_no_speed():
    table = comparison_table(comparison_info([row("as2d", None, status="failed")]))
    assert list(table["Pooled TPS"]) == ["n/a"]
    assert list(table["Slowest run"]) == ["n/a"]
