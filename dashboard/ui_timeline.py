"""Which run does the Timeline page show, which part of it, and which round? The query string says it all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from as2d_core.profiles.profile import Profile
from dashboard import ui, ui_cache, ui_cache_compare, ui_export, ui_notebook, ui_state, ui_wheel
from dashboard.reports.trace import trace_json
from dashboard.services.budgets import open_corpus
from dashboard.services.profiles import load_profile, measured_profile
from dashboard.services.references import reference_tps
from dashboard.services.replays import SAMPLE_BUDGET, SAMPLE_CORPUS, SAMPLE_PROFILE, SAMPLE_WINDOW
from dashboard.services.runs import RunFilter, RunRow, export_runs, get_run
from dashboard.services.workspace import Workspace
from dashboard.views import numbers, zoom
from dashboard.views.account import SHORT
from dashboard.views.aligned import BY, aligned_figure, aligned_info
from dashboard.views.figure_help import HELP
from dashboard.views.files import rounds_frame
from dashboard.views.live import live_info, live_text_html
from dashboard.views.parts import PARTS, PartInfo, part_info
from dashboard.views.rounds import RoundDetails, round_details
from dashboard.views.run_labels import labelled, profile_label, run_label
from dashboard.views.timeline import TimelineInfo
from datastore.errors import RunNotFoundError

NO_PART = "none"
LISTED = 300
"""Newest runs in the picker; older ones are reached from the Runs page."""
MOST_SAID = 6_000
"""Tokens of an output that are shown as text."""


@dataclass(frozen=True)
class Chosen:
    """The run that is shown."""

    run: ui_cache.ShownRun
    row: RunRow | None
    """Its row in the store; ``None``: it was replayed just now."""
    target_only_tps: float | None
    profile: Profile | None
    """What its rounds would cost by this device's own measured profile; of a replay, the profile it was charged."""
    log: Callable[[], bytes]
    """The run as a file of the runner protocol."""

    @property
    def timeline(self) -> TimelineInfo:
        return self.run.timeline


def choose(workspace: Workspace) -> Chosen:
    """The run that the query string names, or the newest; when there is none, the page says so and ends."""
    if ui_state.get("corpus"):
        return _replayed(workspace)
    labels, row = ui_cache_compare.newest_labels(workspace, LISTED), None
    asked = ui_state.get("run")
    if asked:
        try:
            row = get_run(workspace, asked)
        except RunNotFoundError as error:
            ui.box("error", str(error), "The newest run is shown instead." if labels else "")
        else:
            labels = {row.run_id: run_label(labelled(row))} | labels
    if not labels:
        ui.box("empty", "There is no run yet.", "Run a method on the Request page; its timeline appears here.")
        ui.link(ui.REQUEST, "Run a method", icon=":material/mic:")
        sample = {"corpus": SAMPLE_CORPUS, "window": SAMPLE_WINDOW, "profile": SAMPLE_PROFILE, "b": SAMPLE_BUDGET}
        ui.link(ui.TIMELINE, "Look at a sample, replayed", icon=":material/view_timeline:", **sample)
        st.stop()
    return _stored(workspace, labels, row)


def _stored(workspace: Workspace, labels: Mapping[str, str], asked: RunRow | None) -> Chosen:
    ids = list(labels)
    before = ui_state.get("run")
    chosen = ui_state.one_of(
        st.selectbox, "run", "Run", ids, ids[0], format_func=labels.__getitem__, always=True, told=True
    )
    if before and before != chosen and chosen not in before:
        ui_state.put(**{"from": None, "to": None, "round": None})
    row = asked if asked is not None and asked.run_id == chosen else get_run(workspace, chosen)
    run = ui_cache.stored_run(workspace, row)

    def log() -> bytes:
        return export_runs(workspace, RunFilter(run_ids=(row.run_id,), bin="with"), "ndjson").data

    profile = measured_profile(workspace, row.device_key) if row.label == "measured" else None
    return Chosen(run, row, reference_tps(workspace, row), profile, log)


def _replayed(workspace: Workspace) -> Chosen:
    """A window of a trajectory set with the costs of a profile."""
    st.button("Show a run of the store instead", on_click=_leave_replay, icon=":material/arrow_back:")
    with ui.guarded():
        profile = load_profile(workspace.folders, ui_state.get("profile"))
        corpus = open_corpus(workspace.folders, ui_state.get("corpus"))
        window, drafter, budget = ui_state.get("window"), ui_state.get("drafter") or None, ui_state.whole("b")
        ui_state.expect("b", "Budget", budget is not None, "the default one is replayed")
        found = ui_cache.replayed(workspace, profile, corpus, window, budget, drafter)
        ui.sentence(
            f"Window {window} of the set {corpus.id} ({corpus.label} tokens), charged with the costs of "
            f"{profile_label(profile)}: the decisions are real, the times are computed."
        )
        return Chosen(found.run, None, found.target_only_tps, profile, lambda: "".join(found.lines).encode())
    return st.stop()


def _leave_replay() -> None:
    ui_state.put(**dict.fromkeys(("corpus", "window", "profile", "b", "drafter", "from", "to", "round")))


def stop_if_empty(info: TimelineInfo) -> None:
    """A run that never began to decode has no timeline: the page says so and ends."""
    if info.empty is not None:
        ui.box(
            "error" if info.status == "failed" else "empty", info.empty, "The log holds everything that was written."
        )
        st.stop()


def trace_button(run: ui_cache.ShownRun) -> None:
    """The run for other viewers of traces."""
    st.download_button(
        "Trace",
        lambda: trace_json([run.read()]),
        f"{run.timeline.run_id}.trace.json",
        "application/json",
        icon=":material/download:",
        help="For ui.perfetto.dev or chrome://tracing: both lanes, rounds, and arrows from publications to rounds.",
    )


def send_button(
    workspace: Workspace, info: TimelineInfo, view: str, shown: zoom.Window | None = None, selected: int | None = None
) -> None:
    """Takes a figure into a notebook: of a stored run as it is shown, of a replay its timeline."""
    if ui_state.get("corpus"):
        if view == "timeline":
            names = ("corpus", "window", "profile", "b", "drafter")
            ui_notebook.send_replay(workspace, view, {name: ui_state.get(name) for name in names})
        return
    settings: dict[str, object] = {"run": info.run_id, "round": selected}
    if shown is not None:
        settings |= {"from": shown[0], "to": shown[1]}
    ui_notebook.send_button(workspace, view, view, **settings)


def hand_out(workspace: Workspace, run: ui_cache.ShownRun, shown: zoom.Window | None, selected: int | None) -> None:
    """The rounds in view as files, and the figure for a notebook."""
    info = run.timeline
    low, high = shown or zoom.whole(info)
    about = {"run": info.run_id, "method": info.method_label, "window": info.window, "kind": info.label}
    with st.container(horizontal=True, vertical_alignment="center"):
        ui_export.table(
            lambda: rounds_frame(run.each(shown), shown), "rounds", {**about, "from_ms": low, "to_ms": high}
        )
        send_button(workspace, info, "timeline", shown, selected)


def words(run: ui_cache.ShownRun) -> None:
    """What was said, on demand: every stretch of text is an element of the page."""
    if not ui_state.flag("said", "Show what was said"):
        return
    tokens = run.timeline.tokens
    if tokens > MOST_SAID:
        ui.sentence(f"The output has {tokens:,} tokens, too many to be shown here; the log holds them all.")
    else:
        st.html(live_text_html(live_info(run.read()), ui.theme()))


def window(info: TimelineInfo) -> zoom.Window | None:
    """The part of the run that is shown; ``None`` = all of it."""
    asked = (ui_state.whole("from"), ui_state.whole("to"))
    shown = zoom.valid(asked, info)
    low, high = zoom.whole(info)
    everything = (asked[0] or 0) <= low and asked != (None, None) and (asked[1] is None or asked[1] >= high)
    named = " to ".join(text or "the end" for text in (ui_state.get("from") or "0", ui_state.get("to")))
    given = named if ui_state.get("from") or ui_state.get("to") else ""
    ui_state.expect("from", "Part of the run, ms", shown is not None or everything, "the whole run is shown", given)
    return shown


def show_window(shown: zoom.Window | None) -> None:
    """Show this part of the run."""
    low, high = (None, None) if shown is None else (round(shown[0]), round(shown[1]))
    ui_state.put(**_pinned(), **{"from": low, "to": high})


def zoom_buttons(info: TimelineInfo) -> None:
    """Steps in time, also by the keys W, S, A, D."""
    shown = window(info)
    steps = (
        ("Zoom in", ":material/zoom_in:", "w", zoom.zoomed(shown, info, 0.5), False),
        ("Zoom out", ":material/zoom_out:", "s", zoom.zoomed(shown, info, 2.0), shown is None),
        ("Earlier", ":material/chevron_left:", "a", zoom.shifted(shown, info, -0.5), shown is None),
        ("Later", ":material/chevron_right:", "d", zoom.shifted(shown, info, 0.5), shown is None),
        ("Whole run", ":material/fit_screen:", "0", None, shown is None),
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for name, icon, key, target, off in steps:
            st.button(
                name, icon=icon, shortcut=key, on_click=show_window, args=(target,), disabled=off, key=f"zoom-{name}"
            )
        ui.how_to_read(HELP["timeline"])


def part(info: TimelineInfo) -> PartInfo | None:
    """The part of T that is pointed out in the lanes; a choice beside the zoom."""
    if info.work is None:
        return None
    chosen = ui_state.one_of(
        st.segmented_control,
        "part",
        "Point out a part of T = D + V − O + H",
        [NO_PART, *PARTS],
        NO_PART,
        format_func=lambda name: {NO_PART: "none"}.get(name, f"{name}: {SHORT.get(name, name)}"),
    )
    return None if chosen == NO_PART else part_info(info.work, chosen)


def part_details(info: TimelineInfo, shown: PartInfo | None) -> None:
    """What the part is, and the way to its longest pieces."""
    if shown is None:
        return
    ui.sentence(shown.sentence, muted=False)
    with st.container(horizontal=True, gap="small"):
        for place, (begin, end) in enumerate(shown.longest):
            room = max((end - begin) / 2, zoom.LEAST_MS)
            window = zoom.valid((begin - room, end + room), info)
            name = f"{numbers.duration(end - begin)} at {numbers.whole_ms(begin)}"
            if window is None:  # the whole run, which is in view already
                continue
            st.button(name, icon=":material/search:", on_click=show_window, args=(window,), key=f"part-{place}")


def pick_part(point: ui.Point) -> None:
    """A part of the account was clicked on; once more takes the choice back."""
    found = point.get("customdata")
    if isinstance(found, list | tuple) and len(found) == 1:
        name = str(found[0])
        ui_state.put(part=None if ui_state.get("part") == name else name)


def clicked(info: TimelineInfo) -> Callable[[ui.Point], None]:
    """What a click on a bar does: open its round, or zoom into the rounds that share it."""

    def act(point: ui.Point) -> None:
        index, merged = (int(value) for value in list(point.get("customdata") or (-1, 0))[:2])
        if index >= 0 and merged == 1:
            _open_round(index)
        elif index >= 0:
            show_window(zoom.around_rounds(info, index, merged))

    return act


def follow_zoom(info: TimelineInfo) -> None:
    """After the wheel or a drag, draw the part that is seen now in all its detail, and put it in the address."""
    ui_wheel.follow("detail", lambda low, high: show_window(zoom.valid((low, high), info)))


def round_details_of(shown: Chosen, index: int) -> RoundDetails | None:
    """Everything about one round of the run."""
    found = shown.run.round(index)
    return None if found is None else round_details(found[0], index, shown.profile, found[1])


def selected_round(info: TimelineInfo) -> int | None:
    """Index of the round that is open."""
    asked = ui_state.whole("round")
    here = asked is not None and zoom.has_round(info, asked)
    ui_state.expect("round", "Round", here, "no round is open")
    return asked if here else None


def first_round_button(info: TimelineInfo, shown: zoom.Window | None) -> None:
    """The way to a round without a pointer."""
    first = zoom.first_round(info, shown)
    with st.container(horizontal=True, vertical_alignment="center"):
        said = "Click a round to see its candidates, what became of them, and why it was as wide as it was."
        ui.sentence(said, beside=True)
        if first is not None:
            st.button("Open the first one", on_click=_open_round, args=(first,), type="tertiary")


def round_buttons(info: TimelineInfo, index: int) -> None:
    """To the rounds beside the open one."""
    before, after = zoom.neighbours(info, index)
    with st.container(horizontal=True, gap="small"):
        for name, icon, other in (
            ("Previous round", ":material/chevron_left:", before),
            ("Next round", ":material/chevron_right:", after),
        ):
            st.button(name, icon=icon, on_click=_open_round, args=(other,), disabled=other is None)
        st.button("Close", icon=":material/close:", on_click=_open_round, args=(None,))


def _open_round(index: int | None) -> None:
    ui_state.put(**_pinned(), round=index)


def _pinned() -> dict[str, object]:
    """The run by name: a round or a range belongs to it, not to whatever is newest tomorrow."""
    return {} if ui_state.get("corpus") else {"run": st.session_state.get("timeline:run")}


def aligned(workspace: Workspace, shown: Chosen) -> None:
    """Another run of the same recording under this one, and where the faster one won."""
    if shown.row is None or shown.timeline.empty is not None:
        return
    st.subheader("Beside another run", anchor=False, help=HELP["aligned"])
    others = ui_cache_compare.labels_of_same_work(workspace, shown.row, LISTED)
    if not others:
        ui.sentence("No other run of the same recording is in the store; run another method on it to compare.")
        ui.link(ui.REQUEST, "Run another method", icon=":material/mic:")
        return
    labels = {"": "none", **others}
    left, right = st.columns([8, 3], vertical_alignment="bottom")
    with left:
        chosen = ui_state.one_of(st.selectbox, "with", "Compare with", list(labels), "", format_func=labels.__getitem__)
    with right:
        by = ui_state.one_of(st.segmented_control, "by", "Aligned by", list(BY), BY[0])
    if not chosen:
        return
    with ui.guarded():
        other = ui_cache.stored_run(workspace, get_run(workspace, chosen))
        info = aligned_info(shown.run.each(None), other.each(None), by)
        ui.sentence(info.sentence, muted=False)
        said = f"runs {info.first.run_id} and {info.second.run_id}, by {by}"
        ui.chart(aligned_figure(info, ui.theme()), "aligned", said=said)
        both = {"run": info.first.run_id, "against": info.second.run_id}
        ui_notebook.send_button(workspace, "aligned", "aligned", **both, by=by)
        for note in info.notes:
            ui.sentence(note)
        if info.stretches:
            st.dataframe(info.styled, hide_index=True)
            about = {"first": info.first.run_id, "second": info.second.run_id}
            ui_export.table(info.table, "aligned", about)
