"""Which windows need not be timed again at every rerun? Replays follow from their inputs, stored runs never change."""

import streamlit as st

from as2d_core.profiles.profile import Profile
from as2d_core.replay.grid import Grid
from as2d_core.replay.windows import TrajectorySet
from dashboard.services import window_sets
from dashboard.services.comparisons import store_state
from dashboard.services.window_sets import Place
from dashboard.services.workspace import Workspace
from dashboard.views.window_set import WindowSet
from datastore.queries import RunFilter


def replayed_windows(
    profile: Profile, corpus: TrajectorySet, grid: Grid, drafter: str, budget: int, sd_width: int
) -> WindowSet:
    """Every window of a set under every method, with the costs of a profile."""
    return _replayed_windows(
        profile, corpus, grid, (corpus.id, corpus.created_at, repr(profile), drafter, budget, sd_width)
    )


@st.cache_resource(max_entries=32, show_spinner="Replaying every window under every method")
def _replayed_windows(
    _profile: Profile, _corpus: TrajectorySet, _grid: Grid, key: tuple[str, str, str, str, int, int]
) -> WindowSet:
    drafter, budget, sd_width = key[3:]
    return window_sets.replayed_windows(_corpus, _profile, _grid, drafter, budget, sd_width, None)


def stored_windows(workspace: Workspace, place: Place) -> WindowSet:
    """Every window that ran on a device, until runs come or go."""
    return _stored_windows(workspace, place, (str(workspace.folders.root), store_state(workspace.store)))


@st.cache_resource(max_entries=16, show_spinner="Pooling the runs of every window")
def _stored_windows(_workspace: Workspace, place: Place, key: tuple[str, str]) -> WindowSet:  # noqa: ARG001
    kinds = (place.label, *(["emulated"] if place.emulated else []), *(["virtual"] if place.virtual else []))
    where = RunFilter(devices=(place.device_key,), labels=(place.label,), operations=False)
    return window_sets.stored_windows(_workspace.store, where, f"Runs on {place.name}", kinds)
