"""Which runner does a phone use? The one that it was set up with last: a native one, or Python's."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from device_bridge.adb.phone import AdbPhone
from device_bridge.setup.layout import RUNNERS, runner_program

CHOSEN = f"{RUNNERS}/.chosen"
ASK_CHOSEN = f'echo "$(cat {CHOSEN} 2> /dev/null)"; echo {RUNNERS}/*/runner\n'
"""Prints two lines for ``chosen_of``."""
_CHOOSE = f"mkdir -p {RUNNERS} && cat > {CHOSEN}.new && mv {CHOSEN}.new {CHOSEN}"
_FORGET = f"rm -f {CHOSEN}"


@dataclass(frozen=True, slots=True)
class NativeRunner:
    """A native runner that a phone uses."""

    sha256: str
    name: str
    """Of the file that was sent."""
    versions: Mapping[str, str]
    backends: tuple[str, ...]
    """What its models may run on; empty: it was built without MNN."""

    @property
    def program(self) -> str:
        """Path on the phone."""
        return runner_program(self.sha256)

    @property
    def folder(self) -> str:
        return self.program.rpartition("/")[0]

    @property
    def title(self) -> str:
        """In a few words."""
        held = f"MNN {self.versions.get('mnn', 'of an unknown version')}, {' and '.join(self.backends)}"
        return f"{self.name} ({held if self.backends else 'without MNN'}, {self.sha256[:8]})"


def chosen_runner(phone: AdbPhone) -> NativeRunner | None:
    """The native runner that the phone uses; ``None`` when it uses Python's.

    Raises:
        DeviceError: it cannot be asked.
    """
    return chosen_of(phone.script(ASK_CHOSEN, what="looking for its runner").text.split("\n"))


def chosen_of(lines: list[str]) -> NativeRunner | None:
    """The same from what ``ASK_CHOSEN`` has printed."""
    chosen, there = (*lines, "", "")[:2]
    try:
        body: dict[str, Any] = json.loads(chosen)
        versions = {str(name): str(version) for name, version in dict(body["versions"]).items()}
        native = NativeRunner(str(body["sha256"]), str(body["name"]), versions, tuple(map(str, body["backends"])))
    except (ValueError, KeyError, TypeError):
        return None
    return native if native.program in there.split() else None


def choose_native(phone: AdbPhone, native: NativeRunner) -> None:
    """From now on the phone uses this one. Raises DeviceError: it cannot be written down there."""
    phone.script(_CHOOSE, stdin=json.dumps(asdict(native)).encode(), what="choosing a runner")


def choose_python(phone: AdbPhone) -> None:
    """From now on the phone uses Python's runner. Raises DeviceError: it cannot be written down there."""
    phone.script(_FORGET, what="choosing a runner")
