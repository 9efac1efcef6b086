"""Where does the data lie? Answered without opening anything."""

from pathlib import Path

from datastore.locations import Folders, data_folder

INCOMING = "incoming"


def user_folders(folder: Path | str | None = None) -> Folders:
    """Where the data lies, without opening the store."""
    return Folders(Path(data_folder() if folder is None else folder).absolute())


def incoming_folder(folders: Folders) -> Path:
    """Where streams are written while they come in."""
    return folders.root / INCOMING
