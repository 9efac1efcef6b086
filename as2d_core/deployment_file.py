"""A deployment as a JSON file: written when a choice is frozen, read when it is judged or run.

What is read is checked against itself: the lists of windows must have the hashes that the file gives
for them, and the width rule must be one that can be applied.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from as2d_core.deployment import SELECTION_SPLITS, Deployment
from as2d_core.errors import SelectionError
from as2d_core.replay.acceptance import Acceptance
from as2d_core.selection import Ranked, Selection, windows_sha256
from as2d_core.width_rule import WidthRule, width_rule_faults

FORMAT = 1
KIND = "as2d deployment"


def deployment_to_json(deployment: Deployment) -> dict[str, Any]:
    """A deployment as a JSON object; ``deployment_from_json`` gives the same one back."""
    fixed, ruled, found = deployment.fixed, deployment.ruled, deployment.acceptance
    return {
        "kind": KIND,
        "format": FORMAT,
        "created_at": deployment.created_at,
        "profile": {"id": fixed.profile, "sha256": deployment.profile_sha256},
        "corpus": {"id": fixed.corpus, "label": fixed.label, "sha256": deployment.corpus_sha256},
        "threshold": fixed.threshold,
        "search_window": fixed.search_window,
        "splits": {
            name: {
                "sha256": fixed.split_sha256[name],
                "windows": list(fixed.window_ids[name]),
                "audio_sha256": list(fixed.audio_sha256.get(name, ())),
            }
            for name in SELECTION_SPLITS
        },
        "choice": _choice(fixed),
        "width_rule": None
        if ruled is None or ruled.width_rule is None
        else {
            **_choice(ruled),
            "concurrent": list(ruled.width_rule.concurrent),
            "idle": list(ruled.width_rule.idle),
            "name": ruled.width_rule.name,
            "acceptance": None
            if found is None
            else {
                "drafter": found.drafter,
                "tried": list(found.tried),
                "accepted": list(found.accepted),
                "corpus": found.corpus,
                "windows": found.windows,
                "profile": found.profile,
            },
        },
    }


def deployment_from_json(body: Any) -> Deployment:
    """Read a deployment.

    Raises:
        SelectionError: it is none, or contradicts itself; says where.
    """
    if not isinstance(body, Mapping) or body.get("kind") != KIND:
        raise SelectionError("This is no deployment; `as2d select --out FILE` writes one.")
    if body.get("format") != FORMAT:
        raise SelectionError(f"The deployment is of format {body.get('format')!r}; this program reads format {FORMAT}.")
    try:
        deployment = _deployment(body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise SelectionError(f"The deployment is malformed: {what}.") from error
    _check(deployment)
    return deployment


def read_deployment(path: Path) -> Deployment:
    """Read a deployment file.

    Raises:
        SelectionError: the file cannot be read, or holds no deployment.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SelectionError(f"The deployment {path} cannot be read: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise SelectionError(f"{path} is not JSON ({error}).") from error
    try:
        return deployment_from_json(body)
    except SelectionError as error:
        raise SelectionError(f"{path}: {error}") from error


def write_deployment(deployment: Deployment, path: Path) -> None:
    """Write a deployment file.

    Raises:
        OSError: the file cannot be written.
    """
    text = json.dumps(deployment_to_json(deployment), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _choice(selection: Selection) -> dict[str, Any]:
    def ranked(pairs: tuple[Ranked, ...]) -> list[dict[str, Any]]:
        return [{"drafter": p.drafter, "budget": p.budget, "tps": p.tps, "extrapolated": p.extrapolated} for p in pairs]

    return {
        "drafter": selection.drafter,
        "budget": selection.budget,
        "validation_tps": selection.validation_tps,
        "screened_on_development": ranked(selection.screened),
        "finalists_on_validation": ranked(selection.finalists),
    }


def _deployment(body: Mapping[str, Any]) -> Deployment:
    rule = body["width_rule"]
    found = None if rule is None else rule["acceptance"]
    return Deployment(
        fixed=_selection(body, body["choice"], None),
        ruled=None
        if rule is None
        else _selection(body, rule, WidthRule(_whole(rule["concurrent"]), _whole(rule["idle"]), _text(rule["name"]))),
        acceptance=None
        if found is None
        else Acceptance(
            _text(found["drafter"]),
            _whole(found["tried"]),
            _whole(found["accepted"]),
            _text(found["corpus"]),
            _whole([found["windows"]])[0],
            _text(found["profile"]),
        ),
        profile_sha256=_text(body["profile"]["sha256"]),
        corpus_sha256=_text(body["corpus"]["sha256"]),
        created_at=_text(body["created_at"]),
    )


def _selection(body: Mapping[str, Any], choice: Mapping[str, Any], rule: WidthRule | None) -> Selection:
    def ranked(pairs: list[Mapping[str, Any]]) -> tuple[Ranked, ...]:
        return tuple(
            Ranked(_text(p["drafter"]), _whole([p["budget"]])[0], float(p["tps"]), bool(p["extrapolated"]))
            for p in pairs
        )

    splits = body["splits"]
    threshold = body["threshold"]
    return Selection(
        drafter=_text(choice["drafter"]),
        budget=_whole([choice["budget"]])[0],
        corpus=_text(body["corpus"]["id"]),
        profile=_text(body["profile"]["id"]),
        label=_text(body["corpus"]["label"]),
        threshold=None if threshold is None else float(threshold),
        search_window=_whole([body["search_window"]])[0],
        screened=ranked(choice["screened_on_development"]),
        finalists=ranked(choice["finalists_on_validation"]),
        window_ids={name: tuple(map(_text, splits[name]["windows"])) for name in SELECTION_SPLITS},
        split_sha256={name: _text(splits[name]["sha256"]) for name in SELECTION_SPLITS},
        audio_sha256={name: tuple(map(_text, splits[name]["audio_sha256"])) for name in SELECTION_SPLITS},
        width_rule=rule,
    )


def _check(deployment: Deployment) -> None:
    fixed, ruled = deployment.fixed, deployment.ruled
    for name, ids in fixed.window_ids.items():
        if windows_sha256(ids) != fixed.split_sha256[name]:
            raise SelectionError(
                f"The deployment's {name} windows are not those it was frozen with (their hash is another one)."
            )
    for chosen in (fixed, ruled):
        if chosen is None:
            continue
        pair = (chosen.drafter, chosen.budget)
        if not chosen.finalists or (chosen.finalists[0].drafter, chosen.finalists[0].budget) != pair:
            raise SelectionError(
                f"The deployment chooses {chosen.drafter} with budget {chosen.budget}, which is not the fastest of its "
                "finalists."
            )
    if ruled is not None and ruled.width_rule is not None:
        for fault in width_rule_faults(ruled.width_rule):
            raise SelectionError(f"The deployment's width rule cannot be applied: {fault}.")
        if ruled.budget > ruled.width_rule.max_budget:
            raise SelectionError(
                f"The deployment's width rule covers budgets up to {ruled.width_rule.max_budget}, not {ruled.budget}."
            )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _whole(values: Any) -> tuple[int, ...]:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{value!r} is not a whole number")
    return tuple(values)
