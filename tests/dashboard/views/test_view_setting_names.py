from dashboard.views.setting_names import setting_key, setting_names

AS2D = {"method": "as2d", "budget": 7, "threshold": 0.4, "search_window": 12, "batch_tokens": 8, "target_name": "t"}


def names(*rows):
    return list(setting_names(map(setting_key, rows)).values())


def test_settings_are_named_by_method_and_parameter():
    rows = AS2D, {"method": "sd", "width": 5}, {"method": "specasr", "draft_cap": 14}, {"method": "target-only"}
    assert names(*rows) == ["As²d b=7", "SD K=5", "SpecASR cap=14", "Target-only"]


def test_only_what_tells_settings_apart_is_added():
    assert names(AS2D, {**AS2D, "search_window": 16}, {**AS2D, "budget": 5}) == [
        "As²d b=7, search window 12",
        "As²d b=7, search window 16",
        "As²d b=5",
    ]
    assert names({"method": "target-only"}, {"method": "target-only", "plain_step": True}) == [
        "Target-only",
        "Target-only, plain K = 1",
    ]


def test_runs_under_width_rules_are_settings_of_their_own():
    made = ((0, "a"), (1, ""))
    rules = [{"width_rule": f'{{"concurrent":[0,1],"idle":[0,{n}],"name":"{name}"}}'} for n, name in made]
    first, second, plain = names(*({**AS2D, **rule} for rule in rules), AS2D)
    assert plain == "As²d b=7"
    assert first.startswith("As²d b≤7, rule a (")
    assert second.startswith("As²d b≤7, rule ")


def test_what_a_method_does_not_use_tells_nothing_apart():
    assert setting_key({"method": "target-only", "budget": 7}) == setting_key({"method": "target-only", "budget": 3})
    assert setting_key(AS2D) != setting_key({**AS2D, "drafter_pace_ms": 2.0})
