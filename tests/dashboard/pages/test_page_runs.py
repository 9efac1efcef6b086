from dashboard.services.runs import delete_run, list_bin, list_runs


def table(app):
    return app.test.dataframe[0].value


def test_an_empty_store_leads_to_the_request_page(workspace, open_page):
    app = open_page("runs")
    assert "There is no run yet." in app.text
    assert "Run a method" in app.links


def test_one_run_is_one_row_and_failed_ones_stay(keep, open_page):
    keep("good")
    keep("broken", status="failed", error="The model is unwell.")
    rows = table(open_page("runs"))
    assert set(rows["Run"]) == {"good", "broken"}
    assert set(rows["Status"]) == {"EOS", "failed"}


def test_what_is_missing_is_no_number(keep, open_page):
    keep("broken", status="failed", error="The model is unwell.")
    assert table(open_page("runs"))["TPS"].isna().all()


def test_filters_are_in_the_address(keep, open_page):
    keep("a")
    keep("b", method="sd")
    keep("c", window="clean_01")
    assert list(table(open_page("runs", method="sd"))["Run"]) == ["b"]
    assert list(table(open_page("runs", window="clean_01"))["Run"]) == ["c"]
    assert set(table(open_page("runs", method="sd\nas2d", text="clean_00"))["Run"]) == {"a", "b"}
    assert len(table(open_page("runs", method="magic"))) == 3


def test_a_filter_that_matches_nothing_can_be_cleared(keep, open_page):
    keep("a")
    app = open_page("runs", text="nothing like it")
    assert "No run matches these filters." in app.text
    app.press("Clear the filters")
    assert list(table(app)["Run"]) == ["a"]


def test_runs_of_one_group_are_shown_apart(keep, open_page):
    keep("a")
    assert list(table(open_page("runs", group="g1"))["Run"]) == ["a"]
    app = open_page("runs", group="no-such-group")
    assert "No run matches these filters." in app.text


def test_runs_are_put_in_order(keep, open_page):
    keep("first", created_at="2026-03-01T10:00:00+00:00")
    keep("second", created_at="2026-03-02T10:00:00+00:00")
    assert list(table(open_page("runs"))["Run"]) == ["second", "first"]
    assert list(table(open_page("runs", order="Oldest first"))["Run"]) == ["first", "second"]


def test_ticked_runs_are_in_the_address_and_are_compared_again_after_a_reload(keep, open_page):
    for name, method in (("a", "as2d"), ("b", "sd"), ("c", "as2d")):
        keep(name, method=method)
    app = open_page("runs", ticked="a\nb\ngone")
    assert "compared" in app.charts
    assert "runs a, b" in str(app.charts["compared"]) or "runs b, a" in str(app.charts["compared"])


def test_many_runs_come_page_by_page(keep, open_page, workspace):
    for number in range(103):
        keep(f"run-{number:03d}", created_at=f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}+00:00")
    app = open_page("runs")
    assert "Runs 1 to 100 of 103" in app.text
    app.press("Next")
    assert app.state["page"] == "2"
    assert sorted(table(app)["Run"]) == ["run-000", "run-001", "run-002"]
    assert app.button("Next").disabled
    app.choose("selectbox", "Order", "Oldest first")
    assert "page" not in app.state
    assert "Runs 101 to 103" in open_page("runs", page=99).text


def test_a_deleted_run_lies_in_the_bin_until_it_is_restored_or_removed(keep, open_page, workspace):
    keep("a")
    keep("b")
    delete_run(workspace, "a")
    app = open_page("runs", bin=1)
    assert list(table(app)["Run"]) == ["a"]
    assert app.button("Restore").disabled
    app.press("Remove them")
    assert list_bin(workspace) == []
    assert "The bin is empty." in app.text
    assert [row.run_id for row in list_runs(workspace)] == ["b"]
