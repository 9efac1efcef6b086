"""A profile as a JSON object, and what is wrong with one.

Faults keep a profile from being used. Warnings are what a careful reader would ask about.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, fields
from itertools import pairwise
from typing import Any

from as2d_core.errors import ProfileError
from as2d_core.profiles.profile import (
    PROFILE_KINDS,
    PROVENANCE_KINDS,
    VERDICTS,
    ChunkCosts,
    Profile,
    ProfiledModel,
    Provenance,
    Spread,
    Stability,
)

FORMAT = 1
MAX_WIDTH = 1024
"""No output is longer than this, so no verification can be wider."""

_WIDTH_COSTS = ("verify_idle_ms", "verify_concurrent_ms")
_POSITIVE = ("target_step_ms", "draft_serial_ms", "draft_overlapped_ms", "paired_forward_ms", "refresh_token_ms")
_NOT_NEGATIVE = ("loop_ms", "publish_ms", "confidence_row_ms", "refresh_base_ms")
_COUNTS = ("deployed_budget", "asp_cap", "search_max_budget", "failed_width")
_WIDTH_LISTS = ("extrapolated_idle", "extrapolated_concurrent", "exact_widths", "argmax_widths")
_OPTIONAL = frozenset(f.name for f in fields(Profile) if f.default is None)
_REQUIRED = tuple(f.name for f in fields(Profile) if f.default is MISSING and f.default_factory is MISSING)
_PLAUSIBLE_MS = (0.25, 10_000.0)


def profile_to_json(profile: Profile) -> dict[str, Any]:
    """A profile as a JSON object; ``profile_from_json`` gives the same profile back."""
    body = {"format": FORMAT, **asdict(profile)}
    for name in _WIDTH_COSTS:
        body[name] = {str(width): cost for width, cost in sorted(body[name].items())}
    return body


def profile_from_json(body: Any) -> Profile:
    """Read a profile.

    Raises:
        ProfileError: lists every fault, one sentence each, with the name of the field.
    """
    faults = profile_faults(body)
    if faults:
        raise ProfileError(" ".join(faults))
    values = {f.name: body[f.name] for f in fields(Profile) if f.name in body}
    for name in _WIDTH_COSTS:
        values[name] = {int(width): float(cost) for width, cost in sorted(body[name].items(), key=_by_width)}
    for name in (*_POSITIVE, *_NOT_NEGATIVE):
        if values.get(name) is not None:
            values[name] = float(values[name])
    for name in _WIDTH_LISTS:
        if values.get(name) is not None:
            values[name] = tuple(values[name])
    extremes = body.get("concurrent_ratio_extremes")
    values["concurrent_ratio_extremes"] = None if extremes is None else (float(extremes[0]), float(extremes[1]))
    values["chunk_sources"] = {
        name: ChunkCosts(**{k: float(v) for k, v in costs.items()})
        for name, costs in body.get("chunk_sources", {}).items()
    }
    values["models"] = {k: ProfiledModel(**v) for k, v in body.get("models", {}).items()}
    values["provenance"] = {k: Provenance(**v) for k, v in body.get("provenance", {}).items()}
    values["spread"] = {
        k: Spread(**{**v, "samples_ms": tuple(v.get("samples_ms", ()))}) for k, v in body.get("spread", {}).items()
    }
    values["stability"] = Stability(**body.get("stability", {}))
    return Profile(**values)


def profile_faults(body: Any) -> list[str]:
    """Everything that keeps a JSON object from being a profile, one sentence each."""
    if not isinstance(body, Mapping):
        return ["A profile is a JSON object."]
    if body.get("format", FORMAT) != FORMAT:
        return [f"format is {body['format']!r}; this program reads profiles of format {FORMAT}."]
    return list(_faults(body))


def profile_warnings(profile: Profile) -> list[str]:
    """What looks odd about a usable profile: suspicious units, costs that fall, missing widths."""
    return list(_warnings(profile))


def _faults(body: Mapping[str, Any]) -> Iterator[str]:
    known = {f.name for f in fields(Profile)} | {"format"}
    for name in sorted(set(body) - known):
        yield f"{name} is no field of a profile; remove it or correct its name."
    for name in _REQUIRED:
        if name not in body:
            yield f"{name} is missing."
    for name in ("id", "name", "created_at", "failed_reason"):
        value = body.get(name, "?")
        if not isinstance(value, str) or (not value and name not in ("created_at", "failed_reason")):
            yield f"{name} is {value!r}; it must be text."
    if "kind" in body and body["kind"] not in PROFILE_KINDS:
        yield f"kind is {body['kind']!r}; it must be one of {', '.join(PROFILE_KINDS)}."
    for name in (*_POSITIVE, *_NOT_NEGATIVE):
        if name in body and not (body[name] is None and name in _OPTIONAL):
            yield from _cost_faults(name, body[name], name in _NOT_NEGATIVE)
    for name in _WIDTH_COSTS:
        if name in body:
            yield from _width_cost_faults(name, body[name])
    for name in _COUNTS:
        value = body.get(name)
        if value is not None and not _whole(value, 1):
            yield f"{name} is {value!r}; it must be a whole number of at least 1."
    for name in _WIDTH_LISTS:
        value = body.get(name, ())
        if not (value is None and name in _OPTIONAL) and not (
            isinstance(value, list | tuple) and all(_whole(width, 1) for width in value)
        ):
            yield f"{name} is {value!r}; it must be a list of widths."
    yield from _extremes_faults(body.get("concurrent_ratio_extremes"))
    yield from _chunk_faults(body.get("chunk_sources", {}))
    yield from _description_faults(body)


def _cost_faults(name: str, value: Any, zero_allowed: bool) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{name} is {value!r}; it must be a number of milliseconds."
    elif not math.isfinite(value):
        yield f"{name} is {value}; it must be a finite number of milliseconds."
    elif value < 0:
        yield f"{name} is {value} ms; a cost cannot be negative."
    elif value == 0 and not zero_allowed:
        yield f"{name} is 0 ms; an operation that was not measured must be left out, not priced at zero."


def _width_cost_faults(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{name} is not an object of costs by width."
        return
    for width, cost in value.items():
        if not (isinstance(width, str | int) and str(width).isdecimal() and 1 <= int(width) <= MAX_WIDTH):
            yield f"{name}.{width} is not a width; widths are whole numbers from 1 to {MAX_WIDTH}."
        else:
            yield from _cost_faults(f"{name}.{width}", cost, zero_allowed=False)
    if not {"1", 1} & set(value):
        yield f"{name} has no cost at K = 1; a round without candidates could not be priced."


def _extremes_faults(value: Any) -> Iterator[str]:
    if value is None:
        return
    numbers = isinstance(value, list | tuple) and [v for v in value if isinstance(v, int | float) and v is not True]
    if not numbers or len(value) != 2 or len(numbers) != 2 or not 0 < numbers[0] <= numbers[1] < math.inf:
        yield f"concurrent_ratio_extremes is {value!r}; it must be two ratios above zero, the least first."


def _chunk_faults(value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield "chunk_sources is not an object of costs by drafter."
        return
    known = {f.name for f in fields(ChunkCosts)}
    for name, costs in value.items():
        if not isinstance(costs, Mapping) or "chunk_ms" not in costs or not set(costs) <= known:
            yield f"chunk_sources.{name} is not an object with chunk_ms and perhaps convert_ms."
            continue
        for cost in sorted(costs):
            yield from _cost_faults(f"chunk_sources.{name}.{cost}", costs[cost], cost == "convert_ms")


def _description_faults(body: Mapping[str, Any]) -> Iterator[str]:
    for name in ("device", "models", "provenance", "spread", "stability", "versions"):
        if not isinstance(body.get(name, {}), Mapping):
            yield f"{name} is not an object."
            return
    for name, value in body.get("provenance", {}).items():
        if not isinstance(value, Mapping) or not set(value) <= {"kind", "note"}:
            yield f"provenance.{name} is not an object with kind and note."
        elif value.get("kind") not in PROVENANCE_KINDS:
            yield f"provenance.{name}.kind is {value.get('kind')!r}; it must be one of {', '.join(PROVENANCE_KINDS)}."
    for name, value in body.get("models", {}).items():
        if not isinstance(value, Mapping) or "name" not in value or not set(value) <= {"name", "sha256"}:
            yield f"models.{name} is not an object with name and sha256."
    for name, value in body.get("spread", {}).items():
        if not isinstance(value, Mapping) or not {"n", "mean_ms", "sd_ms", "median_ms"} <= set(value):
            yield f"spread.{name} needs n, mean_ms, sd_ms and median_ms."
        elif not set(value) <= {f.name for f in fields(Spread)}:
            yield f"spread.{name} has fields that no spread has."
    stability = body.get("stability", {})
    if not set(stability) <= {"verdict", "reason"} or stability.get("verdict", "unknown") not in VERDICTS:
        yield f"stability is {dict(stability)!r}; its verdict must be one of {', '.join(VERDICTS)}."


def _warnings(profile: Profile) -> Iterator[str]:
    low, high = _PLAUSIBLE_MS
    for name in ("target_step_ms", "draft_serial_ms", "draft_overlapped_ms"):
        value = getattr(profile, name)
        if not low <= value <= high:
            yield f"{name} is {value:.4g} ms; is it really in milliseconds?"
    for name in _WIDTH_COSTS:
        costs: Mapping[int, float] = getattr(profile, name)
        odd = [str(width) for width, cost in costs.items() if not low <= cost <= high]
        if odd:
            yield f"{name} at K = {', '.join(odd)} is outside {low} to {high} ms; is it really in milliseconds?"
        missing = [str(width) for width in range(1, max(costs) + 1) if width not in costs]
        if missing:
            yield f"{name} has no cost at K = {', '.join(missing)}; budgets of {int(missing[0]) - 1} and more are out."
        for (narrow, cost), (wide, wider_cost) in pairwise(sorted(costs.items())):
            if wider_cost < cost:
                yield f"{name} falls from {cost:.4g} ms at K = {narrow} to {wider_cost:.4g} ms at K = {wide}."
    only_one = sorted(set(profile.verify_idle_ms) ^ set(profile.verify_concurrent_ms))
    if only_one:
        yield f"Widths {', '.join(map(str, only_one))} have only one of the idle and the concurrent cost."
    if profile.draft_overlapped_ms > profile.target_step_ms:
        yield (
            f"draft_overlapped_ms ({profile.draft_overlapped_ms:.4g}) is above target_step_ms "
            f"({profile.target_step_ms:.4g}): this drafter is slower than its target."
        )
    budget = profile.deployed_budget
    if budget is not None and not profile.feasible(budget):
        yield f"deployed_budget is {budget}, but the costs end at K = {profile.max_width}."


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _by_width(item: tuple[Any, Any]) -> int:
    return int(item[0])
