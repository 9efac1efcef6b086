"""Every cost of a profile, every profile of a store, and which widths are exact: as tables and chips."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from as2d_core.profiles.comparison import CostRow, cost_rows
from as2d_core.profiles.profile import Profile, Spread
from dashboard.views import numbers, text
from dashboard.views.profile_widths import spans
from dashboard.views.text import element, escape
from dashboard.views.theme import FONT, SMALL_PX, Theme, faded

COST_NAMES: Mapping[str, str] = {
    "target_step_ms": "Target-only step",
    "loop_ms": "Rest of a round",
    "loop_serial_ms": "Rest of a round, SD",
    "draft_serial_ms": "Draft step, alone",
    "draft_overlapped_ms": "Draft step, beside the target",
    "publish_ms": "Publication",
    "paired_forward_ms": "Forward of two branches (SpecASR)",
    "confidence_row_ms": "Confidence row (SpecASR)",
    "refresh_base_ms": "Refresh, base (SpecASR)",
    "refresh_token_ms": "Refresh, per token (SpecASR)",
    "refresh_ms": "Refresh by width (SpecASR)",
    "verify_idle_ms": "Verification, alone",
    "verify_concurrent_ms": "Verification, beside the drafter",
    "width_ms": "Verification as asked, alone",
}
COST_HELP: Mapping[str, str] = {
    "Value (ms)": "Mean of all formal repetitions where it was measured.",
    "SD (ms)": "Sample standard deviation of single calls, not of the mean.",
    "n": "Single calls behind the mean, warm-ups left out.",
    "Origin": "measured, published, solved (follows from printed figures), inferred (with an assumption), guessed, or "
    "fitted (adjusted until a published result came out, or a line through measured points).",
    "K": "Rows that one verification works out.",
}
LIST_HELP: Mapping[str, str] = {
    "Measured": "When, UTC.",
    "Kind": "measured: timed on a device. published: from the paper, with solved and assumed values between.",
    "Step (ms)": "One target-only step.",
    "K = 8 (ms)": "One verification of 8 positions, nothing beside it.",
    "Draft (ms)": "One draft step beside the running target.",
    "Widest K": "Every width up to it has a cost, alone and beside the drafter.",
    "Repeats": "Whether the measurement can be trusted to repeat.",
}
IMPORTANCE = ("Cost", "K", "Value (ms)", "SD (ms)", "n", "Origin", "Note", "Median (ms)", "Greatest (ms)", "Least (ms)")
"""Which columns of costs are shown first where there is little room."""
ALIGNMENT = "not timed apart: part of the rest of a round"


def cost_table(profile: Profile) -> pd.DataFrame:
    """One row a cost: numbers (NaN: n/a), origin and note."""
    rows = [_cost(row.name, row.width, row.value_ms, row.spread, _origin(row), _note(row)) for row in _ordered(profile)]
    place = next((i for i, row in enumerate(rows) if row["Cost"].startswith("Verification")), len(rows))
    others = [
        _cost(name, int(width) if width else None, spread.mean_ms, spread, "measured", "")
        for key, spread in profile.spread.items()
        for name, _, width in [key.partition(".")]
        if name in ("refresh_ms", "loop_serial_ms")
    ]
    alignment = _cost("Alignment", None, None, None, "n/a", ALIGNMENT)
    return pd.DataFrame([*rows[:place], alignment, *others, *rows[place:]])


def cost_texts(table: pd.DataFrame) -> dict[str, list[str]]:
    """A table of costs as it reads: times and ratios with three decimals, widths and numbers of calls whole."""

    def text(name: str, value: object) -> str:
        if isinstance(value, str):
            return value
        if pd.isna(value):
            return "" if name == "K" else numbers.NA
        exact = name.endswith("(ms)") or name in ("Ratio", "± SD")
        return numbers.decimals(float(value), 3) if exact else numbers.general(float(value), 6)

    return {str(name): [text(str(name), value) for value in table[name]] for name in table.columns}


def _ordered(profile: Profile) -> tuple[CostRow, ...]:
    return cost_rows(profile)


def _cost(
    name: str, width: int | None, value: float | None, spread: Spread | None, origin: str, note: str
) -> dict[str, object]:
    samples = () if spread is None else spread.samples_ms
    return {
        "Cost": cost_name(name),
        "K": width,
        "Value (ms)": value,
        "SD (ms)": None if spread is None else spread.sd_ms,
        "Median (ms)": None if spread is None else spread.median_ms,
        "Least (ms)": min(samples, default=None),
        "Greatest (ms)": max(samples, default=None),
        "n": None if spread is None else spread.n,
        "Origin": origin,
        "Note": note,
    }


def cost_name(name: str) -> str:
    """A field of a profile as people call it; sources that publish in chunks keep their own name."""
    if name.startswith("chunk_sources."):
        _, drafter, part = name.split(".", 1)[0], name.split(".", 1)[1].rpartition(".")[0], name.rpartition(".")[2]
        return f"{text.visible(drafter, spaces=False)}, " + ("one chunk" if part == "chunk_ms" else "conversion")
    return COST_NAMES.get(name, name)


def _origin(row: CostRow) -> str:
    return "unknown" if row.provenance is None else row.provenance.kind


def _note(row: CostRow) -> str:
    note = "" if row.provenance is None else row.provenance.note
    note = f"{note}; width not measured" if row.extrapolated and "not measured" not in note else note
    return text.visible(note.removeprefix("; "), spaces=False)


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the list of profiles: one that can be read, or the reason why it cannot."""

    name: str
    profile: Profile | None
    problem: str = ""


def profiles_table(items: Sequence[Listed]) -> pd.DataFrame:
    """One row a profile: numbers (NaN: n/a), text for the rest; one that cannot be read has only its reason."""
    table = pd.DataFrame([_listed(item) for item in items])
    return table.drop(columns="Note") if "Note" in table and not table["Note"].fillna("").any() else table


def _listed(item: Listed) -> dict[str, object]:
    profile = item.profile
    if profile is None:
        return {"Profile": text.visible(item.name, spaces=False), "Kind": "unreadable", "Note": item.problem}
    widest = {**profile.verify_idle_ms}
    return {
        "Profile": text.visible(profile.name, spaces=False),
        "Kind": profile.kind,
        "Measured": numbers.moment(profile.created_at, ""),
        "Step (ms)": profile.target_step_ms,
        "K = 8 (ms)": widest.get(8),
        "Draft (ms)": profile.draft_overlapped_ms,
        "Widest K": profile.max_width,
        "Deployed b": profile.deployed_budget,
        "Repeats": profile.stability.verdict,
        "Note": "" if profile.failed_width is None else f"K = {profile.failed_width} failed",
    }


@dataclass(frozen=True, slots=True)
class WidthGrade:
    """How far the rows of one width agree with single steps."""

    width: int
    grade: str
    """``bit-equal``, ``same token``, ``another token``, ``not tested`` or ``failed``."""


def exactness(profile: Profile) -> tuple[WidthGrade, ...]:
    """Every width with a cost, and the one that failed."""
    widths = sorted({*profile.verify_idle_ms, *profile.verify_concurrent_ms, *_single_widths(profile)})
    found = [WidthGrade(k, _grade(profile, k)) for k in widths if k != profile.failed_width]
    if profile.failed_width is not None:
        found.append(WidthGrade(profile.failed_width, "failed"))
    return tuple(found)


def _single_widths(profile: Profile) -> Iterable[int]:
    return (int(key.partition(".")[2]) for key in profile.spread if key.startswith("width_ms."))


def _grade(profile: Profile, width: int) -> str:
    if width == 1 or (profile.exact_widths is not None and width in profile.exact_widths):
        return "bit-equal" if width > 1 or profile.exact_widths is not None else "not tested"
    if profile.argmax_widths is not None:
        return "same token" if width in profile.argmax_widths else "another token"
    return "not tested" if profile.exact_widths is None else "not bit-equal"


_MARKS: Mapping[str, tuple[str, str]] = {
    "bit-equal": ("=", "accepted"),
    "same token": ("≈", "reused"),
    "not bit-equal": ("≠", "drafter"),
    "another token": ("≠", "rejected"),
    "failed": ("✕", "rejected"),
    "not tested": ("?", "retired"),
}
_MEANINGS: Mapping[str, str] = {
    "bit-equal": "every row is bit for bit that of single steps",
    "same token": "rows differ in their last bits, their best token never did",
    "not bit-equal": "rows differ; whether their best token does was not looked at",
    "another token": "some row had another best token than single steps; this width is computed at the next exact one",
    "failed": "the device could not verify this width",
    "not tested": "nobody compared the rows",
}


def exactness_sentence(grades: Sequence[WidthGrade]) -> str:
    """The grades in words (plain text)."""
    kinds: dict[str, list[int]] = {}
    for item in grades:
        kinds.setdefault(item.grade, []).append(item.width)
    return "; ".join(f"K = {spans(widths)} {grade}: {_MEANINGS[grade]}" for grade, widths in kinds.items()) + "."


def exactness_html(grades: Sequence[WidthGrade], theme: Theme) -> str:
    """A chip a width; each grade has a mark of its own beside its colour."""
    chips = "".join(_chip(item, theme) for item in grades)
    return element("div", chips, {"display": "flex", "flex-wrap": "wrap", "gap": "4px"})


def _chip(item: WidthGrade, theme: Theme) -> str:
    mark, role = _MARKS[item.grade]
    colour = theme.role(role)
    style = {
        "font-family": FONT,
        "font-size": f"{SMALL_PX + 1}px",
        "line-height": "20px",
        "min-width": "34px",
        "text-align": "center",
        "padding": "0 6px",
        "border-radius": "4px",
        "border": f"1px {'solid' if item.grade != 'not tested' else 'dashed'} {colour}",
        "background": faded(colour, 0.12),
        "color": theme.text,
        "font-variant-numeric": "tabular-nums",
    }
    title = f"K = {item.width}: {item.grade}, {_MEANINGS[item.grade]}"
    return element("span", escape(f"{item.width} {mark}"), style, title=title)
