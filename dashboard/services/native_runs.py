"""How well does replay predict the runs that are stored? (Appendix D.3)"""

from collections.abc import Callable, Sequence

from as2d_core.errors import RequestError
from as2d_core.replay.agreement import Agreement, agreement
from dashboard.services.profiles import load_profile, measured_profile
from dashboard.services.runs import RunFilter, get_run, list_runs, load_record
from dashboard.services.workspace import Workspace

ALL = "all"
COMPARED_METHODS = ("target-only", "sd", "specasr", "as2d")


def compare_with_native(
    workspace: Workspace,
    run_ids: Sequence[str],
    profile_id: str | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Agreement:
    """Replay stored native runs and predict their throughput.

    Args:
        workspace: whose store.
        run_ids: ids, or unique beginnings of them; ``all`` = every measured run that ended and is no warm-up.
        profile_id: whose mean costs; ``None`` = the newest measured profile of their device. Without one, As²d
            runs are timed with the means of these very runs, and serial runs are not timed.
        report: told what is being done.

    Raises:
        RunNotFoundError: no such run.
        UnknownNameError, ProfileError: the profile cannot be used.
        RequestError: a run is not native, or there is none.
    """
    if list(run_ids) == [ALL]:
        stored = list_runs(workspace, RunFilter(warm_ups=False), "created_at", descending=False, limit=None)
        rows = [
            row
            for row in stored
            if row.method in COMPARED_METHODS and row.status in ("eos", "capped") and row.label == "measured"
        ]
    else:
        rows = [get_run(workspace, name) for name in run_ids]
        for row in rows:
            if row.label != "measured":
                raise RequestError(f"Run {row.run_id} is {row.label}; only measured runs are compared with replay.")
            if row.method not in COMPARED_METHODS:
                raise RequestError(
                    f"Run {row.run_id} is a {row.method} run; {', '.join(COMPARED_METHODS)} are compared."
                )
    names = list(dict.fromkeys(row.run_id for row in rows))
    if not names:
        raise RequestError("No measured run that ended is stored; run a request first.")
    devices = {row.device_key for row in rows}
    if profile_id is not None:
        profile = load_profile(workspace.folders, profile_id)
    else:
        profile = measured_profile(workspace, devices.pop() or "") if len(devices) == 1 else None
    return agreement([load_record(workspace, name) for name in names], profile, report)
