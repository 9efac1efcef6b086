"""What does a page say when the models of a request are not there, or damaged? What is wrong, and the way on."""

from dataclasses import asdict

import streamlit as st

from dashboard import ui, ui_state
from dashboard.services.models import choose_default_models, model_problem
from dashboard.services.requests import RunForm
from dashboard.services.settings import Settings
from dashboard.services.workspace import Workspace


def usable(workspace: Workspace, form: RunForm | None = None) -> bool:
    """Whether a request can run with its models; if not, a box says why, with what helps.

    Args:
        form: what is asked for on this page; ``None``: a request with what the settings name.
    """
    kept = workspace.settings
    target, drafter = (form and form.target) or kept.target, (form and form.drafter) or kept.drafter
    alone = form is not None and form.method == "target-only"
    problem = model_problem(workspace.folders, target, None if alone else drafter)
    if problem is None:
        return True
    ui.box("error", problem.sentence, problem.advice)
    by_itself = (target, drafter) != (kept.target, kept.drafter)
    with st.container(horizontal=True, vertical_alignment="center"):
        if by_itself and model_problem(workspace.folders, kept.target, kept.drafter) is None:
            if ui.pressed("Use the default models", "use-default-models", icon=":material/undo:"):
                _use(workspace, kept, form)
        elif problem.demo_usable and ui.pressed("Use the demo models", "use-demo-models", icon=":material/undo:"):
            _use(workspace, Settings(), form)
        if form is None:
            ui.link(ui.REQUEST, "Choose other models", icon=":material/mic:")
    return False


def _use(workspace: Workspace, settings: Settings, form: RunForm | None) -> None:
    with ui.guarded(), st.spinner("Choosing the models"):
        if workspace.settings != settings:
            choose_default_models(workspace.folders, **asdict(settings))
        if form is not None:
            ui_state.later(**asdict(settings))  # the lists of models on this page hold what was chosen before
        st.rerun()
