"""What do figure cells show of cost profiles? The same views as the Profiles page."""

from collections.abc import Mapping
from typing import Any

from as2d_core.profiles.codec import profile_warnings
from dashboard.notebook import facts_html
from dashboard.notebook.outputs import Block, Drawing, Grid, Markup, Sentence
from dashboard.notebook.source import Source
from dashboard.services import profile_shelf
from dashboard.services.budgets import ALL_WINDOWS, splits_of
from dashboard.views import numbers, text
from dashboard.views.profile_pair import drift_figure, drift_info, pair_figure, pair_info, pair_table
from dashboard.views.profile_table import IMPORTANCE, cost_table, cost_texts
from dashboard.views.profile_widths import ratios_figure, ratios_info, widths_figure, widths_info
from dashboard.views.replay_facts import profile_facts, replay_facts
from dashboard.views.run_labels import costs_sentence, profile_label
from dashboard.views.theme import Theme
from dashboard.views.width_savings import width_savings_figure, width_savings_info

MOST_COLUMNS = 7
"""Of costs that are shown: everything but medians and ends."""


def replayed(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    """Whose tokens and whose costs a replay puts together, and what is left out."""
    corpus, profile = source.corpus(given["corpus"]), source.profile(given["profile"])
    splits = splits_of(given.get("split", ALL_WINDOWS))
    return (Markup(facts_html.pairs_html(replay_facts(corpus, profile, splits))),)


def costs(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """Facts and every cost of a profile, with what wider verifications save."""
    profile = source.profile(given["profile"])
    said = (f"{profile_label(profile)}. {costs_sentence(profile)}", *profile_warnings(profile))
    texts = cost_texts(cost_table(profile))
    shown = [name for name in IMPORTANCE[:MOST_COLUMNS] if name != "Note" or any(texts[name])]
    grid = Grid(tuple(shown), tuple(zip(*(texts[name] for name in shown), strict=True)))
    facts = Markup(facts_html.pairs_html(profile_facts(profile)))
    savings = width_savings_info(profile)
    drawing = (Drawing(width_savings_figure(savings, theme), strip=True),) if savings.savings else ()
    return *(Sentence(text.visible(part, spaces=False)) for part in said), facts, *drawing, grid


def widths(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """Verification by width, and the ratio of both conditions."""
    profile = source.profile(given["profile"])
    info, ratios = widths_info(profile), ratios_info(profile)
    return (
        Sentence(profile_label(profile)),
        Drawing(widths_figure(info, theme), " ".join(info.notes), strip=True),
        Drawing(ratios_figure(ratios, theme), f"Beside the drafter over alone. {ratios.sentence}", strip=True),
    )


def savings(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """What a position of a wider verification saves (Figure 8)."""
    profile = source.profile(given["profile"])
    return (Drawing(width_savings_figure(width_savings_info(profile), theme), profile_label(profile), strip=True),)


def drift(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """What one device cost at several times."""
    profile = source.profile(given["profile"])
    if profile.kind != "measured":
        return (Sentence(f"{profile_label(profile)}: only what was measured with this program has a history."),)
    info = drift_info(profile_shelf.history(source.folders, profile, profile_shelf.shelf(source.folders)))
    if len(info.times) < 2:
        return (Sentence(info.sentence),)
    return (Drawing(drift_figure(info, theme), f"{profile_label(profile)}. {info.sentence}", strip=True),)


def pair(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """Two profiles, cost by cost."""
    first, second = source.profile(given["profile"]), source.profile(given["against"])
    info = pair_info(first, second)
    table = pair_table(info)
    rows = tuple(
        tuple(None if isinstance(value, float) and numbers.missing(value) else value for value in row)
        for row in table.itertuples(index=False)
    )
    said = f"{profile_label(second)} over {profile_label(first)}: {info.sentence}"
    return Drawing(pair_figure(info, theme), said, strip=True), Grid(tuple(table.columns), rows)
