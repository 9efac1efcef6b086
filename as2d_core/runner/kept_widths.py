"""Which widths did an earlier runner find exact on this device? Kept in small files, where there is a folder for them.

What is kept is a help, never a need: a file that is not what would be written for this key counts as not there, and
a folder that cannot be written keeps nothing.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from as2d_core.reading import open_regular, parse_json

SELF_TESTS_VARIABLE = "AS2D_SELF_TESTS"
"""Names the folder. Whoever starts runners gives every program its own: what one found says nothing about another."""
_MOST_BYTES = 4096
_NAME_DIGITS = 32


@dataclass(frozen=True, slots=True)
class SelfTestSetting:
    """Everything that a result of the self-test holds for."""

    model_sha256: str
    cpu: str
    threads: int
    precision: str
    memory: str
    backend: str
    mnn_version: str


def self_tests_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where results are kept; ``None``: nowhere."""
    folder = environment.get(SELF_TESTS_VARIABLE)
    return Path(folder) if folder else None


def kept_widths(folder: Path, setting: SelfTestSetting, widest: int) -> tuple[int, ...] | None:
    """The exact widths that were found for exactly this setting; ``None``: they are to be tested.

    Args:
        widest: the self-test tries no wider one.
    """
    try:
        with open_regular(folder / _file_name(setting)) as file:
            data = file.read(_MOST_BYTES + 1)
        widths = _widths_in(parse_json(data.decode("utf-8")), widest)
    except (OSError, ValueError):
        return None
    return widths if widths and data == _as_bytes(setting, widths) else None


def keep_widths(folder: Path, setting: SelfTestSetting, widths: Sequence[int]) -> None:
    """Keep what a self-test found, in place of what an earlier one did."""
    place = folder / _file_name(setting)
    part = place.with_suffix(".part")
    with suppress(OSError, ValueError):
        folder.mkdir(parents=True, exist_ok=True)
        part.write_bytes(_as_bytes(setting, widths))
        part.replace(place)


def _widths_in(body: Any, widest: int) -> tuple[int, ...] | None:
    """The widths that a file names, whatever else it says; ``None`` where it names none that can be."""
    named = body.get("exact_widths") if isinstance(body, dict) else None
    if not isinstance(named, list) or not named or any(type(width) is not int for width in named):
        return None
    ascending = all(width < wider for width, wider in pairwise(named))
    return tuple(named) if ascending and named[0] > 0 and named[-1] <= widest else None


def _as_bytes(setting: SelfTestSetting, widths: Sequence[int]) -> bytes:
    return _json({"setting": asdict(setting), "exact_widths": list(widths)})


def _file_name(setting: SelfTestSetting) -> str:
    return hashlib.sha256(_json(asdict(setting))).hexdigest()[:_NAME_DIGITS] + ".json"


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
