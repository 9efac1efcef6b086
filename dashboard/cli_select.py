"""``as2d select``: drafter, budget, threshold, search window and width rule to deploy, chosen without test windows."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.deployment import Considered, Deployment
from as2d_core.errors import RequestError
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.pooling import Interval
from as2d_core.replay.splits import Deal
from as2d_core.selection import DEFAULT_FINALISTS, Evaluation, Selection
from dashboard.cli_choices import NEVER, add_sources, threshold, whole_numbers
from dashboard.cli_output import Answer, Progress, add_csv, command, number, rows_as_text, table
from dashboard.services.budgets import open_corpus
from dashboard.services.choosing import Chosen, choose_deployment, judge
from dashboard.services.folders import user_folders
from dashboard.services.profiles import load_profile
from dashboard.views.choice_steps import chosen_name

_SETTINGS = ["drafter", "b", "width rule", "threshold", "search window", "development tok/s", "validation tok/s", ""]
_CSV = [
    "part",
    "drafter",
    "budget",
    "width_rule",
    "threshold",
    "search_window",
    "figure",
    "value",
    "low",
    "high",
    "unit",
    "windows",
]


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "select",
        "choose what to deploy, freeze the choice, then judge it",
        "as2d select --profile k70 --corpus paper-838 --search-windows 12,16 --freeze k70.as2d.json",
        "Screen every drafter and budget on development windows, choose on validation windows by pooled throughput, "
        "also among thresholds, search windows and a width rule that picks the cheapest width. Test windows are not "
        "replayed until the choice is frozen as a file; then the file is judged on them. "
        "`as2d run --deployment FILE` runs what was chosen.",
    )
    add_sources(parser, with_split=False)
    parser.add_argument("--seed", metavar="N", type=int, help="deal development and validation windows anew")
    parser.add_argument(
        "--deal", action="store_true", help="with --seed: deal all windows anew, into test windows, too"
    )
    parser.add_argument("--drafter", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--budgets", metavar="B,B,...", help="default: all that the profile can price")
    parser.add_argument(
        "--thresholds",
        metavar="P,P,...",
        default=str(DEFAULT_THRESHOLD),
        help=f"confidences that end a chain, or {NEVER} (default: {DEFAULT_THRESHOLD})",
    )
    parser.add_argument(
        "--search-windows",
        metavar="W,W,...",
        default=str(DEFAULT_SEARCH_WINDOW),
        help=f"how far alignment looks past the cursor (default: {DEFAULT_SEARCH_WINDOW})",
    )
    parser.add_argument("--no-rule", action="store_true", help="budgets only, no width rule")
    parser.add_argument(
        "--finalists",
        metavar="N",
        type=int,
        default=DEFAULT_FINALISTS,
        help=f"pairs of each setting that go on to validation windows (default: {DEFAULT_FINALISTS})",
    )
    parser.add_argument("--freeze", metavar="FILE", type=Path, help="write the choice down, then judge it")
    parser.add_argument("--replace", action="store_true", help="replace an earlier choice in that file")
    parser.add_argument("--frozen", metavar="FILE", type=Path, help="choose nothing: judge this frozen choice")
    add_csv(parser)
    parser.set_defaults(command=select)


def select(options: argparse.Namespace) -> Answer:
    """Choose, or judge."""
    if options.freeze is not None and options.frozen is not None:
        raise RequestError("--freeze writes a choice, --frozen judges one that is written; give one of them.")
    if options.deal and options.seed is None:
        raise RequestError("--deal needs a seed, such as --seed 1.")
    progress = Progress(options.quiet)
    folders = user_folders()
    try:
        profile, corpus = load_profile(folders, options.profile), open_corpus(folders, options.corpus)
        if options.frozen is not None:
            progress.say("Judging the frozen choice on test windows")
            chosen = judge(profile, corpus, options.frozen)
        else:
            chosen = choose_deployment(
                profile,
                corpus,
                [threshold(text, "--thresholds") for text in options.thresholds.split(",")],
                whole_numbers(options.search_windows, "--search-windows"),
                None if options.budgets is None else whole_numbers(options.budgets, "--budgets"),
                options.drafter,
                options.finalists,
                with_rule=not options.no_rule,
                deal=None if options.seed is None else Deal("all" if options.deal else "selection", options.seed),
                freeze=options.freeze,
                replace_file=options.replace,
                say=progress.say,
            )
    finally:
        progress.done()
    document = as_document(chosen)
    if chosen.result_problem is not None:
        document["error"] = chosen.result_problem
    text = rows_as_text(options, _text(chosen), _CSV, _csv_rows(chosen))
    return Answer(document, text, 1 if chosen.result_problem else 0)


def as_document(chosen: Chosen) -> dict[str, Any]:
    """The choice under the names that scripts use; ``test`` is null until it is frozen."""
    found, result = chosen.deployment, chosen.result
    deployed = found.deployed
    return {
        "profile": deployed.profile,
        "corpus": deployed.corpus,
        "corpus_label": deployed.label,
        "times": "replayed",
        "deal": found.deal,
        "windows": {name: len(ids) for name, ids in deployed.window_ids.items()} | {"test": len(found.test_windows)},
        "split_sha256": {**deployed.split_sha256, "test": found.test_sha256},
        "profile_sha256": found.profile_sha256,
        "corpus_sha256": found.corpus_sha256,
        "deployed": "budget" if deployed is found.fixed else "width rule",
        "budget": _choice_document(found.fixed),
        "width_rule": None if found.ruled is None else _choice_document(found.ruled),
        "considered": found.considered,
        "frozen": chosen.frozen,
        "test": None
        if result is None
        else {
            "budget": _result_document(result.fixed),
            "width_rule": None if result.ruled is None else _result_document(result.ruled),
        },
    }


def _choice_document(found: Selection) -> dict[str, Any]:
    rule = found.width_rule
    return {
        "drafter": found.drafter,
        "budget": found.budget,
        "threshold": found.threshold,
        "search_window": found.search_window,
        "width_rule": None if rule is None else {"concurrent": rule.concurrent, "idle": rule.idle, "name": rule.name},
        "validation_tps": found.validation_tps,
        "screened_on_development": found.screened,
        "finalists_on_validation": found.finalists,
    }


def _result_document(result: Evaluation) -> dict[str, Any]:
    slower = result.slowdown
    return {
        "windows": result.windows,
        "tokens": result.tokens,
        "tps": result.tps,
        "tps_interval": result.tps_interval,
        "target_only_tps": result.target_only_tps,
        "gain_percent": result.gain,
        "gain_interval": result.gain_interval,
        "oracle_tps": result.oracle_tps,
        "gap_percent": result.gap,
        "gap_interval": result.gap_interval,
        "slower_windows": None if slower is None else slower.slower,
        "tied_windows": None if slower is None else slower.ties,
        "median_loss_percent": None if slower is None else slower.median_loss,
        "max_loss_percent": None if slower is None else slower.max_loss,
        "fallback_windows": result.fallback_windows,
        "extrapolated": result.extrapolated,
        "test_sha256": result.test_sha256,
    }


def _text(chosen: Chosen) -> str:
    found = chosen.deployment
    deployed = found.deployed
    counts = ", ".join(f"{len(ids)} {name}" for name, ids in deployed.window_ids.items())
    dealt = "the set's own splits"
    if found.deal is not None:
        what = "all windows" if found.deal.scope == "all" else "development and validation windows"
        dealt = f"{what} dealt with seed {found.deal.seed}"
    lines = [
        f"Profile {deployed.profile}, corpus {deployed.corpus} [{deployed.label}], {counts} windows ({dealt}), "
        f"{len(found.test_windows)} test windows set aside; times are replayed",
        "",
        table(_SETTINGS, [_setting_cells(item, found) for item in found.considered]),
        "",
        f"Deploy {_spelled(deployed)}: {number(deployed.validation_tps, 'tok/s')} on validation windows.",
    ]
    if chosen.frozen is None:
        lines.append("Test windows were not replayed. --freeze FILE writes the choice down and then judges it.")
        return "\n".join(lines)
    lines.append(f"Frozen: {chosen.frozen} (run it: as2d run --deployment {chosen.frozen} --window ...)")
    if chosen.result is None:
        return "\n".join([*lines, f"Not judged: {chosen.result_problem}"])
    judged = [(chosen.result.fixed, found.fixed), (chosen.result.ruled, found.ruled)]
    lines += ["", "On test windows, after freezing:"]
    lines += [_result_text(r, s) for r, s in judged if r is not None and s is not None]
    return "\n".join(lines)


def _setting_cells(item: Considered, found: Deployment) -> list[object]:
    chosen = [s for s in (found.fixed, found.ruled) if s is not None and (s.width_rule is not None) == item.width_rule]
    here = any(
        (s.drafter, s.budget, s.threshold, s.search_window)
        == (item.drafter, item.budget, item.threshold, item.search_window)
        for s in chosen
    )
    deployed = here and (found.deployed.width_rule is not None) == item.width_rule
    return [
        item.drafter,
        item.budget,
        "yes" if item.width_rule else "no",
        NEVER if item.threshold is None else f"{item.threshold:g}",
        item.search_window,
        item.development_tps,
        item.validation_tps,
        "deployed" if deployed else "best of its kind" if here else "",
    ]


def _spelled(found: Selection) -> str:
    said = "no threshold" if found.threshold is None else f"threshold {found.threshold:g}"
    return f"{chosen_name(found)}, {said}, search window {found.search_window}"


def _result_text(result: Evaluation, chosen: Selection) -> str:
    slower = result.slowdown
    losses = "" if slower is None or not slower.slower else (
        f" (median loss {number(slower.median_loss, '%')}, largest {number(slower.max_loss, '%')})"
    )  # fmt: skip
    count = "n/a" if slower is None else f"{slower.slower} of {slower.windows}"
    flag = "; may use a width whose cost was not measured" if result.extrapolated else ""
    return (
        f"  {_spelled(chosen)}\n"
        f"    {number(result.tps, 'tok/s')} {_between(result.tps_interval)}, {result.gain:+.2f} % "
        f"{_between(result.gain_interval)} over target-only, gap to the oracle {number(result.gap, '%')} "
        f"{_between(result.gap_interval)}, slower on {count} windows{losses}{flag}"
    )


def _csv_rows(chosen: Chosen) -> list[list[object]]:
    found = chosen.deployment
    windows = {name: len(ids) for name, ids in found.fixed.window_ids.items()}
    rows: list[list[object]] = []
    for item in found.considered:
        about = [item.drafter, item.budget, item.width_rule, item.threshold, item.search_window]
        for split, tps in (("development", item.development_tps), ("validation", item.validation_tps)):
            rows.append([split, *about, "tps", tps, None, None, "tok/s", windows[split]])
    if chosen.result is not None:
        for result, choice in ((chosen.result.fixed, found.fixed), (chosen.result.ruled, found.ruled)):
            if result is None or choice is None:
                continue
            about = [
                "test",
                choice.drafter,
                choice.budget,
                choice.width_rule is not None,
                choice.threshold,
                choice.search_window,
            ]
            slower = None if result.slowdown is None else result.slowdown.slower
            rows += [
                [*about, "tps", result.tps, *_ends(result.tps_interval), "tok/s", result.windows],
                [*about, "gain", result.gain, *_ends(result.gain_interval), "%", result.windows],
                [*about, "gap", result.gap, *_ends(result.gap_interval), "%", result.windows],
                [*about, "slower windows", slower, None, None, "", result.windows],
            ]
    return rows


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _between(interval: Interval | None) -> str:
    return "n/a" if interval is None else f"[{interval.low:.2f}, {interval.high:.2f}]"
