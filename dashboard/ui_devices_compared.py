"""Is a budget as good on other devices? Asked for on the Budgets page, replayed then."""

import streamlit as st

from as2d_core.errors import As2dError
from dashboard import ui, ui_cache, ui_notebook, ui_state
from dashboard.services.budgets import ALL_WINDOWS
from dashboard.services.profiles import load_profile, profile_ids
from dashboard.services.workspace import Workspace
from dashboard.ui_budgets import Asked
from dashboard.views import numbers
from dashboard.views.devices_compared import MOST_PANELS, devices_compared_figure, devices_compared_info
from dashboard.views.figure_help import HELP
from dashboard.views.theme import PICTURE_CONFIG


def section(workspace: Workspace, asked: Asked) -> None:
    """Every device's curve, once somebody wants to see them."""
    st.subheader("On every device", anchor=False, help=HELP["devices"])
    if not ui_state.flag("devices", "Replay with the costs of every device"):
        return
    tables, problems = [], []
    for name in [asked.profile.id, *(name for name in profile_ids(workspace.folders) if name != asked.profile.id)]:
        if len(tables) > MOST_PANELS:
            break
        try:
            profile = load_profile(workspace.folders, name)
            report = ui_cache.outlook(profile, asked.corpus, asked.split, asked.drafter)
        except As2dError as error:
            problems.append(str(error))
        else:
            tables.append((name, f"{profile.name} ({profile.kind})", report.table))
    info = devices_compared_info(tables)
    ui.sentence(info.sentence)
    figure = devices_compared_figure(info, ui.theme(), asked.profile.id)
    split = f"{asked.split} windows" if asked.split != ALL_WINDOWS else "all windows"
    said = f"replayed: set {asked.corpus.id}, {split}, {len(tables)} devices"
    ui.chart(figure, "devices", said=said, config=PICTURE_CONFIG, on_click=_pick)
    if info.left_out:
        ui.sentence(f"{numbers.counted(info.left_out, 'more device')} left out.")
    for problem in problems:
        ui.box("warning", problem)
    settings = {"profile": asked.profile.id, "corpus": asked.corpus.id, "split": asked.split}
    ui_notebook.send_button(workspace, "devices", "devices", **settings)


def _pick(point: ui.Point) -> None:
    found = point.get("customdata")
    if isinstance(found, list | tuple) and len(found) == 3:
        ui_state.put(profile=found[0], drafter=found[1], b=int(found[2]), **{"from": None, "to": None})
