"""From calibration samples to a cost profile (D.2.3, D.2.4).

Means keep every formal repetition; warm-ups are left out; concurrent costs are measured directly
where there are at least five observations, otherwise the median concurrent/idle ratio of the widths
that have them extends the idle cost, unclipped, and the width is flagged. A width without an idle
observation, because it failed or was never run, has no cost.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from as2d_core.calibration.plan import failed_width
from as2d_core.calibration.stability import judge_stability
from as2d_core.errors import ProfileError
from as2d_core.operation_records import Sample
from as2d_core.profiles.profile import Profile, ProfiledModel, Provenance, Spread
from as2d_core.records import Engine, RunRecord

LEAST_OBSERVATIONS = 5
MEASURED = Provenance("measured")

Cells = Mapping[int, list[float]]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Concurrent over idle cost of one width."""

    width: int
    ratio: float
    observations: int


def fit_profile(records: Sequence[RunRecord], profile_id: str, name: str) -> Profile:
    """One profile from calibration runs of one device and one pair of models.

    Args:
        records: runs of method ``calibrate``; several windows pool their samples. A window may have
            broken-off runs beside the one that ended: what they measured was not measured again.

    Raises:
        ProfileError: a window has no complete run, the runs differ in device, models or settings, or
            a cost was not measured at all.
    """
    _same_setting(records)
    samples = [s for record in records for s in record.samples if not s.warm_up and "failed" not in s.extra]
    usable = records[0].engines["target"].widths
    rows = {running: _sweep_rows(samples, running=running) for running in (False, True)}
    idle, concurrent = (_by_width(_verify(samples, running=r), rows[r], usable) for r in (False, True))
    if 1 not in idle:
        raise ProfileError("The calibration holds no verification of width 1; run it again to its end.")
    failed = failed_width(records)
    ratios = concurrent_ratios(idle, concurrent)
    eligible = [r.ratio for r in ratios if r.observations >= LEAST_OBSERVATIONS]
    median = float(np.median(eligible or [1.0]))
    spread = {f"verify_idle_ms.{k}": Spread.of(tuple(v)) for k, v in idle.items()}
    verify_concurrent: dict[int, float] = {}
    extrapolated = []
    provenance: dict[str, Provenance] = {f"verify_idle_ms.{k}": MEASURED for k in idle}
    for width, values in idle.items():
        key = f"verify_concurrent_ms.{width}"
        if len(concurrent.get(width, [])) >= LEAST_OBSERVATIONS:
            spread[key] = Spread.of(tuple(concurrent[width]))
            verify_concurrent[width] = spread[key].mean_ms
            provenance[key] = MEASURED
        else:
            verify_concurrent[width] = float(np.mean(values)) * median
            extrapolated.append(width)
            provenance[key] = _assumed(median, len(eligible))
    scalars = {
        "target_step_ms": _ms(samples, "step", running=False),
        "draft_serial_ms": _draft(samples, running=False),
        "draft_overlapped_ms": _draft(samples, running=True),
        "publish_ms": _ms(samples, "publish", running=True),
        "loop_ms": _ms(samples, "loop", running=True),
    }
    for key, values in scalars.items():
        if not values:
            raise ProfileError(f"The calibration holds no samples for {key}; run it again with episodes.")
        spread[key] = Spread.of(tuple(values))
        provenance[key] = MEASURED
    for width, values in rows[False].items():
        spread[f"width_ms.{width}"] = Spread.of(tuple(values))
    extras = _extras(samples)
    for key, (values, note) in extras.items():
        spread[key] = Spread.of(tuple(values))
        provenance[key] = Provenance("measured", note)
    serial_loop = _ms([s for s in samples if s.extra.get("method") == "sd"], "loop", running=False)
    if serial_loop:
        spread["loop_serial_ms"] = Spread.of(tuple(serial_loop))
    refresh = _refresh(samples)
    for key in ("refresh_base_ms", "refresh_token_ms") if refresh else ():
        provenance[key] = Provenance("fitted", "line through the measured refresh widths")
    first = records[0]
    target, drafter = first.engines["target"], first.engines["drafter"]
    return Profile(
        id=profile_id,
        name=name,
        kind="measured",
        target_step_ms=spread["target_step_ms"].mean_ms,
        verify_idle_ms={k: spread[f"verify_idle_ms.{k}"].mean_ms for k in idle},
        verify_concurrent_ms=verify_concurrent,
        loop_ms=spread["loop_ms"].mean_ms,
        draft_serial_ms=spread["draft_serial_ms"].mean_ms,
        draft_overlapped_ms=spread["draft_overlapped_ms"].mean_ms,
        publish_ms=spread["publish_ms"].mean_ms,
        refresh_base_ms=refresh[0] if refresh else None,
        refresh_token_ms=refresh[1] if refresh else None,
        confidence_row_ms=spread["confidence_row_ms"].mean_ms if "confidence_row_ms" in extras else None,
        paired_forward_ms=spread["paired_forward_ms"].mean_ms if "paired_forward_ms" in extras else None,
        search_max_budget=max(idle) - 1,
        extrapolated_concurrent=tuple(extrapolated),
        concurrent_ratio_extremes=(min(eligible), max(eligible)) if eligible else None,
        exact_widths=target.widths,
        argmax_widths=_argmax_widths(samples),
        failed_width=failed.width if failed else None,
        failed_reason=failed.reason if failed else "",
        device={
            **first.header.device,
            **{f"{role}_placement": _placement(first.engines[role]) for role in ("target", "drafter")},
        },
        models={
            "target": ProfiledModel(target.model, target.model_sha256),
            "drafter": ProfiledModel(drafter.model, drafter.model_sha256),
        },
        provenance=provenance,
        spread=spread,
        stability=judge_stability(samples, [r.telemetry for r in records]),
        created_at=first.header.created_at,
        versions={**first.header.versions, "mnn": target.mnn_version},
    )


def concurrent_ratios(idle: Cells, concurrent: Cells) -> list[Ratio]:
    """Concurrent/idle cost per width, unclipped: values below one are kept."""
    return [
        Ratio(k, float(np.mean(v) / np.mean(idle[k])), len(v)) for k, v in sorted(concurrent.items()) if k in idle and v
    ]


def _assumed(median: float, widths: int) -> Provenance:
    if widths == 0:
        return Provenance("guessed", "idle cost: no width was measured often enough beside a running source")
    return Provenance(
        "fitted", f"idle cost times {median:.3f}, the median concurrent ratio of {widths} measured widths"
    )


def _same_setting(records: Sequence[RunRecord]) -> None:
    if not records:
        raise ProfileError("There is no calibration run to fit.")
    whole = {_window(r) for r in records if r.status == "eos"}
    for record in records:
        if record.request.method != "calibrate" or _window(record) not in whole:
            raise ProfileError(f"Run {record.run_id} is no complete calibration (status {record.status}).")
    records = [r for r in records if r.engines or r.status == "eos"]
    for record in records:
        if not {"target", "drafter"} <= set(record.engines):
            raise ProfileError(f"Run {record.run_id} does not say which models ran.")
    keys = {
        (
            str(r.header.device.get("cpu")),
            *(_kernels(engine) for _, engine in sorted(r.engines.items())),
            r.request.drafter_pace_ms,
        )
        for r in records
    }
    if len(keys) > 1:
        raise ProfileError("The calibration runs differ in device, models or settings; fit them apart.")


def _kernels(engine: Engine) -> tuple[object, ...]:
    """What decides which code computes a model."""
    return engine.model_sha256, engine.backend, engine.threads, engine.precision, engine.memory, engine.mnn_version


def _placement(engine: Engine) -> str:
    """Where a model ran, in the words of the published phones."""
    if engine.backend == "opencl":
        return "GPU (OpenCL)"
    return f"{engine.backend.upper()}, {engine.threads} {'thread' if engine.threads == 1 else 'threads'}"


def _verify(samples: Sequence[Sample], *, running: bool) -> dict[int, list[float]]:
    cells: dict[int, list[float]] = defaultdict(list)
    for s in samples:
        if s.name == "verify" and s.origin == "sweep" and s.running == running and s.width is not None:
            cells[s.width].append(s.value_ns / 1e6)
    return dict(sorted(cells.items()))


def _window(record: RunRecord) -> tuple[str, float]:
    audio = record.request.audio
    return audio.sha256 or audio.window_id or audio.path, audio.view_start_s


def _sweep_rows(samples: Sequence[Sample], *, running: bool) -> dict[int, list[float]]:
    """Sweep calls by the rows that were really computed."""
    cells: dict[int, list[float]] = defaultdict(list)
    for s in samples:
        if s.name == "verify" and s.origin == "sweep" and s.running == running and "physical" in s.extra:
            cells[int(s.extra["physical"])].append(s.value_ns / 1e6)
    return dict(sorted(cells.items()))


def _by_width(
    asked: dict[int, list[float]], computed: dict[int, list[float]], usable: Sequence[int]
) -> dict[int, list[float]]:
    """What a verification of each width costs: a width that is not exact is computed at the next exact one.

    Sweeps of older runs were padded while they were measured; theirs are ``asked`` by width already.
    """
    if not computed:
        return asked
    widest = max(usable, default=max(computed))
    costs: dict[int, list[float]] = {}
    for width in range(1, min(widest, max(computed)) + 1):
        rows = next((k for k in sorted(usable) if k >= width), width) if usable else width
        if rows in computed:
            costs[width] = computed[rows]
    return costs


def _argmax_widths(samples: Sequence[Sample]) -> tuple[int, ...] | None:
    """Widths none of whose rows had another greedy token than single steps; ``None`` when nobody looked."""
    differing: dict[int, int] = defaultdict(int)
    for s in samples:
        if "differing_rows" in s.extra and s.width is not None:
            differing[s.width] += int(s.extra["differing_rows"])
    return tuple(sorted(width for width, rows in differing.items() if rows == 0)) if differing else None


def _extras(samples: Sequence[Sample]) -> dict[str, tuple[list[float], str]]:
    """Costs that only SpecASR pays, with a note on how each was measured."""
    named = {
        "paired_forward_ms": ("paired", "one forward of two rows; the mask between the branches is left out"),
        "confidence_row_ms": ("confidence", "probability of one output row"),
    }
    found = {key: (_ms(samples, name, running=False), note) for key, (name, note) in named.items()}
    for width in sorted({s.width for s in samples if s.name == "refresh" and s.width is not None}):
        of_width = [s for s in samples if s.width == width]
        found[f"refresh_ms.{width}"] = (_ms(of_width, "refresh", running=False), "batch refresh by its width")
    return {key: item for key, item in found.items() if item[0]}


def _ms(samples: Sequence[Sample], name: str, *, running: bool) -> list[float]:
    chosen = [s for s in samples if s.name == name and s.running == running]
    episodes = [s for s in chosen if s.origin == "episode"]
    return [s.value_ns / 1e6 for s in episodes or chosen]


def _draft(samples: Sequence[Sample], *, running: bool) -> list[float]:
    """Cadence of real drafting where it was observed (a batch's span over its forwards)."""
    chosen = [s for s in samples if s.name == "draft" and s.running == running]
    episodes = [s for s in chosen if s.origin == "episode"]
    values: list[float] = []
    for s in episodes:
        values += [s.value_ns / 1e6] * int(s.extra.get("operations", 1))
    return values or [s.value_ns / 1e6 for s in chosen]


def _refresh(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """Base and per-token cost of a batched refresh, from a least-squares line; ``None`` where it does not rise."""
    points = [(s.width, s.value_ns / 1e6) for s in samples if s.name == "refresh" and s.width is not None]
    if len({w for w, _ in points}) < 2:
        return None
    slope, base = np.polyfit([w for w, _ in points], [v for _, v in points], 1)
    return (max(0.0, float(base)), float(slope)) if slope > 0 else None
