"""What do figure cells show of recorded windows? One as it would run on a device, and how it sounds."""

from collections.abc import Mapping
from typing import Any

from as2d_core.errors import unknown_name
from as2d_core.models.demo_catalog import demo_window, demo_windows
from dashboard.notebook.outputs import Block, Drawing, Markup, Sentence
from dashboard.notebook.source import Source
from dashboard.services.audio_inputs import read_envelope
from dashboard.services.replays import replay
from dashboard.views.heading import heading_html, heading_info
from dashboard.views.run_labels import profile_label
from dashboard.views.theme import Theme
from dashboard.views.timeline import timeline_figure
from dashboard.views.timeline_info import timeline_info
from dashboard.views.waveform import COLUMNS, waveform_figure, waveform_info

MOST_BARS = 1_200
Settings = Mapping[str, Any]


def replayed(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """A window of a trajectory set under As²d with the costs of a profile: real decisions, computed times."""
    profile, corpus = source.profile(given["profile"]), source.corpus(given["corpus"])
    found = replay(
        source.folders, profile, corpus, given["window"], budget=given.get("budget"), drafter=given.get("drafter")
    )
    info = timeline_info(found.record)
    said = f"Window {given['window']} of the set {corpus.id} ({corpus.label} tokens), {profile_label(profile)}."
    heading = Markup(heading_html(heading_info(info, found.target_only_tps), theme))
    return heading, Drawing(timeline_figure(info, theme, max_bars=MOST_BARS), said)


def recording(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    """A bundled recording as it looks, with what is said in it."""
    names = [window.window_id for window in demo_windows()]
    if given["window"] not in names:
        raise unknown_name("bundled window", given["window"], names)
    window = demo_window(given["window"])
    info = waveform_info(*read_envelope(window.path, COLUMNS))
    said = f"{window.window_id}: {info.sentence}."
    return Drawing(waveform_figure(info, theme), said, strip=True), Sentence(window.reference)
