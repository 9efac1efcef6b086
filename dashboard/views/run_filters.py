"""Which runs were asked for, in words? Filters and groups as people read them, without the ids that name them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dashboard.views import numbers, text
from dashboard.views.run_labels import ended
from dashboard.views.theme import METHOD_NAMES

_GROUP = re.compile(r"([a-z]?)(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-[0-9a-f]+")
_KINDS = {"s": "sweep of"}
_NAMES = {
    "text": "with the text",
    "methods": "method",
    "statuses": "status",
    "windows": "window",
    "devices": "device",
    "targets": "target",
    "drafters": "drafter",
    "tags": "tag",
    "groups": "started together:",
    "labels": "kind",
    "since": "since",
    "until": "until",
}
MOST_NAMED = 4


def group_label(group_id: str) -> str:
    """Runs that were started together: when (UTC), and whether by a sweep; an id that does not tell stays as it is."""
    found = _GROUP.fullmatch(group_id)
    if found is None:
        return text.shortened(text.visible(group_id, spaces=False), 60)
    kind, year, month, day, hour, minute, second = found.groups()
    when = f"{year}-{month}-{day} {hour}:{minute}:{second}"
    return f"{_KINDS[kind]} {when}" if kind in _KINDS else when


def group_labels(group_ids: Iterable[str]) -> dict[str, str]:
    """``group_label`` of each, with the end of the id where two would read alike."""
    labels = {name: group_label(name) for name in group_ids}
    read = list(labels.values())
    return {name: f"{said} ({name[-4:]})" if read.count(said) > 1 else said for name, said in labels.items()}


def filters_in_words(asked: Mapping[str, Any]) -> list[str]:
    """Each filter of ``RunFilter.as_json``, but for runs that are named one by one (``method As²d, SD``)."""
    return [f"{_NAMES.get(name, name)} {_values(name, value)}" for name, value in asked.items() if name in _NAMES]


def _values(name: str, value: Any) -> str:
    if not isinstance(value, list | tuple):
        return _moment(str(value)) if name in ("since", "until") else _one(name, value)
    shown = ", ".join(_one(name, item) for item in value[:MOST_NAMED])
    return shown + (f" and {len(value) - MOST_NAMED:,} more" if len(value) > MOST_NAMED else "")


def _one(name: str, value: Any) -> str:
    said = str(value)
    if name == "groups":
        return group_label(said)
    if name == "methods":
        return METHOD_NAMES.get(said, said)
    return text.shortened(text.visible(ended(said) if name == "statuses" else said, spaces=False), 60)


def _moment(said: str) -> str:
    return numbers.moment(said)
