"""A deployment as a JSON file: written when a choice is frozen, read when it is judged or run.

What is read is checked against itself: the lists of windows must have the hashes that the file gives
for them, and the width rule must be one that can be applied.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from as2d_core.deployment import SELECTION_SPLITS, Considered, Deployment
from as2d_core.errors import SelectionError
from as2d_core.reading import read_json
from as2d_core.replay.acceptance import Acceptance
from as2d_core.replay.splits import SCOPES, Deal
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
        "models": dict(deployment.models),
        "deal": None if deployment.deal is None else {"scope": deployment.deal.scope, "seed": deployment.deal.seed},
        "splits": {
            name: {
                "sha256": fixed.split_sha256[name],
                "windows": list(fixed.window_ids[name]),
                "audio_sha256": list(fixed.audio_sha256.get(name, ())),
            }
            for name in SELECTION_SPLITS
        }
        | {"test": {"sha256": deployment.test_sha256, "windows": list(deployment.test_windows)}},
        "deployed": "choice" if deployment.deployed is fixed else "width_rule",
        "considered": [asdict(item) for item in deployment.considered],
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
        raise SelectionError("This is no deployment; `as2d select --freeze FILE` writes one.")
    if body.get("format") != FORMAT:
        raise SelectionError(f"The deployment is of format {body.get('format')!r}; this program reads format {FORMAT}.")
    try:
        deployment = _deployment(body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise SelectionError(f"The deployment is malformed: {what}.") from error
    _check(deployment, body)
    return deployment


def read_deployment(path: Path) -> Deployment:
    """Read a deployment file.

    Raises:
        SelectionError: the file cannot be read, or holds no deployment.
    """
    try:
        body = read_json(path)
    except (OSError, UnicodeDecodeError) as error:
        raise SelectionError(f"The deployment {path} cannot be read: {error}.") from error
    except ValueError as error:
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
    path.write_text(deployment_text(deployment), encoding="utf-8")


def deployment_text(deployment: Deployment) -> str:
    """What a deployment file holds."""
    return json.dumps(deployment_to_json(deployment), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _choice(selection: Selection) -> dict[str, Any]:
    def ranked(pairs: tuple[Ranked, ...]) -> list[dict[str, Any]]:
        return [{"drafter": p.drafter, "budget": p.budget, "tps": p.tps, "extrapolated": p.extrapolated} for p in pairs]

    return {
        "drafter": selection.drafter,
        "budget": selection.budget,
        "threshold": selection.threshold,
        "search_window": selection.search_window,
        "validation_tps": selection.validation_tps,
        "screened_on_development": ranked(selection.screened),
        "finalists_on_validation": ranked(selection.finalists),
    }


def _deployment(body: Mapping[str, Any]) -> Deployment:
    rule = body["width_rule"]
    found = None if rule is None else rule["acceptance"]
    deal = body["deal"]
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
        test_windows=tuple(map(_text, body["splits"]["test"]["windows"])),
        models={_text(name): None if sha is None else _text(sha) for name, sha in body["models"].items()},
        considered=tuple(map(_considered, body["considered"])),
        deal=None if deal is None else Deal(_text(deal["scope"]), _whole([deal["seed"]])[0]),
    )


def _considered(item: Mapping[str, Any]) -> Considered:
    threshold = item["threshold"]
    return Considered(
        None if threshold is None else float(threshold),
        _whole([item["search_window"]])[0],
        bool(item["width_rule"]),
        _text(item["drafter"]),
        _whole([item["budget"]])[0],
        float(item["development_tps"]),
        float(item["validation_tps"]),
    )


def _selection(body: Mapping[str, Any], choice: Mapping[str, Any], rule: WidthRule | None) -> Selection:
    def ranked(pairs: list[Mapping[str, Any]]) -> tuple[Ranked, ...]:
        return tuple(
            Ranked(_text(p["drafter"]), _whole([p["budget"]])[0], float(p["tps"]), bool(p["extrapolated"]))
            for p in pairs
        )

    splits = body["splits"]
    threshold = choice["threshold"]
    return Selection(
        drafter=_text(choice["drafter"]),
        budget=_whole([choice["budget"]])[0],
        corpus=_text(body["corpus"]["id"]),
        profile=_text(body["profile"]["id"]),
        label=_text(body["corpus"]["label"]),
        threshold=None if threshold is None else float(threshold),
        search_window=_whole([choice["search_window"]])[0],
        screened=ranked(choice["screened_on_development"]),
        finalists=ranked(choice["finalists_on_validation"]),
        window_ids={name: tuple(map(_text, splits[name]["windows"])) for name in SELECTION_SPLITS},
        split_sha256={name: _text(splits[name]["sha256"]) for name in SELECTION_SPLITS},
        audio_sha256={name: tuple(map(_text, splits[name]["audio_sha256"])) for name in SELECTION_SPLITS},
        width_rule=rule,
    )


def _check(deployment: Deployment, body: Mapping[str, Any]) -> None:
    fixed, ruled = deployment.fixed, deployment.ruled
    for name, ids in {**fixed.window_ids, "test": deployment.test_windows}.items():
        if windows_sha256(ids) != body["splits"][name].get("sha256"):
            raise SelectionError(
                f"The deployment's {name} windows are not those it was frozen with (their hash is another one)."
            )
    used = {window for ids in fixed.window_ids.values() for window in ids}
    if used & set(deployment.test_windows):
        raise SelectionError("The deployment was made on windows of its own test split; it cannot be trusted.")
    if (deployment.deployed is fixed) != (body.get("deployed") == "choice"):
        raise SelectionError("The deployment does not run what was faster on its validation windows.")
    if deployment.deal is not None and deployment.deal.scope not in SCOPES:
        raise SelectionError(f"The deployment's windows were dealt as {deployment.deal.scope!r}, which is not known.")
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
