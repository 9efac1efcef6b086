"""One window of a trajectory set as a whole run record, with the costs of any device.

The decoding methods themselves run here, on the virtual clock, so that a replayed window can be
looked at round by round like a native run.
"""

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import Prediction, Prefix, ScriptedModel, ScriptedSource, ScriptedTarget, VirtualClock
from as2d_core.engines.scripted_run import RunFacts, VirtualRun, run_virtually
from as2d_core.errors import ProfileError, RequestError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay.grid import DEFAULT_THRESHOLD, output_cap, window_schedule
from as2d_core.replay.specasr import DEFAULT_ASP_CAP, AspCosts, asp_costs
from as2d_core.replay.states import RecordedDrafter, StateModel, drafter_states
from as2d_core.replay.windows import DrafterTrajectory, TrajectorySet, WindowTrajectory
from as2d_core.request import METHODS, AudioRef, ModelRef, Request

UNKNOWN_TOKEN = -2
"""A wrong draft of a prefix-conditioned drafter: the trajectory knows that it was wrong, not what it was."""


def replay_window(
    corpus: TrajectorySet,
    window_id: str,
    profile: Profile,
    method: str = "as2d",
    drafter: str | None = None,
    budget: int | None = None,
    width: int | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    created_at: str = "",
    draft_cap: int | None = None,
) -> VirtualRun:
    """Replay one window with one method.

    Args:
        corpus: recorded tokens.
        window_id: which window.
        profile: costs of one device.
        method: ``target-only``, ``sd`` (at ``width``), ``specasr`` (up to ``draft_cap``, one branch after
            the other, as a native run) or ``as2d`` (under ``budget``).
        drafter: its name; ``None`` = the first of the catalog.
        budget: proposal budget b; ``None`` = what was deployed on the device.
        width: physical width K of standard SD.
        threshold: confidence below which a chain stops; ``None`` = never.
        search_window: how far alignment looks beyond the cursor.
        created_at: kept in the header.
        draft_cap: most tokens SpecASR drafts; ``None`` = the device's.

    Raises:
        UnknownNameError: there is no such window, drafter or method.
        RequestError: the method cannot be replayed from this trajectory, or lacks a parameter.
        ProfileError: a width came up that has no cost.
        EngineError: the drafter would have to say something that was not recorded.
    """
    window = corpus.window(window_id)
    if method not in METHODS:
        raise unknown_name("method", method, list(METHODS))
    trajectory = None if method == "target-only" else _trajectory(corpus, window, drafter)
    name = "" if trajectory is None else trajectory.name
    chosen = budget if budget is not None else profile.deployed_budget
    if method == "as2d" and chosen is None:
        raise RequestError(f"As²d needs a proposal budget; the profile {profile.id!r} has no deployed one.")
    request = Request(
        run_id=f"replay-{corpus.id}-{window.window_id}-{profile.id}-{method}",
        method=method,
        target=_model(corpus, profile, "target", "target"),
        audio=AudioRef("", window.audio_sha256, window.duration_s, window.window_id),
        drafter=None if trajectory is None else _model(corpus, profile, "drafter", name),
        task=window.task,
        instruction=window.instruction,
        budget=chosen if method == "as2d" else None,
        width=width if method == "sd" else None,
        draft_cap=(draft_cap or profile.asp_cap or DEFAULT_ASP_CAP) if method == "specasr" else None,
        threshold=threshold,
        search_window=search_window,
        batch_tokens=trajectory.batch_tokens if trajectory is not None else 8,
        max_tokens=output_cap(window, corpus),
    )
    clock = VirtualClock()
    target = ScriptedTarget(clock, window.target_tokens, corpus.eos, profile.target_costs())
    facts = RunFacts(
        device={"profile": profile.id, "name": profile.name, **profile.device},
        source="replayed" if corpus.label == "measured" else "synthetic",
        created_at=created_at,
        extra={"corpus": corpus.id, "trajectories": corpus.label, "profile_kind": profile.kind},
        text=window.target_text or None,
    )
    source: ScriptedSource | BranchDrafter | RecordedDrafter | None = None
    if trajectory is not None and method == "as2d":
        if not profile.feasible(chosen or 0):
            raise ProfileError(f"Budget {chosen} needs widths up to {(chosen or 0) + 1}; {profile.id!r} lacks a cost.")
        source = ScriptedSource(
            clock,
            trajectory.candidates,
            window_schedule(trajectory, profile),
            trajectory.confidences,
            profile.publish_ms,
            trajectory.name,
        )
    elif trajectory is not None and method == "specasr":
        source = RecordedDrafter(
            _recorded_model(clock, window, trajectory, corpus.eos, threshold, asp_costs(profile, "serial"))
        )
    elif trajectory is not None:
        source = BranchDrafter(_agreement_model(clock, window, trajectory, corpus.eos, profile.draft_serial_ms))
    return run_virtually(request, target, source, clock, facts)


def _trajectory(corpus: TrajectorySet, window: WindowTrajectory, drafter: str | None) -> DrafterTrajectory:
    names = [d.name for d in window.drafters]
    if drafter is None:
        drafter = next((name for name in corpus.drafters if name in names), None)
    found = None if drafter is None else window.drafter(drafter)
    if found is None:
        raise unknown_name(f"drafter on window {window.window_id!r}", str(drafter), names)
    return found


def _model(corpus: TrajectorySet, profile: Profile, role: str, name: str) -> ModelRef:
    known = profile.models.get(role)
    shown = name if role == "drafter" or known is None else known.name
    return ModelRef("", shown, corpus.models.get(name) or corpus.models.get(role))


def _recorded_model(
    clock: VirtualClock,
    window: WindowTrajectory,
    trajectory: DrafterTrajectory,
    eos: int,
    threshold: float | None,
    costs: AspCosts,
) -> StateModel:
    states = drafter_states(window.target_tokens, trajectory, eos, threshold)
    if states is None:
        raise RequestError(
            f"Drafter {trajectory.name!r} was not collected off the true path on window {window.window_id!r}; "
            "SpecASR cannot be replayed with it."
        )

    def forward_ms(fed: int) -> float:
        own_ms = costs.draft_ms if fed == 1 else costs.refresh_base_ms + fed * costs.refresh_token_ms
        return own_ms + costs.confidence_row_ms

    return StateModel(clock, window.target_tokens, states, eos, forward_ms)


def _agreement_model(
    clock: VirtualClock, window: WindowTrajectory, trajectory: DrafterTrajectory, eos: int, forward_ms: float
) -> ScriptedModel:
    """The drafter as far as the trajectory knows it: right or wrong after every true prefix."""
    agrees, tokens = trajectory.agrees, window.target_tokens
    if agrees is None:
        raise RequestError(
            f"Drafter {trajectory.name!r} was not collected after true prefixes on window {window.window_id!r}; "
            "standard SD cannot be replayed with it."
        )
    confidences = trajectory.prefix_confidences

    def predict(prefix: Prefix) -> Prediction:
        i = len(prefix)
        if i >= len(tokens) or prefix != tokens[:i]:
            return UNKNOWN_TOKEN, 0.0
        return (tokens[i] if agrees[i] else UNKNOWN_TOKEN), (0.0 if confidences is None else confidences[i])

    return ScriptedModel(clock, predict, eos, forward_ms)
