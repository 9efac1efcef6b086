"""Which profile does the Profiles page show, beside which other, and what is done with it?"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from as2d_core.errors import As2dError
from as2d_core.profiles.codec import profile_warnings
from as2d_core.profiles.profile import Profile, Stability
from dashboard import ui, ui_cache, ui_export, ui_notebook, ui_state
from dashboard.services import profile_shelf
from dashboard.services.profile_shelf import ShelfItem
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.boxes import sentence_html
from dashboard.views.choice_steps import chosen_name
from dashboard.views.figure_help import HELP
from dashboard.views.grids import column_width, fitting, grid_height
from dashboard.views.heading import badge_html
from dashboard.views.profile_pair import (
    device_line,
    drift_figure,
    drift_info,
    pair_figure,
    pair_info,
    pair_table,
)
from dashboard.views.profile_table import (
    COST_HELP,
    IMPORTANCE,
    LIST_HELP,
    Listed,
    cost_table,
    cost_texts,
    exactness,
    exactness_html,
    exactness_sentence,
    profiles_table,
)
from dashboard.views.profile_widths import above_sentence, ratios_figure, ratios_info, widths_figure, widths_info
from dashboard.views.run_labels import costs_sentence, profile_label
from dashboard.views.theme import PICTURE_CONFIG
from dashboard.views.width_savings import width_savings_figure, width_savings_info
from datastore.files import safe_name

NO_OTHER = "nothing"
MOST_LISTED = 8
_SAID = "profiles-said"


def choose(workspace: Workspace) -> tuple[Profile, Profile | None]:
    """The list of profiles, the one that is shown and the one that it is compared with, if any."""
    items = ui_cache.profiles(workspace)
    for item in items:
        if item.problem:
            ui.box("warning", item.problem)
    known = {item.id: item.profile for item in items if item.profile is not None}
    labels = {name: profile_label(profile) for name, profile in known.items()}
    asked = ui_state.get("profile")
    if asked and asked not in {item.id for item in items}:
        ui.box("error", f"There is no profile {asked!r} here; this is the first of those that are.")
    _list(items)
    left, right, more = st.columns([5, 5, 3], vertical_alignment="bottom")
    with left:
        name = ui_state.one_of(
            st.selectbox,
            "profile",
            "Profile",
            list(known),
            next(iter(known)),
            told=True,
            format_func=labels.__getitem__,
        )
    others = [NO_OTHER, *(other for other in known if other != name)]
    with right:
        other = ui_state.one_of(
            st.selectbox, "against", "Compare with", others, NO_OTHER,
            format_func=lambda key: labels.get(key, "no other"),
        )  # fmt: skip
    with more:
        _import(workspace)
    return known[name], known.get(other)


def _list(items: list[ShelfItem]) -> None:
    table = profiles_table([Listed(item.id, item.profile, item.problem) for item in items])
    readable = [item.id if item.profile is not None else None for item in items]

    def pick() -> None:
        rows = st.session_state["profiles-list"]["selection"]["rows"]
        if rows and readable[rows[0]] is not None:
            ui_state.put(profile=readable[rows[0]])

    st.dataframe(
        table,
        hide_index=True,
        placeholder=numbers.NA,
        height=grid_height(len(table), MOST_LISTED),
        on_select=pick,
        selection_mode="single-row",
        key="profiles-list",
        column_config={
            name: st.column_config.NumberColumn(help=LIST_HELP.get(name), format="%.2f")
            if name.endswith("(ms)")
            else st.column_config.Column(
                help=LIST_HELP.get(name),
                width=column_width([name, *map(str, table[name])]) if name == "Measured" else None,
            )
            for name in table.columns
        },
    )
    ui_export.table(table, "profiles", {"profiles": "all that are kept here or published"})


def _import(workspace: Workspace) -> None:
    with st.popover("Take in a profile", icon=":material/upload:", width="stretch"):
        given = st.file_uploader("JSON", ["json"], key="profile-file", max_upload_size=20)
        replace = st.checkbox("Replace the one that is kept under the same id", key="profile-replace")
        if given is not None and st.button("Check and keep it", type="primary"):
            with ui.guarded():
                kept = profile_shelf.import_bytes(workspace, given.getvalue(), given.name, replace=replace)
                st.session_state[_SAID] = (f"Kept: {kept.name}.", "")
                ui_state.later(profile=kept.id)
                st.rerun()


def head(workspace: Workspace, profile: Profile) -> None:
    """What it is a profile of, whether it repeats, what looks odd, and the buttons."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(ui.plain(profile.name), anchor=False)
        st.space("stretch")
        name = f"{safe_name(profile.id)}.profile.json"
        st.download_button(
            "JSON", lambda: profile_shelf.profile_json(profile), name, "application/json", icon=":material/download:",
            help="The whole profile with all single calls; can be taken in again here and by as2d profile import.",
        )  # fmt: skip
        ui.link(ui.BUDGETS, "Budgets with these costs", icon=":material/tune:", profile=profile.id)
        if profile.kind != "published":
            _delete(workspace, profile)
    verdict = profile.stability.verdict
    marks = [profile.kind, *(["virtual"] if profile.device.get("virtual") else [])]
    badges = "".join(badge_html(numbers.badge(mark), ui.theme()) for mark in marks)
    lines = (f"{device_line(profile)}.", _models(profile), f"{_facts(profile)} {_origins(profile)}")
    st.html(badges + "".join(sentence_html(line, ui.theme()) for line in lines))
    if verdict == "unstable":
        ui.box("warning", f"This measurement may not repeat: {profile.stability.reason}.", "Measure again on a cool, "
               "idle device; until then, differences below this spread say nothing.")  # fmt: skip
    elif verdict == "unknown":
        reason = profile.stability.reason or "Nothing is recorded about how the calls scatter."
        ui.box("note", f"Whether this would repeat is unknown. {reason}")
    warnings = profile_warnings(profile)
    if warnings:
        with st.expander(f"{numbers.counted(len(warnings), 'thing')} that a careful reader would ask about"):
            for warning in warnings:
                ui.sentence(warning, muted=False)


def _models(profile: Profile) -> str:
    named = [
        f"{role} {model.name}" if model.name != role else role
        for role, model in sorted(profile.models.items(), reverse=True)
    ]
    return f"Models: {', '.join(named)}." if named else "Its models are not recorded."


def _origins(profile: Profile) -> str:
    """Of which kind its values are; whether they repeat is said apart."""
    return costs_sentence(replace(profile, stability=Stability()))


def _facts(profile: Profile) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(profile.versions.items()))
    parts = [
        f"Widest K {profile.max_width}",
        f"deployed budget {numbers.count(profile.deployed_budget)}",
        f"SpecASR cap {numbers.count(profile.asp_cap)}",
        f"measured {numbers.moment(profile.created_at)}" if profile.created_at else "",
        versions,
    ]
    return ", ".join(part for part in parts if part) + "."


def _delete(workspace: Workspace, profile: Profile) -> None:
    with st.popover("Delete", icon=":material/delete:"):
        ui.sentence("It goes into the bin, from which it can be brought back.", muted=False)
        act = _acting(lambda: profile_shelf.delete_profile(workspace, profile.id), f"{profile.name} is in the bin.")
        st.button("Move it into the bin", on_click=act)


def widths(workspace: Workspace, profile: Profile) -> None:
    """Verification by width, what a position saves, and the ratio of both conditions."""
    theme, info = ui.theme(), widths_info(profile)
    st.subheader("Verification by width", anchor=False, help=HELP["widths"])
    calls = sum(len(point.samples_ms) for line in info.lines for point in line.points)
    shown = calls > 0 and not ui_state.flag("means", "Means only") if calls else False
    _figure(widths_figure(info, theme, with_calls=shown), "widths", profile)
    above = above_sentence(info) if shown else ""
    ui.sentence(" ".join([*info.notes, above]))
    ui_notebook.send_button(workspace, "profile widths", "widths", profile=profile.id)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Saved per position", anchor=False, help=HELP["savings"])
        _figure(width_savings_figure(width_savings_info(profile), theme), "savings", profile)
        ui_notebook.send_button(workspace, "profile savings", "savings", profile=profile.id)
    with right:
        ratios = ratios_info(profile)
        st.subheader("Beside the drafter over alone", anchor=False, help=HELP["concurrent"])
        _figure(ratios_figure(ratios, theme), "ratios", profile)
        ui.sentence(ratios.sentence)


def _figure(figure: go.Figure, key: str, *shown: Profile) -> None:
    """A figure that says in itself which profiles it shows."""
    ui.chart(figure, key, said=" over ".join(map(profile_label, shown)), config=PICTURE_CONFIG)


def exact(profile: Profile) -> None:
    """Which widths give the rows of single steps."""
    grades = exactness(profile)
    st.subheader("Exactness by width", anchor=False, help=HELP["exactness"])
    st.html(exactness_html(grades, ui.theme()))
    ui.sentence(exactness_sentence(grades))


def costs(workspace: Workspace, profile: Profile) -> None:
    """Every cost in numbers."""
    st.subheader("All costs", anchor=False, help=HELP["costs"])
    table = cost_table(profile)
    everything = ui_state.flag("columns", "All columns")
    _numbers(table, COST_HELP, None if everything else fitting(cost_texts(table), IMPORTANCE))
    with st.container(horizontal=True, vertical_alignment="center"):
        ui_export.table(table, f"profile-{safe_name(profile.id)}", {"profile": profile.id, "kind": profile.kind})
        ui_notebook.send_button(workspace, "profile", "profile", profile=profile.id)


def _numbers(table: pd.DataFrame, helps: Mapping[str, str], columns: list[str] | None = None) -> None:
    texts = cost_texts(table)
    st.dataframe(
        table.assign(K=texts["K"]),
        hide_index=True,
        placeholder=numbers.NA,
        column_order=columns,
        column_config={
            name: st.column_config.NumberColumn(help=helps.get(name), format="%.3f")
            if name.endswith("(ms)") or name in ("Ratio", "± SD")
            else st.column_config.Column(help=helps.get(name), width=column_width([name, *texts[name]], widest=480))
            for name in table.columns
        },
    )


def pair(workspace: Workspace, first: Profile, second: Profile | None) -> None:
    """Two profiles against each other."""
    if second is None:
        return
    info = pair_info(first, second)
    st.subheader(ui.plain(f"{second.name} over {first.name}"), anchor=False, help=HELP["pair"])
    _figure(pair_figure(info, ui.theme()), "pair", second, first)
    ui.sentence(info.sentence[0].upper() + info.sentence[1:])
    only = ui_state.flag("differences", "Differences only")
    table = pair_table(info, only)
    if table.empty:
        ui.box("empty", "No cost differs.", "Each ratio lies within two standard deviations of 1.")
    else:
        _numbers(
            table, {"Differs": "By more than two standard deviations of the ratio, or by 1 % where no calls are kept."}
        )
    about = {"first": first.id, "second": second.id, "only_differing": only}
    with st.container(horizontal=True, vertical_alignment="center"):
        ui_export.table(table, f"profiles-{safe_name(first.id)}-{safe_name(second.id)}", about)
        ui_notebook.send_button(workspace, "profile pair", "pair", profile=first.id, against=second.id)


def drift(workspace: Workspace, profile: Profile) -> None:
    """One device at several times."""
    if profile.kind != "measured":
        return
    st.subheader("Over time", anchor=False, help=HELP["drift"])
    info = drift_info(profile_shelf.history(workspace.folders, profile, ui_cache.profiles(workspace)))
    if len(info.times) > 1:
        _figure(drift_figure(info, ui.theme()), "drift", profile)
        ui_notebook.send_button(workspace, "profile drift", "drift", profile=profile.id)
    ui.sentence(info.sentence)


def used(workspace: Workspace, profile: Profile) -> None:
    """What leans on the profile."""
    st.subheader("What uses it", anchor=False)
    found = profile_shelf.uses(workspace, profile)
    if found.device_key is not None:
        ui.sentence(
            f"{numbers.counted(found.runs, 'run')} measured on this device; their rounds are held against these costs "
            "on the Timeline page."
        )
    if found.calibration_group is not None:
        ui.link(ui.RUNS, "The runs that it was fitted to", icon=":material/table_rows:", group=found.calibration_group,
                method="calibrate")  # fmt: skip
    if found.replayed:
        ui.link(ui.RUNS, f"{numbers.counted(len(found.replayed), 'kept run')} replayed with it",
                icon=":material/table_rows:", text=f"-{profile.id}-")  # fmt: skip
    for item in found.frozen:
        fixed = item.deployment.fixed
        said = f"Frozen choice {chosen_name(item.deployment.deployed)}, on {fixed.corpus} ({item.path.name})"
        ui.link(ui.BUDGETS, said, icon=":material/lock:", profile=profile.id, corpus=fixed.corpus)
        if item.stale:
            ui.sentence(item.stale)
    for notebook_id, title, cells in found.notebooks:
        label = f"Notebook {title}: {numbers.counted(cells, 'cell')}"
        ui.link(ui.NOTEBOOK, label, icon=":material/edit_note:", notebook=notebook_id)
    if not (found.runs or found.replayed or found.notebooks or found.calibration_group or found.frozen):
        ui.sentence("Nothing in the store names it yet; Budgets and replays work with any profile.")


def bin_view(workspace: Workspace) -> None:
    """Deleted profiles: back again, or gone for good."""
    items = profile_shelf.list_bin(workspace.folders)
    if not items:
        ui.box("empty", "The bin holds no profile.", "Deleted ones lie here until they are removed for good.")
        return
    for item in items:
        left, middle, right = st.columns([8, 2, 2], vertical_alignment="center")
        with left:
            ui.sentence(f"{item.profile_id}, kept {numbers.moment(item.kept_at)}", muted=False)
        back = _acting(
            lambda file=item.file: profile_shelf.restore_profile(workspace, file), f"{item.profile_id} is back."
        )
        middle.button("Restore", key=f"restore-{item.file}", on_click=back, width="stretch")
        with right.popover("Remove", width="stretch"):
            ui.sentence("It is removed from the disk, with what was measured earlier under its id.", muted=False)
            gone = _acting(lambda file=item.file: profile_shelf.empty_bin(workspace, [file]), "Removed for good.")
            st.button("Remove it for good", key=f"remove-{item.file}", on_click=gone)


def _acting(act: Callable[[], object], done: str) -> Callable[[], None]:
    """A callback that says on the page that is drawn next what came of it."""

    def run() -> None:
        try:
            act()
        except As2dError as error:
            st.session_state[_SAID] = ("", str(error))
        else:
            st.session_state[_SAID] = (done, "")

    return run


def said() -> None:
    """What came of the last action, once."""
    good, bad = st.session_state.pop(_SAID, ("", ""))
    if good:
        st.toast(ui.plain(good))
    if bad:
        ui.box("error", bad)
