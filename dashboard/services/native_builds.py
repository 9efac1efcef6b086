"""Which native runners are there on this computer, and how is one made?"""

from collections.abc import Callable
from pathlib import Path

import platformdirs

from as2d_core.native.built import Built, build_runner, built_runners
from as2d_core.native.recipe import Wish, make_recipe
from datastore.locations import Folders


def build_native(folders: Folders, wish: Wish, say: Callable[[str], None] = lambda _: None) -> Built:
    """Check, compile and keep a native runner.

    Raises:
        UnknownNameError: there is no such preset.
        NativeBuildError: something is missing, or the compiler refuses.
    """
    say("Checking what is needed")
    recipe = make_recipe(wish)
    scratch = Path(platformdirs.user_cache_dir("as2d")) / "native-builds"
    return build_runner(recipe, folders.native_runners, scratch, say)


def runners_for_phones(folders: Folders) -> tuple[Built, ...]:
    """Native runners that were built here and can be brought to a phone."""
    return tuple(built for built in built_runners(folders.native_runners) if built.machine == "aarch64")
