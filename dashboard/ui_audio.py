"""How is a recording heard on a page? By the browser's own player, with a picture of the recording below it."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from as2d_core.envelope import Envelope
from as2d_core.errors import AudioError
from dashboard import ui, ui_notebook
from dashboard.services.audio_inputs import read_envelope, recording_settings
from dashboard.services.workspace import Workspace
from dashboard.views.figure_help import HELP
from dashboard.views.theme import PICTURE_CONFIG
from dashboard.views.waveform import COLUMNS, heard_text, waveform_figure, waveform_info


def player(
    workspace: Workspace,
    path: Path,
    key: str,
    heard_s: tuple[float, float | None] = (0.0, None),
    on_move: Callable[[float], None] | None = None,
    name: str = "",
) -> None:
    """Play a recording, draw it, and offer the picture to a notebook.

    Args:
        key: of the figure on its page.
        heard_s: the part that the models hear, from start to end in seconds; ``None``: to its end.
        on_move: gets the second at which a drag over the picture began.
        name: what people call it; default: the file's name.
    """
    st.audio(str(path), start_time=int(heard_s[0]))
    try:
        found, rate, channels = _envelope(str(path), path.stat().st_mtime_ns)
    except (AudioError, OSError) as error:
        ui.sentence(str(error))
        return
    info = waveform_info(found, rate, channels, heard_s)
    moved = None if on_move is None else lambda low, _: on_move(low)
    figure = waveform_figure(info, ui.theme(), movable=moved is not None)
    said = f"{name or path.stem}: {info.sentence}"
    ui.chart(figure, key, said=said, config=PICTURE_CONFIG, on_range=moved)
    words = heard_text(info)
    st.markdown(f":small[{words[0].upper()}{words[1:]}]", help=HELP["waveform"])
    named = recording_settings(workspace.folders, path)
    if named is not None:
        part = {"from_s": heard_s[0] or None, "to_s": heard_s[1]}
        given = {name: second for name, second in part.items() if second is not None}
        ui_notebook.send_button(workspace, "recording", key, **named, **given)


@st.cache_resource(max_entries=64, show_spinner="Reading the recording")
def _envelope(path: str, changed_ns: int) -> tuple[Envelope, int, int]:  # noqa: ARG001
    return read_envelope(Path(path), COLUMNS)
