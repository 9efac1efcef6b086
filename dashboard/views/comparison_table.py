"""How much faster is one setting than another? A table of differences beside the bars."""

import pandas as pd

from dashboard.views import numbers
from dashboard.views.runs_compare import ComparisonInfo, MethodBar


def comparison_table(info: ComparisonInfo) -> pd.DataFrame:
    """One row a bar, as text; differences are against target-only, or against the first bar when there is none."""
    reference = reference_bar(info)
    against = "n/a" if reference is None else reference.name
    return pd.DataFrame(
        {
            "Setting": [bar.name for bar in info.bars],
            "Pooled TPS": [numbers.tps(bar.pooled_tps) for bar in info.bars],
            "Runs": [numbers.count(bar.runs) for bar in info.bars],
            "Windows": [numbers.count(len(bar.windows)) for bar in info.bars],
            f"TPS against {against}": [_difference(bar, reference) for bar in info.bars],
            "Slowest run": [numbers.tps(min(bar.samples, default=None)) for bar in info.bars],
            "Fastest run": [numbers.tps(max(bar.samples, default=None)) for bar in info.bars],
            "Left out": [", ".join(f"{count} {why}" for why, count in bar.left_out) or "none" for bar in info.bars],
        }
    )


def reference_bar(info: ComparisonInfo) -> MethodBar | None:
    """What the others are compared with."""
    measured = [bar for bar in info.bars if bar.pooled_tps is not None]
    alone = [bar for bar in measured if bar.method == "target-only"]
    return next(iter(alone or measured), None)


def _difference(bar: MethodBar, reference: MethodBar | None) -> str:
    if reference is None or bar.pooled_tps is None or not reference.pooled_tps:
        return numbers.NA
    if bar is reference:
        return "reference"
    if (bar.device, bar.windows) != (reference.device, reference.windows):
        return f"{numbers.NA} (other windows or device)"
    return numbers.signed_percent(numbers.gain(bar.pooled_tps, reference.pooled_tps))
