def table(app):
    return app.test.dataframe[0].value


def test_an_empty_store_leads_to_the_request_page(workspace, open_page):
    app = open_page("compare")
    assert "There is no run yet." in app.text
    assert "Run all methods" in app.links


def test_without_a_choice_the_runs_that_were_started_together_last_are_compared(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    keep("theirs", method="sd")
    app = open_page("compare")
    assert list(table(app)["Setting"]) == ["Target-only", "As²d b=7", "SD K=5"]
    assert {"paired", "costs", "timelines"} <= set(app.charts)
    assert "2 of 2 (100.0 %) outputs have the tokens of Target-only." in app.text


def test_one_run_is_shown_with_a_hint(keep, open_page):
    keep("only")
    app = open_page("compare")
    assert "There is one setting only" in app.text
    assert list(table(app)["Setting"]) == ["As²d b=7"]


def test_failed_and_cut_off_runs_stay_in_the_table(keep, open_page):
    keep("alone", method="target-only")
    keep("broken", status="failed", error="The model is unwell.")
    keep("cut", method="sd", keep=10)
    rows = table(open_page("compare", runs="alone\nbroken\ncut")).set_index("Setting")
    assert rows.loc["As²d b=7", "Left out"] == "1 failed"
    assert rows.loc["SD K=5", "Left out"] == "1 incomplete"


def test_only_failed_runs_are_a_sentence_and_no_figure(keep, open_page):
    keep("broken", status="failed", error="The model is unwell.")
    app = open_page("compare")
    assert "No run has finished" in app.text
    assert "paired" not in app.charts
    assert len(table(app)) == 1


def test_runs_are_chosen_by_name_or_by_filters_in_the_address(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    keep("other", window="clean_01")
    assert "2 runs by name" in open_page("compare", runs="alone\nours").text
    app = open_page("compare", window="clean_01")
    assert "1 run; window clean_01" in app.text
    assert "on 1 window" in app.text


def test_filters_that_match_nothing_can_be_cleared(keep, open_page):
    keep("alone", method="target-only")
    app = open_page("compare", method="sd")
    assert "No run matches these filters." in app.text
    app.press("Clear the filters")
    assert "method" not in app.state


def test_a_run_that_is_not_there_is_a_sentence(keep, open_page):
    keep("ours")
    app = open_page("compare", runs="nowhere")
    assert "nowhere" in app.text
    assert len(table(app)) == 1


def test_another_reference_and_single_runs_are_in_the_address(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    app = open_page("compare", against="As²d b=7")
    assert "Against As²d b=7" in table(app).columns
    app = open_page("compare", by="run")
    assert {"Target-only, alone", "As²d b=7, ours"} == set(table(app)["Setting"])


def test_differing_settings_come_alone_until_all_are_asked_for(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    app = open_page("compare")
    few = app.test.dataframe[2].value
    app.choose("toggle", "Show what is the same, too", True)
    assert len(app.test.dataframe[2].value) > len(few)
    assert app.state["all"] == "1"


def test_a_different_output_is_told_with_its_first_token_and_its_words(keep, open_page, workspace):
    keep("alone", method="target-only")
    keep("ours")
    workspace.store.write(
        lambda cursor: cursor.execute(
            "UPDATE runs SET output_sha256 = 'other', text = 'some other words' WHERE run_id = 'ours'"
        )
    )
    app = open_page("compare")
    assert "0 of 1 (0.0 %) outputs have the tokens of Target-only." in app.text
    assert "<ins" in app.html


def test_a_comparison_is_sent_to_the_notebook_with_its_runs(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    app = open_page("compare")
    app.test.button(key="send-paired").click()
    app.run()
    notebook = open_page("notebook")
    assert "Paired differences" in notebook.text or "figure" in notebook.text
