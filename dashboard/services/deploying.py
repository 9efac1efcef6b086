"""How is a frozen choice run? Its drafter is found; budget, threshold, search window and rule go into the request."""

from dataclasses import replace
from pathlib import Path

from as2d_core.deployment import Deployment
from as2d_core.deployment_file import read_deployment
from as2d_core.errors import RequestError
from dashboard.services.models import list_models, usable_model
from dashboard.services.requests import RunForm
from dashboard.services.workspace import Workspace
from datastore.locations import Folders


def deployed_form(workspace: Workspace, form: RunForm, path: Path) -> RunForm:
    """The form with what a deployment file chose.

    Args:
        workspace: its models are searched for the chosen drafter, unless the form names one.
        form: an As²d request.
        path: of ``as2d select --freeze``.

    Raises:
        SelectionError: the file holds no deployment.
        RequestError: another method is asked for, the drafter is not here, or a model is another one than the
            choice was made for.
        UnknownNameError, ModelError: as ``models.usable_model``.
    """
    if form.method != "as2d":
        raise RequestError(f"A deployment says how As²d runs, not {form.method}; leave one of them out.")
    found = read_deployment(path)
    chosen = found.deployed
    folders = workspace.folders
    drafters = {pair.drafter for pair in found.fixed.screened}
    targets = {sha for name, sha in found.models.items() if name not in drafters and sha is not None}
    target = usable_model(folders, form.target or workspace.settings.target)
    if targets and target.sha256 not in targets:
        raise RequestError(
            f"{path} was chosen with another target model than {target.name!r}; collect and select with this one."
        )
    return replace(
        form,
        drafter=_drafter(folders, form, found, path),
        budget=chosen.budget,
        threshold=chosen.threshold,
        search_window=chosen.search_window,
        width_rule=chosen.width_rule,
    )


def _drafter(folders: Folders, form: RunForm, found: Deployment, path: Path) -> str:
    name = found.deployed.drafter
    wanted = found.models.get(name)
    if form.drafter is not None:
        given = usable_model(folders, form.drafter)
        if wanted is not None and given.sha256 != wanted:
            raise RequestError(f"{path} was chosen with drafter {name!r}, which {form.drafter!r} is not.")
        return form.drafter
    here = [m.id for m in list_models(folders) if m.info is not None and wanted is not None and m.info.sha256 == wanted]
    if not here:
        raise RequestError(
            f"The drafter {name!r} of {path} is none of the models here; add it with `as2d models add`, or name a "
            "drafter with --drafter."
        )
    return here[0]
