"""What do figure cells show of recorded windows? One as it would run on a device, and how it sounds."""

from collections.abc import Mapping
from typing import Any

from dashboard.notebook.outputs import Block, Drawing, Markup, Sentence
from dashboard.notebook.source import Source
from dashboard.services.audio_inputs import named_recording, read_envelope
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


def recording(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """A recording as it looks, with what is said in a bundled one."""
    path, name, words = named_recording(source.folders, given.get("window"), given.get("audio"))
    heard_s = (float(given.get("from_s") or 0.0), given.get("to_s"))
    info = waveform_info(*read_envelope(path, COLUMNS), heard_s)
    drawing = Drawing(waveform_figure(info, theme), f"{name}: {info.sentence}.", strip=True)
    return (drawing, Sentence(words)) if words else (drawing,)
