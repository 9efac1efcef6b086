"""How do rates of other programs travel? As a JSON file for each file that they were read from."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from as2d_core.reading import parse_json
from datastore.errors import ArchiveError
from datastore.foreign_benches import LLAMA, MNN, TESTS, ForeignResult
from datastore.run_row import clean

FORMAT = 1
MOST_RESULTS = 100_000
"""A file of 20 MB, the largest that is read, holds fewer."""
_TEXTS = ("tool", "model", "device", "backend", "test")


def results_file(file_sha256: str, file_name: str, results: Sequence[ForeignResult]) -> bytes:
    """What one file held, as it is kept."""
    body = {
        "format": FORMAT,
        "file_sha256": file_sha256,
        "file_name": file_name,
        "results": [asdict(item) for item in results],
    }
    return (json.dumps(body, indent=1) + "\n").encode()


def read_results_file(data: bytes, name: str) -> tuple[str, str, tuple[ForeignResult, ...]]:
    """Hash and name of the original file, and its rates. Nothing of it is trusted: it may come from anybody.

    Raises:
        ArchiveError: it is no such file, or holds what no rate of another program is.
    """
    try:
        body = parse_json(data.decode("utf-8"))
        return _digest(body), str(clean(str(body["file_name"]))), tuple(map(_result, body["results"]))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArchiveError(f"{name} holds no rates of other programs ({error}); export it again.") from error


def _digest(body: Any) -> str:
    digest = str(body["file_sha256"])
    if body["format"] != FORMAT or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise ValueError("it is of another format, or does not say which file it is of")
    if not 0 < len(body["results"]) <= MOST_RESULTS:
        raise ValueError(f"it holds none, or more than {MOST_RESULTS:,}")
    return digest


def _result(item: dict[str, Any]) -> ForeignResult:
    notes, settings = item["notes"], item["settings"]
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ValueError("the notes of a rate are no list of texts")
    if not isinstance(settings, dict) or not all(isinstance(x, str | int | float | bool) for x in settings.values()):
        raise ValueError("the settings of a rate are no object of plain values")
    texts = {name: None if item[name] is None else clean(str(item[name])) for name in _TEXTS}
    found = ForeignResult(**{**item, **texts, "notes": tuple(map(clean, notes)), "settings": settings})
    counts = (found.threads, found.prompt_tokens, found.generated_tokens, found.samples)
    for name, value in zip(("threads", "prompt_tokens", "generated_tokens", "samples"), counts, strict=True):
        if value is not None and (type(value) is not int or not 0 <= value < 2**53):
            raise ValueError(f"{name} is no count")
    for name, rate in (("tps", found.tps), ("sd_tps", found.sd_tps)):
        if rate is not None and (type(rate) not in (int, float) or not 0 <= rate < 1e9):
            raise ValueError(f"{name} is no rate")
    if found.tool not in (MNN, LLAMA) or found.test not in TESTS:
        raise ValueError("it is of another program or test than those that are read here")
    return found
