"""Every cost of a profile with its origin, and two profiles cost by cost."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from as2d_core.profiles.profile import Profile, Provenance, Spread

SCALARS = (
    "target_step_ms",
    "loop_ms",
    "draft_serial_ms",
    "draft_overlapped_ms",
    "publish_ms",
    "paired_forward_ms",
    "confidence_row_ms",
    "refresh_base_ms",
    "refresh_token_ms",
)
BY_WIDTH = ("verify_idle_ms", "verify_concurrent_ms")


@dataclass(frozen=True, slots=True)
class CostRow:
    """One cost of one profile."""

    name: str
    """Field of the profile."""
    width: int | None
    """Physical width K; ``None`` for a cost that has none."""
    value_ms: float | None
    """``None``: this profile does not hold it."""
    provenance: Provenance | None
    spread: Spread | None
    extrapolated: bool
    """Whether it was not measured at this width."""

    @property
    def key(self) -> str:
        """Name in ``Profile.provenance`` and ``Profile.spread``."""
        return self.name if self.width is None else f"{self.name}.{self.width}"


@dataclass(frozen=True, slots=True)
class ComparedCost:
    """One cost of two profiles."""

    first: CostRow
    second: CostRow

    @property
    def ratio(self) -> float | None:
        """Second over first; ``None`` where one of them is missing or nothing."""
        a, b = self.first.value_ms, self.second.value_ms
        return None if a is None or b is None or a == 0 else b / a

    @property
    def ratio_sd(self) -> float | None:
        """Standard deviation of the ratio, to first order, from the samples of both; ``None`` without them."""
        a, b, ratio = self.first.spread, self.second.spread, self.ratio
        if a is None or b is None or ratio is None or a.sd_ms is None or b.sd_ms is None:
            return None
        if a.mean_ms == 0 or b.mean_ms == 0:
            return None
        return ratio * math.hypot(a.sd_ms / a.mean_ms, b.sd_ms / b.mean_ms)


def cost_rows(profile: Profile) -> tuple[CostRow, ...]:
    """Every cost that the profile holds: single ones first, then chunk sources, then verification by width."""
    rows = _rows(profile, _widths(profile), list(profile.chunk_sources))
    return tuple(row for row in rows if row.value_ms is not None)


def compare_profiles(first: Profile, second: Profile) -> tuple[ComparedCost, ...]:
    """Every cost that at least one of two profiles holds."""
    widths = sorted({*_widths(first), *_widths(second)})
    drafters = list(dict.fromkeys([*first.chunk_sources, *second.chunk_sources]))
    pairs = zip(_rows(first, widths, drafters), _rows(second, widths, drafters), strict=True)
    return tuple(ComparedCost(a, b) for a, b in pairs if a.value_ms is not None or b.value_ms is not None)


def missing_widths(costs: Mapping[int, float]) -> list[int]:
    """Widths below the widest one that have no cost."""
    return [width for width in range(1, max(costs, default=0)) if width not in costs]


def _widths(profile: Profile) -> list[int]:
    return sorted({*profile.verify_idle_ms, *profile.verify_concurrent_ms})


def _rows(profile: Profile, widths: list[int], drafters: list[str]) -> Iterator[CostRow]:
    for name in SCALARS:
        yield _row(profile, name, None, extrapolated=False)
    for drafter in drafters:
        for part in ("chunk_ms", "convert_ms"):
            key = f"chunk_sources.{drafter}.{part}"
            costs = profile.chunk_sources.get(drafter)
            value = None if costs is None else getattr(costs, part)
            yield CostRow(key, None, value, profile.provenance.get(key), profile.spread.get(key), extrapolated=False)
    guessed = {"verify_idle_ms": profile.extrapolated_idle, "verify_concurrent_ms": profile.extrapolated_concurrent}
    for name in BY_WIDTH:
        for width in widths:
            yield _row(profile, name, width, extrapolated=width in guessed[name])


def _row(profile: Profile, name: str, width: int | None, *, extrapolated: bool) -> CostRow:
    value = getattr(profile, name)
    key = name if width is None else f"{name}.{width}"
    return CostRow(
        name,
        width,
        value if width is None else value.get(width),
        profile.provenance.get(key),
        profile.spread.get(key),
        extrapolated,
    )
