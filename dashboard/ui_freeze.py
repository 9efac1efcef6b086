"""What is done with a choice on the Budgets page? Frozen as a file, then judged, then run; in this order only."""

import shlex
from pathlib import Path

import streamlit as st

from as2d_core.deployment import Deployment
from as2d_core.errors import As2dError
from dashboard import ui, ui_budgets, ui_cache, ui_state
from dashboard.services.deploying import deployed_form
from dashboard.services.freezing import Frozen, freeze, frozen_choices
from dashboard.services.requests import RunForm
from dashboard.services.running import start_run
from dashboard.services.workspace import Workspace
from dashboard.ui_budgets import NEW, Asked, Compared, Pair
from dashboard.views import numbers
from dashboard.views.choice_steps import choice_steps, chosen_name, steps_html

_SAID, _STARTED = "freeze-said", "freeze-started"
RUN_WINDOW = "long_00"


def steps(workspace: Workspace, asked: Asked, found: Compared, pair: Pair) -> None:
    """The four steps of the choice that is looked at: one that was frozen, or the one that could be frozen next."""
    if _STARTED in st.session_state:
        ui.go_to(ui.REQUEST, job=st.session_state.pop(_STARTED))
    said = st.session_state.pop(_SAID, "")
    if said:
        ui.box("error", said)
    kept = [item for item in frozen_choices(workspace.folders, asked.profile, asked.corpus) if not item.stale]
    frozen = _looked_at(kept)
    if frozen is not None:
        _frozen(workspace, asked, frozen)
    elif found.choice is None:
        ui.box("note", found.problem or "Nothing could be chosen.")
    else:
        st.html(steps_html(choice_steps(found.choice, by_hand=pair.by_hand), ui.theme()))
        seen = ui_budgets.test_shown(asked.corpus) or any(item.judged_at for item in kept)
        _freeze(workspace, found, found.choice, pair, seen)


def _looked_at(kept: list[Frozen]) -> Frozen | None:
    """Which of the choices is shown, where several were frozen; ``None`` = the next one."""
    if not kept:
        return None
    names = {item.path.name: item for item in kept}
    chosen = ui_state.one_of(
        st.selectbox,
        "frozen",
        "Choice",
        [*names, NEW],
        next(iter(names)),
        format_func=lambda name: "not frozen yet: what is selected above" if name == NEW else _name(names[name]),
    )
    return names.get(chosen)


def _name(frozen: Frozen) -> str:
    return f"frozen {numbers.moment(frozen.deployment.created_at)}: {chosen_name(frozen.deployment.deployed)}"


def _freeze(workspace: Workspace, found: Compared, choice: Deployment, pair: Pair, seen: bool) -> None:
    why = ""
    if found.assumed:
        why = "The sliders assume costs that nobody measured; set them to As measured first."
    elif pair.by_hand and seen:
        why = "Test windows were shown to you, so a pair picked by hand would be picked on them. Choose among all."
    label = "Freeze this pair" if pair.by_hand else "Freeze this choice"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            label,
            icon=":material/lock:",
            type="primary",
            disabled=bool(why),
            on_click=_write,
            args=(workspace, choice, pair.by_hand, seen),
        )
        ui.sentence(why or f"Would deploy {chosen_name(choice.deployed)}.")


def _write(workspace: Workspace, choice: Deployment, by_hand: bool, seen: bool) -> None:
    try:
        path = freeze(workspace.folders, choice, by_hand=by_hand, test_shown=seen)
    except As2dError as error:
        st.session_state[_SAID] = str(error)
    else:
        ui_state.put(frozen=path.name)


def _frozen(workspace: Workspace, asked: Asked, frozen: Frozen) -> None:
    """A frozen choice: its result once it was asked for, its file, and how it is run."""
    result, problem = None, ""
    if frozen.judged_at:
        try:
            judged = ui_cache.judged(frozen, asked.profile, asked.corpus, str(frozen.path), frozen.judged_at)
            result, problem = judged.result, judged.result_problem or ""
        except As2dError as error:
            problem = str(error)
    deployment = frozen.deployment
    shown = choice_steps(
        deployment,
        frozen_at=deployment.created_at,
        file_name=frozen.path.name,
        result=result,
        problem=problem,
        by_hand=len(deployment.fixed.screened) == 1,
    )
    st.html(steps_html(shown, ui.theme()))
    with st.container(horizontal=True, vertical_alignment="center"):
        if not frozen.judged_at:
            st.button(
                "Show its test windows",
                icon=":material/visibility:",
                type="primary",
                on_click=_judge,
                args=(asked, frozen),
                help="From now on it is written down that they were shown.",
            )
        st.download_button(
            "Deployment file", _bytes(frozen.path), frozen.path.name, "application/json", icon=":material/download:"
        )
        st.button("Run it here", icon=":material/play_arrow:", on_click=_run, args=(workspace, frozen))
        ui.sentence("or:")
        command = f"as2d run --deployment {shlex.quote(str(frozen.path))} --window {RUN_WINDOW}"
        st.code(command, language="bash", width="content")


def _run(workspace: Workspace, frozen: Frozen) -> None:
    """Start a request with what was chosen; the page that is drawn next leads to it."""
    try:
        job = start_run(workspace, deployed_form(workspace, RunForm(window_id=RUN_WINDOW), frozen.path))
    except As2dError as error:
        st.session_state[_SAID] = str(error)
    else:
        st.session_state[_STARTED] = job.id


def _judge(asked: Asked, frozen: Frozen) -> None:
    try:
        ui_cache.judged(frozen, asked.profile, asked.corpus, str(frozen.path), "asked")
    except As2dError as error:
        st.session_state[_SAID] = str(error)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        return str(error).encode()
