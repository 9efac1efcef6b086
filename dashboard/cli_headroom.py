"""``as2d headroom``: which cost is the bottleneck of a device, and what would and would not help."""

import argparse
from typing import Any

from as2d_core.replay.bottleneck import Lever
from as2d_core.replay.headroom import Headroom
from as2d_core.width_rule import WidthRule
from dashboard.cli_choices import add_chain, add_sources, threshold
from dashboard.cli_output import Answer, Progress, add_csv, command, number, rows_as_text, table
from dashboard.services.budgets import open_corpus
from dashboard.services.folders import user_folders
from dashboard.services.headroom import find_headroom
from dashboard.services.profiles import load_profile
from dashboard.views.numbers import MINUS

_LEVERS = ["what", "share of time %", "% tok/s per 1 % less", "95 %", "tok/s without", "% without"]
_CSV = ["what", "share_percent", "move", "move_low", "move_high", "gone_tps", "gone_percent", "unit"]
_PER = "percent of pooled throughput for one percent less of it"


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "headroom",
        "say what would make a device faster, and what would not",
        "as2d headroom --profile k70 --corpus paper-838 --split test",
        "Replay a corpus with every cost one percent cheaper (drafting, verification altogether and by width, loop, "
        "publication, readiness of candidates) and with a tenth of the source's errors removed, and without each of "
        "them; put the bound N / (max(D, V) + H) beside it; name the bottleneck in one sentence.",
    )
    add_sources(parser)
    parser.add_argument("--drafter", metavar="NAME", help="default: the first of the set")
    parser.add_argument("--budget", metavar="B", type=int, help="default: the profile's deployed one")
    parser.add_argument("--rule", action="store_true", help="with the width rule that development windows teach")
    add_chain(parser)
    add_csv(parser)
    parser.set_defaults(command=headroom)


def headroom(options: argparse.Namespace) -> Answer:
    """Ask every cost."""
    progress = Progress(options.quiet)
    folders = user_folders()
    try:
        progress.say("Replaying with every cost cheaper, one after the other")
        found, rule = find_headroom(
            load_profile(folders, options.profile),
            open_corpus(folders, options.corpus),
            options.split,
            options.drafter,
            options.budget,
            threshold(options.threshold),
            options.search_window,
            with_rule=options.rule,
        )
    finally:
        progress.done()
    document = as_document(found, options.split, rule)
    return Answer(document, rows_as_text(options, _text(found, options.split, rule), _CSV, _csv_rows(found)))


def as_document(found: Headroom, split: str, rule: WidthRule | None) -> dict[str, Any]:
    """The findings under the names that scripts use."""
    return {
        "profile": found.profile,
        "corpus": found.corpus,
        "corpus_label": found.label,
        "times": "replayed",
        "split": split,
        "drafter": found.drafter,
        "budget": found.budget,
        "width_rule": None if rule is None else rule.name,
        "windows": found.windows,
        "tokens": found.tokens,
        "tps": found.tps,
        "target_only_tps": found.target_only_tps,
        "bound_tps": found.bound_tps,
        "D_ms": found.draft_ms,
        "V_ms": found.verify_ms,
        "O_ms": found.overlap_ms,
        "H_ms": found.idle_ms,
        "drain_percent": found.drain_percent,
        "errors": found.errors,
        "levers": [
            {
                "what": item.name,
                "share_percent": item.share,
                "move": item.move,
                "move_interval": None
                if item.move_low is None or item.move_high is None
                else {"low": item.move_low, "high": item.move_high},
                "gone_tps": item.gone_tps,
                "gone_percent": item.gone_gain,
            }
            for item in found.levers
        ],
        "move_is": _PER,
        "sentence": found.sentence,
    }


def _text(found: Headroom, split: str, rule: WidthRule | None) -> str:
    ruled = "" if rule is None else " with the width rule"
    total = found.draft_ms + found.verify_ms - found.overlap_ms + found.idle_ms
    return "\n".join(
        [
            f"{found.device}, corpus {found.corpus} [{found.label}], {found.windows} windows ({split}), "
            f"{found.tokens} tokens; {found.drafter} with budget {found.budget}{ruled}; times are replayed",
            "",
            found.sentence,
            "",
            f"{number(found.tps, 'tok/s')} (target-only {number(found.target_only_tps, 'tok/s')}); the same work in "
            f"perfect overlap, N / (max(D, V) + H): {number(found.bound_tps, 'tok/s')}",
            f"T = D + V {MINUS} O + H: {total / 1e3:.2f} = {found.draft_ms / 1e3:.2f} + {found.verify_ms / 1e3:.2f} "
            f"{MINUS} {found.overlap_ms / 1e3:.2f} + {found.idle_ms / 1e3:.2f} s; {number(found.drain_percent, '%')} "
            f"of it waits for a cancelled drafter; the source errs in {found.errors} places",
            "",
            table(_LEVERS, [_cells(item) for item in found.levers]),
            "",
            f"The third column is {_PER}, replayed; 'without' is as if it cost nothing, or as if the source "
            "made no errors.",
        ]
    )


def _cells(item: Lever) -> list[object]:
    between = "n/a" if item.move_low is None else f"[{item.move_low:+.3f}, {item.move_high:+.3f}]"
    gone = "n/a" if item.gone_gain is None else f"{item.gone_gain:+.1f}"
    return [item.name, number(item.share), f"{item.move:+.3f}", between, number(item.gone_tps), gone]


def _csv_rows(found: Headroom) -> list[list[object]]:
    rows: list[list[object]] = [
        [i.name, i.share, i.move, i.move_low, i.move_high, i.gone_tps, i.gone_gain, _PER] for i in found.levers
    ]
    for name, tps in (("as it is", found.tps), ("bound N / (max(D, V) + H)", found.bound_tps)):
        rows.append([name, None, None, None, None, tps, 100 * (tps / found.tps - 1), "tok/s"])
    return rows
