"""Where does the data lie? In ``AS2D_STORE``, or else in the user's data folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from datastore.errors import StoreFolderError
from datastore.files import folder_error

ENVIRONMENT_VARIABLE = "AS2D_STORE"


@dataclass(frozen=True, slots=True)
class Folders:
    """The layout of one data folder."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "as2d.duckdb"

    @property
    def lock(self) -> Path:
        return self.root / "as2d.lock"

    @property
    def runs(self) -> Path:
        """The log of every run, and beside it what people wrote about the run."""
        return self.root / "runs"

    @property
    def bin(self) -> Path:
        """Logs of deleted runs, until the bin is emptied."""
        return self.root / "bin"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def profiles(self) -> Path:
        return self.root / "profiles"

    @property
    def earlier_profiles(self) -> Path:
        """What was measured before under the same name, so that drift can be seen."""
        return self.root / "earlier-profiles"

    @property
    def corpora(self) -> Path:
        return self.root / "corpora"

    @property
    def notebooks(self) -> Path:
        """The newest version of every notebook; the database has the others."""
        return self.root / "notebooks"

    @property
    def phone_bundles(self) -> Path:
        """What is put on phones: made here, and made again when it is missing."""
        return self.root / "phone-bundles"

    @property
    def native_runners(self) -> Path:
        """Native runners that were built here."""
        return self.root / "native-runners"

    @property
    def uploads(self) -> Path:
        return self.root / "uploads"

    def create(self) -> None:
        """Make what is missing.

        Raises:
            StoreFolderError: a folder cannot be made, or cannot be written to.
        """
        for folder in (self.root, self.runs, self.bin, self.models, self.profiles, self.corpora, self.uploads):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise folder_error(folder, error) from error
            if not os.access(folder, os.W_OK | os.X_OK):
                raise StoreFolderError(
                    f"The folder {folder} cannot be written to; give this user the right to, "
                    f"or set {ENVIRONMENT_VARIABLE} to another folder."
                )


def data_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The data folder of this user: ``AS2D_STORE``, or the platform's data folder for "as2d"."""
    from platformdirs import user_data_path

    named = (os.environ if environment is None else environment).get(ENVIRONMENT_VARIABLE, "").strip()
    return Path(named).expanduser() if named else user_data_path("as2d", appauthor=False)
