"""How is something run? A form becomes a job; its runs are in the store when the job is over."""

from collections.abc import Sequence
from dataclasses import replace

from as2d_core.errors import RequestError
from as2d_core.request import METHODS, Request
from dashboard.services.devices import find_device
from dashboard.services.requests import RunForm, build_request, check_backends, check_widths, reference_form
from dashboard.services.workspace import Workspace
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER
from device_bridge.plan import new_id, plan_comparison

MOST_BUDGET = 63
"""Largest budget that a runner takes."""


def start_run(
    workspace: Workspace,
    form: RunForm,
    device_id: str = THIS_COMPUTER,
    repetitions: int = 1,
    warm_ups: int = 0,
    with_reference: bool = True,
) -> Job:
    """Start one setting, perhaps several times.

    Args:
        with_reference: run target-only first when the store has no such run to compare the tokens with.

    Raises:
        RequestError, AudioError, ModelError, UnknownNameError: the form asks for something that cannot be.
        DeviceBusyError, UnknownDeviceError: the device cannot take it.
    """
    request = _runnable(workspace, form, device_id)
    planned = plan_comparison([request], repetitions, warm_ups, group_id=new_id("g"))
    if with_reference and form.method != "target-only":
        reference = build_request(workspace, reference_form(form))
        if not has_reference(workspace, reference, device_id):
            group = planned[0].group_id
            planned = [replace(reference, group_id=group), *(replace(r, order=r.order + 1) for r in planned)]
    return workspace.jobs.submit(device_id, planned, title=describe(request))


def start_comparison(
    workspace: Workspace,
    forms: Sequence[RunForm],
    device_id: str = THIS_COMPUTER,
    repetitions: int = 1,
    warm_ups: int = 0,
) -> Job:
    """Start several settings as one set of runs, interleaved, to be compared.

    Raises:
        As ``start_run``.
    """
    requests = [_runnable(workspace, form, device_id) for form in forms]
    planned = plan_comparison(requests, repetitions, warm_ups)
    return workspace.jobs.submit(device_id, planned)


def _runnable(workspace: Workspace, form: RunForm, device_id: str) -> Request:
    request = build_request(workspace, form)
    if device_id == THIS_COMPUTER:  # which widths are exact is a property of the processor
        check_backends(request)
        check_widths(request)
    return request


def every_method(form: RunForm, methods: Sequence[str] = METHODS) -> list[RunForm]:
    """The same work by every method."""
    return [replace(form, method=method, plain_step=False) for method in methods]


def comparison_set(form: RunForm, methods: Sequence[str] = (), budgets: str = "") -> list[RunForm]:
    """The same work under several settings.

    Args:
        methods: those that are wanted; without any, all.
        budgets: of As²d, such as ``3, 5, 7``; empty: the form's.

    Raises:
        RequestError: a budget is none.
    """
    wanted = []
    for part in budgets.replace(",", " ").split():
        if not (part.isascii() and part.isdecimal() and 1 <= int(part) <= MOST_BUDGET):
            raise RequestError(
                f"{part[:20]!r} is no budget; give whole numbers from 1 to {MOST_BUDGET}, as in 3, 5, 7."
            )
        wanted.append(int(part))
    forms: list[RunForm] = []
    for one in every_method(form, methods or METHODS):
        several = one.method == "as2d" and wanted
        forms += [replace(one, budget=budget) for budget in dict.fromkeys(wanted)] if several else [one]
    return forms


def describe(request: Request) -> str:
    """One line for a job: method, its parameter, window."""
    parameter = {"as2d": f" b={request.budget}", "sd": f" K={request.width}", "specasr": f" cap={request.draft_cap}"}
    return f"{request.method}{parameter.get(request.method, '')} on {request.audio.window_id or 'audio'}"


def has_reference(workspace: Workspace, request: Request, device_id: str = THIS_COMPUTER) -> bool:
    """Whether the store has a complete target-only run of the same work on the same device."""
    if workspace.jobs.device(device_id).outlives:
        return False  # under which key a phone's runs are kept is known from its runs only
    rows = workspace.store.read(
        """
        SELECT 1 FROM target_only_references
        WHERE label = 'measured' AND device_key = ? AND target_sha256 = ? AND audio_sha256 = ?
            AND view_start_s IS NOT DISTINCT FROM ? AND view_end_s IS NOT DISTINCT FROM ?
            AND task = ? AND instruction = ? AND max_tokens = ? AND precision = ? AND memory = ?
        """,
        [
            find_device(workspace, device_id).key,
            request.target.sha256,
            request.audio.sha256,
            request.audio.view_start_s,
            request.audio.view_end_s,
            request.task,
            request.instruction,
            request.max_tokens,
            request.precision,
            request.memory,
        ],
    )
    return bool(rows)
