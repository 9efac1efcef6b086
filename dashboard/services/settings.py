"""What has a user chosen once for all requests?"""

import json
from dataclasses import asdict, dataclass, fields, replace

from as2d_core.errors import RequestError, unknown_name
from as2d_core.reading import read_json
from datastore.files import write_durably
from datastore.locations import Folders
from datastore.lock import turn

SETTINGS_FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user has chosen once for all requests."""

    target: str = "demo-target"
    """Id of a model, see ``models.list_models``."""
    drafter: str = "demo-drafter"


def read_settings(folders: Folders) -> Settings:
    """The settings; what cannot be read, or is not known, is as it is by default."""
    try:
        kept = read_json(folders.root / SETTINGS_FILE)
    except (OSError, ValueError):
        return Settings()
    names = {item.name for item in fields(Settings)}
    known = {k: v for k, v in kept.items() if k in names and isinstance(v, str)} if isinstance(kept, dict) else {}
    return Settings(**known)


def change_settings(folders: Folders, **values: str) -> Settings:
    """Change some settings for good.

    Raises:
        UnknownNameError: there is no such setting.
        StoreError: they cannot be written.
    """
    names = [item.name for item in fields(Settings)]
    for name, value in values.items():
        if name not in names:
            raise unknown_name("setting", name, names)
        if not value.strip():
            raise RequestError(f"The setting {name} is empty.")
    folders.create()
    path = folders.root / SETTINGS_FILE
    with turn(path):
        changed = replace(read_settings(folders), **values)
        write_durably(path, (json.dumps(asdict(changed), indent=1) + "\n").encode())
    return changed
