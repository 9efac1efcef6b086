"""How is a run, a recording or a profile named in a list, in one line of plain text?"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from as2d_core.models.window_index import RecordedWindow
from as2d_core.profiles.profile import Profile
from dashboard.views import numbers, text
from dashboard.views.theme import method_of

GROUP_NAMES: Mapping[str, str] = {
    "clean": "Clean speech",
    "far_field": "Far from the microphone",
    "fast": "Fast speech",
    "new_voice": "Voices not trained on",
    "long": "Long recordings",
}
TASK_NAMES: Mapping[str, str] = {
    "transcribe": "",
    "translate": "Translate into German",
    "question": "Answer a question",
}


_ENDINGS: Mapping[str, str] = {
    "eos": "ended by itself (EOS)",
    "capped": "cut at the output cap",
}


def ended(status: object) -> str:
    """How a run ended, in words: ``eos`` is the target's own end-of-sequence token."""
    return _ENDINGS.get(str(status), str(status))


def ended_short(status: object) -> str:
    """The same in a narrow column, whose help says what it means."""
    return {"eos": "EOS", "capped": "output cap"}.get(str(status), str(status))


def same_output(same: bool | None) -> str:
    """Whether a run's tokens are those of target-only on the same work: ``equal``, ``different`` or n/a."""
    return numbers.NA if same is None else "equal" if same else "different"


def labelled(row: object) -> dict[str, Any]:
    """What ``run_label`` reads of a stored run: long lists are labelled, and a run has many more figures."""
    return {name: getattr(row, name) for name in _LABELLED}


_LABELLED = (
    "created_at",
    "method",
    "budget",
    "width",
    "draft_cap",
    "window_id",
    "tps",
    "status",
    "virtual",
    "emulated",
    "label",
)


def run_label(row: Mapping[str, Any]) -> str:
    """A stored run: when, what, on what, how fast, how it ended if not by itself."""
    when = row.get("created_at")
    status = row.get("status")
    parts = [
        numbers.moment(when, "") if isinstance(when, datetime) else "",
        method_of(row),
        str(row.get("window_id") or ""),
        "" if row.get("tps") is None else numbers.tps(row["tps"]),
        "" if status == "eos" else ended(status),
        "virtual phone" if row.get("virtual") else "",
        "emulated drafter" if row.get("emulated") else "",
        "" if row.get("label") in (None, "measured") else str(row["label"]),
    ]
    return "  ·  ".join(_one_line(part, 60) for part in parts if part)


def short_run_label(row: Mapping[str, Any]) -> str:
    """The same where there is little room: day and time, method, window, speed or how it ended."""
    when = row.get("created_at")
    parts = [
        f"{when.day} {when:%b %H:%M}" if isinstance(when, datetime) else "",
        method_of(row),
        str(row.get("window_id") or ""),
        ended(row.get("status")) if row.get("tps") is None else numbers.tps(row["tps"]),
        "virtual" if row.get("virtual") else "",
    ]
    return " · ".join(_one_line(part, 30) for part in parts if part)


def kind(row: Mapping[str, Any]) -> str:
    """Label of a run, whether its phone was virtual, and whether its drafter was emulated."""
    label = row.get("label")
    marks = (", virtual" if row.get("virtual") else "") + (", emulated" if row.get("emulated") else "")
    return (str(label) if label else numbers.NA) + marks


def window_label(window: RecordedWindow) -> str:
    """A bundled recording: its name, how long it is, the beginning of what is said."""
    said = text.shortened(window.reference, 70)
    return _one_line(f"{window.window_id}  ·  {window.duration_s:.1f} s  ·  {said}", 120)


def window_group(window: RecordedWindow) -> str:
    """What a bundled recording is listed under."""
    task = TASK_NAMES.get(window.task, window.task.capitalize())
    return task or GROUP_NAMES.get(window.group, window.group)


def profile_label(profile: Profile) -> str:
    """A cost profile and what its numbers are."""
    when = f", {profile.created_at[:10]}" if profile.kind == "measured" and profile.created_at else ""
    return _one_line(f"{profile.name} ({profile.kind}{when})", 80)


def costs_sentence(profile: Profile) -> str:
    """How many of a profile's values are of which kind, and whether a measurement can be trusted to repeat."""
    counts: dict[str, int] = {}
    for item in profile.provenance.values():
        counts[item.kind] = counts.get(item.kind, 0) + 1
    if not counts:
        return "Where its values come from is not recorded."
    shown = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda pair: -pair[1]))
    verdict, reason = profile.stability.verdict, profile.stability.reason
    stable = "" if verdict == "unknown" else f" The measurement is {verdict}" + (f" ({reason})." if reason else ".")
    return f"Of its values, {shown}.{stable}"


def _one_line(value: str, limit: int) -> str:
    return text.shortened(text.visible(value, spaces=False), limit)
