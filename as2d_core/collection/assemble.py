"""From collected streams, one a window, to a trajectory set; and which windows are still missing.

A collection is resumable because each window is a stream of its own: a whole stream with the same
models, audio and settings is taken as it is, anything else is collected again.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from as2d_core.collection.branches import DRAFT_CAP
from as2d_core.errors import RecordError, TrajectoryError
from as2d_core.models.window_index import RecordedWindow
from as2d_core.operation_records import Trajectory
from as2d_core.protocol import read_run
from as2d_core.records import RunRecord
from as2d_core.replay.branches import Branches
from as2d_core.replay.windows import DrafterTrajectory, TrajectorySet, WindowTrajectory
from as2d_core.request import AudioRef, ModelRef, Request

SPLIT_SEED = 20260915
SPLIT_ORDER = ("development", "validation", "test")
OUTPUT_CAP_TOKENS = 320


def collection_request(
    window: RecordedWindow,
    target: ModelRef,
    drafter: ModelRef,
    output_cap_tokens: int = OUTPUT_CAP_TOKENS,
    draft_cap: int | None = DRAFT_CAP,
) -> Request:
    """The request that collects one window; without a draft cap the drafter is not followed off the true path."""
    return Request(
        run_id=f"collect-{window.window_id}",
        method="collect",
        target=target,
        drafter=drafter,
        audio=AudioRef(str(window.path), window_id=window.window_id),
        task=window.task,
        instruction=window.instruction,
        max_tokens=output_cap_tokens,
        draft_cap=draft_cap,
    )


def usable(path: Path, wanted: Request, target_sha256: str, drafter_sha256: str) -> RunRecord | None:
    """The stored stream of one window, when it is whole and was collected as ``wanted`` asks."""
    if not path.is_file():
        return None
    try:
        record = read_run(path)
    except (RecordError, OSError):
        return None
    had = record.request
    same = (
        record.status in ("eos", "capped")
        and len(record.trajectories) == 1
        and had.method == "collect"
        and had.drafter is not None
        and (had.target.sha256, had.drafter.sha256) == (target_sha256, drafter_sha256)
        and (had.instruction, had.max_tokens, had.batch_tokens, had.draft_cap, had.threshold)
        == (wanted.instruction, wanted.max_tokens, wanted.batch_tokens, wanted.draft_cap, wanted.threshold)
        and (had.precision, had.memory, had.audio.window_id)
        == (wanted.precision, wanted.memory, wanted.audio.window_id)
    )
    return record if same else None


def assign_splits(windows: Iterable[tuple[str, str, str]], seed: int = SPLIT_SEED) -> dict[str, str]:
    """Development, validation or test for every window, balanced over groups, disjoint by audio.

    Args:
        windows: ``(window_id, group, audio_sha256)``.
        seed: windows of a group are ordered by SHA256(seed:audio_sha256) and dealt in turn.

    Returns:
        Split by window id.
    """
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    placed: dict[str, str] = {}
    for window_id, group, audio in windows:
        groups[group][audio].append(window_id)
    result: dict[str, str] = {}
    for by_audio in groups.values():
        order = sorted(by_audio, key=lambda a: hashlib.sha256(f"{seed}:{a}".encode()).hexdigest())
        for position, audio in enumerate(order):
            split = placed.setdefault(audio, SPLIT_ORDER[position % len(SPLIT_ORDER)])
            result.update(dict.fromkeys(by_audio[audio], split))
    return result


def assemble(
    records: Mapping[str, RunRecord],
    windows: Sequence[RecordedWindow],
    corpus_id: str,
    language: str = "en",
    note: str = "",
    report: Callable[[str], None] = lambda _: None,
) -> TrajectorySet:
    """Put collected windows together, in the order of ``windows``; those made for a split stay in it.

    Args:
        records: complete ``collect`` runs by window id.
        report: told the sentence for every window that is left out because it has no record.

    Raises:
        TrajectoryError: no window was collected, or the records differ in models or settings.
    """
    found = [(w, records[w.window_id]) for w in windows if w.window_id in records]
    for window in windows:
        if window.window_id not in records:
            report(f"{window.window_id} was not collected and is left out.")
    if not found:
        raise TrajectoryError("No window was collected, so there is no trajectory set to write.")
    settings = {_settings(record) for _, record in found}
    if len(settings) > 1:
        raise TrajectoryError("The collected windows differ in models or settings; collect them again into one folder.")
    splits = {w.window_id: w.split for w, _ in found if w.split is not None}
    undecided = [(w, r) for w, r in found if w.split is None]
    splits |= assign_splits((w.window_id, w.group, str(r.request.audio.sha256)) for w, r in undecided)
    first = found[0][1]
    target, drafter = first.engines["target"], first.engines["drafter"]
    return TrajectorySet(
        id=corpus_id,
        label="measured",
        eos=first.trajectories[0].eos,
        output_cap=first.request.max_tokens,
        windows=tuple(_window(w, r, language, splits[w.window_id]) for w, r in found),
        models={target.model: target.model_sha256, drafter.model: drafter.model_sha256},
        settings={
            "precision": first.request.precision,
            "memory": first.request.memory,
            "mnn_version": target.mnn_version,
            "exact_widths": list(target.widths),
            "split_seed": SPLIT_SEED,
            "draft_cap": first.request.draft_cap,
            "threshold": first.request.threshold,
        },
        created_at=max(r.header.created_at for _, r in found),
        note=note,
    )


def _settings(record: RunRecord) -> tuple[Any, ...]:
    request = record.request
    drafter = request.drafter
    return (
        request.target.sha256,
        None if drafter is None else drafter.sha256,
        request.precision,
        request.memory,
        request.max_tokens,
        request.batch_tokens,
        request.draft_cap,
        request.threshold,
    )


def _branches(item: Trajectory) -> Branches | None:
    if item.branch_draft_cap is None:
        return None
    return Branches(
        item.branch_leaves,
        item.branch_feeds,
        item.branch_lengths,
        item.branch_tokens,
        item.branch_confidences,
        item.branch_draft_cap,
        item.branch_threshold,
    )


def _window(window: RecordedWindow, record: RunRecord, language: str, split: str) -> WindowTrajectory:
    item = record.trajectories[0]
    drafter = DrafterTrajectory(
        name=item.source,
        candidates=item.candidates,
        confidences=item.confidences,
        batch_tokens=item.batch_tokens,
        source_capped=item.source_capped,
        agrees=tuple(a == b for a, b in zip(item.forced, item.target_tokens, strict=True)),
        prefix_confidences=item.forced_confidences,
        prefix_tokens=item.forced,
        branches=_branches(item),
    )
    whole = WindowTrajectory(
        window_id=window.window_id,
        group=window.group,
        language=language,
        task=window.task,
        duration_s=float(record.request.audio.duration_s or window.duration_s),
        audio_sha256=record.request.audio.sha256,
        split=split,
        instruction=window.instruction,
        target_tokens=item.target_tokens,
        target_capped=item.target_capped,
        target_text=(record.end.text if record.end is not None else None) or "",
        drafters=(),
    )
    return replace(whole, drafters=(drafter,))
