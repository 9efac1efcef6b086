"""What do figure cells show of cost profiles? The same views as the Profiles page."""

from collections.abc import Mapping
from typing import Any

from dashboard.notebook.outputs import Block, Drawing, Grid, Sentence
from dashboard.notebook.source import Source
from dashboard.views import numbers
from dashboard.views.profile_pair import pair_figure, pair_info, pair_table
from dashboard.views.profile_widths import ratios_figure, ratios_info, widths_figure, widths_info
from dashboard.views.run_labels import profile_label
from dashboard.views.theme import Theme


def widths(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """Verification by width, and the ratio of both conditions."""
    profile = source.profile(given["profile"])
    info, ratios = widths_info(profile), ratios_info(profile)
    return (
        Sentence(profile_label(profile)),
        Drawing(widths_figure(info, theme), " ".join(info.notes), strip=True),
        Drawing(ratios_figure(ratios, theme), f"Beside the drafter over alone. {ratios.sentence}", strip=True),
    )


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
