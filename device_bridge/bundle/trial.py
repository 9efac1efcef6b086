"""Does a bundle start at all? Tried here, where the processor is arm64 or can be emulated."""

import platform
import subprocess
import sys
from pathlib import Path

import as2d_core
from device_bridge.bundle.assemble import LOADER
from device_bridge.bundle.errors import BundleError

DEADLINE_S = 300.0
_IMPORTS = (
    "import MNN, numpy, soundfile, soxr, lzma, hashlib, as2d_core.models.probe, as2d_core.runner.__main__, "
    "as2d_core.runner.target_worker, as2d_core.runner.drafter_worker; print('all of it')"
)


def try_bundle(folder: Path, core: Path | None = None) -> bool | None:
    """Import everything the runner needs with the bundle's own Python; ``None`` when that cannot be tried here.

    Args:
        core: folder that holds the package ``as2d_core``; default: the one of this program.

    Raises:
        BundleError: it does not start, or something is missing.
    """
    how: list[str] = []
    if sys.platform != "linux":
        return None
    if platform.machine() != "aarch64":
        from device_bridge.virtual_phone.emulation import find_emulator  # virtual phones bring much with them

        program = find_emulator()
        if program is None:
            return None
        how = [str(program)]
    interpreter = next(folder.glob("bin/python3.*"))
    core = core or Path(as2d_core.__file__).resolve().parent.parent
    library = str(folder / "lib")
    command = [*how, f"{library}/{LOADER}", "--library-path", library, str(interpreter), "-c", _IMPORTS]
    environment = {
        "PYTHONHOME": str(folder),
        "PYTHONPATH": f"{core}:{folder / 'site'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "PYTHONNOUSERSITE": "1",
    }
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=DEADLINE_S, env=environment, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        raise BundleError(f"The bundle does not start ({error}).", "Build it again.") from error
    if done.returncode or b"all of it" not in done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:300] or f"code {done.returncode}"
        raise BundleError(f"The bundle was put together but does not start ({said}).", "Build it from another Python.")
    return True
