"""What does a synthetic corpus look like on average? The numbers its generator draws from, and their origins.

Nothing here is a recording: a handful of rates and quantiles for each dataset.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from itertools import pairwise
from typing import Any

from as2d_core.errors import TrajectoryError
from as2d_core.profiles.profile import PROVENANCE_KINDS, Provenance
from as2d_core.replay.windows import SPLITS

FORMAT = 1
LEAST_STOP = 0.02
"""A stretch of wrong tokens that hardly ever ends would fill the whole source."""


@dataclass(frozen=True, slots=True)
class SyntheticGroup:
    """One dataset. Its quantiles are values at the parameters' ``quantiles_at``."""

    name: str
    language: str
    windows: Mapping[str, int]
    """How many windows, by split."""
    tokens: Mapping[str, int]
    """Target tokens of all windows together, by split; met exactly."""
    token_quantiles: tuple[float, ...]
    """Target tokens of a window; only their proportions count, ``tokens`` sets the scale."""
    error_quantiles: tuple[float, ...]
    """Rate at which the drafter errs after a right token, by window."""
    short_share: float
    """Share of the drafter's errors that are a single edit."""
    capped_windows: Mapping[str, int] = field(default_factory=dict)
    """Outputs that were cut by the output cap, by split."""


@dataclass(frozen=True, slots=True)
class SyntheticParameters:
    """Everything that ``synthetic.generate`` needs besides a seed.

    Raises:
        TrajectoryError: lists every value that cannot be.
    """

    id: str
    note: str
    drafter: str
    groups: tuple[SyntheticGroup, ...]
    quantiles_at: tuple[float, ...]
    """Rises from 0 to 1."""
    duration_s: float
    """Of every window."""
    output_cap: int
    source_cap: int
    batch_tokens: int
    vocabulary_tokens: int
    vocabulary_offset: float
    """Probability of the token of rank r (from 0) falls like 1 / (1 + r + offset)."""
    repeat_error: float
    """Rate of disagreement behind a disagreement, both after the true prefix."""
    prefix_low_right: float
    """Share of low confidences where the drafter agrees after the true prefix."""
    prefix_low_wrong: float
    free_low_right: float
    """Share of low confidences where the free-running drafter follows the target."""
    free_low_wrong: float
    low_confidence: float
    """The value that stands for any confidence below the threshold; single values are not known."""
    high_confidence: float
    single_substitution: float
    """Share of substitutions among single edits; the rest is half insertions, half deletions."""
    substitution: float
    """The same among the edits of longer stretches."""
    stop: float
    """Rate at which a stretch ends with every edit after its second."""
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    """By the name of the value, group values under ``groups``."""

    def __post_init__(self) -> None:
        faults = [*_faults(self)]
        if faults:
            raise TrajectoryError(f"The synthetic parameters {self.id!r} cannot be: " + " ".join(faults))


def packaged_parameters(name: str) -> SyntheticParameters:
    """Parameters from a packaged data file.

    Raises:
        TrajectoryError: the file is malformed.
    """
    body = json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))
    return parameters_from_json(body)


def parameters_from_json(body: Any) -> SyntheticParameters:
    """Parameters from a JSON object.

    Raises:
        TrajectoryError: a value is missing, unknown or impossible.
    """
    if not isinstance(body, Mapping) or body.get("format") != FORMAT:
        raise TrajectoryError(f"Synthetic parameters are a JSON object of format {FORMAT}.")
    known = {f.name for f in fields(SyntheticParameters)}
    unknown = sorted(set(body) - known - {"format"})
    if unknown:
        raise TrajectoryError(f"{', '.join(unknown)}: no such synthetic parameter.")
    values = {name: body[name] for name in known & set(body)}
    try:
        values["groups"] = tuple(
            SyntheticGroup(
                **{
                    **group,
                    "token_quantiles": tuple(group["token_quantiles"]),
                    "error_quantiles": tuple(group["error_quantiles"]),
                }
            )
            for group in values["groups"]
        )
        values["quantiles_at"] = tuple(values["quantiles_at"])
        values["provenance"] = {k: Provenance(**v) for k, v in values.get("provenance", {}).items()}
        return SyntheticParameters(**values)
    except (TypeError, KeyError) as error:
        raise TrajectoryError(f"The synthetic parameters are incomplete or of a wrong type: {error}.") from error


def with_selection_windows(
    parameters: SyntheticParameters, name: str, development: int, validation: int
) -> SyntheticParameters:
    """The same test windows, and for every group some windows to select a budget on.

    Args:
        parameters: with test windows.
        name: id of the new parameters.
        development: development windows of each group.
        validation: validation windows of each group.
    """

    def extended(group: SyntheticGroup) -> SyntheticGroup:
        mean = group.tokens["test"] / group.windows["test"]
        counts = {"development": development, "validation": validation, "test": group.windows["test"]}
        tokens = {"development": round(mean * development), "validation": round(mean * validation)}
        return replace(group, windows=counts, tokens={**tokens, "test": group.tokens["test"]})

    return replace(parameters, id=name, groups=tuple(map(extended, parameters.groups)))


def _faults(p: SyntheticParameters) -> Iterator[str]:
    if not p.id or not p.groups:
        yield "They need an id and at least one group."
    if len({g.name for g in p.groups}) < len(p.groups):
        yield "Two groups have the same name."
    at = p.quantiles_at
    if len(at) < 2 or at[0] != 0 or at[-1] != 1 or any(b <= a for a, b in pairwise(at)):
        yield "quantiles_at does not rise from 0 to 1."
    for name in ("output_cap", "source_cap", "batch_tokens", "vocabulary_tokens"):
        value = getattr(p, name)
        least = 2 if name in ("output_cap", "vocabulary_tokens") else 1
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            yield f"{name} is {value!r}; it must be a whole number of at least {least}."
    for name in (
        "repeat_error",
        "prefix_low_right",
        "prefix_low_wrong",
        "free_low_right",
        "free_low_wrong",
        "low_confidence",
        "high_confidence",
        "single_substitution",
        "substitution",
    ):
        if not 0 <= getattr(p, name) <= 1:
            yield f"{name} is {getattr(p, name)}; it must be between 0 and 1."
    if not LEAST_STOP <= p.stop <= 1:
        yield f"stop is {p.stop}; it must be between {LEAST_STOP} and 1."
    if not (math.isfinite(p.duration_s) and p.duration_s > 0):
        yield f"duration_s is {p.duration_s}."
    if not (math.isfinite(p.vocabulary_offset) and p.vocabulary_offset >= 0):
        yield f"vocabulary_offset is {p.vocabulary_offset}; it cannot be negative."
    for name, origin in p.provenance.items():
        if origin.kind not in PROVENANCE_KINDS:
            yield f"The provenance of {name} is {origin.kind!r}; it must be one of {', '.join(PROVENANCE_KINDS)}."
    for group in p.groups:
        yield from _group_faults(group, len(at), p.output_cap)


def _group_faults(group: SyntheticGroup, knots: int, cap: int) -> Iterator[str]:
    where = f"Group {group.name!r}"
    if not group.name or not group.windows or set(group.windows) - set(SPLITS):
        yield f"{where} needs a name and windows in some of the splits {', '.join(SPLITS)}."
    if set(group.tokens) != set(group.windows):
        yield f"{where} needs the number of tokens of the same splits that it has windows in."
        return
    for split, count in group.windows.items():
        capped, tokens = group.capped_windows.get(split, 0), group.tokens[split]
        if not 0 <= capped <= count:
            yield f"{where} has {count} {split} windows, {capped} of them capped."
        elif not 2 * (count - capped) <= tokens - capped * cap <= cap * (count - capped):
            yield f"{where}: {tokens} {split} tokens do not fit into {count} windows of 2 to {cap} tokens."
    for name, values in (("token_quantiles", group.token_quantiles), ("error_quantiles", group.error_quantiles)):
        if len(values) != knots or any(b < a for a, b in pairwise(values)) or min(values, default=0) < 0:
            yield f"{where}: {name} must be {knots} values that do not fall."
    if max(group.error_quantiles, default=0) > 1 or min(group.token_quantiles, default=0) <= 0:
        yield f"{where}: error rates are at most 1, and every window has tokens."
    if not 0 <= group.short_share <= 1:
        yield f"{where}: short_share is {group.short_share}; it must be between 0 and 1."
