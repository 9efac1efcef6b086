import pytest
from run_rows import later, row
from view_checks import check_figure, read_html, texts

from dashboard.views.cost_parts import PARTS, cost_figure, cost_rows, cost_table
from dashboard.views.outputs_compare import (
    difference_html,
    differing,
    first_difference,
    outputs_info,
    outputs_table,
    split_words,
)
from dashboard.views.over_time import over_time_figure, over_time_info
from dashboard.views.run_groups import not_whole, run_groups
from dashboard.views.run_settings import FIELDS, settings_info
from dashboard.views.theme import DARK, LIGHT

ALONE, OURS = row("t", "target-only", 2000.0), row("a")
FAILED = row("f", "sd", None, status="failed", draft_ns=None, verify_ns=None)


def test_the_four_parts_of_a_token_sum_up_to_its_time():
    (cost,) = cost_rows(run_groups([OURS, row("b", elapsed_ms=2000.0)]))
    assert sum(cost.parts) == pytest.approx(cost.total)
    assert cost.total == pytest.approx(cost.draft + cost.verify - cost.overlap + cost.idle)
    assert cost.runs == 2


def test_a_setting_without_a_finished_run_has_no_costs_and_keeps_its_row():
    rows = cost_rows(run_groups([ALONE, FAILED]))
    assert rows[1].total is None
    assert cost_table(rows)["T a token"].tolist()[1] == "n/a"
    check_figure(cost_figure(rows[1:], LIGHT))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_costs_are_stacked_bars_that_end_at_their_sum(theme):
    rows = cost_rows(run_groups([ALONE, OURS]))
    body = check_figure(cost_figure(rows, theme))
    assert [trace["name"] for trace in body["data"]] == list(PARTS)
    last = body["data"][-1]
    assert [base + length for base, length in zip(last["base"], last["x"], strict=True)] == pytest.approx(
        [found.total for found in rows]
    )
    assert "n = 1" in " ".join(texts(body))


def test_only_differing_settings_are_shown_unless_all_are_asked_for():
    groups = run_groups([row("a", precision="low"), row("b", budget=5, precision="low")])
    info = settings_info(groups)
    assert [name for name, _ in info.rows] == ["Budget b"]
    assert info.rows[0][1] == ("7", "5")
    assert info.same == len(FIELDS) - 1
    assert len(settings_info(groups, differences_only=False).rows) == len(FIELDS)


def test_a_setting_that_differs_within_a_group_is_a_difference():
    info = settings_info(run_groups([row("a", instruction="write; it"), row("b", instruction="say it")]))
    assert dict(info.rows)["Instruction"] == ("say it; write, it",)
    many = settings_info(run_groups([row(f"r{i}", window=f"w{i}") for i in range(9)]))
    assert dict(many.rows)["Window"][0].startswith("9 values")


def test_what_a_method_has_no_use_for_is_not_available():
    info = settings_info(run_groups([row("t", "target-only", budget=7, threshold=0.4), row("a", threshold=0.4)]))
    assert dict(info.rows)["Budget b"] == ("n/a", "7")
    assert dict(info.rows)["Confidence threshold"] == ("n/a", "0.4")


def test_the_same_settings_are_said_to_be_the_same():
    info = settings_info(run_groups([row("a"), row("b")]))
    assert info.rows == ()
    assert info.sentence == f"All {len(FIELDS)} settings are the same."


@pytest.mark.parametrize(
    ("mine", "theirs", "place"),
    [((1, 2), (1, 2), None), ((1, 3, 4), (1, 2, 4), 1), ((1, 2), (1, 2, 3), 2), ((), (1,), 0)],
)
def test_the_first_difference_is_where_the_tokens_part(mine, theirs, place):
    assert first_difference(mine, theirs) == place


def test_words_are_split_at_spaces_and_characters_of_chinese_alone():
    assert split_words("the cat  sat") == ["the", "cat", "sat"]
    assert split_words("你好 world") == ["你", "好", "world"]


OTHER = row("o", output_sha256="other", text="the dog sat down")


def test_outputs_are_held_against_the_newest_reference_of_the_same_window():
    rows = [ALONE, OURS, OTHER, row("far", window="v"), FAILED]
    groups = run_groups(rows)
    assert differing(groups, "Target-only") == ["o", "t"]
    info = outputs_info(groups, "Target-only", {"o": (1, 2, 9), "t": (1, 2, 3)})
    assert (info.equal, info.different, info.unknown) == (1, 1, 2)
    first = info.rows[0]
    assert (first.run_id, first.reference_id, first.first, first.edits, first.words) == ("o", "t", 2, 2, 3)
    table = outputs_table(info)
    assert table["First difference"].tolist() == ["token 2", "n/a", "n/a"]
    assert table["Word edits"][0] == "2 on 3 words (66.7 %)"
    assert set(table["Output"][1:]) == {"n/a: failed", "n/a: no reference"}


def test_without_tokens_the_place_of_a_difference_is_not_known():
    info = outputs_info(run_groups([ALONE, OTHER]), "Target-only")
    assert (info.rows[0].first, info.rows[0].edits) == (None, 2)


def test_words_of_a_difference_are_marked_and_never_markup():
    html = difference_html("the <b>dog</b> sat down", "the cat sat", LIGHT)
    assert "<b>" not in html
    assert "<del" in html
    assert "<ins" in html
    assert read_html(html).text.split() == ["the", "cat", "<b>dog</b>", "sat", "down"]


def test_a_slower_newest_day_is_pointed_out_on_windows_that_ran_before():
    rows = [row(f"a{i}", elapsed_ms=1000.0, window=f"w{i}", created_at=later(0)) for i in range(3)]
    rows += [row(f"b{i}", elapsed_ms=1250.0, window=f"w{i}", created_at=later(2)) for i in range(3)]
    rows.append(row("new", elapsed_ms=50.0, window="other", created_at=later(2)))
    info = over_time_info(run_groups(rows))
    assert info.series[0].change == pytest.approx(-20.0)
    assert info.series[0].shared == 3
    assert "is slower on its newest day: −20.0 %" in info.sentences[0]
    check_figure(over_time_figure(info, DARK))


def test_runs_of_one_day_have_no_trend():
    info = over_time_info(run_groups([ALONE, OURS, row("undated", created_at=None)]))
    assert "of one day" in info.empty
    assert info.sentences == ()
    check_figure(over_time_figure(info, LIGHT))


def test_no_notable_change_is_said_too():
    rows = [row("a"), row("b", elapsed_ms=1010.0, created_at=later(1))]
    assert "no setting changed" in over_time_info(run_groups(rows)).sentences[0]


def test_runs_that_are_not_pooled_are_named_with_the_reason():
    assert not_whole([ALONE, OURS]) == ""
    gone = row("c", elapsed_ms=None, status="cancelled")
    assert not_whole([ALONE, gone]) == "1 of them is not pooled: As²d b=7 (cancelled)"
    warm = [row(f"w{place}", warm_up=True) for place in range(2)]
    said = not_whole([*warm, gone, FAILED])
    assert said == "4 of them are not pooled: 2 of As²d b=7 (warm-up), As²d b=7 (cancelled), SD K=5 (failed)"
    many = [row(f"m{budget}", budget=budget, elapsed_ms=None, status="failed") for budget in range(1, 8)]
    assert not_whole(many).endswith(", As²d b=4 (failed), 3 more")
