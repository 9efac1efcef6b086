"""Which runs were decoded alike, and what is each way of decoding called? One answer for every page that pools runs."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from dashboard.views import numbers, text
from dashboard.views.theme import method_of

RULE_DIGITS = 6
Row = Mapping[str, Any]
Key = tuple[tuple[str, Any], ...]

_COMMON = ("plain_step", "target_name", "backend", "precision", "memory", "target_threads")
_DRAFTED = ("drafter_name", "drafter_pace_ms", "drafter_threads")
_OWN: Mapping[str, tuple[str, ...]] = {
    "target-only": (),
    "sd": ("width", *_DRAFTED),
    "specasr": ("draft_cap", "threshold", *_DRAFTED),
    "as2d": ("budget", "width_rule", "threshold", "search_window", "batch_tokens", *_DRAFTED),
}
_IN_NAME = {"as2d": {"budget"}, "sd": {"width"}, "specasr": {"draft_cap"}}


def uses(row: Row, name: str) -> bool:
    """Whether the method of a run has a use for a setting; of an unknown method, every one."""
    method = str(row.get("method"))
    return name in _COMMON or method not in _OWN or name in _OWN[method]


def setting_key(row: Row) -> Key:
    """What decides how a run was decoded; what a method does not use is left out."""
    method = row.get("method")
    own = _OWN.get(str(method), ("budget", "width", "draft_cap", "threshold", "search_window", *_DRAFTED))
    return (("method", method), *((name, row.get(name)) for name in (*own, *_COMMON)))


def setting_names(keys: Iterable[Key]) -> dict[Key, str]:
    """A name for every setting: its method and parameter, and of the rest only what tells it from others."""
    unique = list(dict.fromkeys(keys))
    values = {key: dict(key) for key in unique}
    short = {key: _short(values[key]) for key in unique}
    names = {}
    for key in unique:
        rivals = [other for other in unique if short[other] == short[key]]
        told = [
            name
            for name in values[key]
            if name not in _IN_NAME.get(str(values[key]["method"]), ())
            and len({repr(values[other].get(name)) for other in rivals}) > 1
        ]
        parts = [short[key], *(part for name in told if (part := _part(name, values[key][name])))]
        names[key] = text.shortened(text.visible(", ".join(parts), spaces=False), 80)
    return names


def _short(values: Row) -> str:
    return method_of(values)


def _part(name: str, value: Any) -> str:
    match name, value:
        case "plain_step", _:
            return "plain K = 1" if value else ""
        case "drafter_pace_ms", None:
            return ""
        case "drafter_pace_ms", _:
            return f"drafter paced to {numbers.duration(value)}"
        case "threshold", None:
            return "no threshold"
        case "threshold", _:
            return f"threshold {value:g}"
        case "width_rule", None:
            return ""
        case "width_rule", _:
            return f"rule {rule_name(value)}"
        case "search_window", _:
            return f"search window {value}"
        case "batch_tokens", _:
            return f"batches of {value}"
        case "target_threads", _:
            return f"target on {value} threads"
        case "drafter_threads", _:
            return f"drafter on {value} threads"
        case "target_name", _:
            return f"target {value}"
        case "drafter_name", _:
            return f"drafter {value}"
        case (("precision" | "memory"), _):
            return f"{name} {value}"
        case _:
            return str(value)


def rule_name(kept: str) -> str:
    """A width rule as people tell it from others: its name, and digits of a hash of its tables.

    Args:
        kept: as a stored run keeps it.
    """
    tables = json.loads(kept)
    name = tables.pop("name", "")
    digits = hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:RULE_DIGITS]
    return f"{name} ({digits})" if name else digits
