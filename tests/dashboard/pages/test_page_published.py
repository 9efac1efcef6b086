from page_samples import put


def test_everything_in_short_without_any_run(workspace, open_page):
    app = open_page("published")
    assert "190 of 190 published figures that follow from others do" in app.text
    assert "32 of 403 cells agree to the printed digit, 287 lie within 5 %, 116 do not." in app.text
    assert "overview" in app.charts
    assert "No device here has run target-only and another method" in app.text
    assert {"published", "replayed", "solved", "synthetic"} <= set(app.text.split())
    assert app.links["Figure 8: savings by width, Redmi K70 Pro"] == "profile=k70"


def test_devices_here_stand_above_the_phones_of_the_paper(workspace, keep, open_page):
    for run_id, how in {"a": {"method": "target-only"}, "b": {}, "c": {"method": "sd"}}.items():
        keep(run_id, **how)
    table = open_page("published").test.dataframe[0].value
    assert table["Figures"].tolist() == ["measured", *["published", "replayed"] * 4]
    assert table.loc[1, "As²d"] == 27.92


def test_failed_runs_are_no_rates(workspace, tmp_path, open_page):
    put(workspace.store, tmp_path, "a", method="target-only")
    put(workspace.store, tmp_path, "b", status="failed", error="out of memory")
    assert "measured" not in open_page("published").test.dataframe[0].value["Figures"].tolist()


def test_one_table_shows_every_cell_with_its_reasons(workspace, open_page):
    app = open_page("published", table="8")
    assert "27 of 168 cells agree to the printed digit" in app.text
    assert "27.92 28.04 replayed +0.4 %" in " ".join(app.text.split())
    assert "the free-running source was fitted to As²d on one phone" in app.text
    annotations = [item["text"] for item in app.charts["deviations"]["layout"]["annotations"]]
    assert "Table 8, corpus paper-688 [synthetic]" in annotations


def test_differences_only_is_in_the_address(workspace, open_page):
    app = open_page("published", table="8")
    assert "Redmi K70 Pro: Target-only" in app.text
    app.choose("toggle", "Only what differs", True)
    assert app.state == {"table": "8", "differences": "1"}
    assert "Redmi K70 Pro: Target-only" not in app.text
    assert "Redmi K70 Pro: As²d" in app.text


def test_the_ledger_lists_what_is_not_exact_with_why(workspace, open_page):
    app = open_page("published", table="ledger")
    assert len(app.test.dataframe[0].value) == 190
    app.choose("toggle", "Only what is not exact", True)
    rows = app.test.dataframe[0].value
    assert len(rows) == 29
    assert rows["Why not exact"].str.contains("the inputs as printed allow").all()


def test_a_table_that_the_paper_does_not_have_shows_everything_in_short(workspace, open_page):
    assert "overview" in open_page("published", table="99").charts


def test_a_table_is_sent_to_a_notebook_with_its_number(workspace, open_page):
    app = open_page("published", table="9")
    next(button for button in app.test.button if button.key == "send-published table").click()
    app.run()
    assert "Sent figures" in app.test.toast[0].value
